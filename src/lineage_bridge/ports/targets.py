"""The interfaces of targets: their stored state, the ledger of published objects, and users' operations on them."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import msgspec

from lineage_bridge.model.sources import KindRecord, SourceCheck

if TYPE_CHECKING:
    from lineage_bridge.ports.continuous import ContinuousStatus


class LedgerEntry(NamedTuple):
    """An entry of the ledger, about one published object. `key` is JSON: kind (`job`, `dataset`), namespace and name, as in the target.

    `state` is `published`; `sending` or `deleting` while the outcome is unknown; `refused` if the target refuses the object (`detail` says
    why). `ours`: LineageBridge created the object. `fingerprint` is the digest of the sent content, `visible` of the part that can be read
    back. `revision` counts how often it was sent; `changed_us` is the time of the last change, in UTC microseconds.
    """

    key: str
    state: str
    ours: bool
    fingerprint: str
    visible: str
    revision: int
    changed_us: int
    detail: str = ""


class PlannedOperation(msgspec.Struct, frozen=True):
    """An operation of a plan. `action` is `create`, `update` or `delete`, or `read` for an object that could not be read at the target.

    `outcome` is empty in a plan, else `done`, `refused`, `failed` or `not_tried`; `code` is the reason for a failure, in a word.
    """

    action: str
    kind: str
    namespace: str
    name: str
    reason: str
    outcome: str = ""
    detail: str = ""
    code: str = ""


class DriftFinding(msgspec.Struct, frozen=True):
    """An object of the target that differs from what was published, or that exists although it was not published."""

    kind: str
    namespace: str
    name: str
    finding: str


class PublicationReport(msgspec.Struct, frozen=True):
    """A plan or a publication, with its outcome. `state` is `running`, `done`, `failed`, `cancelled` or `interrupted`.

    Times are UTC microseconds.

    `counts` has the planned operations by action, `outcomes` the operations by outcome. `operations` and `drift` list only the first ones;
    `operations_left_out` and `drift_left_out` are how many more there are. `unchanged` is how many objects are at the target as they should
    be, `kept` how many are no longer to be published but were not deleted, by reason; `not_expressible` counts what the target cannot
    represent, by kind. `unmatched` are the values of filters that nothing in the graph matches. If one object can become several things at
    the target, `written` is how many things were created or changed, by kind. `code` is the kind of `error`. `given_up`: the remaining
    operations were not tried, because they would have failed too;
    `retry_after_s` is how long the target asks to wait.
    """

    state: str
    plan_only: bool
    prune: bool
    overwrite: bool
    started_us: int
    pid: int = 0
    ended_us: int | None = None
    error: str = ""
    hint: str = ""
    code: str = ""
    given_up: bool = False
    retry_after_s: float | None = None
    desired: int = 0
    unchanged: int = 0
    counts: dict[str, int] = {}
    outcomes: dict[str, int] = {}
    written: dict[str, int] = {}
    kept: dict[str, int] = {}
    not_expressible: dict[str, int] = {}
    operations: list[PlannedOperation] = []
    operations_left_out: int = 0
    drift: list[DriftFinding] = []
    drift_left_out: int = 0
    unmatched: list[str] = []


class TargetRecord(NamedTuple):
    """A configured target. `settings` are as configured, with secrets as references.

    `origin` is `file` (the settings file), `environment` (its variables) or `added`.

    `published` is how many objects were published to it, by state; `report` is the report of the last requested plan or publication.
    `continuous` is the state of continuous publishing, if it is on.
    """

    name: str
    kind: str
    settings: dict[str, Any]
    origin: str
    paused: bool
    published: dict[str, int]
    report: PublicationReport | None
    continuous: "ContinuousStatus | None" = None


class PublicationLedger(Protocol):
    """Stores which objects were published to each target. `destination` is the target's name with the address that it publishes to.

    Safe for many processes and threads at once.
    """

    def entries(self, destination: str) -> dict[str, LedgerEntry]:
        """All entries of a destination, by key."""

    def page(self, destination: str, after: str, limit: int) -> list[LedgerEntry]:
        """At most `limit` entries whose keys come after `after`, sorted by key."""

    def counts(self, destination: str) -> dict[str, int]:
        """The number of a destination's entries in each state."""

    def record(self, destination: str, entries: Iterable[LedgerEntry], forgotten: Iterable[str] = ()) -> None:
        """Store these entries of the target's ledger, and delete the ledger's entries with the keys in `forgotten`, in one transaction."""


class TargetRepository(Protocol):
    """Stores targets. Safe for many processes and threads at once."""

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each target that users added, by name."""

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add a target, or replace its settings."""

    def remove(self, name: str) -> None:
        """Delete a target that a user added. The ledger of what was published stays."""

    def paused(self) -> frozenset[str]:
        """The names of the paused targets."""

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume a target."""

    def report(self, name: str) -> PublicationReport | None:
        """The report of a target's last plan or publication; None before the first."""

    def save_report(self, name: str, report: PublicationReport) -> None:
        """Replace the report of a target."""


class TargetService(Protocol):
    """Users' operations on targets. Raises NotFoundError for an unknown target, ConfigError and RequestError for invalid requests."""

    def kinds(self) -> list[KindRecord]:
        """The kinds of targets."""

    def records(self) -> list[TargetRecord]:
        """All targets, by name."""

    def record(self, name: str) -> TargetRecord:
        """The target with this name."""

    def followed(self) -> "dict[str, ContinuousStatus]":
        """The state of continuous publishing, for targets that have it and are not paused."""

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> TargetRecord:
        """Add a target."""

    def remove(self, name: str) -> None:
        """Remove a target. What was published stays at the target."""

    def pause(self, name: str, *, paused: bool) -> TargetRecord:
        """Pause or resume a target."""

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of publishing, without changing anything at the target."""

    def start(self, name: str, *, plan_only: bool, prune: bool, overwrite: bool) -> TargetRecord:
        """Start a plan or a publication. Raises RequestError if the target is paused, or if a plan or publication is already running."""

    def cancel(self, name: str) -> TargetRecord:
        """Cancel the running plan or publication that was requested. Raises RequestError if there is none."""

    def publishing(self) -> frozenset[str]:
        """The names of the targets with a running plan or publication that was requested."""

    def ledger(self, name: str, after: str, limit: int) -> Sequence[LedgerEntry]:
        """A page of the objects that were published to a target, sorted by key."""
