"""Reads the log, from any process, also while it is being written."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lineage_bridge.errors import LogError, OffsetError
from lineage_bridge.eventlog.mark import read_mark
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    byte_of,
    list_segments,
    make_offset,
    read_header,
    segment_of,
    segment_path,
    walk_records,
    walk_sizes,
)
from lineage_bridge.graph.log_record import LogRecord, RecordAddress
from lineage_bridge.ports.log import LOG_SOURCE


class Extent(NamedTuple):
    """The part of a segment that a range covers: the records that begin in [first, stop). No byte from `limit` on is read."""

    number: int
    path: Path
    first: int
    stop: int
    limit: int


class LogReader:
    """Reads the durable records of the log in `directory`. It holds only the path: cheap to create, safe to pickle and share.

    A position is the end of the last record consumed, 0 before the first. A range [start, end) contains the records that
    begin in it. Both ends are positions or offsets of records, and may lie in different segments, at the end of a segment,
    or in a segment that never existed.
    """

    def __init__(self, directory: Path | str) -> None:
        self._directory = Path(directory)

    def durable_end(self) -> int:
        """The end of the last durable record, 0 for an empty log. It is below a consumer's position if part of the log was lost."""
        return read_mark(self._directory)

    def read(self, start: int, end: int) -> Iterator[tuple[int, LogRecord]]:
        """Yield (offset, record) for each record in [start, end), ascending.

        Raises OffsetError if the range extends beyond the durable end or into a missing segment, and RecordError, which
        names segment and byte, at a damaged record.
        """
        for extent in self._extents(start, end):
            base = make_offset(extent.number, 0)
            for byte, _, record in walk_records(extent.path, extent.first, extent.stop, extent.limit):
                yield base + byte, record

    def record_at(self, address: RecordAddress) -> LogRecord:
        """The record at an address. Raises OffsetError outside this log, RecordError if no complete record begins there."""
        if address[:2] != (LOG_SOURCE, 0):
            raise OffsetError(f"{address.source}/{address.partition} is not this log", "the record was received through another log")
        extent = self._extent_at(address.offset)
        _, _, record = next(walk_records(extent.path, extent.first, extent.first + 1, extent.limit))
        return record

    def after(self, offset: int) -> int:
        """The position after the record at `offset`. Raises as record_at, except that it does not notice damage after the header."""
        extent = self._extent_at(offset)
        byte, size = next(walk_sizes(extent.path, extent.first, extent.first + 1, extent.limit))
        return make_offset(extent.number, byte + size)

    def cut(self, start: int, limit_bytes: int, limit_records: int) -> int:
        """The end of as many durable records from `start` on as both limits allow, but of at least one record.

        Returns `start` if there is no record. Reads the records' headers only. Raises as read.
        """
        end, taken, count = start, 0, 0
        for number, byte, size in self._sizes(start, max(start, self.durable_end())):
            taken, count = taken + size, count + 1
            if count > 1 and taken > limit_bytes:
                return end
            end = make_offset(number, byte + size)
            if count >= limit_records:
                return end
        return end

    def split(self, start: int, end: int, parts: int) -> list[tuple[int, int]]:
        """Split [start, end) into at most `parts` adjacent ranges of similar size in bytes, each with at least one record.

        Reads the records' headers only. Raises as read.
        """
        total = self.size_between(start, end)
        ranges: list[tuple[int, int]] = []
        begin, last, taken = start, start, 0
        for number, byte, size in self._sizes(start, end):
            if taken * parts >= total * (len(ranges) + 1):
                ranges.append((begin, last))
                begin = last
            taken, last = taken + size, make_offset(number, byte + size)
        return [*ranges, (begin, end)] if taken else []

    def size_between(self, start: int, end: int) -> int:
        """The size in bytes of the records in [start, end), such as the lag of a consumer. Raises as read."""
        return sum(max(0, extent.stop - extent.first) for extent in self._extents(start, end))

    def disk_bytes(self) -> int:
        """The size of all segment files in bytes."""
        return sum(segment_path(self._directory, number).stat().st_size for number in list_segments(self._directory))

    def _sizes(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        for extent in self._extents(start, end):
            for byte, size in walk_sizes(extent.path, extent.first, extent.stop, extent.limit):
                yield extent.number, byte, size

    def _extent_at(self, offset: int) -> Extent:
        extent = next(self._extents(offset, offset + 1), None) if 0 <= offset < self.durable_end() else None
        if extent is None or (extent.number, extent.first) != (segment_of(offset), byte_of(offset)):
            raise OffsetError(f"the log in {self._directory} has no record at offset {offset}")
        return extent

    def _extents(self, start: int, end: int) -> Iterator[Extent]:
        """The parts of segments that contain [start, end), ascending. Raises OffsetError as read does."""
        durable = self.durable_end()
        if start >= end:
            return
        if start < 0 or end > durable:
            raise OffsetError(
                f"the range {start} to {end} is outside the log in {self._directory}, which ends at {durable}",
                "the log was replaced, or restored from an older copy",
            )
        numbers = [n for n in list_segments(self._directory) if segment_of(start) <= n <= segment_of(durable)]
        self._check_ends(numbers, start, durable)
        for number, following in zip(numbers, [*numbers[1:], None], strict=True):
            if number > segment_of(end):
                return
            limit = byte_of(durable) if following is None else self._end_of(number, following)
            first = max(HEADER_BYTES, byte_of(start)) if number == segment_of(start) else HEADER_BYTES
            stop = min(limit, byte_of(end)) if number == segment_of(end) else limit
            if first < stop:
                yield Extent(number, segment_path(self._directory, number), first, stop, limit)

    def _end_of(self, number: int, following: int) -> int:
        header = read_header(self._directory, following)
        if header.previous != number:
            raise self._missing(header.previous)
        return header.previous_end

    def _check_ends(self, numbers: list[int], start: int, durable: int) -> None:
        """Raise OffsetError if the first or last segment of a range is missing. A start of 0 means the oldest record that exists."""
        if not numbers or numbers[-1] != segment_of(durable):
            raise self._missing(segment_of(durable))
        if start == 0 or numbers[0] == segment_of(start):
            return
        header = read_header(self._directory, numbers[0])
        if make_offset(header.previous, header.previous_end) > start:
            raise self._missing(header.previous)

    def _missing(self, number: int) -> LogError:
        return OffsetError(
            f"segment {segment_path(self._directory, number)} of the log is missing",
            "restore it from a copy of the log folder, or read from position 0 to get the records that are left",
        )
