"""The interfaces for targets that are published to continuously, and how far each follows the change feed."""

from typing import Any, NamedTuple, Protocol

import msgspec

from lineage_bridge.ports.targets import PublicationReport


class ContinuousTarget(NamedTuple):
    """A configured target; `settings` are as configured, with secrets as references."""

    name: str
    kind: str
    settings: dict[str, Any]
    paused: bool


class FollowState(msgspec.Struct, frozen=True):
    """The cursor of a target in the change feed, and the results of its publications. Times are UTC microseconds.

    `basis` is a digest of the target's kind and settings. All changes up to `cursor` were published, and the ledger has them; without a
    cursor, the whole graph is to be compared. `behind_us` is when an unpublished change was first noticed. After `failures` failed attempts
    in a row, the next attempt is not before `due_us`; `error`, `hint` and `code` give the reason. `done` and `failed` count publications,
    `complete` those that compared the whole graph with the target, `operations` the changes made there.
    """

    basis: str
    cursor: str = ""
    behind_us: int | None = None
    succeeded_us: int | None = None
    failed_us: int | None = None
    error: str = ""
    hint: str = ""
    code: str = ""
    failures: int = 0
    due_us: int = 0
    done: int = 0
    failed: int = 0
    complete: int = 0
    operations: int = 0


class FollowRepository(Protocol):
    """Stores how far targets follow the change feed. Safe for many processes and threads at once."""

    def state(self, name: str) -> FollowState | None:
        """How far a target has followed the change feed; None if it does not follow it yet."""

    def begin(self, name: str, state: FollowState) -> None:
        """Store the state with which a target begins to follow the feed; replaces any earlier state."""

    def advance(self, name: str, state: FollowState) -> bool:
        """Replace the state of a target; return False, and store nothing, if it no longer follows the feed."""

    def report(self, name: str) -> PublicationReport | None:
        """The report of a target's last continuous publication; None before the first."""

    def save_report(self, name: str, report: PublicationReport) -> None:
        """Replace the report of a target that follows."""


class FollowersReport(msgspec.Struct, frozen=True):
    """The report of the process that publishes continuously: its id, and the activity for each target.

    An activity is `idle`, `pending` (changes wait until there are no more for a moment), `publishing`, `retrying` (the next attempt has a
    time), `waiting` (the graph does not contain all events yet) or `busy` (another publication to the target is under way).
    """

    pid: int
    at_us: int
    activities: dict[str, str]


class ContinuousStatus(NamedTuple):
    """The state of continuous publishing to a target.

    `activity` is one of a FollowersReport, `paused`, or `stopped` if no process publishes. `lag_changes` is how many changes of the graph
    are not published, None if that is not known, as before the first publication; `lag_s` is how long the first of them has waited.
    """

    activity: str
    lag_changes: int | None
    lag_s: float
    state: FollowState
    report: PublicationReport | None
