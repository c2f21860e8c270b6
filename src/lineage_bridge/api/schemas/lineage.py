"""Responses about lineage: of datasets and jobs, impact and paths.

`resolution` is "exact", or "day" where the last statement within the day of the requested time is not known.
"""

from msgspec import UNSET, Raw, Struct, UnsetType, field

from lineage_bridge.api.schemas.names import DescribedNode, Text
from lineage_bridge.api.schemas.nodes import GraphNode, NodeDetails
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
    itself is a DatasetEvent: it has `dataset` in place of the job and the outputs.
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
    walk early; the value `origins` means that the namespaces of the question have more nodes than were used as origins.

    `origin` is the first of the origins. If the question is about namespaces, only the first page has `origins`. If `flows` were requested,
    the first page has all flows from the origins to affected nodes; they refer to an origin by its `canonical` id, if it has one.
    `hidden_ended` counts flows that are left out because they have ended.
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
