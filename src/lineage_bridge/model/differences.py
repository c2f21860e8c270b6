"""Differences of the graph between two times, drift between declared and observed lineage, and the change feed."""

from dataclasses import dataclass
from enum import IntEnum

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import Edge, Node, Port


@dataclass(frozen=True)
class GraphChange:
    """The change of one node, edge or port between two times. `change` is "appeared", "disappeared" or "changed".

    An edge or port that exists at the later time has the values of that time; `label_before` and `evidence_before` are the earlier
    ones.
    """

    change: str
    node: Node | None = None
    edge: Edge | None = None
    port: Port | None = None
    label_before: Label | None = None
    evidence_before: Evidence | None = None


@dataclass(frozen=True)
class Drift:
    """A difference between what a job declares and what its runs do. `origin` is DECLARED if it was declared but never observed,
    OBSERVED in the reverse case.

    `what` is "input" or "output" of `node`, or a "flow" from `node` to `target`. `since` is UTC microseconds.
    """

    job: Node
    origin: Origin
    what: str
    node: Node
    target: Node | None
    since: int | None


@dataclass(frozen=True)
class DriftPage:
    """One page of drift, in the order of the jobs' names. `next` is the job with which the next page begins; None on the last page."""

    drifts: tuple[Drift, ...]
    jobs: int
    next: int | None


@dataclass(frozen=True)
class Between:
    """A period in UTC microseconds; `until` is None for now."""

    since: int
    until: int | None


@dataclass(frozen=True)
class GraphDiff:
    """The changes of the graph between two times.

    `truncated` names the limit that ended a walk early; `next` is where the next page begins, None on the last page.
    """

    changes: tuple[GraphChange, ...]
    resolution: str
    truncated: str
    next: int | None


class ChangeAction(IntEnum):
    """What happened to a derived row: it was added, changed or removed."""

    REMOVED = 0
    ADDED = 1
    CHANGED = 2


@dataclass(frozen=True)
class ChangeRecord:
    """One change of the graph. `kind` is what changed: node, port, flow, hub, columns, identity, alias or facet.

    A node that no longer exists has an empty name. `node` and `other` are the two ends of a flow, or a dataset's name and its canonical
    name; otherwise `node` is the node that changed. A hub has only its id. `value` is the hash of a facet, or of a lineage set for columns.
    """

    seq: int
    kind: str
    action: ChangeAction
    node: Node
    other: Node | None
    job: Node | None
    side: Side | None
    origin: Origin | None
    evidence: Evidence | None
    key: str
    value: bytes


@dataclass(frozen=True)
class ChangePage:
    """One page of the change feed. `following` is the cursor after the page, `oldest` the cursor before the oldest change that is kept.

    `behind` is how many changes, of any kind, follow the requested cursor.
    """

    changes: tuple[ChangeRecord, ...]
    following: str
    oldest: str
    more: bool
    behind: int
