"""Writes the log: many threads submit records, one thread commits them in groups."""

import errno
from collections.abc import Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from itertools import accumulate
from pathlib import Path
from threading import Thread
from typing import Final

from typing_extensions import Self

from lineage_bridge.errors import ConfigError, LogError, LogFullError
from lineage_bridge.eventlog.disk import Disk, LocalDisk
from lineage_bridge.eventlog.lock import DirectoryLock
from lineage_bridge.eventlog.mark import DurableMark
from lineage_bridge.eventlog.pending import Pending, Submission
from lineage_bridge.eventlog.record_format import encode_record
from lineage_bridge.eventlog.recovery import recover
from lineage_bridge.eventlog.segment import HEADER_BYTES
from lineage_bridge.eventlog.tail import Tail
from lineage_bridge.graph.log_record import LogRecord

SEGMENT_BYTES: Final = 64 << 20
MAX_SEGMENT_BYTES: Final = 1 << 30
MAX_PENDING_BYTES: Final = 256 << 20
HEAL_S: Final = 1.0
"""Seconds between an idle writer's checks that the durable mark still exists."""
GROUP_BYTES: Final = 4 << 20
_FULL: Final = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_LOCAL_DISK: Final = LocalDisk()


class LogWriter:
    """The only writer of the log in `directory`. Records that it acknowledges are durable, and readers see them.

    When it is created, it creates the folder if needed, takes its lock (within `lock_timeout_s` seconds), and cuts off an interrupted write
    at the end of the log (the result is in `recovery`). `floor` is the position of the store: the log has already issued all positions
    before it, so new records get offsets at or after it. A write beyond the process's file size limit is refused like a write to a full
    disk, provided that SIGXFSZ is ignored, as is Python's default. A child process that was forked without exec may keep the lock. Raises
    LogLockedError, LogFullError, LogError; ConfigError for impossible sizes.
    """

    def __init__(
        self,
        directory: Path,
        floor: int = 0,
        *,
        segment_bytes: int = SEGMENT_BYTES,
        lock_timeout_s: float = 0.0,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        disk: Disk = _LOCAL_DISK,
    ) -> None:
        _check_sizes(segment_bytes, max_pending_bytes)
        self._directory = directory
        self._group_bytes = min(GROUP_BYTES, segment_bytes - HEADER_BYTES)
        self._pending = Pending(max_pending_bytes)
        with ExitStack() as stack:
            try:
                _make_directory(directory, disk)
                stack.callback(DirectoryLock(directory, lock_timeout_s).release)
                mark = DurableMark(directory, disk)
                stack.callback(mark.close)
                self.recovery = recover(directory, disk, mark)
                self._tail = Tail(directory, self.recovery, floor=floor, segment_bytes=segment_bytes, disk=disk, mark=mark)
                stack.callback(self._tail.close)
            except OSError as error:
                raise self._log_error(error) from error
            self._files = stack.pop_all()
        self._thread = Thread(target=self._commit_groups, name="log-writer", daemon=True)
        self._thread.start()

    @property
    def pending_bytes(self) -> int:
        """The number of submitted bytes that are neither acknowledged nor refused yet."""
        return self._pending.bytes

    def end(self) -> int:
        """The end of the last durable record, 0 for an empty log. Until the next record is written, it may be lower than `floor`."""
        return self._tail.end

    def submit(self, records: Sequence[LogRecord]) -> Future[list[int]]:
        """Submit records. The future has their offsets, in their order, once all are durable; either all are written or none.

        The future raises LogFullError if the disk is full, LogError if the disk fails. Cancelling it before the write starts
        drops the records. Raises UnavailableError if the queue is full, RecordError for a record that exceeds a limit,
        LogError after `close`.
        """
        future: Future[list[int]] = Future()
        pieces = [encode_record(record) for record in records]
        if pieces:
            self._pending.put(Submission(pieces, sum(map(len, pieces)), future))
        else:
            future.set_result([])
        return future

    def append(self, records: Sequence[LogRecord]) -> list[int]:
        """Write records, wait until they are durable, and return their offsets. Raises the errors of `submit` and of its future."""
        return self.submit(records).result()

    def close(self) -> None:
        """Write what is queued, then close the files and release the lock. May be called again."""
        self._pending.close()
        self._thread.join()
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _commit_groups(self) -> None:
        while (group := self._pending.take(self._group_bytes, HEAL_S)) is not None:
            if not group:
                with suppress(OSError):
                    self._tail.heal()
                continue
            uncancelled = [submission for submission in group if submission.future.set_running_or_notify_cancel()]
            try:
                if uncancelled:
                    self._commit(uncancelled)
            finally:
                self._pending.done(sum(submission.size for submission in group))

    def _commit(self, group: list[Submission]) -> None:
        pieces = [piece for submission in group for piece in submission.pieces]
        try:
            start = self._tail.append(pieces, sum(submission.size for submission in group))
        except Exception as error:  # noqa: BLE001 the boundary of a batch: every waiting caller must get the error
            for submission in group:
                submission.future.set_exception(self._log_error(error))
            return
        for submission in group:
            *offsets, start = accumulate(map(len, submission.pieces), initial=start)
            submission.future.set_result(offsets)

    def _log_error(self, error: Exception) -> Exception:
        """Make the error to report to a waiting caller. Each caller gets a new error object, because an error raised in two threads would
        have a mixed traceback.
        """
        if isinstance(error, LogError):
            return type(error)(str(error), error.hint)
        if isinstance(error, OSError) and error.errno in _FULL:
            return LogFullError(
                f"the event log in {self._directory} cannot grow: {error.strerror}",
                "free disk space or raise the limit; writing then resumes by itself",
            )
        return LogError(
            f"the event log in {self._directory} cannot be written: {error!r}",
            "check the disk's health and the folder's permissions",
        )


def _check_sizes(segment_bytes: int, max_pending_bytes: int) -> None:
    if not HEADER_BYTES < segment_bytes <= MAX_SEGMENT_BYTES:
        raise ConfigError(
            f"the segment size {segment_bytes} is not between {HEADER_BYTES + 1} and {MAX_SEGMENT_BYTES} bytes",
            "choose a size within these limits",
        )
    if not 0 < max_pending_bytes <= MAX_SEGMENT_BYTES:
        raise ConfigError(
            f"the size {max_pending_bytes} of the log's write queue is not between 1 and {MAX_SEGMENT_BYTES} bytes",
            "choose a size within these limits",
        )


def _make_directory(directory: Path, disk: Disk) -> None:
    """Create the folder and its missing parents durably."""
    if not directory.is_dir():
        _make_directory(directory.parent, disk)
        directory.mkdir(exist_ok=True)
        disk.sync_directory(directory.parent)
