"""The ids of erased events: a repeat of an erased event is recognised, and never written again."""

import pickle
import random
import shutil
from pathlib import Path

import pytest
from tests.eventlog.support import record_of

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.erasing.erased_ids import NAME, ErasedIds, ErasureGuard, IdCollector
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.repair import restore_records
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import RecordKind

IDS = [random.Random(number).randbytes(16) for number in range(3_000)]


def collected(folder: Path, *portions: list[bytes]) -> ErasedIds:
    collector = IdCollector()
    for portion in portions:
        collector.add(portion)
    collector.write(folder)
    return ErasedIds(folder)


def test_each_id_is_found_and_no_other(tmp_path: Path) -> None:
    erased = collected(tmp_path, IDS[:2_000:2], IDS[:100], [bytes(16)])
    assert [event_id in erased for event_id in IDS] == [number < 2_000 and (number % 2 == 0 or number < 100) for number in range(3_000)]
    assert len(erased) == 1_050
    assert bytes(16) not in erased
    again = pickle.loads(pickle.dumps(erased))
    assert IDS[0] in again
    assert IDS[101] not in again


def test_nothing_is_erased_without_a_file(tmp_path: Path) -> None:
    assert len(ErasedIds(tmp_path)) == 0
    assert IDS[0] not in ErasedIds(tmp_path)
    assert IdCollector().write(tmp_path) == 0
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("content", [b"", b"LBERASED" + bytes(15), b"something" * 4])
def test_a_damaged_file_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(LogError, match="erased"):
        len(ErasedIds(tmp_path))


def test_a_repeat_of_an_erased_event_leaves_an_empty_record(tmp_path: Path) -> None:
    repeated, other = record_of(1, b"about ada@example.com"), record_of(2)
    with LogWriter(tmp_path / "log") as log:
        guard = ErasureGuard(log, collected(tmp_path, [repeated.event_id]))
        offsets = guard.submit([repeated, other]).result()
        assert len(offsets) == 2
        assert guard.end() == log.end()
    reader = LogReader(tmp_path / "log")
    first, second = [record for _, record in reader.read(0, reader.durable_end())]
    assert (first.kind, first.event_id, first.body, first.principal) == (RecordKind.ERASED, repeated.event_id, b"", "")
    assert second == other
    assert b"ada@example.com" not in (tmp_path / "log" / "0000000001.log").read_bytes()


def test_a_copy_of_the_log_does_not_bring_erased_events_back(tmp_path: Path) -> None:
    with LogWriter(tmp_path / "log") as log:
        log.append([record_of(1), record_of(2)])
    shutil.copytree(tmp_path / "log", tmp_path / "copy")
    with LogWriter(tmp_path / "other") as log:
        assert restore_records(log, [], [tmp_path / "copy"], lambda: None, collected(tmp_path, [record_of(1).event_id])) == 1
    reader = LogReader(tmp_path / "other")
    assert [record for _, record in reader.read(0, reader.durable_end())] == [record_of(2)]
