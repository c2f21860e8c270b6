"""Rate limits: a number of calls in a window of time, counted by API key, registry or client address."""

import math
import threading
from collections.abc import Callable
from typing import NamedTuple

METRICS = (60, 60.0)
"""Calls a minute from one address."""
REGISTRY = (75, 1.0)
"""Reads a second of one registry."""
OTHERS = (10, 1.0)
"""Calls a second with one key."""


class Verdict(NamedTuple):
    """Whether a call passes; the limit, the calls that are left in the window, and the seconds until it ends."""

    passes: bool
    limit: int
    left: int
    reset_s: int

    @property
    def headers(self) -> dict[str, str]:
        """The headers of every answer; seconds are from now."""
        headers = {"X-RateLimit-Limit": self.limit, "X-RateLimit-Remaining": self.left, "X-RateLimit-Reset": self.reset_s}
        return {name: str(value) for name, value in headers.items()} | ({} if self.passes else {"Retry-After": str(self.reset_s)})


class RateLimits:
    """Counts calls. While `on` is False all calls pass. `scale` multiplies all limits."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self.on, self.scale = False, 1.0
        self._windows: dict[str, tuple[float, int]] = {}
        self._lock = threading.Lock()

    def ask(self, counted_by: str, limit: tuple[int, float]) -> Verdict:
        """Count one more call. A window starts with the first call after the end of the last one."""
        most, length = max(1, int(limit[0] * self.scale)), limit[1]
        now = self._clock()
        with self._lock:
            began, count = self._windows.get(counted_by, (now, 0))
            if now - began >= length:
                began, count = now, 0
            passes = count < most or not self.on
            self._windows[counted_by] = (began, count + passes)
        reset = max(1, math.ceil(began + length - now))
        return Verdict(passes, most, max(0, most - count - 1) if self.on else most - 1, reset)
