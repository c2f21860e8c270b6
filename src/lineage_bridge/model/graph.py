"""Nodes, edges and what a walk along them finds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.runs.liveness import Liveness


@dataclass(frozen=True)
class Node:
    """A dataset or a job (`kind`) by its name."""

    id: int
    kind: NodeKind
    namespace: str
    name: str


class Edge(NamedTuple):
    """Data moves from `source` to `target` by the work of `job`: a dataset or a job at either end.

    A flow that a dataset declares of itself, in an event without a job, has that dataset in the place of the job.
    `last` is UTC microseconds. `hub`: the pair merely lies in a wide run. `liveness` is told of streams.
    """

    source: Node
    target: Node
    job: Node
    origin: Origin
    evidence: Evidence
    label: Label
    last: int | None
    hub: bool = False
    liveness: Liveness | None = None


@dataclass(frozen=True)
class Port:
    """A job names a dataset as its input or output (`side`)."""

    job: Node
    dataset: Node
    side: Side
    origin: Origin
    label: Label
    last: int | None
    liveness: Liveness | None = None


@dataclass(frozen=True)
class ColumnEdge:
    """One column (or, with an empty field, a whole dataset) comes from another.

    Transformations are (type, subtype, masking), sorted; `descriptions` what producers said of them.
    """

    source: Node
    source_field: str
    target: Node
    target_field: str
    job: Node
    origin: Origin
    transformations: tuple[tuple[str, str, bool], ...]
    descriptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Walk:
    """What lies up- or downstream of `origin`. `distances` is node id to hops (flows, 0 for the origin's group).

    `canonical` maps those nodes that are one of several names of a dataset to the name it goes by.

    `truncated` names the limit that ended it early, or is empty; `hidden` counts the edges not followed for it.
    `at` is the time it is of (UTC microseconds), None for now; `resolution` is "exact", or "day" where what a subject
    said last within that day may be an earlier of several contents.
    """

    origin: Node
    members: tuple[Node, ...]
    direction: str
    depth: int
    nodes: tuple[Node, ...]
    distances: Mapping[int, int]
    canonical: Mapping[int, int]
    edges: tuple[Edge, ...]
    ports: tuple[Port, ...]
    columns: tuple[ColumnEdge, ...]
    truncated: str
    hidden: int
    at: int | None = None
    resolution: str = "exact"


@dataclass(frozen=True)
class WalkLimits:
    """Where a walk stops: nodes met, edges returned, seconds spent."""

    nodes: int = 5_000
    edges: int = 50_000
    seconds: float = 5.0
