"""The requests and responses about the graph as a list of nodes and edges. Members that are always present are null if they have
no value.
"""

from msgspec import Struct

from lineage_bridge.projections.event_shapes import ViewEvent
from lineage_bridge.projections.importing.shapes import SkippedItem
from lineage_bridge.projections.shapes import GraphStats, LineageEdge, LineageNode


class GraphSummary(Struct, frozen=True):
    """The one graph of an installation. `pipeline_count` is the number of connected components."""

    graph_id: str
    node_count: int
    edge_count: int
    pipeline_count: int
    created_at: str | None
    last_modified: str | None


class GraphAnswer(Struct, frozen=True):
    """The graph with all its nodes and edges."""

    graph_id: str
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    stats: GraphStats
    created_at: str | None
    last_modified: str | None


class NodeList(Struct, frozen=True):
    """A list of nodes, and the total number of matches."""

    nodes: list[LineageNode]
    total: int


class EdgeList(Struct, frozen=True):
    """A list of edges, and their total number."""

    edges: list[LineageEdge]
    total: int


class ExportAnswer(Struct, frozen=True):
    """All nodes with their facets, and all edges, in the form that an import takes."""

    nodes: list[LineageNode]
    edges: list[LineageEdge]


class ImportAnswer(Struct, frozen=True):
    """The import is durable. Answers contain it once the graph has reached `position`."""

    graph_id: str
    nodes_imported: int
    edges_imported: int
    skipped: list[SkippedItem]
    position: str


class HopsAnswer(Struct, frozen=True):
    """The nodes up- or downstream of a node. `nodes` excludes the origin; `distances` maps node ids to the number of edges from it.

    `truncated` names the limit that ended the walk early, or is empty.
    """

    graph_id: str
    origin: str
    direction: str
    hops: int
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    node_count: int
    edge_count: int
    distances: dict[str, int]
    truncated: str
    settling: bool
    position: str


class ViewAnswer(Struct, frozen=True):
    """The graph as OpenLineage events. `events` are RunEvents, one for each job that ran; `statements` are JobEvents and DatasetEvents."""

    view: str
    systems: list[str] | None
    events: list[ViewEvent]
    statements: list[ViewEvent]
