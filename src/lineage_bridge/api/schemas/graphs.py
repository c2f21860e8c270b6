"""The shapes of the graph as a list of nodes and edges. Absent values of the members that LineageBridge's users know are null."""

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType

from lineage_bridge.api.schemas.answers import Name, RunRef, Text


class LineageNode(Struct, frozen=True, omit_defaults=True):
    """A dataset or a job, under all its names.

    `attributes` are the members of its `confluent_...` facets, its description, its SQL. `namespace` and `name` are OpenLineage's, as
    producers wrote them; `aliases` other names of the same. `id` is the node's id in all other answers.
    """

    node_id: str
    system: str
    node_type: str
    qualified_name: str
    display_name: str
    environment_id: str | None
    environment_name: str | None
    cluster_id: str | None
    cluster_name: str | None
    catalog_type: str | None
    attributes: dict[str, Any]
    tags: list[str]
    url: str | None
    first_seen: str
    last_seen: str | None
    id: str
    kind: str
    namespace: str
    name: str
    aliases: list[Name]
    facets: dict[str, Raw] | UnsetType = UNSET


class LineageEdge(Struct, frozen=True, omit_defaults=True):
    """Data goes from one node to another: a dataset is read by a job, a job writes a dataset, or a dataset comes from another directly.

    `confidence` (0 to 1) follows from `origin` (`observed`, `declared`, `inferred`), or was stated by an import. `facets`, in an export, is
    what the job says of the columns of what it writes.
    """

    src_id: str
    dst_id: str
    edge_type: str
    confidence: float
    attributes: dict[str, Any]
    first_seen: str | None
    last_seen: str | None
    origin: str
    label: str
    facets: dict[str, Raw] | UnsetType = UNSET


class GraphSummary(Struct, frozen=True):
    """The one graph of an installation. `pipeline_count`: how many parts of it hang together, by their edges, whichever way."""

    graph_id: str
    node_count: int
    edge_count: int
    pipeline_count: int
    created_at: str | None
    last_modified: str | None


class GraphStats(Struct, frozen=True):
    """How much there is. `validation_warnings` is empty: no edge leads to a node that is not there."""

    node_count: int
    edge_count: int
    pipeline_count: int
    validation_warnings: list[str]


class WholeGraph(Struct, frozen=True):
    """The graph with all its nodes and edges."""

    graph_id: str
    nodes: list[LineageNode]
    edges: list[LineageEdge]
    stats: GraphStats
    created_at: str | None
    last_modified: str | None


class NodeList(Struct, frozen=True):
    """Nodes, and how many match in all."""

    nodes: list[LineageNode]
    total: int


class EdgeList(Struct, frozen=True):
    """Edges, and how many there are in all."""

    edges: list[LineageEdge]
    total: int


class Exported(Struct, frozen=True):
    """All nodes, with their facets, and all edges: what import takes."""

    nodes: list[LineageNode]
    edges: list[LineageEdge]


class NodeIn(Struct, frozen=True):
    """A node as an import brings it; more members are ignored."""

    node_id: str
    node_type: str | None = None
    namespace: str | None = None
    name: str | None = None
    environment_id: str | None = None
    environment_name: str | None = None
    cluster_id: str | None = None
    cluster_name: str | None = None
    attributes: dict[str, Any] | None = None
    tags: list[str] | None = None
    url: str | None = None
    first_seen: str | None = None
    last_seen: str | None = None
    aliases: list[dict[str, Any]] | None = None
    facets: dict[str, Any] | None = None


class EdgeIn(Struct, frozen=True):
    """An edge as an import brings it; more members are ignored."""

    src_id: str
    dst_id: str
    edge_type: str
    confidence: float = 1.0
    attributes: dict[str, Any] | None = None
    facets: dict[str, Any] | None = None


class GraphIn(Struct, frozen=True):
    """What an import brings."""

    nodes: list[NodeIn]
    edges: list[EdgeIn] = []


class SkippedItem(Struct, frozen=True, omit_defaults=True):
    """A node or an edge that an import leaves out, and why."""

    reason: str
    node_id: Text = UNSET
    src_id: Text = UNSET
    dst_id: Text = UNSET
    edge_type: Text = UNSET


class ImportAnswer(Struct, frozen=True):
    """An import is durable. `position` is where the graph has to be for answers to contain it."""

    graph_id: str
    nodes_imported: int
    edges_imported: int
    skipped: list[SkippedItem]
    position: str


class HopsAnswer(Struct, frozen=True):
    """What lies up- or downstream of a node. `nodes` are without the origin; `distances` is node id to hops, of edges.

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


class ViewDataset(Struct, frozen=True, omit_defaults=True):
    """A dataset of a view's event, with its current facets."""

    namespace: str
    name: str
    facets: dict[str, Raw] | UnsetType = UNSET


class ViewJob(ViewDataset, frozen=True, omit_defaults=True):
    """A job of a view's event, with its current facets."""


class ViewEvent(
    Struct, frozen=True, rename={"event_time": "eventTime", "schema_url": "schemaURL", "event_type": "eventType"}, omit_defaults=True
):
    """An OpenLineage event that sums up a job by its newest run, or a job or dataset that was only declared."""

    event_time: str
    producer: str
    schema_url: str
    event_type: Text = UNSET
    run: RunRef | UnsetType = UNSET
    job: ViewJob | UnsetType = UNSET
    dataset: ViewDataset | UnsetType = UNSET
    inputs: list[ViewDataset] | UnsetType = UNSET
    outputs: list[ViewDataset] | UnsetType = UNSET


class View(Struct, frozen=True):
    """The graph as OpenLineage events. `events` are RunEvents, one for each job that ran; `statements` are JobEvents and DatasetEvents."""

    view: str
    systems: list[str] | None
    events: list[ViewEvent]
    statements: list[ViewEvent]
