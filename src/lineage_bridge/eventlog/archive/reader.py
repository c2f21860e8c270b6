"""Reads the archive from any process, also while it is being written. Reads records of the log and of the archive by their addresses."""

import fnmatch
import logging
import os
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from lineage_bridge.errors import OffsetError
from lineage_bridge.eventlog.archive.files import ArchivedFile, ArchivedPartition, files_in, folder_of, is_archived, partitions_in
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.segment import UnreadableBytes, walk_records
from lineage_bridge.graph.log_record import LogRecord, RecordAddress, StoredRecord
from lineage_bridge.graph.record_origin import read_origin

log = logging.getLogger(__name__)

OnGap = Callable[[UnreadableBytes], None]
INDEX_EVERY: Final = 64
"""The byte position of one in this many records of a file is kept in memory."""
MOST_INDEXES: Final = 256
"""The maximum number of files whose byte positions are kept in memory."""


class ArchiveReader:
    """Reads the archive in `root`. It only contains the path, so it costs little to create, and can be pickled and shared."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)

    def partitions(self) -> list[ArchivedPartition]:
        """All partitions in the archive."""
        return partitions_in(self.root)

    def end(self, source: str, partition: int) -> int:
        """The address up to which a partition is archived; 0 for an unknown partition."""
        files = self._files(source, partition)
        return files[-1].end if files else 0

    def read(self, source: str, partition: int, start: int, end: int, on_gap: OnGap = lambda _: None) -> Iterator[StoredRecord]:
        """Yield the records with addresses in [start, end), in order. Damaged records are skipped, logged, and reported to `on_gap`."""
        at = start
        while file := next((file for file in self._files(source, partition) if file.end > at and file.start < end), None):
            with suppress(FileNotFoundError):
                for address, record in _records(file, on_gap):
                    if at <= address < end:
                        yield StoredRecord(source, partition, address, record)
                        at = address + 1
                at = file.end

    def split(self, source: str, partition: int, start: int, end: int, limit_bytes: int) -> list[tuple[int, int]]:
        """Split [start, end) into adjacent ranges. Each consists of whole files, with about the given number of bytes."""
        ranges: list[tuple[int, int]] = []
        begin, size = start, 0
        for file in self._files(source, partition):
            if file.end <= start or file.start >= end:
                continue
            with suppress(FileNotFoundError):
                size += file.size
            if size >= limit_bytes and file.end < end:
                ranges.append((begin, file.end))
                begin, size = file.end, 0
        return [*ranges, (begin, end)] if begin < end else ranges

    def size_between(self, source: str, partition: int, start: int, end: int) -> int:
        """The total size in bytes of the files that have records in [start, end)."""
        sizes = 0
        for file in self._files(source, partition):
            if file.end > start and file.start < end:
                with suppress(FileNotFoundError):
                    sizes += file.size
        return sizes

    def record_at(self, address: RecordAddress) -> LogRecord:
        """The record at an address. Raises OffsetError if there is none."""
        while file := next((file for file in self._files(address.source, address.partition) if file.end > address.offset), None):
            if file.start > address.offset:
                break
            try:
                record = _record_in(file, address.offset)
            except FileNotFoundError:  # another file has just replaced it
                continue
            if record is None:
                break
            return record
        raise OffsetError(
            f"the archive has no record at offset {address.offset} of {address.source}, partition {address.partition}",
            "`lineage-bridge log check` lists files of the archive that are lost or damaged",
        )

    def size_behind(self, applied: Mapping[tuple[str, int], int]) -> int:
        """The total size of the files with records at or after the positions of their partitions."""
        sizes = 0
        for of in self.partitions():
            at, end = applied.get((of.source, of.partition), 0), self.end(of.source, of.partition)
            sizes += self.size_between(of.source, of.partition, at, end) if at < end else 0
        return sizes

    def disk_bytes(self) -> int:
        """The total size in bytes of all files."""
        sizes = 0
        for folder, _, names in os.walk(self.root):
            for name in fnmatch.filter(names, "*.?"):
                with suppress(FileNotFoundError):
                    sizes += Path(folder, name).stat().st_size
        return sizes

    def _files(self, source: str, partition: int) -> list[ArchivedFile]:
        return files_in(folder_of(self.root, source, partition))


def _records(file: ArchivedFile, on_gap: OnGap) -> Iterator[tuple[int, LogRecord]]:
    """The records of a file with their addresses. Raises FileNotFoundError if another file has replaced it."""
    for address, _, record in _walk(file.path, 0, on_gap):
        yield address, record


def _walk(path: Path, first: int, on_gap: OnGap = lambda _: None) -> Iterator[tuple[int, int, LogRecord]]:
    """The records from a byte position on, with their addresses and byte positions. Raises FileNotFoundError."""

    def report(gap: UnreadableBytes) -> None:
        log.error("archive: %s: bytes %d to %d cannot be read: %s", path, gap.first, gap.end, gap.reason)
        on_gap(gap)

    size = path.stat().st_size
    for byte, _, record in walk_records(path, first, size, size, report):
        origin = read_origin(record.note)
        if origin is not None:
            yield origin.position.address, byte, record


class _Index(NamedTuple):
    """The addresses of some records of a file, in order, with the byte at which each begins."""

    addresses: "array[int]"
    bytes: "array[int]"


@lru_cache(maxsize=MOST_INDEXES)
def _index(path: Path, _size: int) -> _Index:
    """The cached index of a file, by its path and size: files never change. Raises FileNotFoundError."""
    found = _Index(array("Q"), array("Q"))
    for number, (address, byte, _) in enumerate(_walk(path, 0)):
        if number % INDEX_EVERY == 0:
            found.addresses.append(address)
            found.bytes.append(byte)
    return found


def _record_in(file: ArchivedFile, address: int) -> LogRecord | None:
    """The record of a file with this address. Raises FileNotFoundError."""
    index = _index(file.path, file.size)
    at = bisect_right(index.addresses, address) - 1
    for found, _, record in _walk(file.path, index.bytes[at]) if at >= 0 else ():
        if found >= address:
            return record if found == address else None
    return None


class AllRecords:
    """Implements `ports.RecordReader` over the log and the archive."""

    def __init__(self, log: LogReader, archive: ArchiveReader) -> None:
        self.log, self.archive = log, archive

    def durable_end(self) -> int:
        """The end of the last durable record in the log."""
        return self.log.durable_end()

    def record_at(self, address: RecordAddress) -> LogRecord:
        """The record at an address. Raises OffsetError if there is none, RecordError if it is damaged."""
        return self.archive.record_at(address) if is_archived(address.source) else self.log.record_at(address)

    def size_between(self, start: int, end: int) -> int:
        """The size in bytes of the log's records in [start, end). Raises OffsetError."""
        return self.log.size_between(start, end)

    def archived_behind(self, applied: Mapping[tuple[str, int], int]) -> int:
        """The number of bytes in the archive after these positions."""
        return self.archive.size_behind(applied)

    def disk_bytes(self) -> int:
        """The total size in bytes of all files of the log and the archive."""
        return self.log.disk_bytes() + self.archive.disk_bytes()
