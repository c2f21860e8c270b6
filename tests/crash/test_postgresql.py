"""A real server whose graph is in a real PostgreSQL: it answers as one with a file does, and goes on after all that breaks in between."""

import json
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psutil
import pytest
from tests.crash.damage import event
from tests.servers import postgres
from tests.servers.postgres import Restarted
from tests.servers.quick_spark import quick_java
from tests.serving import COMMAND, Served, bare_environment, run, serving

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import OffsetRange, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.wiring.pipeline import open_store
from lineage_bridge.wiring.shared import readers, state_database

pytestmark = pytest.mark.servers
WAIT_S = 240.0
NOW_US = 1_800_000_000_000_000


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Restarted]:
    with postgres.restarted(tmp_path_factory.mktemp("database")) as server:
        yield server


def address(database: Restarted) -> str:
    server = database.postgres
    return f"postgresql://{server.user}@{server.host}:{server.port}/{server.database}"


def until(holds: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.2)


def ready(served: Served) -> tuple[bool, str, str]:
    """Whether the server is ready, and what it says of its store and its pipeline."""
    # It is asked again and again; without this, each time reads the certificates of all authorities, 20 ms of processor time or more.
    answer = httpx.get(f"{served.url}/api/v1/ready", timeout=30, verify=False).json()
    return answer["ready"], *(f"{answer['parts'][part]['state']}: {answer['parts'][part]['detail']}" for part in ("store", "pipeline"))


def lines(pool: ReaderPool) -> list[bytes]:
    with pool.reader() as reader:
        return list(reader.whole.lines(frozenset(), now_us=NOW_US))


def embedded(paths: DataFolder, folder: Path) -> list[bytes]:
    """What the embedded store holds of the log of a server; `folder` is a new one."""
    folder.mkdir()
    names, log = Names(state_database(Settings(data_dir=paths.data_dir)).key()), LogReader(paths.log)
    end = log.durable_end()
    with open_store(folder / "embedded.db", names) as store:
        records = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in log.read(0, end)]
        store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, end)}, dict(flat(fold_records(records, names)))), Budget(10**9))
        while store.settle(Budget(10**9)):
            pass
    with closing(ReaderPool(folder / "embedded.db")) as pool:
        return lines(pool)


def pipeline_pid(paths: DataFolder) -> int:
    return int(json.loads(paths.pipeline_status.read_bytes())["pid"])


def command(*arguments: str) -> tuple[int, str]:
    """The exit code of a command, and what it printed."""
    done = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, env={**bare_environment(), **quick_java()}, timeout=WAIT_S
    )
    return done.returncode, done.stdout + done.stderr


def test_the_graph_in_postgresql(database: Restarted, tmp_path: Path) -> None:
    store = ("--store", address(database))
    (tmp_path / "data").mkdir()
    with serving(tmp_path / "data", flags=store) as served:
        settings = Settings(data_dir=served.paths.data_dir, store=address(database))
        run("demo", "load", "--url", served.url, "--data-dir", served.paths.data_dir)
        assert_answers(served)
        with readers(settings) as pool:
            assert lines(pool) == embedded(served.paths, tmp_path / "before")
        assert not served.paths.graph.exists()
        assert ready(served)[:2] == (True, "ok: questions are answered from PostgreSQL")
        metrics = httpx.get(f"{served.url}/metrics").text
        assert 'lineage_bridge_graph_store_info{kind="PostgreSQL"} 1.0' in metrics
        assert 'lineage_bridge_store_size_bytes{store="graph"}' in metrics

        code, printed = command("pipeline", "--data-dir", str(tmp_path / "second"), *store)
        assert code != 0
        assert f"the pipeline {pipeline_pid(served.paths)} on " in printed

        code, printed = command("export", "--data-dir", str(served.paths.data_dir))
        assert (code, "is in PostgreSQL, in the schema lineage_bridge" in printed) == (2, True), printed

        killed = pipeline_pid(served.paths)
        psutil.Process(killed).kill()
        for number in range(5):
            served.client.post("/api/v1/lineage", event(number))
        until(lambda: pipeline_pid(served.paths) != killed and ready(served)[0], "a new pipeline")
        served.catch_up()

        for number in range(5, 10):
            served.client.post("/api/v1/lineage", event(number))
        database.kill()
        until(lambda: not ready(served)[0], "the server notices that PostgreSQL is gone")
        _, of_store, _ = ready(served)
        assert of_store.startswith("failed: PostgreSQL ")
        for number in range(10, 15):
            served.client.post("/api/v1/lineage", event(number))
        answer = httpx.get(f"{served.url}/api/v1/search", params={"q": "orders"}, timeout=30)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "store_unreachable")
        until(lambda: ready(served)[2].startswith("failed: PostgreSQL "), "the pipeline says why it does not run")
        database.start()
        until(lambda: ready(served)[0], "the server goes on")
        served.catch_up()
        assert_answers(served)
        with readers(settings) as pool:
            assert lines(pool) == embedded(served.paths, tmp_path / "after")
        assert command("verify", "--data-dir", str(served.paths.data_dir), *store)[0] == 0
    assert "Traceback" not in (tmp_path / "data" / "output").read_text()
    code, printed = command("replay", "--data-dir", str(settings.data_dir), "--spark-master", "local[2]", *store)
    assert (code, "the recomputed graph is in use" in printed) == (0, True), printed
    code, printed = command("backup", "--data-dir", str(settings.data_dir), *store, str(tmp_path / "backup"))
    assert (code, "pg_dump" in printed, (tmp_path / "backup" / "graph.db").exists()) == (0, True, False), printed
    with readers(settings) as pool:
        assert lines(pool) == embedded(settings.paths, tmp_path / "replayed")


def assert_answers(served: Served) -> None:
    """Each kind of question has an answer, by HTTP."""
    found = served.ask("/search", q="orders")["results"]
    assert {"commerce.public.orders"} <= {result["name"] for result in found}
    node = {"kind": "dataset", "namespace": "postgres://commerce-db.internal:5432", "name": "commerce.public.orders"}
    assert served.ask("/graph/neighbourhood", **node, direction="downstream", depth=20)["nodes"]
    assert served.ask("/graph/impact", **node)["affected"]
    (graph,) = served.ask("/graphs")
    assert served.ask(f"/graphs/{graph['graph_id']}/export")["nodes"]
