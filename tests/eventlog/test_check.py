"""Damage to a log: what is lost, what is listed, what can be put back."""

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eventlog.support import flip, newest_segment, record_of

from lineage_bridge.eventlog.check import acknowledge, check_log
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import HEAD, decode_record, encode_record
from lineage_bridge.eventlog.repair import corrected, repair_log, restore_records
from lineage_bridge.eventlog.segment import HEADER_BYTES, byte_of, list_segments, segment_of, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind

COUNT = 12


def event(number: int) -> LogRecord:
    body = b'{"event": %d, "text": "%s"}' % (number, b"x" * (number * 7 % 50))
    return LogRecord(RecordKind.EVENT, event_id(body), 1_700_000_000_000_000 + number, "http", "", b"", body)


EVENTS = [event(number) for number in range(COUNT)]
SEGMENT_BYTES = HEADER_BYTES + 4 * len(encode_record(event(7)))


def fill(directory: Path) -> list[int]:
    """Twelve events in several segments; their offsets."""
    with LogWriter(directory, segment_bytes=SEGMENT_BYTES) as writer:
        return [writer.append([record])[0] for record in EVENTS]


def readable(directory: Path) -> list[LogRecord]:
    reader = LogReader(directory)
    return [record for _, record in reader.read(0, reader.durable_end())]


def files_of(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_a_sound_log_has_no_damage(tmp_path: Path) -> None:
    fill(tmp_path)
    found = check_log(tmp_path)
    assert (found.segments, found.records, found.damage, found.new) == (len(list_segments(tmp_path)), COUNT, (), ())
    assert len(list_segments(tmp_path)) >= 3


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_one_wrong_byte_loses_at_most_its_record_and_a_repair_puts_it_back(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    fill(folder)
    before = files_of(folder)
    path = segment_path(folder, data.draw(st.sampled_from(list_segments(folder))))
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    damaged = check_log(folder)
    assert len(damaged.damage) == len(damaged.new) == 1
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        kept = readable(folder)
        assert [record for record in EVENTS if record in kept] == kept
        assert len(kept) >= COUNT - 1
        assert (writer.recovery.cut_bytes, writer.end()) == (0, LogReader(folder).durable_end())
    repairs = repair_log(folder, LocalDisk())
    assert {repair.outcome for repair in repairs} <= {"corrected", "rewritten"}
    assert check_log(folder).damage == ()
    assert readable(folder) == EVENTS
    assert {name: content for name, content in files_of(folder).items() if name.endswith(".log")} == {
        name: content for name, content in before.items() if name.endswith(".log")
    }


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damage_below_the_mark_is_listed_and_costs_only_what_it_hit(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("log")
    offsets = fill(folder)
    number = data.draw(st.sampled_from(list_segments(folder)))
    path = segment_path(folder, number)
    content = path.read_bytes()
    first = data.draw(st.integers(0, len(content) - 1))
    end = data.draw(st.integers(first + 1, len(content)))
    what = data.draw(st.sampled_from(["overwritten", "truncated", "deleted"]))
    if what == "overwritten":
        path.write_bytes(content[:first] + bytes(byte ^ 0x5A for byte in content[first:end]) + content[end:])
    elif what == "truncated":
        path.write_bytes(content[:first])
        end = len(content)
    else:
        path.unlink()
        first, end = 0, len(content)
    hit = {
        index
        for index, offset in enumerate(offsets)
        if segment_of(offset) == number and byte_of(offset) < end and byte_of(offset) + len(encode_record(EVENTS[index])) > first
    }
    assert check_log(folder).new
    with LogWriter(folder, segment_bytes=SEGMENT_BYTES) as writer:
        assert readable(folder) == [record for index, record in enumerate(EVENTS) if index not in hit]
        (added,) = writer.append([record_of(99)])
        assert added > offsets[-1]
    if hit:
        assert check_log(folder).new, "a start takes nothing back"
    assert readable(folder)[-1] == record_of(99)


def test_an_acknowledgement_is_of_this_damage_alone(tmp_path: Path) -> None:
    offsets = fill(tmp_path)
    flip(segment_path(tmp_path, 1), byte_of(offsets[1]) + HEAD.size + 6)
    acknowledge(tmp_path, check_log(tmp_path).damage)
    assert (len(check_log(tmp_path).damage), check_log(tmp_path).new) == (1, ())
    flip(segment_path(tmp_path, 2), HEADER_BYTES + HEAD.size + 6)
    (new,) = check_log(tmp_path).new
    assert (new.kind, new.segment) == ("unreadable", 2)
    assert new.size > HEAD.size


def test_what_cannot_be_corrected_is_set_aside_and_can_be_restored_from_a_copy(tmp_path: Path) -> None:
    log, copy = tmp_path / "log", tmp_path / "copy"
    offsets = fill(log)
    copy.mkdir()
    for path in log.glob("*.log"):
        (copy / path.name).write_bytes(path.read_bytes())
    path = segment_path(log, 1)
    for distance in (5, 9, 11):
        flip(path, byte_of(offsets[2]) + HEAD.size + distance)
    damaged = path.read_bytes()
    (repair,) = repair_log(log, LocalDisk())
    assert (repair.outcome, check_log(log).damage) == ("set aside", ())
    assert repair.saved
    assert repair.saved.read_bytes() == damaged[byte_of(offsets[2]) : byte_of(offsets[3])]
    assert [record for record in readable(log) if record.kind == RecordKind.EVENT] == [*EVENTS[:2], *EVENTS[3:]]
    with LogWriter(log) as writer:
        assert restore_records(writer, readable(log), [copy], lambda: None) == 1
        assert restore_records(writer, readable(log), [copy], lambda: None) == 0
    assert readable(log)[-1] == EVENTS[2]


def test_bytes_that_an_earlier_version_cut_off_can_be_restored(tmp_path: Path) -> None:
    fill(tmp_path)
    whole = newest_segment(tmp_path).read_bytes()
    damaged = bytearray(whole[HEADER_BYTES:])
    damaged[HEAD.size + 3] ^= 1
    cut = tmp_path / "0000000009-0000000028.cut"
    cut.write_bytes(damaged)
    newest_segment(tmp_path).unlink()
    lost = len(EVENTS) - len(readable(tmp_path))
    assert lost > 1
    with LogWriter(tmp_path) as writer:
        assert restore_records(writer, readable(tmp_path), [cut], lambda: None) == lost - 1


def test_a_correction_is_certain_or_none() -> None:
    record = encode_record(EVENTS[3])
    choose = random.Random(7)
    for _ in range(300):
        wrong = bytearray(record)
        for byte in choose.sample(range(len(record)), 2):
            wrong[byte] ^= choose.randrange(1, 256)
        better = corrected(bytes(wrong))
        assert better is None or decode_record(better).body == EVENTS[3].body
    assert corrected(record[:30]) is None


def test_a_record_inside_the_body_of_a_damaged_one_is_not_read(tmp_path: Path) -> None:
    inner = encode_record(LogRecord(RecordKind.OPERATOR, event_id(b"{}"), 1, "http", "", b"", b"{}"))
    with LogWriter(tmp_path) as writer:
        offsets = writer.append([LogRecord(RecordKind.REJECTED, event_id(inner), 1, "http", "", b"", inner), EVENTS[0]])
    for byte in range(HEAD.size):
        content = segment_path(tmp_path, 1).read_bytes()
        flip(segment_path(tmp_path, 1), byte_of(offsets[0]) + byte)
        assert readable(tmp_path) == [EVENTS[0]], byte
        segment_path(tmp_path, 1).write_bytes(content)
