"""Where a system says how many calls it takes: all who ask it with one key wait here until it takes more."""

import threading
import time
from collections.abc import Callable, Mapping

from lineage_bridge.errors import SourceError

LONGEST_WAIT_S = 90.0
_LEFT, _RESET, _AFTER = "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"


class StoppedError(SourceError):
    """Whoever asked wants no answer any more."""


class Gate:
    """Opens again when the system said it would: `X-RateLimit-Reset` and `Retry-After` are seconds from now. Safe in threads.

    `stop` ends all waiting.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.stop = threading.Event()
        self._clock, self._opens_at = clock, 0.0
        self._changing = threading.Lock()

    def enter(self) -> None:
        """Wait until the system takes calls. Raises StoppedError."""
        while not self.stop.is_set():
            left = self._opens_at - self._clock()
            if left <= 0:
                return
            self.stop.wait(left)
        raise StoppedError("stopped before it was asked")

    def heard(self, status: int, headers: Mapping[str, str]) -> None:
        """Take in what an answer says of the limit."""
        spent = headers.get(_LEFT, "").strip() in ("0", "0.0")
        if status != 429 and not spent:
            return
        waits = [wait for name in (_RESET, _AFTER) if (wait := _seconds(headers.get(name, ""))) is not None]
        if waits:
            with self._changing:
                self._opens_at = max(self._opens_at, self._clock() + min(max(waits), LONGEST_WAIT_S))


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None
