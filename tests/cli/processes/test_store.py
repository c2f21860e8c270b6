"""The setting `store`: what is refused before anything starts, and what a server does while its database does not answer."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.crash.damage import client_of, event
from tests.ports import free_port
from tests.serving import COMMAND, bare_environment

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError, StoreUnreachableError
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.wiring.api import _applied_offset
from lineage_bridge.wiring.pipeline import run_pipeline
from lineage_bridge.wiring.shared import graph_database, note_store, readers

CONNECTION = "lineage_bridge.store.postgresql.connection"


def settings(folder: Path) -> Settings:
    """With a database at a port where nobody listens."""
    return Settings(data_dir=folder, store=f"postgresql://graph@127.0.0.1:{free_port()}/lineage")


def test_a_missing_driver_is_named_before_anything_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, CONNECTION, raising=False)
    with pytest.raises(ConfigError) as error:
        graph_database(settings(tmp_path))
    assert error.value.hint.endswith("pip install 'lineage-bridge[postgresql]'")
    assert graph_database(Settings(data_dir=tmp_path)) is None


@pytest.mark.parametrize("address", ["postgresql://graph@db:port/lineage?no_such=1", "postgresql://[::1/lineage"])
def test_an_address_that_cannot_be_read_is_refused(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="the address of PostgreSQL is not valid"):
        graph_database(Settings(data_dir=tmp_path, store=address))


def test_serve_refuses_such_an_address_before_anything_starts(tmp_path: Path) -> None:
    command = [*COMMAND, "serve", "--data-dir", str(tmp_path), "--store", "postgresql://[::1/lineage"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=bare_environment(), timeout=120)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: the address of PostgreSQL is not valid")


def test_without_its_database_the_pipeline_ends_before_spark_starts(tmp_path: Path) -> None:
    found = settings(tmp_path)
    with pytest.raises(StoreUnreachableError, match="PostgreSQL cannot be reached"):
        run_pipeline(found)
    assert b"PostgreSQL cannot be reached" in found.paths.pipeline_status.read_bytes()
    assert not found.paths.spark.exists()


@pytest.mark.parametrize(("status", "offset"), [('{"position": {"log/0": 4711}}', 4711), ('{"position": 1}', 0), ("{", 0)])
def test_offsets_that_the_pipeline_has_reported_are_not_issued_again_while_the_database_is_down(
    tmp_path: Path, status: str, offset: int
) -> None:
    found = settings(tmp_path)
    assert LOG_SOURCE == "log"
    found.paths.pipeline_status.write_text(status)
    with readers(found) as pool:
        assert isinstance(pool, ReaderPool)
        assert _applied_offset(pool, found.paths) == offset


def test_a_command_without_the_setting_does_not_take_the_graph_for_a_file(tmp_path: Path) -> None:
    note_store(settings(tmp_path))
    without = Settings(data_dir=tmp_path)
    with pytest.raises(ConfigError, match="is in PostgreSQL, in the schema lineage_bridge"), readers(without):
        pass
    assert note_store(without) is None, "a server without it has a file again"
    with readers(without):
        pass


def test_a_server_that_starts_while_its_database_is_down_accepts_events_and_says_what_is_wrong(tmp_path: Path) -> None:
    with client_of(settings(tmp_path)) as client:
        assert client.post("/api/v1/lineage", content=event(1)).status_code == 201
        ready = client.get("/api/v1/ready")
        assert (ready.status_code, ready.json()["lag"]["bytes"]) == (503, -1)
        assert "PostgreSQL cannot be reached" in ready.json()["parts"]["store"]["detail"]
        asked = client.get("/api/v1/search", params={"q": "d1"})
        assert (asked.status_code, asked.json()["error"]["code"]) == (503, "store_unreachable")
        sizes = [line for line in client.get("/metrics").text.splitlines() if line.startswith("lineage_bridge_store_size_bytes{")]
        assert [line.partition(" ")[0] for line in sizes] == ['lineage_bridge_store_size_bytes{store="state"}']
