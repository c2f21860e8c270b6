"""Two moments of the graph beside each other, the declared beside the observed, and the feed of changes."""

from dataclasses import dataclass
from enum import IntEnum

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import Edge, Node, Port


@dataclass(frozen=True)
class Change:
    """What became of one node, edge or port between two moments: it `appeared`, `disappeared`, or `changed`.

    An edge or port that is there is as it is in the later moment; `label_before` and `evidence_before` tell how it was.
    """

    change: str
    node: Node | None = None
    edge: Edge | None = None
    port: Port | None = None
    label_before: Label | None = None
    evidence_before: Evidence | None = None


@dataclass(frozen=True)
class Drift:
    """What a job was declared to do and never seen to do (`origin` DECLARED), or the other way round (OBSERVED).

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
    """The drift of some jobs, in the order of their names; `next` is the job the next page begins with, None if there is none."""

    drifts: tuple[Drift, ...]
    jobs: int
    next: int | None


@dataclass(frozen=True)
class Between:
    """Two moments (UTC microseconds; None is now)."""

    since: int
    until: int | None


@dataclass(frozen=True)
class GraphDiff:
    """What changed between two moments.

    `truncated` names the limit that ended a walk early; `next` is where the next page begins, or None.
    """

    changes: tuple[Change, ...]
    resolution: str
    truncated: str
    next: int | None


class ChangeAction(IntEnum):
    """What became of a derived row."""

    REMOVED = 0
    ADDED = 1
    CHANGED = 2


@dataclass(frozen=True)
class ChangeRecord:
    """One change of the graph. `kind` says what of it: node, port, flow, hub, columns, identity, alias, facet.

    A node that is there no more has an empty name. `node` and `other` are the ends of a flow, a dataset's name and its canonical name,
    or the one node that it is about; of a hub there is only its id. `value` is the content address of a facet, or of what columns mean.
    """

    seq: int
    kind: str
    turn: ChangeAction
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
    """A stretch of the change feed. `following` is the cursor behind it, `oldest` the one before the oldest change that is kept."""

    changes: tuple[ChangeRecord, ...]
    following: str
    oldest: str
    more: bool
