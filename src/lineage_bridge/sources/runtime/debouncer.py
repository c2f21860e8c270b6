"""Decides when to poll a source early that notices changes by itself: once changes stop, or at the latest a minute after the first."""

from lineage_bridge.openlineage.times import SECOND_US

QUIET_US, LONGEST_US = 5 * SECOND_US, 60 * SECOND_US


class Debouncer:
    """Turns the changes that one source notices between two polls into at most one early poll."""

    def __init__(self) -> None:
        self._seen = 0
        self._first_us: int | None = None
        self._last_us = 0

    def is_due(self, changes: int, now_us: int) -> bool:
        """Whether to poll now. `changes` is the source's total so far; a lower number than before means that the counter was reset."""
        if changes > self._seen:
            self._first_us = now_us if self._first_us is None else self._first_us
            self._last_us = now_us
        self._seen = changes
        first = self._first_us
        return first is not None and (now_us - self._last_us >= QUIET_US or now_us - first >= LONGEST_US)

    def reset(self) -> None:
        """Forget the changes so far, because a poll begins that covers them."""
        self._first_us = None
