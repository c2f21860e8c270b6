import pickle
import threading
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eventlog.support import flip, number_of, record_of

from lineage_bridge.errors import OffsetError, RecordError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.record_format import HEAD, MAX_BODY_BYTES, encode_record, erased_like
from lineage_bridge.eventlog.segment import CHUNK_BYTES, HEADER_BYTES, byte_of, make_offset, segment_of, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import LogRecord, RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE

SIZE = len(encode_record(record_of(0)))


def numbers(reader: LogReader, start: int, end: int) -> list[int]:
    return [number_of(record) for _, record in reader.read(start, end)]


def address(offset: int) -> RecordAddress:
    return RecordAddress(LOG_SOURCE, 0, offset)


@pytest.fixture
def offsets(tmp_path: Path) -> list[int]:
    """Ten records: segments 1 and 2 hold three each, 9 holds three behind a floor, 10 holds one."""
    with LogWriter(tmp_path, segment_bytes=HEADER_BYTES + 3 * SIZE) as writer:
        first = [writer.append([record_of(number)])[0] for number in range(6)]
    with LogWriter(tmp_path, make_offset(8, 50), segment_bytes=HEADER_BYTES + 3 * SIZE) as writer:
        return first + [writer.append([record_of(number)])[0] for number in range(6, 10)]


def test_an_absent_log_is_empty(tmp_path: Path):
    reader = LogReader(tmp_path / "absent")
    assert reader.durable_end() == 0
    assert list(reader.read(0, 0)) == []
    assert reader.cut(0, 10, 10) == 0
    assert reader.split(0, 0, 4) == []
    assert reader.size_between(0, 0) == reader.disk_bytes() == 0
    with pytest.raises(OffsetError):
        reader.record_at(address(0))


def test_any_range_holds_the_records_that_begin_in_it(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    ends = [offset + SIZE for offset in offsets]
    assert reader.durable_end() == ends[-1]
    for start in [0, *offsets, *ends]:
        for end in [0, *offsets, *ends, *(offset + 1 for offset in offsets)]:
            expected = [number for number, offset in enumerate(offsets) if start <= offset < end]
            assert numbers(reader, start, end) == expected
            assert reader.size_between(start, end) >= 0


def test_a_position_in_a_segment_that_never_existed_continues_in_the_next(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    for start in (make_offset(2, 5000), make_offset(5, 0), make_offset(8, 50)):
        assert numbers(reader, start, reader.durable_end()) == [6, 7, 8, 9]
        assert reader.cut(start, 1, 1) == offsets[6] + SIZE


def test_a_range_beyond_the_end_is_refused(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    end = reader.durable_end()
    for start, stop in ((0, end + 1), (offsets[3], 2**62), (-1, end)):
        with pytest.raises(OffsetError):
            list(reader.read(start, stop))
    assert list(reader.read(end + 5, end)) == []
    assert reader.cut(make_offset(20, 50), 10**9, 10**9) == make_offset(20, 50)


def test_one_record(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    for number, offset in enumerate(offsets):
        assert number_of(reader.record_at(address(offset))) == number


def test_an_offset_without_a_record_is_refused(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    for offset in (-1, 0, make_offset(1, 0), make_offset(5, 28), offsets[2] + SIZE, reader.durable_end(), 2**62):
        with pytest.raises(OffsetError):
            reader.record_at(address(offset))
    with pytest.raises(RecordError):
        reader.record_at(address(offsets[0] + 1))


@pytest.mark.parametrize(("source", "partition"), [("kafka", 0), (LOG_SOURCE, 1)])
def test_an_address_in_another_log_is_refused(tmp_path: Path, offsets: list[int], source: str, partition: int):
    with pytest.raises(OffsetError, match=f"{source}/{partition}"):
        LogReader(tmp_path).record_at(RecordAddress(source, partition, offsets[0]))


def test_a_cut_keeps_both_limits_but_takes_one_record(tmp_path: Path, offsets: list[int]):
    reader = LogReader(tmp_path)
    ends = [offset + SIZE for offset in offsets]
    assert reader.cut(0, 0, 0) == ends[0]
    assert reader.cut(0, 10**9, 4) == ends[3]
    assert reader.cut(0, 4 * SIZE, 10**9) == ends[3]
    assert reader.cut(0, 5 * SIZE - 1, 10**9) == ends[3]
    assert reader.cut(0, 10**9, 10**9) == ends[-1]
    assert reader.cut(ends[2], 1, 10) == ends[3]
    assert reader.cut(ends[-1], 10**9, 10**9) == ends[-1]


@st.composite
def logs(draw: st.DrawFn) -> tuple[list[int], int]:
    return draw(st.lists(st.integers(0, 400), min_size=1, max_size=40)), draw(st.integers(200, 3000))


@settings(max_examples=60, deadline=None)
@given(logs(), st.data())
def test_cuts_and_splits_cover_a_log_exactly(tmp_path_factory: pytest.TempPathFactory, log: tuple[list[int], int], data: st.DataObject):
    sizes, segment_bytes = log
    directory = tmp_path_factory.mktemp("log")
    with LogWriter(directory, segment_bytes=segment_bytes) as writer:
        futures = [writer.submit([record_of(number, bytes(size))]) for number, size in enumerate(sizes)]
        offsets = [future.result()[0] for future in futures]
    reader = LogReader(directory)
    positions = [0, *(offset + len(encode_record(record_of(0, bytes(size)))) for offset, size in zip(offsets, sizes, strict=True))]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(positions), st.sampled_from(positions))))
    expected = numbers(reader, start, end)

    limit_bytes, limit_records = data.draw(st.integers(0, 4000)), data.draw(st.integers(0, 20))
    position, cuts = start, []
    while (following := reader.cut(position, limit_bytes, limit_records)) != position:
        taken = numbers(reader, position, following)
        assert len(taken) == 1 or len(taken) <= limit_records
        assert len(taken) == 1 or reader.size_between(position, following) <= limit_bytes
        cuts += taken
        position = following
    assert cuts == numbers(reader, start, positions[-1])
    assert position in (start, positions[-1])

    parts = data.draw(st.integers(1, 12))
    ranges = reader.split(start, end, parts)
    found = [numbers(reader, *part) for part in ranges]
    assert [number for part in found for number in part] == expected
    assert all(found) or found == [[]]
    assert len(ranges) <= parts
    assert all(before[1] == after[0] for before, after in pairwise(ranges))
    if ranges:
        assert (ranges[0][0], ranges[-1][1]) == (start, end)
        fair = reader.size_between(start, end) / parts
        assert all(reader.size_between(*part) < fair + HEAD.size + 4 + 400 for part in ranges)


def test_equal_records_are_split_equally(tmp_path: Path, offsets: list[int]):
    ranges = LogReader(tmp_path).split(0, offsets[-1], 3)
    assert [len(numbers(LogReader(tmp_path), *part)) for part in ranges] == [3, 3, 3]


def test_a_split_reaches_the_requested_end(tmp_path: Path, offsets: list[int]):
    ranges = LogReader(tmp_path).split(offsets[1], offsets[6], 2)
    assert (ranges[0][0], ranges[-1][1]) == (offsets[1], offsets[6])
    assert LogReader(tmp_path).split(offsets[5] + SIZE, offsets[6], 2) == [(offsets[5] + SIZE, offsets[6])]
    assert LogReader(tmp_path).split(offsets[6], offsets[6], 2) == []


def test_records_larger_than_a_reading_piece(tmp_path: Path):
    sizes = [0, CHUNK_BYTES - 200, CHUNK_BYTES, 3 * CHUNK_BYTES + 1, 5, MAX_BODY_BYTES, 7]
    with LogWriter(tmp_path) as writer:
        offsets = writer.append([record_of(number, bytes(size)) for number, size in enumerate(sizes)])
    reader = LogReader(tmp_path)
    found = [(offset, len(record.body)) for offset, record in reader.read(0, reader.durable_end())]
    assert found == list(zip(offsets, sizes, strict=True))
    assert reader.cut(0, 10**9, 6) == offsets[6]
    assert len(reader.split(0, reader.durable_end(), 3)) == 2


def test_a_damaged_record_is_skipped_and_named_when_it_is_asked_for(tmp_path: Path, offsets: list[int]):
    flip(segment_path(tmp_path, 2), byte_of(offsets[4]) + HEAD.size + 8)
    reader = LogReader(tmp_path)
    assert numbers(reader, 0, reader.durable_end()) == [0, 1, 2, 3, 5, 6, 7, 8, 9]
    assert numbers(reader, offsets[4], reader.durable_end()) == [5, 6, 7, 8, 9]
    with pytest.raises(RecordError, match=str(offsets[4])) as error:
        reader.record_at(address(offsets[4]))
    assert str(segment_path(tmp_path, 2)) in str(error.value)
    assert error.value.hint


def test_a_cut_and_a_split_go_on_behind_a_damaged_header(tmp_path: Path, offsets: list[int]):
    for byte in range(HEAD.size):
        content = segment_path(tmp_path, 2).read_bytes()
        flip(segment_path(tmp_path, 2), byte_of(offsets[4]) + byte)
        reader = LogReader(tmp_path)
        end, position, read = reader.durable_end(), 0, list[int]()
        while position < end:
            following = reader.cut(position, 10**9, 2)
            for part in reader.split(position, following, 2):
                read += numbers(reader, *part)
            position = following
        assert read == [0, 1, 2, 3, 5, 6, 7, 8, 9]
        segment_path(tmp_path, 2).write_bytes(content)


def test_a_log_that_ends_in_damage_is_consumed_to_its_end(tmp_path: Path, offsets: list[int]):
    flip(segment_path(tmp_path, 10), HEADER_BYTES + HEAD.size + 3)
    flip(segment_path(tmp_path, 10), HEADER_BYTES + 1)
    reader = LogReader(tmp_path)
    end = reader.durable_end()
    assert reader.cut(offsets[8] + SIZE, 10**9, 10**9) == end
    assert reader.split(offsets[8] + SIZE, end, 4) == [(offsets[8] + SIZE, end)]


@pytest.mark.parametrize(("number", "left"), [(2, [0, 1, 2, 6, 7, 8, 9]), (9, [0, 1, 2, 3, 4, 5, 9]), (10, [0, 1, 2, 3, 4, 5, 6, 7, 8])])
def test_a_missing_segment_costs_its_own_records(tmp_path: Path, offsets: list[int], number: int, left: list[int]):
    reader = LogReader(tmp_path)
    segment_path(tmp_path, number).unlink()
    assert numbers(reader, 0, reader.durable_end()) == left
    assert numbers(reader, offsets[5], reader.durable_end()) == [number for number in left if number >= 5]


def test_an_erased_record_is_readable(tmp_path: Path, offsets: list[int]):
    path = segment_path(tmp_path, segment_of(offsets[4]))
    data = path.read_bytes()
    at = byte_of(offsets[4])
    path.write_bytes(data[:at] + erased_like(data[at : at + SIZE]) + data[at + SIZE :])
    reader = LogReader(tmp_path)
    assert numbers(reader, 0, reader.durable_end()) == list(range(10))
    assert reader.record_at(address(offsets[4])).body == b""
    LogWriter(tmp_path).close()
    assert numbers(reader, 0, reader.durable_end()) == list(range(10))


def test_a_reader_can_be_sent_to_a_worker(tmp_path: Path, offsets: list[int]):
    reader: LogReader = pickle.loads(pickle.dumps(LogReader(str(tmp_path))))
    assert number_of(reader.record_at(address(offsets[3]))) == 3


def test_reading_while_the_log_is_written(tmp_path: Path):
    reader, seen = LogReader(tmp_path), list[tuple[int, LogRecord]]()
    stop = threading.Event()

    def follow() -> None:
        position = 0
        while not (stop.is_set() and position == reader.durable_end()):
            following = reader.cut(position, 20_000, 100)
            seen.extend(reader.read(position, following))
            position = following

    with LogWriter(tmp_path, segment_bytes=10_000) as writer:
        follower = threading.Thread(target=follow)
        follower.start()
        futures = [writer.submit([record_of(number, b"x" * (number % 700))]) for number in range(3000)]
        offsets = [future.result()[0] for future in futures]
        stop.set()
        follower.join(30)
    assert [offset for offset, _ in seen] == offsets
    assert [number_of(record) for _, record in seen] == list(range(3000))


def test_disk_use(tmp_path: Path, offsets: list[int]):
    assert LogReader(tmp_path).disk_bytes() == 4 * HEADER_BYTES + len(offsets) * SIZE
