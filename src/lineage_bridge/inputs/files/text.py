"""Reads the text of a file, which may be compressed by gzip, and its lines."""

import zlib
from typing import Final, NamedTuple

from lineage_bridge.inputs.files.store import RawFile
from lineage_bridge.inputs.values import MAX_VALUE_BYTES

CHUNK_BYTES: Final = 1 << 18
COMPLETE, INCOMPLETE, DAMAGED = "complete", "incomplete", "damaged"
"""The outcome at the end of a text."""
_GZIP: Final = b"\x1f\x8b"
_UNPACKED: Final = 1 << 20
"""How many bytes are decompressed at once."""


class FileText:
    """The text of an open file. To go back in a compressed file, it is decompressed again from the start."""

    def __init__(self, raw: RawFile) -> None:
        self._raw = raw
        self.head = raw.read(1024)
        self.is_packed = self.head.startswith(_GZIP)
        self._rewind()

    def _rewind(self) -> None:
        self._raw.seek(0)
        self.offset, self.ending = 0, COMPLETE
        self._stream: zlib._Decompress | None = None
        self._packed = b""

    def seek(self, offset: int) -> bool:
        """Move to an offset. Returns whether the text is that long."""
        if not self.is_packed:
            self._raw.seek(max(0, offset - 1))
            is_there = offset == 0 or bool(self._raw.read(1))
            self.offset = offset
            return is_there
        if offset < self.offset:
            self._rewind()
        while self.offset < offset:
            if not self.read(min(_UNPACKED, offset - self.offset)):
                return False
        return True

    def read(self, size: int) -> bytes:
        """The next bytes, at most `size`; none at the end. `ending` then says how the text ended."""
        found = self._unpack(size) if self.is_packed else self._raw.read(size)
        self.offset += len(found)
        return found

    def _unpack(self, size: int) -> bytes:
        while self.ending != DAMAGED:
            if self._stream is not None and self._stream.eof:
                self._packed = self._stream.unused_data
                self._stream = None
            packed = self._packed or self._raw.read(CHUNK_BYTES)
            self._packed = b""
            if not packed:
                self.ending = COMPLETE if self._stream is None else INCOMPLETE
                return b""
            if self._stream is None:
                self._stream = zlib.decompressobj(zlib.MAX_WBITS | 16)
            before = self._stream.copy()
            try:
                found = self._stream.decompress(packed, size)
                self._packed = self._stream.unconsumed_tail
            except zlib.error:
                self.ending = DAMAGED
                found = _up_to_damage(before, packed)
            if found:
                return found
        return b""


def _up_to_damage(stream: "zlib._Decompress", packed: bytes) -> bytes:
    """The bytes that can be decompressed before the damage."""
    unpacked, size = b"", len(packed) // 2
    while size and packed:
        before = stream.copy()
        try:
            unpacked += stream.decompress(packed[:size])
            packed = packed[size:]
        except zlib.error:
            stream, size = before, size // 2
    return unpacked


class Line(NamedTuple):
    """A line without its end. `offset` is the position of its first byte, `end` that of the first byte after it. For a very long line,
    `data` only has the beginning.
    """

    offset: int
    data: bytes
    end: int
    has_end: bool


class LineReader:
    """Reads the lines of a text from an offset on."""

    def __init__(self, text: FileText, offset: int) -> None:
        self._text = text
        self.is_there = text.seek(offset)
        self._data, self._at, self._offset = b"", 0, offset

    def next(self) -> Line | None:
        """Read the next line; None at the end."""
        size = CHUNK_BYTES
        searched = self._at
        while (found := self._data.find(b"\n", searched)) < 0:
            searched = len(self._data) - self._at
            more = self._text.read(size)
            if not more:
                return self._rest()
            self._data, self._at = self._data[self._at :] + more, 0
            if len(self._data) > MAX_VALUE_BYTES + 1:
                return self._long()
            size = min(2 * size, 8 << 20)
        data = self._data[self._at : found]
        self._at = found + 1
        return self._line(data, len(data) + 1, has_end=True)

    def _rest(self) -> Line | None:
        data, self._data, self._at = self._data[self._at :], b"", 0
        return self._line(data, len(data), has_end=False) if data else None

    def _long(self) -> Line:
        """Read a line that exceeds the limit of values, and keep only its beginning."""
        data, length = self._data[: MAX_VALUE_BYTES + 1], 0
        while (found := self._data.find(b"\n")) < 0:
            length += len(self._data)
            self._data = self._text.read(_UNPACKED)
            if not self._data:
                return self._line(data, length, has_end=False)
        self._at = found + 1
        return self._line(data, length + found + 1, has_end=True)

    def _line(self, data: bytes, length: int, *, has_end: bool) -> Line:
        offset = self._offset
        self._offset += length
        return Line(offset, data, self._offset, has_end)
