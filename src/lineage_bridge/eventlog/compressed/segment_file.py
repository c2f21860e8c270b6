"""Reads segment files, whether they are compressed or not. An offset denotes the same byte of the segment in both forms."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple, Protocol
from zlib import crc32

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.compressed.layout import (
    FRAME_BYTES,
    FrameTable,
    StoredPiece,
    decode_table,
    decompress_frame,
    restore_frame,
    table_length,
)

SUFFIX: Final = ".zst"
BEGINNING_BYTES: Final = 64
_MOST_BEGINNINGS: Final = 1 << 14
"""How many compressed segments' sizes and first bytes are kept in memory: the server looks at all of them every few seconds."""
_NO_TABLE: Final = FrameTable(0, (), ())


class SegmentFile(Protocol):
    """An open segment file."""

    @property
    def size(self) -> int:
        """The size of the segment in bytes, uncompressed."""

    def read(self, size: int, byte: int) -> bytes:
        """Read up to `size` bytes of the segment from `byte` on; fewer at its end. Raises OSError."""


class PlainSegment:
    """Reads a segment file that is not compressed."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return os.fstat(self._fd).st_size

    def read(self, size: int, byte: int) -> bytes:
        """Read up to `size` bytes from `byte` on; fewer at the end of the file. Raises OSError."""
        return os.pread(self._fd, size, byte)


class DamagedFrame(NamedTuple):
    """The bytes of a segment, from `first` up to `end`, whose compressed form is damaged, and whether they can be restored from the
    parity.
    """

    first: int
    end: int
    is_restored: bool


class CompressedSegment:
    """Reads a compressed segment file. A damaged frame is restored from the parity of its group. If that is impossible, its bytes are
    returned as zeros. Zeros are not a record, so readers report these bytes as unreadable, and continue after them.

    If both copies of the table are damaged, the segment counts as empty.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self.table, self._is_table_damaged = _read_table(fd)
        self._last: tuple[int, bytes] = (-1, b"")

    @property
    def size(self) -> int:
        """The size of the segment in bytes, uncompressed."""
        return self.table.size

    def read(self, size: int, byte: int) -> bytes:
        """Read up to `size` bytes of the segment from `byte` on; fewer at its end. Raises OSError."""
        end = min(byte + size, self.table.size)
        if byte >= end:
            return b""
        first = byte // FRAME_BYTES
        content = b"".join(self._content(frame) for frame in range(first, -(-end // FRAME_BYTES)))
        return content[byte - first * FRAME_BYTES : end - first * FRAME_BYTES]

    def damage(self) -> Iterator[DamagedFrame]:
        """Yield each damaged frame. If a table or a parity is damaged, also yield a DamagedFrame of 0 bytes. Raises OSError."""
        if self._is_table_damaged or any(self._piece(parity) is None for parity in self.table.parities):
            yield DamagedFrame(0, 0, self.table is not _NO_TABLE)
        for number, frame in enumerate(self.table.frames):
            if self._piece(frame) is None:
                end = min((number + 1) * FRAME_BYTES, self.table.size)
                yield DamagedFrame(number * FRAME_BYTES, end, self._restored(number) is not None)

    def _content(self, number: int) -> bytes:
        if self._last[0] != number:
            size = min(FRAME_BYTES, self.table.size - number * FRAME_BYTES)
            stored = self._piece(self.table.frames[number]) or self._restored(number)
            content = decompress_frame(stored, size) if stored else None
            self._last = number, content if content is not None else bytes(size)
        return self._last[1]

    def _restored(self, number: int) -> bytes | None:
        group, parity = self.table.group(number)
        pieces = [self._piece(piece) for piece in (parity, *(self.table.frames[other] for other in group if other != number))]
        found = [piece for piece in pieces if piece is not None]
        return restore_frame(found[0], found[1:], self.table.frames[number]) if len(found) == len(pieces) else None

    def _piece(self, piece: StoredPiece) -> bytes | None:
        """The bytes of a frame or parity; None if they do not match their CRC-32."""
        data = os.pread(self._fd, piece.size, piece.first)
        return data if len(data) == piece.size and crc32(data) == piece.checksum else None


def _read_table(fd: int) -> tuple[FrameTable, bool]:
    """The table of a compressed segment (empty if both copies are damaged), and whether any copy is damaged."""
    size = os.fstat(fd).st_size
    front, back = table_length(os.pread(fd, 8, 0), os.pread(fd, 4, max(0, size - 4)))
    found = [_decoded(os.pread(fd, front, 0)), _decoded(os.pread(fd, back, max(0, size - back)))]
    tables = [table for table in found if table]
    if len(tables) < len(found) or tables[0] != tables[1] or size != tables[0].end + back:
        return (tables[0] if tables else _NO_TABLE), True
    return tables[0], False


def _decoded(data: bytes) -> FrameTable | None:
    try:
        return decode_table(data)
    except RecordError:
        return None


def compressed_path(path: Path) -> Path:
    """The path of the compressed form of a segment file."""
    return path.with_name(path.name + SUFFIX)


def stored_path(path: Path) -> Path:
    """The path at which a segment is stored: that of its compressed form if only this form exists, else that of the uncompressed file.
    Neither file needs to exist.
    """
    other = compressed_path(path)
    return other if not path.exists() and other.exists() else path


def stored_bytes(path: Path) -> int:
    """The size of a segment in bytes, in the form in which it is stored, also while it is being compressed. Raises OSError."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return compressed_path(path).stat().st_size


@contextmanager
def open_segment(path: Path) -> Iterator[SegmentFile]:
    """Open a segment for reading: the uncompressed file, or the compressed form if only this form exists. Raises OSError."""
    try:
        file = path.open("rb", buffering=0)
    except FileNotFoundError:
        path = compressed_path(path)
        if not path.exists():
            raise
        file = path.open("rb", buffering=0)
    with file:
        yield (CompressedSegment if SUFFIX in path.suffixes else PlainSegment)(file.fileno())


class _Beginning(NamedTuple):
    size: int
    content: bytes


def segment_size(path: Path) -> int:
    """The size of a segment in bytes, uncompressed. Raises OSError."""
    if SUFFIX in path.suffixes:
        return _kept_beginning(path).size
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return _kept_beginning(compressed_path(path)).size


def segment_beginning(path: Path, size: int) -> bytes:
    """The first `size` bytes (at most BEGINNING_BYTES) of a segment; fewer if the segment is shorter. Raises OSError."""
    try:
        with path.open("rb", buffering=0) as file:
            return file.read(size)
    except FileNotFoundError:
        return _kept_beginning(compressed_path(path)).content[:size]


def _kept_beginning(path: Path) -> _Beginning:
    found = path.stat()
    return _beginning_of(path, (found.st_ino, found.st_size, found.st_mtime_ns))


@lru_cache(maxsize=_MOST_BEGINNINGS)
def _beginning_of(path: Path, _: tuple[int, int, int]) -> _Beginning:
    """The beginning of a compressed segment. Cached by the values that identify the file, because a compressed file never changes."""
    with open_segment(path) as file:
        return _Beginning(file.size, file.read(BEGINNING_BYTES, 0))


def damaged_frames(path: Path) -> list[DamagedFrame]:
    """The damage to a compressed segment; none if the segment is not compressed. Raises OSError."""
    with open_segment(path) as file:
        return list(file.damage()) if isinstance(file, CompressedSegment) else []
