"""`replay` as a user runs it."""

import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
from filelock import FileLock
from tests.cli.conftest import COMMAND
from tests.events import T0, dataset, run_event
from tests.servers.quick_spark import quick_java
from tests.serving import bare_environment

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

EVENTS = [run_event(job=f"j{n}", time_us=T0 + n, inputs=[dataset(f"d{n}")], outputs=[dataset(f"d{n + 1}")]) for n in range(20)]


@pytest.fixture
def paths(tmp_path: Path) -> DataFolder:
    """A data folder whose graph was folded from its log."""
    paths = DataFolder(tmp_path / "data")
    names = Names(StateDatabase(paths.state).key())
    with LogWriter(paths.log) as log:
        log.append([LogRecord(RecordKind.EVENT, event_id(body), T0, "http", "", b"", body) for body in EVENTS])
    reader = LogReader(paths.log)
    end = reader.durable_end()
    records = [StoredRecord(LOG_SOURCE, 0, at, f) for at, f in reader.read(0, end)]
    writer = GraphWriter(paths.graph, names)
    writer.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, end)}, dict(flat(fold_records(records, names)))), Budget(10**9))
    writer.close()
    return paths


def left_over(paths: DataFolder) -> set[str]:
    """Files that only a replay creates."""
    return {file.name for file in paths.data_dir.glob("replay.db*")}


@pytest.mark.spark
def test_a_replay_gives_the_same_graph_or_leaves_it_unchanged(call, paths: DataFolder, tmp_path):
    folder = ("--data-dir", paths.data_dir)
    before = call("export", *folder).out
    assert before
    command = [*COMMAND, "replay", "--data-dir", str(paths.data_dir), "--spark-master", "local[2]"]
    killed = subprocess.Popen(command, env={**bare_environment(), **quick_java()}, stderr=subprocess.PIPE)
    until = time.monotonic() + 60
    while not (paths.data_dir / "replay.db").exists():
        assert time.monotonic() < until
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert call("export", *folder).out == before
    done = subprocess.run(command, env={**bare_environment(), **quick_java()}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "folding: 100%" in done.stderr
    assert done.stdout.endswith("the recomputed graph is in use\n")
    assert call("export", *folder).out == before
    assert call("verify", *folder).code == 0
    assert left_over(paths) == set()

    shutil.rmtree(paths.log)
    with LogWriter(paths.log) as log:
        log.append([LogRecord(RecordKind.EVENT, event_id(EVENTS[0]), T0, "http", "", b"", EVENTS[0])])
    done = subprocess.run(command, env={**bare_environment(), **quick_java()}, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "part of the log is missing" in done.stderr
    assert call("export", *folder).out == before

    done = subprocess.run(
        [*command, "--to", str(tmp_path / "copy.db")],
        env={**bare_environment(), **quick_java()},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "copy.db").exists()
    assert call("export", *folder).out == before
    assert left_over(paths) == set()


def test_replay_refuses_a_running_pipeline_and_an_existing_file(call, paths: DataFolder, tmp_path):
    with FileLock(paths.pipeline_lock):
        result = call("replay", "--data-dir", paths.data_dir)
    assert result.code == 1
    assert "another pipeline" in result.err
    (tmp_path / "there.db").write_bytes(b"")
    result = call("replay", "--data-dir", paths.data_dir, "--to", tmp_path / "there.db")
    assert result.code == 2
    assert "exists" in result.err


@pytest.mark.spark
def test_the_analysis_is_printed_and_kept(call, paths: DataFolder):
    result = call("analyse", "--last", "--data-dir", paths.data_dir)
    assert result.code == 1
    assert "lineage-bridge analyse" in result.err
    command = [*COMMAND, "analyse", "--data-dir", str(paths.data_dir), "--spark-master", "local[2]"]
    done = subprocess.run(command, env={**bare_environment(), **quick_java()}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].split() == ["20", "0", "0", "dataset", "ns", "d0"]
    assert "unused: ns d20, last written" in done.stdout
    assert call("analyse", "--last", "--data-dir", paths.data_dir).out == done.stdout
    assert '"downstream": 20' in call("analyse", "--last", "--json", "--part", "impact", "--data-dir", paths.data_dir).out
    assert not list(paths.data_dir.glob("analysing*"))
