"""Follows the change feed for one target: decides when to publish, and records which changes the publications have covered."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import msgspec

from lineage_bridge.catalogs.reasons import STOPPED, reason_code
from lineage_bridge.errors import GoneError, LineageBridgeError, RequestError, StoppedError, StoreError
from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.ports.continuous import FollowRepository, FollowState
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.sources.runtime.debouncer import Debouncer

TICK_S: Final = 1.0
FIRST_RETRY_S, LONGEST_RETRY_S, LONGEST_ASKED_S = 2.0, 300.0, 86_400.0
"""The wait after the first failure, the longest one by our own choice, and the longest one that the target may request."""
LONGEST_REST_US: Final = 600 * SECOND_US
_log = logging.getLogger(__name__)


class Attempt(NamedTuple):
    """A publication that has ended: the cursor of the newest change that it covers, and its report."""

    cursor: str
    report: PublicationReport


@dataclass(frozen=True)
class Following:
    """The functions that a follower calls.

    `behind` returns how many changes follow a cursor, as `changes_behind` does. `publish` publishes the graph, on request after
    comparing all of it with the target; it returns None while another publication to the target is running. `is_complete` returns
    whether the graph contains everything that was accepted when it was first called. `random` returns a number between 0 and 1.
    """

    behind: Callable[[str], int]
    publish: Callable[[bool], Attempt | None]
    is_complete: Callable[[], bool]
    repository: FollowRepository
    clock_us: Callable[[], int]
    random: Callable[[], float]


class Follower:
    """Publishes changes of the graph to one target. `basis` is a digest of the target's kind and settings.

    The cursor moves only when a publication that covers it has ended and is in the ledger, so nothing is lost however this process
    ends. If the changes after the cursor are no longer kept, the whole graph is compared once, as at the first publication.
    """

    def __init__(self, name: str, basis: str, debounce_s: float, max_wait_s: float, following: Following) -> None:
        self.name, self._following = name, following
        self._quiet_us, self._longest_us = int(debounce_s * SECOND_US), int(max(max_wait_s, debounce_s) * SECOND_US)
        self._tick_s = min(TICK_S, debounce_s / 2)
        self._debouncer = Debouncer(self._quiet_us, self._longest_us)
        self._rest_us = 0
        self._failed_alone = False
        self.activity = "idle"
        state = following.repository.state(name)
        if state is None or state.basis != basis:
            kept = msgspec.structs.replace(state, cursor="", failures=0, due_us=0) if state else FollowState(basis)
            state = msgspec.structs.replace(kept, basis=basis)
            following.repository.begin(name, state)
        self.state = state

    def run(self, stop: threading.Event) -> None:
        """Follow the change feed until `stop` is set, or until the target is removed."""
        while not stop.is_set():
            try:
                if not self.step():
                    return
            except StoreError as error:  # such as the state database while it is being replaced
                _log.warning("target %s: %s", self.name, error)
            stop.wait(self._tick_s)

    def step(self) -> bool:
        """Publish if a publication is due. Returns whether the target still follows the feed."""
        now_us = self._following.clock_us()
        try:
            behind = self._behind()
        except StoreError:
            self.activity = "waiting"
            return True
        if behind == 0:
            self.activity = "idle"
            return self.state.behind_us is None or self._advance(behind_us=None)
        if self.state.behind_us is None and not self._advance(behind_us=now_us):
            return False
        if not self._is_due(behind or 0, now_us):
            self.activity = "retrying" if self.state.failures else "pending"
            return True
        if not self.state.cursor and not self._following.is_complete():
            self.activity = "waiting"
            return True
        return self._publish()

    def _behind(self) -> int | None:
        """How many changes of the graph are not published yet; None if the whole graph has to be compared."""
        if not self.state.cursor:
            return None
        try:
            return self._following.behind(self.state.cursor)
        except (GoneError, RequestError) as error:
            _log.info("target %s: %s; the whole graph is compared", self.name, error)
            self._advance(cursor="")
            return None

    def _is_due(self, behind: int, now_us: int) -> bool:
        has_settled = self._debouncer.is_due(behind, now_us)
        # A time that is further ahead than it can be: the clock was set back meanwhile.
        if now_us < self._rest_us <= now_us + LONGEST_REST_US:
            return False
        if self.state.failures:
            was_set_back = (self.state.failed_us or 0) > now_us
            # An object that fails by itself does not delay later changes.
            return now_us >= self.state.due_us or was_set_back or (self._failed_alone and has_settled)
        return has_settled or not self.state.cursor

    def _publish(self) -> bool:
        complete, began_us = not self.state.cursor, self._following.clock_us()
        self.activity = "publishing"
        self._debouncer.reset()
        try:
            attempt = self._following.publish(complete)
        except StoppedError:
            return True
        except LineageBridgeError as error:
            return self._failed(str(error), error.hint, reason_code(error), None)
        except Exception as error:  # noqa: BLE001 - the boundary of a loop: the target is tried again, and others are not touched
            _log.exception("target %s: a publication failed", self.name)
            return self._failed(f"{type(error).__name__}: {error}"[:500], "", reason_code(error), None)
        if attempt is not None:
            return attempt.report.code == STOPPED or self._ended(attempt, began_us, complete=complete)
        self.activity = "busy"
        self._debouncer = Debouncer(self._quiet_us, self._longest_us)
        return True

    def _ended(self, attempt: Attempt, began_us: int, *, complete: bool) -> bool:
        ended_us, report = self._following.clock_us(), attempt.report
        # However often the graph changes and however large it is, publishing takes at most half of the time.
        self._rest_us = ended_us + min(ended_us - began_us, LONGEST_REST_US)
        operations = self.state.operations + report.outcomes.get("done", 0)
        if report.state != "done":
            self._failed_alone = not report.given_up
            return self._failed(report.error, report.hint, report.code, report.retry_after_s, operations=operations)
        self.activity = "idle"
        self._debouncer = Debouncer(self._quiet_us, self._longest_us)
        done = {"succeeded_us": ended_us, "done": self.state.done + 1, "complete": self.state.complete + complete, "operations": operations}
        cleared = {"behind_us": None, "failures": 0, "due_us": 0, "error": "", "hint": "", "code": ""}
        return self._advance(cursor=attempt.cursor, **done, **cleared)

    def _failed(self, error: str, hint: str, code: str, asked_s: float | None, **more: Any) -> bool:  # noqa: ANN401  # members of the state
        """Record a failed publication, and when to retry: after a random wait that grows with each failure, or when the target allows."""
        self.activity = "retrying"
        now_us, failures = self._following.clock_us(), self.state.failures + 1
        wait_s = min(LONGEST_RETRY_S, FIRST_RETRY_S * 2.0 ** min(failures - 1, 16)) * (0.5 + self._following.random() / 2)
        if asked_s is not None:
            wait_s = max(wait_s, min(asked_s, LONGEST_ASKED_S) + self._following.random())
        return self._advance(
            failures=failures,
            due_us=now_us + int(wait_s * SECOND_US),
            failed_us=now_us,
            failed=self.state.failed + 1,
            error=error,
            hint=hint,
            code=code,
            **more,
        )

    def _advance(self, **members: Any) -> bool:  # noqa: ANN401  # members of the state
        self.state = msgspec.structs.replace(self.state, **members)
        return self._following.repository.advance(self.name, self.state)
