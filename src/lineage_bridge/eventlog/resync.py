"""Finds the next complete record after damaged bytes, so that only the damaged records are lost."""

from contextlib import suppress
from typing import Final, Protocol

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.record_format import HEAD, MAGIC, TOTAL, VERSION, read_head, read_parts

_BEGINNING: Final = MAGIC + bytes([VERSION])


class Bytes(Protocol):
    """Access to the bytes of a segment, up to a limit."""

    limit: int

    def locate(self, byte: int, size: int) -> tuple[bytes, int]:
        """Return a buffer, and the index in the buffer at which the segment's `byte` is. At least `size` bytes follow at that index;
        otherwise raises RecordError.
        """

    def find(self, pattern: bytes, start: int) -> int | None:
        """The first byte at or after `start` where a pattern begins; None if it does not occur before the limit."""


def next_record(data: Bytes, damaged: int) -> int:
    """The byte where the first complete record after a damaged one begins; the limit if none follows.

    The end that the damaged record itself states is tried first. The bytes are only searched if no record begins there, because the body of
    a rejected event can contain bytes that look like a record.
    """
    for end in _stated_ends(data, damaged):
        if damaged < end <= data.limit and (end == data.limit or _is_record(data, end)):
            return end
    start = damaged + 1
    while (found := data.find(_BEGINNING, start)) is not None:
        if _is_record(data, found):
            return found
        start = found + 1
    return data.limit


def _stated_ends(data: Bytes, byte: int) -> list[int]:
    """The possible ends of the record at `byte`, if its header is plausible: by its total length, and by the sum of the lengths of its
    parts.
    """
    try:
        magic, _, _, total, _, *lengths, _, _ = HEAD.unpack_from(*data.locate(byte, HEAD.size))
    except RecordError:
        return []
    summed = HEAD.size + sum(lengths)
    return [byte + total, byte + summed] if magic == MAGIC or total == summed else []


def _is_record(data: Bytes, byte: int) -> bool:
    with suppress(RecordError):
        head = read_head(*data.locate(byte, HEAD.size))
        read_parts(*data.locate(byte, head[TOTAL]), head)
        return True
    return False
