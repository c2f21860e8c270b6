"""Repairs the end of the log when the writer starts. It cuts off the bytes of an interrupted write, which was never acknowledged, and
nothing else.

Bytes below the durable mark are never cut, even if they are damaged: readers skip unreadable bytes, and `check_log` lists them.
"""

import os
from pathlib import Path
from typing import Final, NamedTuple

from lineage_bridge.errors import LogError, RecordError
from lineage_bridge.eventlog.compressed.compressor import decompress_segment
from lineage_bridge.eventlog.compressed.segment_file import open_segment, segment_size
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.mark import DurableMark, read_mark
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    SegmentHeader,
    UnreadableBytes,
    byte_of,
    encode_header,
    list_segments,
    make_offset,
    read_header,
    records_end,
    segment_of,
    segment_path,
    walk_records,
)

_COPY_BYTES: Final = 1 << 20


class Recovery(NamedTuple):
    """The end of the log after recovery.

    `number`, `byte`: the last segment (0: none), and where its durable records end. `is_open`: the segment ends at that byte, so that
    records can be appended there. `end`: the durable end of the log, which is never lower than `published`, the durable mark before the
    recovery. `cut_bytes`: how many bytes were cut off. If the durable mark was lost, some of these bytes may have been acknowledged; they
    are then saved in the file `saved`. `healed`: whether the last segment's header was damaged and written again.
    """

    number: int
    byte: int
    is_open: bool
    end: int
    published: int
    cut_bytes: int
    saved: Path | None
    healed: bool


def recover(directory: Path, disk: Disk, mark: DurableMark) -> Recovery:
    """Make the log end with durable records, and set the durable mark to its end. The caller holds the lock. Raises OSError."""
    published = _published(directory)
    healed = _heal_last_header(directory, published or 0, disk)
    number = max(list_segments(directory), default=0)
    byte, cut_bytes, saved = _cut_torn(directory, number, published, disk) if number else (0, 0, None)
    is_open = number > 0 and segment_path(directory, number).stat().st_size == byte
    end = max(_last_record_end(directory, number, byte), published or 0)
    if segment_of(end) > number:
        number, byte, is_open = segment_of(end), byte_of(end), False
    mark.publish(end)
    mark.settle()
    disk.sync_directory(directory)
    return Recovery(number, byte, is_open, end, published or 0, cut_bytes, saved, healed)


def _published(directory: Path) -> int | None:
    """The position in the durable mark; None if the mark is lost or damaged."""
    try:
        return read_mark(directory) or None
    except LogError:
        return None


def _heal_last_header(directory: Path, published: int, disk: Disk) -> bool:
    """Remove segments without a header at the end of the log: the process stopped while it began them.

    Then decompress the last remaining segment. If its header is damaged, and it has or had records, write the header again. Returns whether
    a header was written.
    """
    for number in reversed(list_segments(directory)):
        decompress_segment(directory, number, disk)
        path = segment_path(directory, number)
        if _has_header(directory, number):
            return False
        if segment_size(path) > HEADER_BYTES or published >= make_offset(number, HEADER_BYTES):
            write_header(directory, number, disk)
            return True
        path.unlink()
    return False


def write_header(directory: Path, number: int, disk: Disk) -> None:
    """Write the header of a segment again, computed from the segments before it. Raises OSError."""
    previous = max((other for other in list_segments(directory) if other < number), default=0)
    end = records_end(segment_path(directory, previous)) if previous else 0
    fd = disk.open(segment_path(directory, number))
    try:
        disk.write(fd, [encode_header(SegmentHeader(number, previous, end))], 0)
        disk.sync(fd)
    finally:
        os.close(fd)


def _has_header(directory: Path, number: int) -> bool:
    try:
        read_header(directory, number)
    except RecordError:
        return False
    return True


def _cut_torn(directory: Path, number: int, published: int | None, disk: Disk) -> tuple[int, int, Path | None]:
    """Cut a segment off after its durable records.

    Returns the byte where these records end, the number of bytes cut off, and, if the durable mark was lost, the file with a copy of these
    bytes.
    """
    path = segment_path(directory, number)
    size = path.stat().st_size
    byte = records_end(path) if published is None else _durable_byte(path, size, number, published)
    is_mark_lost = published is None and _last_record_end(directory, number, byte) > 0
    saved = save(path, byte, size, cut_path(directory, number, byte)) if is_mark_lost and byte < size else None
    fd = disk.open(path)
    try:
        if byte < size:
            disk.truncate(fd, byte)
        disk.sync(fd)
    finally:
        os.close(fd)
    return byte, max(0, size - byte), saved


def _durable_byte(path: Path, size: int, number: int, published: int) -> int:
    """The end of the durable records in the last segment. Complete records after the durable mark are kept, up to the first incomplete
    one.
    """
    marked = HEADER_BYTES if segment_of(published) < number else byte_of(published) if segment_of(published) == number else size
    torn: list[UnreadableBytes] = []
    end = marked
    for byte, length, _ in walk_records(path, HEADER_BYTES, size, size, torn.append):
        if any(gap.end > marked for gap in torn):
            break
        end = max(end, byte + length)
    return end


def save(path: Path, first: int, end: int, target: Path) -> Path:
    """Copy the bytes of a segment from `first` up to `end` durably into a separate file. Raises OSError."""
    with open_segment(path) as source, target.open("wb") as copy:
        while first < end and (piece := source.read(min(end - first, _COPY_BYTES), first)):
            copy.write(piece)
            first += len(piece)
        copy.flush()
        os.fsync(copy.fileno())
    return target


def cut_path(directory: Path, number: int, byte: int) -> Path:
    """The path of the file for bytes that are cut out of a segment."""
    return directory / f"{number:010d}-{byte:010d}.cut"


def _last_record_end(directory: Path, number: int, byte: int) -> int:
    """The end of the last record at or before a byte of a segment. Skips segments without records; 0 if there is no record."""
    while number and byte <= HEADER_BYTES:
        number, byte = _before(directory, number)
    return make_offset(number, byte)


def _before(directory: Path, number: int) -> tuple[int, int]:
    """The number of the segment before this one, and the end of that segment's records. Both are in this segment's header; if the header is
    damaged, they are determined from the files.
    """
    try:
        return read_header(directory, number)[1:]
    except (RecordError, FileNotFoundError):
        previous = max((other for other in list_segments(directory) if other < number), default=0)
        return previous, records_end(segment_path(directory, previous)) if previous else 0
