"""Decides when calls to a target may begin: not before the target allows the next one, and no more per second than the limit."""

import threading
from collections.abc import Callable
from typing import Final

_SECOND_US: Final = 1_000_000


class Pace:
    """Limits the rate of calls to one target. If the target asks one call to wait, all calls wait.

    `calls_per_s` is how many calls may begin in a second; those of one second, and at least one, may begin at once after a second without
    calls. Thread-safe.
    """

    def __init__(self, clock_us: Callable[[], int], wait: Callable[[float], None], calls_per_s: float | None = None) -> None:
        self._clock_us, self._wait = clock_us, wait
        self._interval_us = _SECOND_US / calls_per_s if calls_per_s else 0.0
        self._lock = threading.Lock()
        self._held_us, self._asked_us = 0, 0
        self._next_us, self._waiting = 0.0, 0

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
        if self._interval_us:
            self._await_slot()

    def _await_slot(self) -> None:
        """Wait for the next free slot. Each waiting call has a slot of its own, so no slot is further away than the number of waiting
        calls.
        """
        with self._lock:
            now_us = self._clock_us()
            latest_us = now_us + (self._waiting + 1) * self._interval_us  # in case the clock was set back meanwhile
            unused_us = max(0.0, _SECOND_US - self._interval_us)  # the slots of a second, with that of now
            begins_us = max(now_us - unused_us, min(self._next_us, latest_us))
            self._next_us = begins_us + self._interval_us
            self._waiting += 1
        try:
            if begins_us > now_us:
                self._wait((begins_us - now_us) / _SECOND_US)
        finally:
            with self._lock:
                self._waiting -= 1
