"""The shapes of impact, paths and column traces.

`resolution` is "exact", or "day" where what was said last within the day of the time asked for is not known.
"""

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.answers import GraphNode, TransformationItem


class AffectedNode(Struct, frozen=True, omit_defaults=True):
    """`extent` is "all" where everything that reaches the node comes through the origin, else "some". A job has no `paths`."""

    node: GraphNode
    distance: int
    extent: str
    paths: int | UnsetType = UNSET


class ImpactCounts(Struct, frozen=True):
    """Of all that is affected, not of this page."""

    datasets: int
    jobs: int
    all: int
    some: int


class ImpactAnswer(Struct, frozen=True):
    """What depends on a node, or what it depends on: the nearest first. `truncated` names the limit that ended the walk early."""

    origin: GraphNode
    direction: str
    depth: int
    counts: ImpactCounts
    affected: list[AffectedNode]
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str


class PathAnswer(Struct, frozen=True):
    """One way: `nodes` in the direction of the data, and between each two the jobs that move it."""

    nodes: list[GraphNode]
    jobs: list[list[GraphNode]]


class PathsAnswer(Struct, frozen=True):
    """Ways from one node to another, the shortest first. `more`: there are others, or there may be."""

    source: GraphNode
    target: GraphNode
    paths: list[PathAnswer]
    more: bool
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str


class TraceColumn(Struct, frozen=True, omit_defaults=True):
    """A column, as the id of its dataset (or job) and its field; an empty field is all of it.

    `distance` counts hops from the origin. `end` says why the trace did not go on: "masked", "job", "unknown column".
    """

    node: str
    field: str
    distance: int | UnsetType = UNSET
    end: str | UnsetType = UNSET


class ProofAnswer(Struct, frozen=True):
    """The event that said it last. `run_id` is that of the run, or of the design-time statement."""

    event_id: str
    event_time: str
    run_id: str


class TraceFlow(Struct, frozen=True, omit_defaults=True):
    """One column goes into another; members are ids of nodes. `indirect`: it decides (filter, join, sort), its values do not pass."""

    source: str
    source_field: str
    target: str
    target_field: str
    job: str
    origin: str
    transformations: list[TransformationItem]
    masked: bool = False
    indirect: bool = False
    proof: ProofAnswer | UnsetType = UNSET
    descriptions: list[str] = []


class TraceGap(Struct, frozen=True):
    """A flow on the way of which no columns are told: what is traced may have taken it too."""

    source: str
    target: str
    job: str
    origin: str
    evidence: str


class TraceCoverage(Struct, frozen=True):
    """How many flows at the traced datasets tell of columns, how many do not, and some of those."""

    told: int
    untold: int
    gaps: list[TraceGap]


class TraceAnswer(Struct, frozen=True):
    """Where a column comes from, or ends up."""

    origin: GraphNode
    field: str
    direction: str
    depth: int
    nodes: list[GraphNode]
    columns: list[TraceColumn]
    flows: list[TraceFlow]
    coverage: TraceCoverage
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str
