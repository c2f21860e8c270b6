"""Emptying expired records: what stays is where it was, what goes leaves next to nothing, and a crash at any point loses nothing."""

import errno
import json
from pathlib import Path
from random import Random

import msgspec
import pytest
from tests.eventlog.support import FaultyDisk

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.compressed.compressor import compress_closed
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.expiring.emptying import empty_expired
from lineage_bridge.eventlog.expiring.expired_offsets import ExpiredOffsets
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import list_segments, segment_of
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordAddress, RecordKind, RecordNote, write_note
from lineage_bridge.graph.record_origin import RecordOrigin, read_origin

SEGMENT_BYTES = 40_000
DISK = LocalDisk()


def record(number: int) -> LogRecord:
    body = json.dumps({"number": number, "filler": Random(number).randbytes(200).hex()}).encode()
    origin = RecordOrigin("orders", "topic", "life", str(number % 3), number) if number % 10 == 0 else None
    kind = RecordKind.REJECTED if number % 7 == 0 else RecordKind.OPERATOR if number % 11 == 0 else RecordKind.EVENT
    return LogRecord(kind, event_id(body), 1_000_000 + number, "http", "sender", write_note(RecordNote(origin=origin)), body)


def written(directory: Path, *, compressed: bool) -> dict[int, LogRecord]:
    """A log of several segments, and its records by offset."""
    with LogWriter(directory, segment_bytes=SEGMENT_BYTES) as writer:
        for first in range(0, 300, 10):
            writer.submit([record(number) for number in range(first, first + 10)]).result()
    if compressed:
        compress_closed(directory, DISK, least=0)
    return dict(read(directory))


def read(directory: Path) -> list[tuple[int, LogRecord]]:
    reader = LogReader(directory)
    return list(reader.read(0, reader.durable_end()))


def expire(directory: Path, offsets: list[int]) -> None:
    expired = ExpiredOffsets(directory)
    number = expired.newest() + 1
    expired.prepare(number, [RecordAddress("log", 0, offset) for offset in offsets])
    expired.commit(number)


def size_of(directory: Path) -> int:
    """The bytes of the closed segments."""
    return sum(path.stat().st_size for path in directory.glob("*.log.zst"))


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_the_other_records_stay_where_they_are(tmp_path: Path, share: float, compressed: bool) -> None:
    before, choice = written(tmp_path, compressed=compressed), Random(3)
    gone = {offset for offset, some in before.items() if choice.random() < share and some.kind != RecordKind.OPERATOR}
    expire(tmp_path, sorted(gone))
    assert empty_expired(tmp_path, DISK) > 1
    last = list_segments(tmp_path)[-1]
    after = {offset: some for offset, some in read(tmp_path) if some.kind != RecordKind.ERASED}
    assert after == {offset: some for offset, some in before.items() if offset not in gone or segment_of(offset) == last}
    check = check_log(tmp_path)
    assert not check.damage


def test_operators_statements_never_go(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    expire(tmp_path, sorted(before))
    empty_expired(tmp_path, DISK)
    last = list_segments(tmp_path)[-1]
    kept = {offset for offset, some in read(tmp_path) if some.kind == RecordKind.OPERATOR}
    assert kept == {offset for offset, some in before.items() if some.kind == RecordKind.OPERATOR}
    assert any(segment_of(offset) != last for offset in kept)


def test_nothing_but_a_little_is_left_of_what_goes(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    size = size_of(tmp_path)
    expire(tmp_path, [offset for offset, some in before.items() if some.kind != RecordKind.OPERATOR])
    empty_expired(tmp_path, DISK)
    assert size_of(tmp_path) < size / 4


def test_inputs_still_learn_where_they_stopped(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    expire(tmp_path, sorted(before))
    empty_expired(tmp_path, DISK)
    reached = {}
    for _, some in read(tmp_path):
        if origin := read_origin(some.note):
            reached[origin.where] = origin.position
    origins = [origin for some in before.values() if (origin := read_origin(some.note)) is not None]
    assert reached == {origin.where: origin.position for origin in origins}


def test_the_open_segment_goes_once_it_is_closed(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    last = list_segments(tmp_path)[-1]
    expire(tmp_path, [offset for offset in before if segment_of(offset) == last])
    assert empty_expired(tmp_path, DISK) == 0
    with LogWriter(tmp_path, segment_bytes=SEGMENT_BYTES) as writer:
        for number in range(300, 400):
            writer.submit([record(number)]).result()
    assert empty_expired(tmp_path, DISK) == 1
    assert ExpiredOffsets(tmp_path).files() == []


def test_empty_neighbours_become_one_record(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    events = [offset for offset, some in before.items() if some.kind != RecordKind.OPERATOR and not some.note]
    for part in range(4):
        expire(tmp_path, events[part::4])
        empty_expired(tmp_path, DISK)
    last = list_segments(tmp_path)[-1]
    kinds = [some.kind == RecordKind.ERASED and not some.note for offset, some in read(tmp_path) if segment_of(offset) != last]
    assert sum(kinds) < len(events) / 3


@pytest.mark.parametrize("operation", ["create", "write", "sync", "sync_directory"])
def test_a_disk_that_fails_leaves_each_segment_old_or_new(tmp_path: Path, operation: str) -> None:
    before = written(tmp_path, compressed=True)
    gone = [offset for offset, some in before.items() if some.kind == RecordKind.EVENT]
    expire(tmp_path, gone)
    disk = FaultyDisk()
    disk.faults[operation] = errno.EIO
    with pytest.raises(OSError, match="Input/output"):
        empty_expired(tmp_path, disk)
    assert {offset for offset, some in read(tmp_path) if some.kind != RecordKind.ERASED} >= before.keys() - set(gone)
    empty_expired(tmp_path, DISK)
    last = list_segments(tmp_path)[-1]
    assert {offset: some for offset, some in read(tmp_path) if some.kind != RecordKind.ERASED} == {
        offset: some for offset, some in before.items() if offset not in gone or segment_of(offset) == last
    }


def test_what_was_prepared_counts_only_if_the_transaction_was_committed(tmp_path: Path) -> None:
    expired = ExpiredOffsets(tmp_path)
    for number in (1, 2):
        expired.prepare(number, [RecordAddress("log", 0, number << 32), RecordAddress("topic", 0, 77)])
    assert expired.by_segment() == {}
    expired.recover(1)
    assert expired.by_segment() == {1: {1 << 32}}
    assert expired.newest() == 1
    expired.prepare(2, [RecordAddress("topic", 0, 77)])
    expired.commit(2)
    assert expired.newest() == 1


def test_a_damaged_list_is_named(tmp_path: Path) -> None:
    expire(tmp_path, [1 << 32])
    path = ExpiredOffsets(tmp_path).files()[0]
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(LogError, match=path.name):
        empty_expired(tmp_path, DISK)


def test_a_record_that_looks_like_another_is_told_apart(tmp_path: Path) -> None:
    """A later copy of an event has the same id, and stays."""
    with LogWriter(tmp_path, segment_bytes=SEGMENT_BYTES) as writer:
        first, second = writer.submit([msgspec.structs.replace(record(1), arrival_us=at) for at in (1, 2)]).result()
        for number in range(2, 200):
            writer.submit([record(number)]).result()
    expire(tmp_path, [first])
    empty_expired(tmp_path, DISK)
    found = dict(read(tmp_path))
    assert (found[first].kind, found[second].kind) == (RecordKind.ERASED, RecordKind.EVENT)


def damage(path: Path) -> None:
    """Damage more of a compressed segment than its parity restores: two frames of the same group, and the parity."""
    data = bytearray(path.read_bytes())
    for at in range(len(data) // 4, len(data) * 3 // 4):
        data[at] ^= 0xFF
    path.write_bytes(data)


def test_a_damaged_segment_stays_as_it_is_and_others_go(tmp_path: Path) -> None:
    """Rewriting it would turn bytes that could still be repaired into zeros."""
    before = written(tmp_path, compressed=True)
    first, *others = list_segments(tmp_path)[:-1]
    damaged = tmp_path / f"{first:010d}.log.zst"
    damage(damaged)
    content = damaged.read_bytes()
    expire(tmp_path, [offset for offset, some in before.items() if some.kind != RecordKind.OPERATOR])
    assert empty_expired(tmp_path, DISK) == len(others)
    assert damaged.read_bytes() == content


def test_a_segment_that_cannot_be_rewritten_does_not_stop_the_others(tmp_path: Path) -> None:
    before = written(tmp_path, compressed=True)
    closed = list_segments(tmp_path)[:-1]
    gone = [offset for offset, some in before.items() if some.kind == RecordKind.EVENT and segment_of(offset) in closed]
    expire(tmp_path, gone)
    in_the_way = tmp_path / f"{closed[0]:010d}.log.zst.new"
    in_the_way.mkdir()
    with pytest.raises(OSError, match=in_the_way.name):
        empty_expired(tmp_path, DISK)
    assert ExpiredOffsets(tmp_path).by_segment().keys() == {closed[0]}
    in_the_way.rmdir()
    assert empty_expired(tmp_path, DISK) == 1
    assert {offset for offset, some in read(tmp_path) if some.kind == RecordKind.EVENT}.isdisjoint(gone)


def test_a_repeat_of_what_went_is_no_repeat_of_an_erased_event(tmp_path: Path) -> None:
    """What is left of a record that an input read names no event, because erased events, whose ids stay, may not come back."""
    before = written(tmp_path, compressed=True)
    expire(tmp_path, sorted(before))
    empty_expired(tmp_path, DISK)
    assert {some.event_id for _, some in read(tmp_path) if some.kind == RecordKind.ERASED} == {bytes(16)}
