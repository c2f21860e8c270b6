"""What a batch over the whole graph reads and finds."""

from dataclasses import dataclass
from enum import Enum

import msgspec

from lineage_bridge.model.graph import Node


class GraphTable(Enum):
    """The whole graph as rows, for a batch: their columns.

    node: id, head (the id that stands for its group), kind, namespace and name it goes by, dashboard (1 or 0). flow: source, target.
    hub: hub, side, dataset. shape_io: shape, side, dataset. job_shape: job, shape, when it was last seen (UTC microseconds).
    """

    NODE = "node"
    FLOW = "flow"
    HUB = "hub"
    SHAPE_IO = "shape_io"
    JOB_SHAPE = "job_shape"


@dataclass(frozen=True)
class NodeMeasure:
    """How many other datasets, and dashboards among them, lie downstream of a node, and how many datasets upstream."""

    node: Node
    downstream: int
    dashboards: int
    upstream: int


@dataclass(frozen=True)
class Touched:
    """When a dataset was last written and read (None: never), UTC microseconds."""

    dataset: Node
    written: int
    read: int | None


@dataclass(frozen=True)
class Analysis:
    """Measures of the whole graph, by group. `exact`: or else counts are estimates. `flows` counts the edges that were walked."""

    nodes: tuple[NodeMeasure, ...]
    cycles: tuple[tuple[Node, ...], ...]
    orphans: tuple[Node, ...]
    unused: tuple[Touched, ...]
    flows: int
    exact: bool


class FindingsPart(msgspec.Struct, frozen=True):
    """Where the lines of a part of an analysis begin, in bytes behind its first line, and how many they are."""

    start: int
    count: int


class FindingsSummary(msgspec.Struct, frozen=True):
    """What an analysis was. `position` is "source/part" to place; `made_at` is RFC 3339; `nodes` counts groups of names."""

    position: dict[str, int]
    made_at: str
    unused_days: int
    exact: bool
    nodes: int
    flows: int
    parts: dict[str, FindingsPart]
