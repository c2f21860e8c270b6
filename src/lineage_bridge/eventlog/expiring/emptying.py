"""Empties the expired records of closed segments. Neighbours become one empty record, so that a segment without content is as good as gone:
compressed, only a thousandth of it is left.

A segment is replaced as a whole, so that after a crash it is the old one or the new one.
"""

from collections.abc import Callable, Collection, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.compressed.compressor import rewrite_stored
from lineage_bridge.eventlog.compressed.segment_file import damaged_frames, open_segment, segment_size, stored_path
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.erasing.patches import Patch, PatchedFile
from lineage_bridge.eventlog.erasing.selection import erased_record
from lineage_bridge.eventlog.expiring.expired_offsets import ExpiredOffsets
from lineage_bridge.eventlog.record_format import encode_like, filler
from lineage_bridge.eventlog.segment import HEADER_BYTES, list_segments, make_offset, segment_end, segment_path, walk_records
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.graph.record_origin import read_origin

MOST_BYTES: Final = 4 << 20
"""The size of the largest empty record that is made of several: readers read a record as a whole."""
_EVENTS: Final = (RecordKind.EVENT, RecordKind.REJECTED)
_Input = tuple[str, str, str, str]
_NO_ID: Final = bytes(16)
"""The id of a record that no event is in. An event that was erased leaves its id, by which a repeat of it is erased, too."""


class _Expired(NamedTuple):
    """A record that is emptied. `replacement`: what tells an input how far it had read, if no later record of the segment does."""

    byte: int
    size: int
    replacement: LogRecord | None


def empty_expired(directory: Path, disk: Disk, on_piece: Callable[[], None] = lambda: None) -> int:
    """Empty the expired records of all closed segments of a log. Returns how many segments were rewritten.

    A segment with damage that its parity does not repair stays as it is. If another cannot be rewritten, the rest are nevertheless, and its
    OSError or LogError (of several, the first) is raised at the end. The caller holds the log's lock. `on_piece` is called before each
    segment; it may raise to end the work.
    """
    expired = ExpiredOffsets(directory)
    files, by_segment = expired.files(), expired.by_segment()
    numbers = list_segments(directory)
    closed = dict(pairwise(numbers))
    rewritten, waiting, errors = 0, set(numbers[-1:]), list[OSError | LogError]()
    for number in sorted(by_segment.keys() & closed.keys()):
        on_piece()
        try:
            rewritten += _empty(directory, number, closed[number], by_segment[number], disk)
        except (OSError, LogError) as error:
            errors.append(error)
            waiting.add(number)
    expired.remove(by_segment.keys() - waiting, files)
    if errors:
        raise errors[0]
    return rewritten


def _empty(directory: Path, number: int, following: int, offsets: Collection[int], disk: Disk) -> bool:
    path = segment_path(directory, number)
    if any(not frame.is_restored for frame in damaged_frames(stored_path(path))):
        return False
    end = min(segment_end(directory, number, following), segment_size(path))
    patches = list(_patches(_expired(number, walk_records(path, HEADER_BYTES, end, end), offsets)))
    if patches:
        with open_segment(path) as original:
            rewrite_stored(stored_path(path), PatchedFile(original, patches, original.size), disk)
    return bool(patches)


def _expired(number: int, found: Iterator[tuple[int, int, LogRecord]], offsets: Collection[int]) -> Iterator[_Expired]:
    """The records of a segment that are emptied, and those that are empty already."""
    empty_bytes: list[tuple[int, int]] = []
    last_of: dict[_Input, tuple[int, LogRecord | None]] = {}
    for byte, size, record in found:
        is_expired = record.kind in _EVENTS and make_offset(number, byte) in offsets
        if is_expired or _is_empty(record):
            empty_bytes.append((byte, size))
        if origin := _origin(record):
            last_of[origin] = byte, replace(erased_record(record), event_id=_NO_ID) if is_expired else None
    last = dict(last_of.values())
    for byte, size in empty_bytes:
        yield _Expired(byte, size, last.get(byte))


def _origin(record: LogRecord) -> _Input | None:
    """The partition of an input that the record was read from. The last record of a partition tells the input where to continue."""
    try:
        origin = read_origin(record.note)
    except msgspec.DecodeError:
        return None
    return (origin.input, *origin.where) if origin else None


def _is_empty(record: LogRecord) -> bool:
    return record.kind == RecordKind.ERASED and not any(record.event_id) and not record.note


def _patches(expired: Iterator[_Expired]) -> Iterator[Patch]:
    """The patches that make one empty record of neighbours. An empty record that would stay as it is needs none."""
    first, size, count = 0, 0, 0
    for record in expired:
        is_next = record.replacement is None and record.byte == first + size and size + record.size <= MOST_BYTES
        if count and not is_next:
            yield _empty_record(first, size)
            count = 0
        if record.replacement is not None:
            yield Patch(record.byte, record.size, encode_like(record.replacement, record.size).rstrip(b"\0"))
        elif count:
            size, count = size + record.size, count + 1
        else:
            first, size, count = record.byte, record.size, 1
    if count:
        yield _empty_record(first, size)


def _empty_record(first: int, size: int) -> Patch:
    content = filler(size)
    if content is None:
        raise LogError(f"a record of {size} bytes is too short to be emptied")
    return Patch(first, size, content.rstrip(b"\0"))
