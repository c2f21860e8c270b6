"""The setting `store`: what is refused before anything starts, and what a server does while its database does not answer."""

import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.crash.damage import client_of, event
from tests.ports import free_port
from tests.serving import COMMAND, bare_environment
from tests.store.writing import NAMES

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError, StoreError, StoreUnreachableError
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.postgresql.log_identity import known_position, note_position, require_log
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.log import applied_offset
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
        assert applied_offset(pool, found.paths) == offset


def test_what_the_graph_is_known_to_have_read_is_not_issued_again_after_a_clean_stop(tmp_path: Path) -> None:
    found = settings(tmp_path)
    found.paths.graph_owner.write_text(f"log {'a' * 32}, position 4711\n")
    with readers(found) as pool:
        assert applied_offset(pool, found.paths) == 4711


def test_a_graph_that_has_read_more_than_the_log_has_is_refused(tmp_path: Path) -> None:
    found = settings(tmp_path)
    found.paths.graph_owner.write_text(f"log {'a' * 32}, position 0\n")
    with LogWriter(found.paths.log) as log, closing(GraphWriter(tmp_path / "graph.db", NAMES)) as store:
        log.append([LogRecord(RecordKind.EVENT, bytes(16), 7, "http", "", b"", b"{}")])
        store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, log.end())}, {}), Budget(1))
        require_log(found.paths.graph_owner, "lineage_bridge", store, log.end())
        assert known_position(found.paths.graph_owner) == log.end()
        store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(log.end(), log.end() + 1)}, {}), Budget(1))
        with pytest.raises(StoreError, match="but the log ends at") as error:
            require_log(found.paths.graph_owner, "lineage_bridge", store, log.end())
        assert "replay --anyway" in error.value.hint
        note_position(found.paths.graph_owner, log.end() + 1)
        require_log(found.paths.graph_owner, "lineage_bridge", store, log.end())


def test_health_readiness_and_metrics_answer_while_the_database_never_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.wiring.api.START_S", 0.1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        found = Settings(data_dir=tmp_path, store=f"postgresql://graph@127.0.0.1:{silent.getsockname()[1]}/lineage?connect_timeout=0")
        with client_of(found) as client:
            for _ in range(5):
                ready = client.get("/api/v1/ready")
                assert ready.status_code == 503
                assert "PostgreSQL did not answer within 2 s" in ready.json()["parts"]["store"]["detail"]
            assert client.get("/api/v1/health").status_code == 200
            assert 'lineage_bridge_store_size_bytes{store="graph"}' not in client.get("/metrics").text


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
