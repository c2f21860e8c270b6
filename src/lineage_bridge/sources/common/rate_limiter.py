"""Keeps calls within the rate limits that a system reports. All clients that use the same key share one limiter."""

import math
import threading
import time
from collections.abc import Callable, Mapping

from lineage_bridge.errors import StoppedError

LONGEST_WAIT_S = 90.0
_LIMIT, _LEFT, _RESET, _AFTER = "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"


class RateLimiter:
    """Lets calls pass while the system's limit allows them. Other calls wait until the limit is renewed. Thread-safe.

    `X-RateLimit-Reset` and `Retry-After` are seconds from now. Setting `stop` ends all waiting.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.stop = threading.Event()
        self._clock, self._opens_at = clock, 0.0
        self._most, self._left, self._length_s, self._renews_at = 0, math.inf, 0.0, math.inf
        self._changing = threading.Lock()

    def acquire(self) -> None:
        """Wait until a call may be sent. Raises StoppedError."""
        while not self.stop.is_set():
            with self._changing:
                wait_s = self._passing()
            if wait_s <= 0:
                return
            self.stop.wait(wait_s)
        raise StoppedError("the poll was stopped before the request was sent")

    def _passing(self) -> float:
        """Return the seconds to wait before the call may be sent. If they are 0, the call has been counted."""
        now = self._clock()
        if now < self._opens_at:
            return self._opens_at - now
        if now >= self._renews_at:
            self._left, self._renews_at = self._most, now + self._length_s
        if self._left < 1:
            return self._renews_at - now
        self._left -= 1
        return 0.0

    def update(self, status: int, headers: Mapping[str, str]) -> None:
        """Update the limit from the headers of an answer. Calls that are running are already counted, so the limit is never exceeded."""
        reset, after, left = (_number(headers.get(name, "")) for name in (_RESET, _AFTER, _LEFT))
        with self._changing:
            now = self._clock()
            if reset is not None and left is not None:
                self._most = max(1, int(_number(headers.get(_LIMIT, "")) or max(self._most, left)))
                self._length_s = max(self._length_s, min(reset, LONGEST_WAIT_S))
                self._left, self._renews_at = min(self._left, left), min(self._renews_at, now + min(reset, LONGEST_WAIT_S))
            if status == 429 and (waits := [wait for wait in (reset, after) if wait is not None]):
                self._opens_at = max(self._opens_at, now + min(max(waits), LONGEST_WAIT_S))
                self._renews_at = self._opens_at if self._most else self._renews_at


def _number(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None
