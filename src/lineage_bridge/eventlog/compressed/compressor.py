"""Compresses segments that are no longer written, and decompresses a segment before it is written again."""

import errno
import logging
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.compressed.layout import (
    FRAME_BYTES,
    GROUP,
    compress_frame,
    encode_parity,
    encode_table,
    entry_of,
    table_size,
)
from lineage_bridge.eventlog.compressed.segment_file import (
    SUFFIX,
    CompressedSegment,
    PlainSegment,
    SegmentFile,
    compressed_path,
    damaged_frames,
    open_segment,
    stored_path,
)
from lineage_bridge.eventlog.disk import Disk, LocalDisk, write_all
from lineage_bridge.eventlog.segment import list_segments, segment_path

LEAST_BYTES: Final = 32 << 10
"""The size of the smallest segment that is compressed."""
ROOM_BYTES: Final = 64 << 20
"""The bytes that are left free on the disk for the writer of the log while a segment is compressed."""
TICK_S: Final = 10.0
"""Seconds between two looks for segments to compress."""
_RETRY_S: Final = 300.0
_LOCAL_DISK: Final = LocalDisk()
_log = logging.getLogger(__name__)


class _ClosedError(Exception):
    """The compressor was closed."""


Task = Callable[[Path, Disk, Callable[[], None]], object]
"""Work on the closed segments of the log in a folder. The last argument is to be called often; it raises an error if the work is to end."""


class LogCompressor:
    """Compresses the closed segments of the log in `directory`, in a thread. The caller holds the log's lock until `close` has returned.

    A segment that cannot be compressed, such as on a full disk, stays as it is, and is tried again after five minutes.
    """

    def __init__(self, directory: Path, disk: Disk = _LOCAL_DISK, tasks: Sequence[Task] | None = None) -> None:
        """`tasks` are what is done with closed segments, in turn; by default, they are compressed."""
        self._directory, self._disk, self._tasks = directory, disk, (compress_closed,) if tasks is None else tuple(tasks)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-compressor", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether the thread runs. It ends by `close` only."""
        return self._thread.is_alive()

    def close(self) -> None:
        """Stop compressing. A segment that is being compressed stays as it was."""
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        pause = 0.0
        with suppress(_ClosedError):
            while not self._stop.wait(pause):
                failed = [task for task in self._tasks if not self._attempt_task(task)]
                pause = _RETRY_S if failed else TICK_S

    def _attempt_task(self, task: Task) -> bool:
        """Carry out a task, whatever became of the ones before it. Returns whether it succeeded. Raises _ClosedError."""
        try:
            task(self._directory, self._disk, self._go_on)
        except (OSError, LogError) as error:
            _log.warning("a segment of the event log cannot be compressed or emptied, and stays as it is: %s", error)
            return False
        return True

    def _go_on(self) -> None:
        if self._stop.is_set():
            raise _ClosedError


def compress_closed(directory: Path, disk: Disk, on_piece: Callable[[], None] = lambda: None, least: int = LEAST_BYTES) -> int:
    """Compress all segments of at least `least` bytes, except the last one. Returns how many were compressed.

    The caller holds the log's lock. If a segment cannot be compressed, the others are compressed nevertheless, and its OSError or LogError
    (of several, the first) is raised at the end. `on_piece` is called after each piece; it may raise to end the work.
    """
    numbers = [number for number in list_segments(directory)[:-1] if _is_worth_it(segment_path(directory, number), least)]
    errors = [error for number in numbers if (error := _attempt(segment_path(directory, number), disk, on_piece))]
    if errors:
        raise errors[0]
    return len(numbers)


def decompress_segment(directory: Path, number: int, disk: Disk) -> Path | None:
    """Replace a compressed segment by its uncompressed form. The caller holds the log's lock. Raises OSError.

    If the compressed form was damaged, it is saved, and the path of the saved file is returned; otherwise, and if the segment is not
    compressed, returns None.
    """
    path = segment_path(directory, number)
    stored = stored_path(path)
    if stored == path:
        return None
    saved = stored.with_name(f"{stored.name}.cut") if damaged_frames(stored) else None
    with open_segment(stored) as file, _replacing(path, disk) as fd:
        for byte in range(0, file.size, FRAME_BYTES):
            write_all(disk, fd, [file.read(FRAME_BYTES, byte)], byte)
    if saved:
        stored.replace(saved)
    else:
        stored.unlink()
    disk.sync_directory(directory)
    return saved


def rewrite_stored(path: Path, content: SegmentFile, disk: Disk) -> None:
    """Replace a stored segment, or another file of records, by other content, in the form that its name says. The caller holds the log's
    lock. Raises OSError, and LogError if what was written is not that content.
    """
    with _replacing(path, disk) as fd:
        if SUFFIX in path.suffixes:
            _write_compressed(content, disk, fd, lambda: None)
            _compare(content, CompressedSegment(fd), path, lambda: None)
        else:
            for byte in range(0, content.size, FRAME_BYTES):
                write_all(disk, fd, [content.read(FRAME_BYTES, byte)], byte)


def _is_worth_it(path: Path, least: int) -> bool:
    return path.exists() and path.stat().st_size >= least


def _attempt(path: Path, disk: Disk, on_piece: Callable[[], None]) -> OSError | LogError | None:
    """Compress a segment, and return the error if that fails; the segment then stays as it was."""
    try:
        _compress(path, disk, on_piece)
    except (OSError, LogError) as error:
        return error
    return None


def _compress(path: Path, disk: Disk, on_piece: Callable[[], None]) -> None:
    """Replace a segment by its compressed form, after comparing the two."""
    target = compressed_path(path)
    with path.open("rb", buffering=0) as file:
        segment = PlainSegment(file.fileno())
        with _replacing(target, disk) as fd:
            _write_compressed(segment, disk, fd, on_piece)
            _compare(segment, CompressedSegment(fd), path, on_piece)
    path.unlink()
    disk.sync_directory(path.parent)


def _write_compressed(segment: SegmentFile, disk: Disk, fd: int, on_piece: Callable[[], None]) -> None:
    size = segment.size
    byte = table_size(-(-size // FRAME_BYTES))
    frames: list[tuple[int, int]] = []
    parities: list[tuple[int, int]] = []
    for first in range(0, size, GROUP * FRAME_BYTES):
        _require_room(fd)
        group = [compress_frame(segment.read(FRAME_BYTES, at)) for at in range(first, min(first + GROUP * FRAME_BYTES, size), FRAME_BYTES)]
        parity = encode_parity(group)
        write_all(disk, fd, [*group, parity], byte)
        byte += sum(map(len, group)) + len(parity)
        frames += [entry_of(frame) for frame in group]
        parities.append(entry_of(parity))
        on_piece()
    table = encode_table(size, [*frames, *parities])
    write_all(disk, fd, [table], 0)
    write_all(disk, fd, [table], byte)


def _require_room(fd: int) -> None:
    """Raise OSError if compressing would use disk space that the writer of the log needs."""
    found = os.fstatvfs(fd)
    if found.f_bavail * found.f_frsize < ROOM_BYTES:
        raise OSError(errno.ENOSPC, f"{os.strerror(errno.ENOSPC)}: less than {ROOM_BYTES >> 20} MiB would be left")


def _compare(segment: SegmentFile, compressed: CompressedSegment, path: Path, on_piece: Callable[[], None]) -> None:
    """Raise LogError unless the segment and its compressed form have the same bytes."""
    is_same = segment.size == compressed.size and not list(compressed.damage())
    for byte in range(0, segment.size, FRAME_BYTES):
        is_same = is_same and segment.read(FRAME_BYTES, byte) == compressed.read(FRAME_BYTES, byte)
        on_piece()
    if not is_same:
        raise LogError(f"the compressed form of {path} does not contain the bytes of the segment", "check the disk's health")


@contextmanager
def _replacing(path: Path, disk: Disk) -> Iterator[int]:
    """A context manager that returns the descriptor of a new file. If the block raises no error, the file durably replaces `path`;
    otherwise it is removed.
    """
    new = path.with_name(f"{path.name}.new")
    fd = disk.create(new)
    try:
        yield fd
        disk.sync(fd)
        new.replace(path)
        disk.sync_directory(path.parent)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)
