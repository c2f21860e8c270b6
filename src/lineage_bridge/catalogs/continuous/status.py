"""The status of continuous publishing to a target."""

from collections.abc import Callable

from lineage_bridge.errors import GoneError, RequestError, StoreError
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.continuous import ContinuousStatus, FollowersReport, FollowRepository, FollowState

PAUSED, STOPPED, IDLE, PUBLISHING = "paused", "stopped", "idle", "publishing"


class Followed:
    """Implements the part of TargetService that concerns continuous publishing.

    `behind` returns how many changes follow a cursor, as `changes_behind` does. `report` returns the report of the publishing process;
    None if none is running.
    """

    def __init__(
        self,
        repository: FollowRepository,
        behind: Callable[[str], int],
        report: Callable[[], FollowersReport | None],
        clock_us: Callable[[], int],
    ) -> None:
        self._repository, self._behind, self.report, self._clock_us = repository, behind, report, clock_us

    def status(self, name: str, *, paused: bool) -> ContinuousStatus:
        """The status of a target that is published to continuously."""
        state = self._repository.state(name) or FollowState("")
        behind, report = self._lag(state), self.report()
        activity = PAUSED if paused else STOPPED if report is None else report.activities.get(name, "retrying" if state.failures else IDLE)
        since_us = state.behind_us if behind is None else (state.behind_us or self._clock_us()) if behind else None
        waited_us = 0 if since_us is None else max(0, self._clock_us() - since_us)
        return ContinuousStatus(activity, behind, waited_us / SECOND_US, state, self._repository.report(name))

    def _lag(self, state: FollowState) -> int | None:
        if not state.cursor:
            return None
        try:
            return self._behind(state.cursor)
        except (GoneError, RequestError, StoreError):
            return None
