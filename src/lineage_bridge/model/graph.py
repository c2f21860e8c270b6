"""Nodes, edges, and the results of walks along edges."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.runs.liveness import Liveness


@dataclass(frozen=True)
class Node:
    """A dataset or a job (`kind`), with its name."""

    id: int
    kind: NodeKind
    namespace: str
    name: str

    def __hash__(self) -> int:
        return self.id


class Edge(NamedTuple):
    """A flow: data moves from `source` to `target` through `job`. Each end is a dataset or a job.

    If a dataset declares its own lineage, in an event without a job, `job` is that dataset. `last` is when the flow was last stated, in UTC
    microseconds. `hub`: the pair is stored only as part of a hub. `liveness` is set for streaming jobs. `only_failed`: only runs that
    failed stated the flow. `unambiguous` (set by walks only): the flow rests on co-occurrence, but the job has just one input and one
    output.
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
    only_failed: bool = False
    unambiguous: bool = False


class Port(NamedTuple):
    """A dataset as an input or output (`side`) of a job. `only_failed`: only failed runs named the dataset there."""

    job: Node
    dataset: Node
    side: Side
    origin: Origin
    label: Label
    last: int | None
    liveness: Liveness | None = None
    only_failed: bool = False


@dataclass(frozen=True)
class ColumnEdge:
    """A flow between columns: the target column is derived from the source column. An empty field stands for the whole dataset.

    Transformations are (type, subtype, masking), sorted; `descriptions` are the producers' descriptions of them.
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
    """The result of a walk: what lies up- or downstream of `origin`.

    - `distances`: the number of hops (flows) to each node, by node id; 0 for the origin's group.
    - `canonical`: for each node that is one of several names of a dataset, the id of the canonical node.
    - `truncated`: the limit that ended the walk early, or empty; `hidden`: how many edges were not followed because of that limit.
    - `at`: the time that the walk shows (UTC microseconds), None for now.
    - `resolution`: "exact", or "day" if the last of several facet sets that an asserter stated on that day may be unknown.
    - `dropped`: the nodes that were dropped and have not been created or written since.
    - `ended`: how many flows were left out because they have ended.
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
    dropped: frozenset[int] = frozenset()
    ended: int = 0


@dataclass(frozen=True)
class WalkLimits:
    """The limits of a walk: how many nodes it visits, how many edges it returns, and how many seconds it takes."""

    nodes: int = 5_000
    edges: int = 50_000
    seconds: float = 5.0
