"""Nodes and edges as answers contain them, and the responses with a neighbourhood or search results."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import DescribedNode, Text
from lineage_bridge.projections.shapes import Name


class GraphNode(Struct, frozen=True, omit_defaults=True):
    """A node of an answer. `id` is opaque and the same in every answer of one installation.

    `namespace` and `name` are what producers wrote; `goes_by` is the name in the requested style, if that differs. `dropped`: the dataset
    was dropped and has not been created or written since.
    """

    id: str
    kind: str
    namespace: str
    name: str
    goes_by: Name | UnsetType = UNSET
    dropped: bool = False


class BeyondItem(Struct, frozen=True):
    """How many nodes there are one hop further upstream and downstream, which the answer does not show. Counts the datasets, and the jobs
    that are themselves the end of a flow.
    """

    upstream: int
    downstream: int


class NodeDetails(Struct, frozen=True, omit_defaults=True):
    """What an answer says about a node: its system, its type, the short form of its name, its tags, its owners, for a job its state
    as in `/overview`, and for a dataset when a run last wrote and read it.

    `tags` are those of the node itself, not of its columns, as `key` or `key=value`; `owners` and `retention` are as in traces.
    `freshness` is how fresh a dataset is promised to be: the value of its tag `freshness`.
    """

    system: str
    node_type: str
    display_name: str
    state: Text = UNSET
    last_seen: Text = UNSET
    tags: list[str] | UnsetType = UNSET
    owners: list[str] | UnsetType = UNSET
    retention: Text = UNSET
    freshness: Text = UNSET
    last_written: Text = UNSET
    last_read: Text = UNSET


class ListedNode(DescribedNode, frozen=True, omit_defaults=True):
    """A dataset or a job in a list, with its current facets. `details` are present if they were requested."""

    details: NodeDetails | UnsetType = UNSET


class WalkNode(GraphNode, frozen=True, omit_defaults=True):
    """A node that a walk reached. `distance` counts hops of flows from the origin. `canonical` is the id of the node that stands for
    all names of a dataset or job.

    `details` and `beyond` are present if they were requested; `beyond` only for nodes with further flows.
    """

    distance: int | UnsetType = UNSET
    canonical: str | UnsetType = UNSET
    details: NodeDetails | UnsetType = UNSET
    beyond: BeyondItem | UnsetType = UNSET


class GraphEdge(Struct, frozen=True, omit_defaults=True):
    """A flow: data moves from one node to another through a job. The members are ids of nodes.

    A flow that a dataset declares for itself, in an event without a job, has that dataset in place of the job. `only_failed`: only
    failed runs stated it. `unambiguous`: its evidence is co-occurrence, but the job has one input and one output (in neighbourhoods
    only).
    """

    source: str
    target: str
    job: str
    origin: str
    evidence: str
    label: str
    last_seen: Text = UNSET
    hub: bool = False
    liveness: Text = UNSET
    only_failed: bool = False
    unambiguous: bool = False


class GraphPort(Struct, frozen=True, omit_defaults=True):
    """A dataset that a job names as its input or output. `only_failed`: only failed runs of the job named it."""

    job: str
    dataset: str
    side: Literal["input", "output"]
    origin: str
    label: str
    last_seen: Text = UNSET
    liveness: Text = UNSET
    only_failed: bool = False


class TransformationItem(Struct, frozen=True):
    """How one column is derived from another, in OpenLineage's terms."""

    type: str
    subtype: str
    masking: bool


class GraphColumn(Struct, frozen=True, omit_defaults=True):
    """A column that is derived from another. An empty field means the whole dataset. `descriptions` are the producers' texts about how."""

    source: str
    source_field: str
    target: str
    target_field: str
    job: str
    origin: str
    transformations: list[TransformationItem]
    descriptions: list[str] = []


class NeighbourhoodAnswer(Struct, frozen=True):
    """The nodes and edges around a node. `truncated` names the limit that ended the walk early; `hidden` counts edges not followed.

    `hidden_ended` counts flows that are left out because they have ended. `at` is the time that was asked about; it is absent if the answer
    is about the present. `resolution` is "day" where the last statement within that day is not known.
    """

    origin: GraphNode
    members: list[GraphNode]
    direction: str
    depth: int
    nodes: list[WalkNode]
    edges: list[GraphEdge]
    ports: list[GraphPort]
    columns: list[GraphColumn]
    truncated: str
    hidden: int
    settling: bool
    position: str
    at: Text = UNSET
    resolution: Literal["exact", "day"] = "exact"
    hidden_ended: int = 0


class MatchedLine(Struct, frozen=True, rename={"where": "in"}):
    """A line in a node's facets that matches a search, and the field to which it belongs."""

    where: str
    text: str


class FoundNode(GraphNode, frozen=True, omit_defaults=True):
    """A node that matches a search. `matched` are lines of its facets; without them its name matches. `details` are present if they were
    requested.
    """

    matched: list[MatchedLine] | UnsetType = UNSET
    details: NodeDetails | UnsetType = UNSET


class SearchAnswer(Struct, frozen=True, omit_defaults=True):
    """Nodes that match a search, those that match by name first. `truncated`: not all matches were examined."""

    results: list[FoundNode]
    position: str
    truncated: bool = False
