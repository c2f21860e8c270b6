"""`log`: check, repair and restore, and `verify` against a damaged log."""

import shutil
from pathlib import Path

from tests.eventlog.support import flip

from lineage_bridge.eventlog.record_format import HEAD
from lineage_bridge.eventlog.segment import HEADER_BYTES, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import OffsetRange
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.write.apply import GraphWriter


def damage(data_folder: Path, times: int = 1) -> None:
    """Damage the first record, at this many bytes."""
    for number in range(times):
        flip(segment_path(data_folder / "log", 1), HEADER_BYTES + HEAD.size + 60 + number)


def test_damage_is_listed_repaired_and_acknowledged(call, data_folder: Path):
    assert call("log", "check", "--data-dir", data_folder).code == 0
    damage(data_folder)
    found = call("log", "check", "--data-dir", data_folder)
    assert (found.code, "unreadable" in found.out, "log repair" in found.err) == (1, True, True)
    assert call("log", "check", "--acknowledge", "--data-dir", data_folder).code == 0
    assert "acknowledged" in call("log", "check", "--data-dir", data_folder).out
    repaired = call("log", "repair", "--data-dir", data_folder)
    assert (repaired.code, "corrected" in repaired.out) == (0, True)
    assert "damage" not in call("log", "check", "--data-dir", data_folder).out
    assert "the log is not damaged" in call("log", "repair", "--data-dir", data_folder).out


def test_verify_compares_the_log_with_the_graph(call, data_folder: Path):
    assert call("verify", "--data-dir", data_folder).code == 0
    damage(data_folder)
    found = call("verify", "--data-dir", data_folder)
    assert found.code == 1
    assert [line.split() for line in found.out.splitlines() if line.startswith("log ")] == [["log", "3", "1", "0"]]
    assert "log check" in found.err


def test_a_graph_that_lacks_records_of_the_log_is_told(call, data_folder: Path):
    names = Names(StateDatabase(data_folder / "state.db").key())
    (data_folder / "graph.db").unlink()
    graph = GraphWriter(data_folder / "graph.db", names)
    graph.apply(Batch({(LOG_SOURCE, 0): OffsetRange(0, 2**33)}, {}), Budget(10))
    graph.close()
    found = call("verify", "--data-dir", data_folder)
    assert [line.split() for line in found.out.splitlines() if line.startswith("log ")] == [["log", "4", "0", "4"]]


def test_records_come_back_from_a_copy(call, data_folder: Path, tmp_path: Path):
    shutil.copytree(data_folder / "log", tmp_path / "copy")
    damage(data_folder, 3)
    assert "set aside" in call("log", "repair", "--data-dir", data_folder).out
    assert "1 record restored" in call("log", "restore", "--data-dir", data_folder, tmp_path / "copy").out
    assert "0 records restored" in call("log", "restore", "--data-dir", data_folder, tmp_path / "copy").out
    missing = call("log", "restore", "--data-dir", data_folder, tmp_path / "nothing")
    assert (missing.code, "there is no file" in missing.err) == (2, True)


def test_a_log_in_use_is_not_repaired(call, data_folder: Path):
    with LogWriter(data_folder / "log"):
        refused = call("log", "repair", "--data-dir", data_folder)
    assert (refused.code != 0, "already written" in refused.err) == (True, True)
