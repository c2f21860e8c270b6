"""When to poll early a source that notices changes by itself: once it is quiet again, but not long after the first change."""

from lineage_bridge.openlineage.times import SECOND_US

QUIET_US, LONGEST_US = 5 * SECOND_US, 60 * SECOND_US


class Debouncer:
    """Turns the changes that one source notices between two polls into at most one early poll."""

    def __init__(self) -> None:
        self._seen = 0
        self._first_us: int | None = None
        self._last_us = 0

    def is_due(self, changes: int, now_us: int) -> bool:
        """Whether to poll now. `changes` counts all that the source has noticed; a smaller count than before is a new counter."""
        if changes > self._seen:
            self._first_us = now_us if self._first_us is None else self._first_us
            self._last_us = now_us
        self._seen = changes
        first = self._first_us
        return first is not None and (now_us - self._last_us >= QUIET_US or now_us - first >= LONGEST_US)

    def reset(self) -> None:
        """A poll begins, which covers all changes noticed so far."""
        self._first_us = None
