"""The layout of a compressed segment, `NNNNNNNNNN.log.zst`.

    table | frame ... frame parity | frame ... frame parity | ... | table

Each frame is a zstd frame with FRAME_BYTES of the segment, so the frame of an offset is easily found, and any part can be read alone. After
each GROUP frames, `parity` is the XOR of their compressed bytes: one damaged frame of a group can be restored. The table has the size and
the CRC-32 of each frame and parity, and is stored twice. Tables and parities are skippable frames, so `zstd -d` decompresses the file. All
numbers are little-endian.
"""

import struct
import sys
from collections.abc import Sequence
from itertools import accumulate
from typing import Final, NamedTuple
from zlib import crc32

from lineage_bridge.errors import RecordError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

FRAME_BYTES: Final = 256 << 10
GROUP: Final = 16
LEVEL: Final = 3
_TABLE_FRAME: Final = 0x184D2A5A
_PARITY_FRAME: Final = 0x184D2A5B
_SKIPPABLE: Final = struct.Struct("<II")
_FIELDS: Final = struct.Struct("<8sIIQ")
_ENTRY: Final = struct.Struct("<II")
_NUMBER: Final = struct.Struct("<I")
_MAGIC: Final = b"LBZSTSEG"
_VERSION: Final = 1
_MAX_TABLE: Final = 1 << 20
_MAX_PIECE: Final = 2 * FRAME_BYTES
"""The size of a compressed frame or parity is below this, whatever the frame contains."""


class StoredPiece(NamedTuple):
    """A frame or parity in the file: its first byte, its size in bytes, and the CRC-32 of these bytes."""

    first: int
    size: int
    checksum: int


class FrameTable(NamedTuple):
    """The content of a compressed segment: the size of the segment in bytes, its frames, and a parity for each GROUP frames."""

    size: int
    frames: tuple[StoredPiece, ...]
    parities: tuple[StoredPiece, ...]

    @property
    def end(self) -> int:
        """The byte of the file where the second table begins."""
        return self.parities[-1].first + self.parities[-1].size if self.parities else table_size(0)

    def group(self, frame: int) -> tuple[range, StoredPiece]:
        """The numbers of the frames in the group of a frame, and the parity of the group."""
        first = frame // GROUP * GROUP
        return range(first, min(first + GROUP, len(self.frames))), self.parities[frame // GROUP]


def table_size(frames: int) -> int:
    """The size in bytes of the table of that many frames."""
    return _SKIPPABLE.size + _FIELDS.size + _ENTRY.size * (frames + -(-frames // GROUP)) + 2 * _NUMBER.size


def entry_of(piece: bytes) -> tuple[int, int]:
    """The entry of a frame or parity in the table: its size and CRC-32."""
    return len(piece), crc32(piece)


def encode_table(size: int, entries: Sequence[tuple[int, int]]) -> bytes:
    """Encode the table of a segment of `size` bytes, from the entries of its frames, followed by those of its parities."""
    payload = _FIELDS.pack(_MAGIC, _VERSION, FRAME_BYTES, size) + b"".join(_ENTRY.pack(*entry) for entry in entries)
    whole = _SKIPPABLE.pack(_TABLE_FRAME, len(payload) + 2 * _NUMBER.size) + payload
    return whole + _NUMBER.pack(crc32(whole)) + _NUMBER.pack(len(whole) + 2 * _NUMBER.size)


def decode_table(data: bytes) -> FrameTable:
    """Decode a table. Raises RecordError if it is incomplete, damaged or of another version."""
    if len(data) < table_size(0) or crc32(data[: -2 * _NUMBER.size]) != _NUMBER.unpack_from(data, len(data) - 2 * _NUMBER.size)[0]:
        raise RecordError("the table of the compressed segment is incomplete or damaged")
    magic, version, frame_bytes, size = _FIELDS.unpack_from(data, _SKIPPABLE.size)
    frames = -(-size // FRAME_BYTES)
    if (magic, version, frame_bytes) != (_MAGIC, _VERSION, FRAME_BYTES) or len(data) != table_size(frames):
        raise RecordError(f"the table of the compressed segment does not have the format of version {_VERSION}")
    entries = list(_ENTRY.iter_unpack(data[_SKIPPABLE.size + _FIELDS.size : -2 * _NUMBER.size]))
    if any(length > _MAX_PIECE for length, _ in entries):
        raise RecordError(f"the table of the compressed segment lists a frame of more than {_MAX_PIECE} bytes")
    return _placed(size, entries[:frames], entries[frames:])


def table_length(first: bytes, last: bytes) -> tuple[int, int]:
    """The lengths of the two tables, by the first 8 and the last 4 bytes of the file; 0 for a table that cannot be at its place."""
    magic, payload = _SKIPPABLE.unpack(first) if len(first) == _SKIPPABLE.size else (0, 0)
    front = payload + _SKIPPABLE.size if magic == _TABLE_FRAME else 0
    back = _NUMBER.unpack(last)[0] if len(last) == _NUMBER.size else 0
    return (front if front <= _MAX_TABLE else 0), (back if back <= _MAX_TABLE else 0)


def compress_frame(content: bytes) -> bytes:
    """Compress the content of a frame: FRAME_BYTES of a segment, or fewer at its end."""
    return zstd.compress(content, LEVEL)


def decompress_frame(stored: bytes, size: int) -> bytes | None:
    """The `size` bytes that a frame contains; None if the frame does not contain as many."""
    try:
        content = zstd.ZstdDecompressor().decompress(stored, size + 1)
    except zstd.ZstdError:
        return None
    return content if len(content) == size else None


def encode_parity(frames: Sequence[bytes]) -> bytes:
    """Encode the parity of a group of compressed frames."""
    parity = xor(frames)
    return _SKIPPABLE.pack(_PARITY_FRAME, len(parity)) + parity


def restore_frame(parity: bytes, others: Sequence[bytes], frame: StoredPiece) -> bytes | None:
    """Restore a compressed frame from the encoded parity and the other frames of its group; None if the result is not that frame."""
    restored = xor([parity[_SKIPPABLE.size :], *others])[: frame.size]
    return restored if len(restored) == frame.size and crc32(restored) == frame.checksum else None


def xor(pieces: Sequence[bytes]) -> bytes:
    """The XOR of byte strings, each padded with zeros to the length of the longest."""
    result = 0
    for piece in pieces:
        result ^= int.from_bytes(piece, "little")
    return result.to_bytes(max(map(len, pieces), default=0), "little")


def _placed(size: int, frames: Sequence[tuple[int, int]], parities: Sequence[tuple[int, int]]) -> FrameTable:
    """Compute the position of each piece in the file, and return the table: each parity follows the frames of its group."""
    order = [entry for at in range(len(parities)) for entry in (*frames[at * GROUP : (at + 1) * GROUP], parities[at])]
    starts = accumulate((length for length, _ in order), initial=table_size(len(frames)))
    placed = [StoredPiece(first, *entry) for first, entry in zip(starts, order, strict=False)]
    behind = {(at + 1) * (GROUP + 1) - 1 for at in range(len(parities))} | {len(order) - 1}
    return FrameTable(
        size,
        tuple(piece for at, piece in enumerate(placed) if at not in behind),
        tuple(piece for at, piece in enumerate(placed) if at in behind),
    )
