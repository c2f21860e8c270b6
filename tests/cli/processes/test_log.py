"""`log`: check, repair and restore, and `verify` against a damaged log."""

import shutil
from pathlib import Path

import pytest
from tests.eventlog.support import flip
from tests.events import RUNS, dataset, run_event

from lineage_bridge.config import DataFolder
from lineage_bridge.eventlog.record_format import HEAD
from lineage_bridge.eventlog.segment import HEADER_BYTES, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, OffsetRange, RecordKind, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.write.apply import GraphWriter

BODIES = [run_event(run=run, job=f"j{number}", outputs=[dataset(f"d{number}")]) for number, run in enumerate(RUNS[:4])]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A data folder with four events in the log and in the graph."""
    paths = DataFolder(tmp_path / "data")
    records = [LogRecord(RecordKind.EVENT, event_id(body), 5, "http", "", b"", body) for body in BODIES]
    with LogWriter(paths.log) as log:
        offsets = log.append(records)
        end = log.end()
    names = Names(StateDatabase(paths.state).key())
    graph = GraphWriter(paths.graph, names)
    stored = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in zip(offsets, records, strict=True)]
    graph.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, end)}, dict(flat(fold_records(stored, names)))), Budget(10**6))
    graph.close()
    return paths.data_dir


def damage(folder: Path, times: int = 1) -> None:
    """Damage the first record, at this many bytes."""
    for number in range(times):
        flip(segment_path(folder / "log", 1), HEADER_BYTES + HEAD.size + 60 + number)


def test_damage_is_listed_repaired_and_acknowledged(call, folder: Path):
    assert call("log", "check", "--data-dir", folder).code == 0
    damage(folder)
    found = call("log", "check", "--data-dir", folder)
    assert (found.code, "unreadable" in found.out, "log repair" in found.err) == (1, True, True)
    assert call("log", "check", "--acknowledge", "--data-dir", folder).code == 0
    assert "acknowledged" in call("log", "check", "--data-dir", folder).out
    repaired = call("log", "repair", "--data-dir", folder)
    assert (repaired.code, "corrected" in repaired.out) == (0, True)
    assert "damage" not in call("log", "check", "--data-dir", folder).out
    assert "nothing is damaged" in call("log", "repair", "--data-dir", folder).out


def test_verify_compares_the_log_with_the_graph(call, folder: Path):
    assert call("verify", "--data-dir", folder).code == 0
    damage(folder)
    found = call("verify", "--data-dir", folder)
    assert found.code == 1
    assert [line.split() for line in found.out.splitlines() if line.startswith("log ")] == [["log", "3", "1", "0"]]
    assert "log check" in found.err


def test_a_graph_that_lacks_records_of_the_log_is_told(call, folder: Path):
    names = Names(StateDatabase(folder / "state.db").key())
    (folder / "graph.db").unlink()
    graph = GraphWriter(folder / "graph.db", names)
    graph.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, 2**33)}, {}), Budget(10))
    graph.close()
    found = call("verify", "--data-dir", folder)
    assert [line.split() for line in found.out.splitlines() if line.startswith("log ")] == [["log", "4", "0", "4"]]


def test_records_come_back_from_a_copy(call, folder: Path, tmp_path: Path):
    shutil.copytree(folder / "log", tmp_path / "copy")
    damage(folder, 3)
    assert "set aside" in call("log", "repair", "--data-dir", folder).out
    assert "1 record restored" in call("log", "restore", "--data-dir", folder, tmp_path / "copy").out
    assert "0 records restored" in call("log", "restore", "--data-dir", folder, tmp_path / "copy").out
    missing = call("log", "restore", "--data-dir", folder, tmp_path / "nothing")
    assert (missing.code, "there is no file" in missing.err) == (2, True)


def test_a_log_in_use_is_not_repaired(call, folder: Path):
    with LogWriter(folder / "log"):
        refused = call("log", "repair", "--data-dir", folder)
    assert (refused.code != 0, "already written" in refused.err) == (True, True)
