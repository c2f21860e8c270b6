import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eventlog.support import flip, newest_segment, number_of, record_of

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.check import check_log
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.segment import HEADER_BYTES, byte_of, list_segments, make_offset, segment_of, segment_path
from lineage_bridge.eventlog.writer import LogWriter

SIZE = len(encode_record(record_of(0)))


def fill(directory: Path, count: int, segment_bytes: int = 1 << 20) -> list[int]:
    with LogWriter(directory, segment_bytes=segment_bytes) as writer:
        return [writer.append([record_of(number)])[0] for number in range(count)]


def numbers(directory: Path) -> list[int]:
    reader = LogReader(directory)
    return [number_of(record) for _, record in reader.read(0, reader.durable_end())]


def test_a_record_cut_at_any_byte_is_removed_and_complete_ones_stay(tmp_path: Path):
    fill(tmp_path, 3)
    segment = newest_segment(tmp_path)
    whole = segment.read_bytes()
    for size in range(1, SIZE + 1):
        segment.write_bytes(whole + encode_record(record_of(3))[: size - 1])
        with LogWriter(tmp_path) as writer:
            assert writer.recovery.cut_bytes == size - 1
            assert writer.recovery.saved is None
            assert numbers(tmp_path) == [0, 1, 2]
        assert segment.read_bytes() == whole


def test_complete_records_beyond_the_mark_are_kept(tmp_path: Path):
    fill(tmp_path, 2)
    segment = newest_segment(tmp_path)
    segment.write_bytes(segment.read_bytes() + encode_record(record_of(2)) + b"torn")
    assert numbers(tmp_path) == [0, 1]
    with LogWriter(tmp_path) as writer:
        assert numbers(tmp_path) == [0, 1, 2]
        writer.append([record_of(3)])
    assert numbers(tmp_path) == [0, 1, 2, 3]


@settings(max_examples=50, deadline=None)
@given(st.binary(min_size=1, max_size=200))
def test_garbage_at_the_end_is_cut(tmp_path_factory: pytest.TempPathFactory, rubbish: bytes):
    directory = tmp_path_factory.mktemp("log")
    fill(directory, 2)
    segment = newest_segment(directory)
    segment.write_bytes(segment.read_bytes() + rubbish)
    with LogWriter(directory) as writer:
        assert writer.recovery.cut_bytes == len(rubbish)
        writer.append([record_of(2)])
    assert numbers(directory) == [0, 1, 2]


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1])
def test_a_last_segment_without_a_complete_header_is_repaired(tmp_path: Path, size: int):
    offsets = fill(tmp_path, 4, HEADER_BYTES + 2 * SIZE)
    third = segment_path(tmp_path, 3)
    third.write_bytes(segment_path(tmp_path, 2).read_bytes()[:size])
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 2 * SIZE) as writer:
        assert numbers(tmp_path) == [0, 1, 2, 3]
        assert writer.append([record_of(4)]) == [make_offset(3, HEADER_BYTES)]
    assert offsets[-1] < make_offset(3, 0)
    assert numbers(tmp_path) == [0, 1, 2, 3, 4]


def test_a_log_of_nothing_but_an_empty_file_is_repaired(tmp_path: Path):
    segment_path(tmp_path, 1).touch()
    with LogWriter(tmp_path) as writer:
        assert writer.append([record_of(0)]) == [make_offset(1, HEADER_BYTES)]
    assert numbers(tmp_path) == [0]


def test_damage_among_acknowledged_records_is_skipped_and_issues_no_position_twice(tmp_path: Path):
    offsets = fill(tmp_path, 5)
    segment = newest_segment(tmp_path)
    flip(segment, HEADER_BYTES + 2 * SIZE + 60)
    damaged = segment.read_bytes()
    with LogWriter(tmp_path) as writer:
        assert (writer.recovery.cut_bytes, writer.recovery.end) == (0, offsets[-1] + SIZE)
        assert segment.read_bytes() == damaged
        assert numbers(tmp_path) == [0, 1, 3, 4]
        assert writer.append([record_of(5)])[0] > offsets[-1]
    assert numbers(tmp_path) == [0, 1, 3, 4, 5]
    with LogWriter(tmp_path) as writer:
        writer.append([record_of(6)])
    assert numbers(tmp_path) == [0, 1, 3, 4, 5, 6]


def test_a_torn_write_behind_damage_is_cut(tmp_path: Path):
    fill(tmp_path, 3)
    segment = newest_segment(tmp_path)
    flip(segment, HEADER_BYTES + SIZE + 60)
    segment.write_bytes(segment.read_bytes() + encode_record(record_of(3)) + encode_record(record_of(4))[:-1] + encode_record(record_of(5)))
    with LogWriter(tmp_path) as writer:
        assert writer.recovery.cut_bytes == 2 * SIZE - 1
        assert numbers(tmp_path) == [0, 2, 3]


def test_a_log_without_a_mark_keeps_what_lies_behind_damage_and_saves_what_it_cuts(tmp_path: Path):
    fill(tmp_path, 3)
    segment = newest_segment(tmp_path)
    flip(segment, HEADER_BYTES + 60)
    segment.write_bytes(segment.read_bytes() + b"torn")
    (tmp_path / "durable").write_bytes(b"garbage")
    with LogWriter(tmp_path) as writer:
        assert writer.recovery.saved
        assert writer.recovery.saved.read_bytes() == b"torn"
        assert numbers(tmp_path) == [1, 2]


def test_a_damaged_header_of_the_last_segment_is_written_again(tmp_path: Path):
    fill(tmp_path, 4, HEADER_BYTES + 2 * SIZE)
    segment = segment_path(tmp_path, 2)
    sound = segment.read_bytes()
    flip(segment, 3)
    with LogWriter(tmp_path) as writer:
        assert writer.recovery.healed
        assert segment.read_bytes() == sound
        assert numbers(tmp_path) == [0, 1, 2, 3]


def test_a_last_segment_that_lost_its_header_and_records_is_missed(tmp_path: Path):
    offsets = fill(tmp_path, 4, HEADER_BYTES + 2 * SIZE)
    segment_path(tmp_path, 2).write_bytes(b"")
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 2 * SIZE) as writer:
        assert numbers(tmp_path) == [0, 1]
        assert segment_of(writer.append([record_of(4)])[0]) == 3
    (damage,) = check_log(tmp_path).damage
    assert (damage.kind, damage.segment, damage.end) == ("shortened", 2, byte_of(offsets[-1]) + SIZE)


def test_a_mark_that_is_damaged_or_deleted_while_the_log_is_open_comes_back(tmp_path: Path):
    with LogWriter(tmp_path) as writer:
        writer.append([record_of(0)])
        for spoil in (lambda: (tmp_path / "durable").write_bytes(b"y" * 40), (tmp_path / "durable").unlink):
            spoil()
            until = time.monotonic() + 20
            while not _is_sound(tmp_path):
                assert time.monotonic() < until
                time.sleep(0.02)
        writer.append([record_of(1)])
    assert numbers(tmp_path) == [0, 1]


def _is_sound(directory: Path) -> bool:
    try:
        return LogReader(directory).durable_end() > 0
    except LogError:
        return False


@pytest.mark.parametrize("what", ["segment", "folder"])
def test_nothing_is_acknowledged_that_was_deleted_meanwhile(tmp_path: Path, what: str):
    folder = tmp_path / "log"
    with LogWriter(folder) as writer:
        writer.append([record_of(0)])
        if what == "segment":
            newest_segment(folder).unlink()
            assert writer.append([record_of(1)]) == [make_offset(2, HEADER_BYTES)]
            assert numbers(folder) == [1]
            assert [damage.kind for damage in check_log(folder).damage] == ["missing"]
        else:
            shutil.rmtree(folder)
            for number in range(3):
                with pytest.raises(LogError):
                    writer.append([record_of(number)])


def test_a_log_restored_from_an_older_copy_continues_above_the_mark(tmp_path: Path):
    fill(tmp_path, 2)
    older = newest_segment(tmp_path).read_bytes()
    newer = fill(tmp_path, 3)
    newest_segment(tmp_path).write_bytes(older)
    with LogWriter(tmp_path) as writer:
        assert writer.append([record_of(9)])[0] > newer[-1]
    assert numbers(tmp_path) == [0, 1, 9]


@pytest.mark.parametrize("content", [b"", b"x", bytes(16), b"y" * 16])
def test_a_damaged_mark_is_rebuilt(tmp_path: Path, content: bytes):
    fill(tmp_path, 3)
    (tmp_path / "durable").write_bytes(content)
    if content:
        with pytest.raises(LogError, match="durable mark"):
            LogReader(tmp_path).durable_end()
    with LogWriter(tmp_path) as writer:
        writer.append([record_of(3)])
    assert numbers(tmp_path) == [0, 1, 2, 3]


def test_a_lost_mark_is_rebuilt(tmp_path: Path):
    fill(tmp_path, 3)
    (tmp_path / "durable").unlink()
    assert LogReader(tmp_path).durable_end() == 0
    LogWriter(tmp_path).close()
    assert numbers(tmp_path) == [0, 1, 2]


def test_only_the_last_segment_is_scanned(tmp_path: Path):
    fill(tmp_path, 4, HEADER_BYTES + 2 * SIZE)
    flip(segment_path(tmp_path, 1), HEADER_BYTES + 60)
    with LogWriter(tmp_path) as writer:
        assert writer.recovery.cut_bytes == 0
        assert segment_of(writer.append([record_of(4)])[0]) == 2
    assert list_segments(tmp_path) == [1, 2]
