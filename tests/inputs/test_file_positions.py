"""Places of files: rows of the state database, of which few are in memory."""

from pathlib import Path

import pytest
from tests.events import run_event
from tests.inputs.support import Installation, installed

from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition
from lineage_bridge.inputs import file_positions
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.ports.inputs import FilePosition, InputBatch, PartitionPosition


def where(number: int, digest: str = "first") -> StreamPartition:
    return StreamPartition(f"{number}.json", f"key{number} {digest}", "")


def batch(*numbers: int, digest: str = "first", session: str = "session 1") -> InputBatch:
    records = []
    for number in numbers:
        file = where(number, digest)
        body = run_event(job=f"job-{number}")
        note = write_note(RecordNote(origin=RecordOrigin("events", *file, 0)))
        records.append(LogRecord(RecordKind.EVENT, event_id(body), 1, "folder", "input:events", note, body))
    position = EventPosition(1, 0)
    ends = [PartitionPosition(where(number, digest), position) for number in numbers]
    return InputBatch(session, records, ends, [FilePosition(file, position, "version|tail") for file, _ in ends])


def again(installation: Installation) -> InputLedger:
    return InputLedger(installation.writer, installation.reader.read, installation.repository, "session 1")


def test_memory_is_bounded_and_each_record_is_appended_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_positions, "MOST_KNOWN", 50)
    with installed(tmp_path) as installation:
        for first in range(0, 1000, 40):
            installation.ledger.append("events", batch(*range(first, first + 40)))
            assert len(installation.ledger._ledgers["events"].files._known) <= 50
        for ledger in (installation.ledger, again(installation)):
            ledger.append("events", batch(*range(0, 1000, 7)))
            assert len(ledger._ledgers["events"].files._known) <= 50 + 143
        assert len(installation.records()) == 1000
        found = again(installation).positions("events", ["key3", "key999", "unknown"]).files
        assert [(position.where, position.mark) for position in found] == [(where(3), "version|tail"), (where(999), "version|tail")]
        assert again(installation).positions("events").partitions == []


def test_asking_for_files_keeps_memory_bounded_while_positions_are_to_be_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file_positions, "MOST_KNOWN", 50)
    with installed(tmp_path) as installation:
        for number in (1, 2):
            installation.ledger.append("events", batch(number))
        for first in range(0, 1000, 10):
            installation.ledger.positions("events", [f"key{number}" for number in range(first, first + 10)])
            assert len(installation.ledger._ledgers["events"].files._known) < 50 + 10
        assert installation.ledger.positions("events", ["key2"]).files == [FilePosition(where(2), EventPosition(1, 0), "version|tail")]


def test_what_was_not_saved_is_taken_from_the_log(tmp_path: Path) -> None:
    with installed(tmp_path) as installation:
        installation.ledger.append("events", batch(1))
        installation.ledger.append("events", batch(2))
        ledger = again(installation)
        assert ledger.positions("events", ["key2"]).files == [FilePosition(where(2), EventPosition(1, 0), "")]
        ledger.append("events", batch(1, 2, 3))
        assert len(installation.records()) == 3


def test_another_file_with_the_key_of_one_before_begins_anew(tmp_path: Path) -> None:
    with installed(tmp_path) as installation:
        installation.ledger.append("events", batch(1))
        installation.ledger.append("events", batch(1, digest="second"))
        installation.ledger.append("events", batch(1, digest="second"))
        assert len(installation.records()) == 2
        assert installation.ledger.positions("events", ["key1"]).files[0].where == where(1, "second")


def test_positions_of_another_log_are_forgotten(tmp_path: Path) -> None:
    with installed(tmp_path) as installation:
        installation.ledger.append("events", batch(1, 2))
        installation.ledger.close()
        installation.writer.close()
        for path in sorted((tmp_path / "log").rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        other = Installation(tmp_path)
        assert other.ledger.positions("events", ["key1"]).files == []
        other.ledger.append("events", batch(1))
        assert len(other.records()) == 1
        other.ledger.close()
        assert [position.where for position in other.repository.file_positions("events", ["key1", "key2"])] == [where(1)]
        other.close()
        installation.writer = other.writer
