"""Responses about lineage: of datasets and jobs, impact, paths and column traces.

`resolution` is "exact", or "day" where the last statement within the day of the requested time is not known.
"""

from msgspec import UNSET, Raw, Struct, UnsetType, field

from lineage_bridge.api.schemas.names import DescribedNode, Text
from lineage_bridge.api.schemas.nodes import GraphNode, NodeDetails, TransformationItem
from lineage_bridge.api.schemas.runs import RunItem
from lineage_bridge.projections.event_shapes import RunRef
from lineage_bridge.projections.shapes import Name


class DatasetDetail(DescribedNode, frozen=True):
    """A dataset with its canonical name and its aliases."""

    canonical: Name
    aliases: list[Name]
    position: str


class RunEvent(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An OpenLineage event that summarizes a run: its last state, its last time, all inputs and outputs.

    A job that was only declared has no run: its event is a JobEvent, without `run` and `eventType`. Lineage that a dataset declares for
    itself is a DatasetEvent: `dataset` stands for the job and for the outputs.
    """

    event_time: str
    inputs: list[Name]
    outputs: list[Name]
    producer: str
    schema_url: str = field(name="schemaURL")
    job: Name | UnsetType = UNSET
    dataset: Name | UnsetType = UNSET
    event_type: Text = UNSET
    run: RunRef | UnsetType = UNSET


class SentEvent(Struct, frozen=True, omit_defaults=True):
    """An event as it was sent. `principal` is its sender, if it was sent with credentials. `event_id` is the id in the answer to its
    sender.
    """

    event_id: str
    channel: str
    arrived_at: str
    event: Raw
    principal: Text = UNSET


class DatasetLineage(Struct, frozen=True):
    """The lineage up- or downstream of a dataset. `events` has one event for each visited job, and each dataset that declares its own
    lineage.

    `hidden_ended` counts flows that are left out because they have ended; it is absent if there are none.
    """

    origin: Name
    direction: str
    depth: int
    events: list[RunEvent]
    datasets_visited: int
    jobs_visited: int
    truncated: str
    settling: bool
    position: str
    at: Text = UNSET
    resolution: Text = UNSET
    hidden_ended: int | UnsetType = UNSET


class JobDetail(Struct, frozen=True):
    """A job, the newest of its runs that named a dataset, and the inputs and outputs of that run."""

    job: DescribedNode
    latest_inputs: list[DescribedNode]
    latest_outputs: list[DescribedNode]
    position: str
    latest_run: RunItem | UnsetType = UNSET


class AffectedNode(Struct, frozen=True, omit_defaults=True):
    """An affected node. `extent` is "all" if everything that reaches it comes through the origins, else "some". A job has no `paths`.

    `only_failed`: each path to it has a flow that only failed runs stated. `details` are present if they were requested.
    """

    node: GraphNode
    distance: int
    extent: str
    paths: int | UnsetType = UNSET
    only_failed: bool = False
    details: NodeDetails | UnsetType = UNSET


class OriginNode(GraphNode, frozen=True, omit_defaults=True):
    """A node that the question is about. `canonical` is the id of the node that stands for all names of a dataset or job."""

    canonical: str | UnsetType = UNSET
    details: NodeDetails | UnsetType = UNSET


class AffectingFlow(Struct, frozen=True, omit_defaults=True):
    """Data moves from one node to another through a job; the members are ids of nodes. Downstream, `target` is the job itself if it only
    reads, or only writes what it reads; `source` is the job itself if the question is about it. Upstream, `source` and `target` are
    exchanged in this rule. `origin` is the strongest of observed, declared and inferred.
    """

    source: str
    target: str
    job: str
    origin: str
    only_failed: bool = False


class ImpactCounts(Struct, frozen=True, omit_defaults=True):
    """Counts of all affected nodes, not of this page; `only_failed` of them are known from failed runs alone."""

    datasets: int
    jobs: int
    all: int
    some: int
    only_failed: int = 0


class BeyondCounts(Struct, frozen=True):
    """How many further nodes are affected that the principal may not see, because they lie outside its namespaces."""

    datasets: int
    jobs: int


class ImpactAnswer(Struct, frozen=True):
    """The nodes that depend on some nodes, or those on which they depend, the nearest first. `truncated` names the limit that ended the
    walk early; `origins`: that not everything in the namespaces of the question is an origin.

    `origin` is the first of the origins. Of a question about namespaces, `origins` come with the first page only. `flows` are all flows
    from the origins to affected nodes, if they were requested, with the first page only; an origin is in them under its `canonical` id, if
    it has one. `hidden_ended` counts flows that are left out because they have ended.
    """

    origin: GraphNode
    origins: list[OriginNode]
    direction: str
    depth: int
    counts: ImpactCounts
    affected: list[AffectedNode]
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str
    hidden_ended: int = 0
    beyond: BeyondCounts | UnsetType = UNSET
    flows: list[AffectingFlow] | UnsetType = UNSET


class PathAnswer(Struct, frozen=True):
    """One path: `nodes` in the direction of the data, and between each two the jobs that move it."""

    nodes: list[GraphNode]
    jobs: list[list[GraphNode]]


class PathsAnswer(Struct, frozen=True):
    """Paths from one node to another, the shortest first. `more`: whether there are, or may be, others.

    `hidden_ended` counts flows that are left out because they have ended.
    """

    source: GraphNode
    target: GraphNode
    paths: list[PathAnswer]
    more: bool
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str
    hidden_ended: int = 0


class TraceColumn(Struct, frozen=True, omit_defaults=True):
    """A column, as the id of its dataset (or job) and its field. An empty field means the whole dataset.

    `distance` counts hops from the origin. `end` says why the trace ended here: "masked", "job", "unknown column".
    """

    node: str
    field: str
    distance: int | UnsetType = UNSET
    end: str | UnsetType = UNSET


class ProofAnswer(Struct, frozen=True):
    """The latest event that states a flow between columns. As of an earlier time, it is the latest event by then that is known, which may
    be the first one of that day.

    `run_id` is the id of the run, or of the design-time statement.
    """

    event_id: str
    event_time: str
    run_id: str


class TraceFlow(Struct, frozen=True, omit_defaults=True):
    """A flow from one column to another; members are ids of nodes. `indirect`: the source only affects which rows result (filter, join,
    sort).
    """

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
    """A flow on the way without column lineage: the column may also have gone through it."""

    source: str
    target: str
    job: str
    origin: str
    evidence: str


class TraceCoverage(Struct, frozen=True):
    """How many flows at the traced datasets have column lineage (`told`), how many do not (`untold`), and some of the latter."""

    told: int
    untold: int
    gaps: list[TraceGap]


class KeptDataset(Struct, frozen=True, omit_defaults=True):
    """Who owns a dataset, given by its id, and how long its data is kept; members are left out where nobody states it.

    `owners` are those of the ownership facet, or else the values of the tag `owner`. `retention` is what a topic's own `retention.ms` and
    `cleanup.policy` mean (such as "7 days", "without limit", "newest of each key"), or else the value of the tag `retention`.
    """

    node: str
    owners: list[str] = []
    retention: str = ""


class TraceAnswer(Struct, frozen=True):
    """The columns from which a column is derived, or those that are derived from it. `kept` has the owners and the retention of each
    dataset among the nodes.

    `digest` is the SHA-256 of the question and of what was found, by names: answers with the same digest have the same content.
    """

    origin: GraphNode
    field: str
    direction: str
    depth: int
    nodes: list[GraphNode]
    columns: list[TraceColumn]
    flows: list[TraceFlow]
    kept: list[KeptDataset]
    coverage: TraceCoverage
    truncated: str
    hidden: int
    resolution: str
    settling: bool
    position: str
    digest: str
