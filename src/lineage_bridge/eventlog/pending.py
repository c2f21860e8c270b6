"""What waits to be written: a queue bounded in bytes, filled by many threads and emptied in groups by one."""

from collections import deque
from concurrent.futures import Future
from threading import Condition
from typing import NamedTuple

from lineage_bridge.errors import LogError, UnavailableError


class Submission(NamedTuple):
    """Encoded records, their size together, and the future that takes their offsets."""

    pieces: list[bytes]
    size: int
    future: Future[list[int]]


class Pending:
    """A bounded queue of submissions. Bytes count from `put` to `done`."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._queue: deque[Submission] = deque()
        self._changed = Condition()
        self._closed = False
        self._bytes = 0

    @property
    def bytes(self) -> int:
        """How many bytes wait or are being written."""
        return self._bytes

    def put(self, submission: Submission) -> None:
        """Add a submission. Raises UnavailableError if the bound would be passed, LogError after `close`."""
        with self._changed:
            if self._closed:
                raise LogError("the event log's writer is closed")
            if self._bytes + submission.size > self._max_bytes:
                raise UnavailableError(
                    f"the event log is overloaded: {self._bytes} bytes wait to be written; {self._max_bytes} may",
                    "Send again later, or in smaller pieces.",
                )
            self._bytes += submission.size
            self._queue.append(submission)
            self._changed.notify()

    def take(self, limit_bytes: int) -> list[Submission]:
        """The oldest submissions, at least one, together at most `limit_bytes`. Waits for one; empty once closed."""
        with self._changed:
            while not self._queue and not self._closed:
                self._changed.wait()
            group: list[Submission] = []
            taken = 0
            while self._queue and (not group or taken + self._queue[0].size <= limit_bytes):
                group.append(self._queue.popleft())
                taken += group[-1].size
            return group

    def done(self, size: int) -> None:
        """Bytes taken have been dealt with."""
        with self._changed:
            self._bytes -= size

    def close(self) -> None:
        """Refuse further submissions; what waits can still be taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
