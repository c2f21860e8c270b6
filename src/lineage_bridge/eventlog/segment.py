"""Segment files: names, header, and iteration over the records.

A segment `NNNNNNNNNN.log` begins with a header that names the previous segment and the byte where the last durable
record of that one ended. So a reader knows where every segment but the newest ends, even if a failed write left bytes
after that end. An offset is `segment << 32 | byte`; segments are numbered from 1.
"""

import os
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple
from zlib import crc32

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.record_format import HEAD, TOTAL, read_head, read_parts
from lineage_bridge.graph.log_record import LogRecord

MAGIC: Final = b"LBLOGSEG"
VERSION: Final = 1
HEADER_BYTES: Final = 28
MAX_SEGMENT: Final = (1 << 31) - 1
CHUNK_BYTES: Final = 1 << 20
_BYTE_MASK: Final = (1 << 32) - 1
_FIELDS: Final = struct.Struct("<8sIIII")
_CRC: Final = struct.Struct("<I")
_NAME: Final = re.compile(r"\d{10}\.log")


class SegmentHeader(NamedTuple):
    """The number of a segment, the number of the previous one (0: none), and the byte where the previous one ends."""

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
    """The file of a segment."""
    return directory / f"{number:010d}.log"


def list_segments(directory: Path) -> list[int]:
    """The numbers of the existing segments, ascending; empty if the directory does not exist. Raises OSError."""
    try:
        return sorted(int(path.stem) for path in directory.iterdir() if _NAME.fullmatch(path.name))
    except FileNotFoundError:
        return []


def encode_header(header: SegmentHeader) -> bytes:
    """The first HEADER_BYTES of a segment file."""
    fields = _FIELDS.pack(MAGIC, VERSION, *header)
    return fields + _CRC.pack(crc32(fields))


def read_header(directory: Path, number: int) -> SegmentHeader:
    """The header of a segment.

    Raises RecordError if it is incomplete, damaged, of another version or of another segment; OSError if it cannot be read.
    """
    path = segment_path(directory, number)
    with path.open("rb", buffering=0) as file:
        data = file.read(HEADER_BYTES)
    if len(data) < HEADER_BYTES or _CRC.pack(crc32(data[: _FIELDS.size])) != data[_FIELDS.size :]:
        raise RecordError(f"the header of segment {path} is incomplete or damaged", _HINT)
    magic, version, *header = _FIELDS.unpack_from(data)
    if magic != MAGIC or version != VERSION or header[0] != number:
        raise RecordError(f"segment {path} is not segment {number} of a log of version {VERSION}", _HINT)
    return SegmentHeader(*header)


class ReadBuffer:
    """A read buffer over a segment file. It reads large pieces, and never a byte at or after `limit`."""

    def __init__(self, fd: int, limit: int) -> None:
        self._fd = fd
        self._limit = limit
        self._base = 0
        self._data = b""

    def locate(self, byte: int, size: int) -> tuple[bytes, int]:
        """The buffer, and the index in it of the file's `byte`. At least `size` bytes follow there; raises RecordError otherwise."""
        at = byte - self._base
        if at + size > len(self._data):
            self._refill(byte, size)
            at = 0
        return self._data, at

    def _refill(self, byte: int, size: int) -> None:
        self.require(byte + size)
        self._data = os.pread(self._fd, min(max(size, CHUNK_BYTES), self._limit - byte), byte)
        self._base = byte
        if len(self._data) < size:
            raise RecordError("the record is cut short")

    def require(self, end: int) -> None:
        """Raise RecordError if `end` is after the limit."""
        if end > self._limit:
            raise RecordError("the record is cut short")


def walk_records(path: Path, start: int, stop: int, limit: int) -> Iterator[tuple[int, int, LogRecord]]:
    """Yield (byte, size, record) for each record that begins in [start, stop).

    `start` is the first byte of a record; no byte from `limit` on is read. Raises RecordError, which names segment and
    byte, at the first record that is incomplete or damaged.
    """
    byte = start
    with path.open("rb", buffering=0) as file:
        buffer = ReadBuffer(file.fileno(), limit)
        try:
            while byte < stop:
                data, at = buffer.locate(byte, HEAD.size)
                head = read_head(data, at)
                size = head[TOTAL]
                if at + size > len(data):
                    data, at = buffer.locate(byte, size)
                yield byte, size, read_parts(data, at, head)
                byte += size
        except RecordError as error:
            raise _broken(path, byte, error) from error


def walk_sizes(path: Path, start: int, stop: int, limit: int) -> Iterator[tuple[int, int]]:
    """Yield (byte, size) for each record that begins in [start, stop), from the headers alone. Raises as walk_records."""
    byte = start
    with path.open("rb", buffering=0) as file:
        buffer = ReadBuffer(file.fileno(), limit)
        try:
            while byte < stop:
                size = read_head(*buffer.locate(byte, HEAD.size))[TOTAL]
                buffer.require(byte + size)
                yield byte, size
                byte += size
        except RecordError as error:
            raise _broken(path, byte, error) from error


def whole_end(path: Path) -> int:
    """Where the complete records of a segment end: at the first broken record, otherwise at the end of the file."""
    end = HEADER_BYTES
    size = path.stat().st_size
    try:
        for byte, length, _ in walk_records(path, end, size, size):
            end = byte + length
    except RecordError:
        return end
    return end


_HINT: Final = "restore the segment from a copy of the log folder; nothing was changed"


def _broken(path: Path, byte: int, error: RecordError) -> RecordError:
    offset = make_offset(int(path.stem), byte)
    return RecordError(f"{error} (offset {offset}: segment {path}, byte {byte})", error.hint or _HINT)
