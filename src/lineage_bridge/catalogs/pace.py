"""Decides when calls to a target may begin: not before the target allows the next one, and no more per second than the limit."""

import math
import threading
from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

_SECOND_US: Final = 1_000_000


class Quota(NamedTuple):
    """A limit: at most so many calls in so many seconds."""

    calls: int
    seconds: float = 1.0


def quota_of(calls_per_s: float) -> Quota:
    """The quota of a rate. Of a fraction, one more call may begin in a second, which is made up for later."""
    calls = math.ceil(calls_per_s)
    return Quota(calls, calls / calls_per_s)


class Pace:
    """Limits the rate of calls to one target. If the target asks one call to wait, all calls wait.

    `quota` is how many calls may begin in a time: in none of its length, wherever it begins, do more begin. So neither a target that counts
    the calls of the last second nor one that saves up unused calls has to refuse one. Thread-safe.
    """

    def __init__(self, clock_us: Callable[[], int], wait: Callable[[float], None], quota: Quota | None = None) -> None:
        self._clock_us, self._wait = clock_us, wait
        self._window_us = math.ceil(quota.seconds * _SECOND_US) if quota else 0
        self._begins_us = deque[int](maxlen=quota.calls if quota else 0)
        """When the last calls began or will begin, as many as a window may have, in order."""
        self._lock = threading.Lock()
        self._held_us, self._asked_us, self._seen_us = 0, 0, 0

    def hold(self, wait_s: float) -> None:
        """Let no call begin for the given seconds."""
        with self._lock:
            asked_us = int(wait_s * _SECOND_US)
            until_us = self._clock_us() + asked_us
            if until_us > self._held_us:
                self._held_us, self._asked_us = until_us, asked_us

    def turn(self) -> None:
        """Wait until a call may begin."""
        with self._lock:
            held_us, now_us = self._held_us, self._clock_us()
            left_us = min(held_us - now_us, self._asked_us)  # in case the clock was set back meanwhile
        if left_us > 0:
            self._wait(left_us / _SECOND_US)
            with self._lock:
                if self._held_us == held_us:
                    self._held_us = 0
        if self._window_us:
            with self._lock:
                left_us = self._take_slot()
            if left_us > 0:
                self._wait(left_us / _SECOND_US)

    def _take_slot(self) -> int:
        """Reserve the first time at which a call may begin. Returns how many microseconds are left until then."""
        now_us, begins = self._clock_us(), self._begins_us
        if now_us < self._seen_us:  # the clock was set back: as if no time had passed
            back_us = self._seen_us - now_us
            self._begins_us = begins = deque((at_us - back_us for at_us in begins), maxlen=begins.maxlen)
        self._seen_us = now_us
        is_full = len(begins) == begins.maxlen
        begin_us = max(now_us, begins[0] + self._window_us) if is_full else now_us
        begins.append(begin_us)
        return begin_us - now_us
