"""The input and the results of the batch analysis of the whole graph."""

from dataclasses import dataclass
from enum import Enum

import msgspec

from lineage_bridge.model.graph import Node


class GraphTable(Enum):
    """The tables that contain the whole graph for the batch analysis.

    Columns of node: id, head (the id of the canonical node of the group), kind, preferred namespace and name, dashboard (1 or 0). Of flow:
    source, target. Of hub: hub, side, dataset. Of shape_io: shape, side, dataset. Of job_shape: job, shape, last (when the shape was last
    seen, in UTC microseconds).
    """

    NODE = "node"
    FLOW = "flow"
    HUB = "hub"
    SHAPE_IO = "shape_io"
    JOB_SHAPE = "job_shape"


@dataclass(frozen=True)
class NodeMeasure:
    """The number of other datasets downstream of a node, of dashboards among them, and of datasets upstream."""

    node: Node
    downstream: int
    dashboards: int
    upstream: int


@dataclass(frozen=True)
class LastUse:
    """When a dataset was last written and last read (None: never), in UTC microseconds."""

    dataset: Node
    written: int
    read: int | None


@dataclass(frozen=True)
class Analysis:
    """Measures of the whole graph, with one NodeMeasure per group of names. If `exact` is false, the counts are estimates. `flows` is the
    number of edges walked.
    """

    nodes: tuple[NodeMeasure, ...]
    cycles: tuple[tuple[Node, ...], ...]
    orphans: tuple[Node, ...]
    unused: tuple[LastUse, ...]
    flows: int
    exact: bool


class FindingsPart(msgspec.Struct, frozen=True):
    """One part of a stored analysis: where its lines begin, in bytes after the first line of the file, and how many lines it has."""

    start: int
    count: int


class FindingsSummary(msgspec.Struct, frozen=True):
    """The summary of an analysis. `position` maps "source/partition" to offset; `made_at` is RFC 3339; `nodes` is the number of groups.

    `flows` is None for a part of an analysis.
    """

    position: dict[str, int]
    made_at: str
    unused_days: int
    exact: bool
    nodes: int
    flows: int | None
    parts: dict[str, FindingsPart]
