"""The shapes of nodes and edges, of neighbourhoods and of searches."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import Text
from lineage_bridge.projections.shapes import Name


class GraphNode(Struct, frozen=True, omit_defaults=True):
    """A node of an answer. `id` is opaque and the same in every answer of one installation.

    `goes_by` is its name in the spelling that was asked for, where that is another than `namespace` and `name`, which producers wrote.
    """

    id: str
    kind: str
    namespace: str
    name: str
    goes_by: Name | UnsetType = UNSET


class WalkNode(GraphNode, frozen=True, omit_defaults=True):
    """`distance` counts hops of flows from the origin. `canonical` is the id of the node that stands for all names of a dataset or job."""

    distance: int | UnsetType = UNSET
    canonical: str | UnsetType = UNSET


class GraphEdge(Struct, frozen=True, omit_defaults=True):
    """Data moves from one node to another by the work of a job; the members are ids of nodes.

    A flow that a dataset declares of itself, in an event without a job, has that dataset in the place of the job.
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


class GraphPort(Struct, frozen=True, omit_defaults=True):
    """A job names a dataset as its input or output."""

    job: str
    dataset: str
    side: Literal["input", "output"]
    origin: str
    label: str
    last_seen: Text = UNSET
    liveness: Text = UNSET


class TransformationItem(Struct, frozen=True):
    """How a column becomes another, in OpenLineage's words."""

    type: str
    subtype: str
    masking: bool


class GraphColumn(Struct, frozen=True, omit_defaults=True):
    """One column comes from another; an empty field means the whole dataset. `descriptions`: what producers said of how."""

    source: str
    source_field: str
    target: str
    target_field: str
    job: str
    origin: str
    transformations: list[TransformationItem]
    descriptions: list[str] = []


class NeighbourhoodAnswer(Struct, frozen=True):
    """What lies around a node. `truncated` names the limit that ended the walk early; `hidden` counts edges not followed.

    `at` is the time it is of, left out for now. Its `resolution` is "day" where what a subject said last within that day is not known.
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


class MatchedLine(Struct, frozen=True, rename={"where": "in"}):
    """A line of what is said of a node, and the field it stands in."""

    where: str
    text: str


class FoundNode(GraphNode, frozen=True, omit_defaults=True):
    """A node that was found. `matched` are lines of what is said of it; without them it was found by its name."""

    matched: list[MatchedLine] | UnsetType = UNSET


class SearchAnswer(Struct, frozen=True, omit_defaults=True):
    """Nodes that were found, those found by their names first. `truncated`: only some of what matches was looked at."""

    results: list[FoundNode]
    position: str
    truncated: bool = False
