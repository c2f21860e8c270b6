"""A file of records as it will be once some of its bytes are replaced by as many others."""

from bisect import bisect_right
from typing import NamedTuple

from lineage_bridge.eventlog.compressed.segment_file import SegmentFile


class Patch(NamedTuple):
    """Bytes that replace as many bytes of a file from `byte` on. Zeros at the end are left out of `content`."""

    byte: int
    size: int
    content: bytes


class PatchedFile:
    """A file of records with patches, which are sorted, up to `end`. Implements SegmentFile."""

    def __init__(self, original: SegmentFile, patches: list[Patch], end: int) -> None:
        self._original, self._patches, self._end = original, patches, end
        self._starts = [patch.byte for patch in patches]

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self._end

    def read(self, size: int, byte: int) -> bytes:
        """Read up to `size` bytes from `byte` on; fewer at the end. Raises OSError."""
        data = bytearray(self._original.read(min(size, max(0, self._end - byte)), byte))
        at = max(0, bisect_right(self._starts, byte) - 1)
        while at < len(self._patches) and (patch := self._patches[at]).byte < byte + len(data):
            first, last = max(patch.byte, byte), min(patch.byte + patch.size, byte + len(data))
            if first < last:
                piece = patch.content[first - patch.byte : last - patch.byte]
                data[first - byte : last - byte] = piece.ljust(last - first, b"\0")
            at += 1
        return bytes(data)
