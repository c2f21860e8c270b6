"""A real API process with a fresh data folder; the graph is folded in this process instead of on Spark."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.events import RUNS, dataset, run_event
from tests.ports import free_port

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.main import run
from lineage_bridge.config import DataFolder
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.write.apply import GraphWriter

COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main")


@dataclass(frozen=True)
class Server:
    """An API process and its data folder."""

    url: str
    paths: DataFolder

    def fold(self) -> None:
        """Fold all events of the log into the graph."""
        names = Names(StateDatabase(self.paths.state).key())
        writer = GraphWriter(self.paths.graph, names)
        log = LogReader(self.paths.log)
        start, end = writer.position(LOG_SOURCE).get(0, 0), log.durable_end()
        records = (StoredRecord(LOG_SOURCE, 0, at, f) for at, f in log.read(start, end))
        writer.apply(Batch({(LOG_SOURCE, 0): OffsetRange(start, end)}, dict(flat(fold_records(records, names)))), Budget(1_000_000))
        while writer.settle(Budget(1_000_000)):
            pass
        writer.close()


@contextmanager
def serving(folder: Path, **environment: str) -> Iterator[Server]:
    """An API process whose data is in a folder."""
    port = free_port()
    own = {"LINEAGE_BRIDGE_DATA_DIR": str(folder), "LINEAGE_BRIDGE_PORT": str(port)}
    process = subprocess.Popen([*COMMAND, "api"], env={**os.environ, **own, **environment})
    found = Server(f"http://127.0.0.1:{port}", DataFolder(folder))
    try:
        with Client(found.url) as client:
            while not client.answers("/api/v1/health"):
                assert process.poll() is None
                time.sleep(0.1)
        yield found
    finally:
        process.terminate()
        code = process.wait()
    assert code == 0


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("data"), LINEAGE_BRIDGE_INPUT_FOLDERS=str(tmp_path_factory.getbasetemp())) as found:
        yield found


@dataclass(frozen=True)
class Outcome:
    """The result of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run a command as a user does, in an empty folder and without settings in the environment."""
    for name in list(os.environ):
        if name.startswith("LINEAGE_BRIDGE_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: str | Path) -> Outcome:
        code = run([str(argument) for argument in arguments])
        result = capsys.readouterr()
        return Outcome(code, result.out, result.err)

    return run_command


STORED = [run_event(run=run, job=f"j{number}", outputs=[dataset(f"d{number}")]) for number, run in enumerate(RUNS[:4])]


@pytest.fixture
def data_folder(tmp_path: Path) -> Path:
    """A data folder with four events in the log and in the graph."""
    paths = DataFolder(tmp_path / "data")
    records = [LogRecord(RecordKind.EVENT, event_id(body), 5, "http", "", b"", body) for body in STORED]
    with LogWriter(paths.log) as log:
        offsets = log.append(records)
        end = log.end()
    names = Names(StateDatabase(paths.state).key())
    graph = GraphWriter(paths.graph, names)
    stored = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in zip(offsets, records, strict=True)]
    graph.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, end)}, dict(flat(fold_records(stored, names)))), Budget(10**6))
    graph.close()
    return paths.data_dir
