"""Reads the log from any process, also while it is being written."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from lineage_bridge.errors import OffsetError
from lineage_bridge.eventlog.compressed.segment_file import stored_bytes
from lineage_bridge.eventlog.mark import read_mark
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    byte_of,
    list_segments,
    make_offset,
    record_in,
    segment_end,
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
    """Reads the durable records of the log in `directory`. It only contains the path, so it costs little to create, and can be pickled and
    shared.

    A position is the end of the last record consumed, 0 before the first. A range [start, end) contains the records that begin in it. Both
    ends are positions or offsets of records. They may lie in different segments, at the end of a segment, or in a segment that never
    existed.
    """

    def __init__(self, directory: Path | str) -> None:
        self._directory = Path(directory)

    def durable_end(self) -> int:
        """The end of the last durable record, 0 for an empty log. If part of the log was lost, it may be lower than the position of a
        consumer.
        """
        return read_mark(self._directory)

    def read(self, start: int, end: int) -> Iterator[tuple[int, LogRecord]]:
        """Yield (offset, record) for each complete record in [start, end), ascending.

        Damaged records and missing segments are skipped: `check_log` lists them. Raises OffsetError if the range extends beyond the
        durable end.
        """
        for extent in self._extents(start, end):
            base = make_offset(extent.number, 0)
            for byte, _, record in walk_records(extent.path, extent.first, extent.stop, extent.limit):
                yield base + byte, record

    def record_at(self, address: RecordAddress) -> LogRecord:
        """The record at an address. Raises OffsetError if the address is not in this log, RecordError if no complete record begins
        there.
        """
        if address[:2] != (LOG_SOURCE, 0):
            raise OffsetError(
                f"the record is in another log, {address.source}/{address.partition}",
                "it was received through that log, which this server does not read",
            )
        extent = self._extent_at(address.offset)
        return record_in(extent.path, extent.first, extent.limit)

    def cut(self, start: int, limit_bytes: int, limit_records: int) -> int:
        """Choose the end of a batch: as many durable records from `start` on as both limits allow, but at least one.

        If the limits allow all records, the result is the end of the log. Reads the records' headers only.
        """
        end, taken, count, durable = start, 0, 0, max(start, self.durable_end())
        for number, byte, size in self._sizes(start, durable):
            taken, count = taken + size, count + 1
            if count > 1 and taken > limit_bytes:
                return end
            end = make_offset(number, byte + size)
            if count >= limit_records:
                return end
        return durable

    def split(self, start: int, end: int, parts: int) -> list[tuple[int, int]]:
        """Split [start, end) into at most `parts` adjacent ranges of similar size in bytes. Each range has at least one record, unless no
        record can be read.

        Reads the records' headers only. Raises OffsetError.
        """
        total = self.size_between(start, end)
        ranges: list[tuple[int, int]] = []
        begin, last, taken = start, start, 0
        for number, byte, size in self._sizes(start, end):
            if taken * parts >= total * (len(ranges) + 1):
                ranges.append((begin, last))
                begin = last
            taken, last = taken + size, make_offset(number, byte + size)
        return [*ranges, (begin, end)] if start < end else []

    def size_between(self, start: int, end: int) -> int:
        """The size in bytes of the records in [start, end), such as the lag of a consumer. Raises OffsetError."""
        return sum(max(0, extent.stop - extent.first) for extent in self._extents(start, end))

    def disk_bytes(self) -> int:
        """The total size in bytes of all segment files on disk; most of them are compressed."""
        return sum(stored_bytes(segment_path(self._directory, number)) for number in list_segments(self._directory))

    def _sizes(self, start: int, end: int) -> Iterator[tuple[int, int, int]]:
        for extent in self._extents(start, end):
            for byte, size in walk_sizes(extent.path, extent.first, extent.stop, extent.limit):
                yield extent.number, byte, size

    def _extent_at(self, offset: int) -> Extent:
        extent = next(self._extents(offset, offset + 1), None) if 0 <= offset < self.durable_end() else None
        if extent is None or (extent.number, extent.first) != (segment_of(offset), byte_of(offset)):
            raise OffsetError(
                f"the log in {self._directory} has no record at offset {offset}", "`lineage-bridge log check` lists damage to the log"
            )
        return extent

    def _extents(self, start: int, end: int) -> Iterator[Extent]:
        """The parts of the existing segments that contain [start, end), ascending. Raises OffsetError."""
        durable = self.durable_end()
        if start >= end:
            return
        if start < 0 or end > durable:
            raise OffsetError(
                f"the range {start} to {end} is outside the log in {self._directory}, which ends at {durable}",
                "the log may have been replaced, or restored from an older copy",
            )
        numbers = [n for n in list_segments(self._directory) if segment_of(start) <= n <= segment_of(durable)]
        for number, following in zip_longest(numbers, numbers[1:]):
            if number > segment_of(end):
                return
            path = segment_path(self._directory, number)
            limit = byte_of(durable) if number == segment_of(durable) else segment_end(self._directory, number, following)
            first = max(HEADER_BYTES, byte_of(start)) if number == segment_of(start) else HEADER_BYTES
            stop = min(limit, byte_of(end)) if number == segment_of(end) else limit
            if first < stop:
                yield Extent(number, path, first, stop, limit)
