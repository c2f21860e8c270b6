"""Segment files: their names, their headers, and reading the records in them.

A segment `NNNNNNNNNN.log` begins with a header that names the previous segment, and the byte at which the last durable record of the
previous segment ends. So a reader knows where every segment except the newest ends, even if a failed write left bytes after that end. An
offset is `segment << 32 | byte`; segments are numbered from 1.
"""

import re
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.compressed.segment_file import SegmentFile, open_segment, segment_beginning, segment_size
from lineage_bridge.eventlog.record_format import HEAD, TOTAL, read_head, read_parts
from lineage_bridge.eventlog.resync import next_record
from lineage_bridge.graph.log_record import LogRecord

MAGIC: Final = b"LBLOGSEG"
VERSION: Final = 1
HEADER_BYTES: Final = 28
MAX_SEGMENT: Final = (1 << 31) - 1
CHUNK_BYTES: Final = 1 << 20
_RECORD_BYTES: Final = 16 << 10
"""What is read at once where a single record is wanted. Most are smaller; of a compressed segment, a frame or two are decompressed."""
_BYTE_MASK: Final = (1 << 32) - 1
_FIELDS: Final = struct.Struct("<8sIIII")
_CRC: Final = struct.Struct("<I")
_NAME: Final = re.compile(r"\d{10}\.log(\.zst)?")


class SegmentHeader(NamedTuple):
    """The header of a segment: its number, the number of the previous segment (0: none), and the byte at which the previous segment
    ends.
    """

    number: int
    previous: int
    previous_end: int


def make_offset(segment: int, byte: int) -> int:
    """The log offset of a byte in a segment."""
    return segment << 32 | byte


def segment_of(offset: int) -> int:
    """The segment number of an offset."""
    return offset >> 32


def byte_of(offset: int) -> int:
    """The byte of an offset within its segment."""
    return offset & _BYTE_MASK


def segment_path(directory: Path, number: int) -> Path:
    """The path of a segment's file. A compressed segment is beside it, with `.zst` added to its name; `open_segment` opens either."""
    return directory / f"{number:010d}.log"


def list_segments(directory: Path) -> list[int]:
    """The numbers of the existing segments, compressed or not, ascending; empty if the directory does not exist. Raises OSError.

    While a segment is being compressed, a listing of a large directory may contain neither of its two files. So if a number is missing, the
    directory is listed again.
    """
    numbers = _listed(directory)
    return sorted(numbers | _listed(directory) if len(numbers) < max(numbers, default=0) else numbers)


def _listed(directory: Path) -> set[int]:
    try:
        return {int(path.name[:10]) for path in directory.iterdir() if _NAME.fullmatch(path.name)}
    except FileNotFoundError:
        return set()


def encode_header(header: SegmentHeader) -> bytes:
    """Encode the header of a segment, which is the first HEADER_BYTES of its file."""
    fields = _FIELDS.pack(MAGIC, VERSION, *header)
    return fields + _CRC.pack(crc32(fields))


def read_header(directory: Path, number: int) -> SegmentHeader:
    """The header of a segment.

    Raises RecordError if it is incomplete, damaged, of another version or of another segment; OSError if it cannot be read.
    """
    path = segment_path(directory, number)
    data = segment_beginning(path, HEADER_BYTES)
    if len(data) < HEADER_BYTES or _CRC.pack(crc32(data[: _FIELDS.size])) != data[_FIELDS.size :]:
        raise RecordError(f"the header of segment {path} is incomplete or damaged", _HINT)
    magic, version, *header = _FIELDS.unpack_from(data)
    if magic != MAGIC or version != VERSION or header[0] != number:
        raise RecordError(f"the header of {path} is not that of segment {number} in a log of format version {VERSION}", _HINT)
    return SegmentHeader(*header)


def segment_end(directory: Path, number: int, following: int | None) -> int:
    """The end of the durable records of a closed segment: the end that the next segment's header states or, if there is none, the end of
    the file.
    """
    if following is not None:
        with suppress(RecordError):
            header = read_header(directory, following)
            if header.previous == number:
                return header.previous_end
    return segment_size(segment_path(directory, number))


class UnreadableBytes(NamedTuple):
    """Bytes of a segment, from `first` up to `end`, where a record should be but cannot be read, and the reason."""

    first: int
    end: int
    reason: str


class ReadBuffer:
    """A read buffer over a segment file. It reads at least `chunk` bytes at a time, but no byte at or after `limit`."""

    def __init__(self, file: SegmentFile, limit: int, chunk: int = CHUNK_BYTES) -> None:
        self._file, self._chunk = file, chunk
        self.limit = limit
        self._base = 0
        self._data = b""

    def locate(self, byte: int, size: int) -> tuple[bytes, int]:
        """Return the buffer, and the index in the buffer at which the file's `byte` is. At least `size` bytes follow at that index;
        otherwise raises RecordError.
        """
        at = byte - self._base
        if at < 0 or at + size > len(self._data):
            self._refill(byte, size)
            at = 0
        return self._data, at

    def find(self, pattern: bytes, start: int) -> int | None:
        """The first byte at or after `start` where a pattern begins; None if it does not occur before the limit."""
        while start < self.limit:
            data = self._file.read(min(CHUNK_BYTES, self.limit - start), start)
            at = data.find(pattern)
            if at >= 0:
                return start + at
            if len(data) <= len(pattern):
                return None
            start += len(data) - len(pattern) + 1
        return None

    def _refill(self, byte: int, size: int) -> None:
        self.require(byte + size)
        self._data = self._file.read(min(max(size, self._chunk), self.limit - byte), byte)
        self._base = byte
        if len(self._data) < size:
            raise RecordError("the segment ends before the record does")

    def require(self, end: int) -> None:
        """Check that the bytes up to `end` may be read. Raises RecordError if `end` is after the limit."""
        if end > self.limit:
            raise RecordError("the segment ends before the record does")


def _ignore(_: UnreadableBytes) -> None:
    """Do nothing about a gap in the log; checks of the log report gaps."""


def walk_records(
    path: Path, start: int, stop: int, limit: int, on_gap: Callable[[UnreadableBytes], None] = _ignore
) -> Iterator[tuple[int, int, LogRecord]]:
    """Yield (byte, size, record) for each complete record that begins in [start, stop).

    `start` is the first byte of a record; no byte from `limit` on is read. Bytes that are not a complete record are passed to `on_gap`, and
    reading continues at the next complete record.
    """
    byte = start
    with open_segment(path) as file:
        buffer = ReadBuffer(file, limit)
        while byte < stop:
            try:
                data, at = buffer.locate(byte, HEAD.size)
                head = read_head(data, at)
                size = head[TOTAL]
                if at + size > len(data):
                    data, at = buffer.locate(byte, size)
                record = read_parts(data, at, head)
            except RecordError as error:
                byte = _report_gap(buffer, byte, error, on_gap)
                continue
            yield byte, size, record
            byte += size


def walk_sizes(path: Path, start: int, stop: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield (byte, size) for each record that begins in [start, stop), from the headers alone. Damaged records are skipped."""
    byte = start
    with open_segment(path) as file:
        buffer = ReadBuffer(file, limit)
        while byte < stop:
            try:
                size = read_head(*buffer.locate(byte, HEAD.size))[TOTAL]
                buffer.require(byte + size)
            except RecordError as error:
                byte = _report_gap(buffer, byte, error, _ignore)
                continue
            yield byte, size
            byte += size


def _report_gap(buffer: ReadBuffer, byte: int, error: RecordError, on_gap: Callable[[UnreadableBytes], None]) -> int:
    """Report the gap that begins at `byte`; returns the byte after it."""
    end = next_record(buffer, byte)
    on_gap(UnreadableBytes(byte, end, str(error)))
    return end


def record_in(path: Path, byte: int, limit: int) -> LogRecord:
    """The record that begins at a byte of a segment. If no complete record begins there, raises RecordError, which names the segment and
    the byte.
    """
    with open_segment(path) as file:
        buffer = ReadBuffer(file, limit, _RECORD_BYTES)
        try:
            head = read_head(*buffer.locate(byte, HEAD.size))
            return read_parts(*buffer.locate(byte, head[TOTAL]), head)
        except RecordError as error:
            offset = make_offset(int(path.stem), byte)
            raise RecordError(f"{error} (offset {offset}: segment {path}, byte {byte})", _HINT) from error


def records_end(path: Path, limit: int | None = None) -> int:
    """The end of the last complete record of a segment (before `limit`, if given), even if there is damage between records."""
    size = segment_size(path)
    limit = size if limit is None else min(size, limit)
    return max((byte + length for byte, length, _ in walk_records(path, HEADER_BYTES, limit, limit)), default=HEADER_BYTES)


_HINT: Final = "lineage-bridge log check lists the damage and how to repair it"
