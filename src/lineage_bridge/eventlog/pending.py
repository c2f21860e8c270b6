"""The queue of records to write: limited in bytes, filled by many threads, emptied in groups by one thread."""

from collections import deque
from concurrent.futures import Future
from threading import Condition
from typing import NamedTuple

from lineage_bridge.errors import LogError, UnavailableError


class Submission(NamedTuple):
    """Records that wait to be written: their encoded form, their total size in bytes, and the future that will hold the offsets of the
    records.
    """

    pieces: list[bytes]
    size: int
    future: Future[list[int]]


class Pending:
    """A bounded queue of submissions. A submission counts towards the limit from the call of `put` to that of `done`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._queue: deque[Submission] = deque()
        self._changed = Condition()
        self._closed = False
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """The number of bytes that are queued or being written."""
        return self._bytes

    def put(self, submission: Submission) -> None:
        """Add a submission. Raises UnavailableError if the limit would be exceeded, LogError after `close`."""
        with self._changed:
            if self._closed:
                raise LogError(
                    "the event log accepts no more records, because the server is stopping", "send the events again when it runs"
                )
            if self._bytes + submission.size > self._max_bytes:
                raise UnavailableError(
                    f"the write queue of the event log is full: {self._bytes} bytes queued, limit {self._max_bytes}",
                    "send the events again later, or fewer at once",
                )
            self._bytes += submission.size
            self._queue.append(submission)
            self._changed.notify()

    def take(self, limit_bytes: int, timeout_s: float | None = None) -> list[Submission] | None:
        """Remove and return the oldest submissions: at least one, and more as long as they have at most `limit_bytes` together.

        Waits at most `timeout_s` seconds for a submission. Returns an empty list if none arrived, None if the queue is closed and empty.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._queue or self._closed, timeout_s)
            if self._closed and not self._queue:
                return None
            group: list[Submission] = []
            taken = 0
            while self._queue and (not group or taken + self._queue[0].size <= limit_bytes):
                group.append(self._queue.popleft())
                taken += group[-1].size
            return group

    def done(self, size: int) -> None:
        """Stop counting `size` bytes that `take` returned: they are now written or refused."""
        with self._changed:
            self._bytes -= size

    def close(self) -> None:
        """Refuse further submissions; queued ones can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
