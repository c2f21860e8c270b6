"""Repairs the end of the log when the writer starts: cuts off the first broken record and everything after it, nothing else."""

import os
import shutil
from pathlib import Path
from typing import Final, NamedTuple

from lineage_bridge.errors import LogError, RecordError
from lineage_bridge.eventlog.disk import Disk
from lineage_bridge.eventlog.mark import DurableMark, read_mark
from lineage_bridge.eventlog.segment import (
    HEADER_BYTES,
    list_segments,
    make_offset,
    read_header,
    segment_path,
    whole_end,
)

_COPY_BYTES: Final = 1 << 20


class Recovery(NamedTuple):
    """The end of the log after recovery.

    `number`: the last segment (0: none). `byte`: where its records end. `end`: the end of the last record. `shown`: the
    durable mark before. `cut_bytes`: how many bytes were cut off. If some of these were below the mark, so that readers
    could see them, the cause is damage and not a torn write; the bytes are then saved in the file `kept`.
    """

    number: int
    byte: int
    end: int
    shown: int
    cut_bytes: int
    kept: Path | None


def recover(directory: Path, disk: Disk, mark: DurableMark) -> Recovery:
    """Make the log end with a complete, durable record, and set the mark to its end. The caller holds the lock. Raises OSError."""
    shown = _read_shown(directory)
    set_aside = _set_aside_headless(directory)
    number = max(list_segments(directory), default=0)
    byte, cut_bytes, kept = _cut_torn(directory, number, shown, disk, mark) if number else (0, 0, None)
    end = _last_record_end(directory, number, byte)
    mark.publish(end)
    mark.settle()
    disk.sync_directory(directory)
    return Recovery(number, byte, end, shown, cut_bytes, kept or set_aside)


def _read_shown(directory: Path) -> int:
    """The durable mark; 0 if it is damaged, because readers cannot read anything then."""
    try:
        return read_mark(directory)
    except LogError:
        return 0


def _set_aside_headless(directory: Path) -> Path | None:
    """Remove segments at the end without a complete header, which a stop during a roll to a new segment leaves behind.

    A segment with more bytes than a header is damaged; it is kept under another name, which is returned.
    """
    kept = None
    for number in reversed(list_segments(directory)):
        if _has_header(directory, number):
            break
        path = segment_path(directory, number)
        if path.stat().st_size > HEADER_BYTES:
            kept = path.rename(_kept_path(directory, number, 0))
        else:
            path.unlink()
    return kept


def _has_header(directory: Path, number: int) -> bool:
    try:
        read_header(directory, number)
    except RecordError:
        return False
    return True


def _cut_torn(directory: Path, number: int, shown: int, disk: Disk, mark: DurableMark) -> tuple[int, int, Path | None]:
    """Cut a segment at its first broken record.

    Returns the byte of the cut, the number of bytes cut off, and the file with a copy of them if some were below `shown`.
    """
    path = segment_path(directory, number)
    byte, size = whole_end(path), path.stat().st_size
    kept = None
    if byte < size and make_offset(number, byte) < shown:
        kept = _keep(path, byte, _kept_path(directory, number, byte))
        mark.publish(_last_record_end(directory, number, byte))
    fd = disk.open(path)
    try:
        if byte < size:
            disk.truncate(fd, byte)
        disk.sync(fd)
    finally:
        os.close(fd)
    return byte, size - byte, kept


def _keep(path: Path, byte: int, target: Path) -> Path:
    with path.open("rb") as source, target.open("wb") as copy:
        source.seek(byte)
        shutil.copyfileobj(source, copy, _COPY_BYTES)
        copy.flush()
        os.fsync(copy.fileno())
    return target


def _kept_path(directory: Path, number: int, byte: int) -> Path:
    return directory / f"{number:010d}-{byte:010d}.cut"


def _last_record_end(directory: Path, number: int, byte: int) -> int:
    """The end of the last record at or before a byte of a segment. Skips segments without records; 0 if there is no record."""
    while number and byte <= HEADER_BYTES:
        _, number, byte = read_header(directory, number)
    return make_offset(number, byte)
