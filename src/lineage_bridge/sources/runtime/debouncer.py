"""Decides when to act on changes: once no more changes arrive, but no later than a given time after the first one."""

from lineage_bridge.openlineage.times import SECOND_US

QUIET_US, LONGEST_US = 5 * SECOND_US, 60 * SECOND_US


class Debouncer:
    """Combines many changes into a single action. It is due once there has been no change for `quiet_us`, or `longest_us` after the first
    change.
    """

    def __init__(self, quiet_us: int = QUIET_US, longest_us: int = LONGEST_US) -> None:
        self._quiet_us, self._longest_us = quiet_us, longest_us
        self._seen = 0
        self._first_us: int | None = None
        self._last_us = 0

    def is_due(self, changes: int, now_us: int) -> bool:
        """Whether to act now. `changes` is the number of changes so far; a lower number than before means that the counter was reset.

        If the clock was set back since the last change, the action is due, because the time since then is unknown.
        """
        if changes > self._seen:
            self._first_us = now_us if self._first_us is None else self._first_us
            self._last_us = now_us
        self._seen = changes
        first = self._first_us
        quiet_us = now_us - self._last_us
        return first is not None and (not 0 <= quiet_us < self._quiet_us or now_us - first >= self._longest_us)

    def reset(self) -> None:
        """Forget the changes so far, because an action begins that covers them."""
        self._first_us = None
