"""When a source that notices changes by itself is polled early: once it is quiet again, and not much later than the first change."""

from lineage_bridge.openlineage.times import SECOND_US

QUIET_US, LONGEST_US = 5 * SECOND_US, 60 * SECOND_US


class Debouncer:
    """The changes of one source since its last poll began: a burst of them is one poll."""

    def __init__(self) -> None:
        self._seen = 0
        self._first_us: int | None = None
        self._last_us = 0

    def is_due(self, changes: int, now_us: int) -> bool:
        """Whether to poll now. `changes`: all that the source has noticed so far; fewer than before: it is made anew."""
        if changes > self._seen:
            self._first_us = now_us if self._first_us is None else self._first_us
            self._last_us = now_us
        self._seen = changes
        first = self._first_us
        return first is not None and (now_us - self._last_us >= QUIET_US or now_us - first >= LONGEST_US)

    def reset(self) -> None:
        """A poll begins, which sees all that was noticed so far."""
        self._first_us = None
