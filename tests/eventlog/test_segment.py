from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    SegmentHeader,
    byte_of,
    encode_header,
    list_segments,
    make_offset,
    read_header,
    segment_of,
    segment_path,
)

HEADER = SegmentHeader(7, 5, 123_456)


@settings(deadline=None)
@given(st.integers(0, 2**31 - 1), st.integers(0, 2**32 - 1))
def test_an_offset_is_a_segment_and_a_byte(segment: int, byte: int):
    offset = make_offset(segment, byte)
    assert (segment_of(offset), byte_of(offset)) == (segment, byte)
    assert offset < 2**63


def test_a_header_survives(tmp_path: Path):
    segment_path(tmp_path, 7).write_bytes(encode_header(HEADER))
    assert len(encode_header(HEADER)) == HEADER_BYTES
    assert read_header(tmp_path, 7) == HEADER


def test_a_damaged_or_short_header_is_refused(tmp_path: Path):
    data = encode_header(HEADER)
    for index in range(len(data)):
        broken = bytearray(data)
        broken[index] ^= 1
        for content in (bytes(broken), data[:index]):
            segment_path(tmp_path, 7).write_bytes(content)
            with pytest.raises(RecordError):
                read_header(tmp_path, 7)


def test_a_segment_under_another_number_is_refused(tmp_path: Path):
    segment_path(tmp_path, 8).write_bytes(encode_header(HEADER))
    with pytest.raises(RecordError):
        read_header(tmp_path, 8)


def test_only_segments_are_listed(tmp_path: Path):
    for name in (
        "0000000002.log",
        "0000000010.log",
        "durable",
        "lock",
        "2.log",
        "0000000003.log.tmp",
        "0000000001-9.cut",
    ):
        (tmp_path / name).touch()
    assert list_segments(tmp_path) == [2, 10]
    assert list_segments(tmp_path / "absent") == []
