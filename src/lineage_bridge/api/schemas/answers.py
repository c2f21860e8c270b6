"""The shapes of answers. Times are RFC 3339 UTC with microseconds; what is absent is left out."""

from typing import ClassVar, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

from lineage_bridge.openlineage.verdict import Repair
from lineage_bridge.projections.event_shapes import RunRef
from lineage_bridge.projections.shapes import Name

Text = str | UnsetType
BatchStatus = Literal["success", "partial_success", "failure"]


class DatasetName(Name, frozen=True, omit_defaults=True):
    """A dataset by the name that producers wrote. `goes_by` is its name in the spelling that was asked for, where that is another."""

    entity: ClassVar[str] = "dataset"
    goes_by: Name | UnsetType = UNSET


class JobName(DatasetName, frozen=True, omit_defaults=True):
    """The same of a job."""

    entity: ClassVar[str] = "job"


# errors


class Problem(Struct, frozen=True):
    """What was wrong: a stable code, a sentence, what can be done, and names that come close."""

    code: str
    message: str
    hint: str = ""
    near: list[Name] | UnsetType = UNSET
    id: Text = UNSET


class ErrorAnswer(Struct, frozen=True):
    """Every answer that is no success, but for events that were rejected."""

    error: Problem


# intake


class Accepted(Struct, frozen=True, tag_field="status", tag="accepted"):
    """One event is durable. `position` is where the graph has to be for answers to contain it."""

    event_id: str
    position: str
    repairs: tuple[Repair, ...]


class RejectedAnswer(Struct, frozen=True, tag_field="status", tag="rejected"):
    """One event is kept in quarantine and not used."""

    event_id: str
    position: str
    code: str
    path: str
    message: str


class EventOutcome(Struct, frozen=True, omit_defaults=True):
    """What became of one event of several; `index` counts from 0."""

    index: int
    status: Literal["accepted", "rejected"]
    event_id: str
    repairs: tuple[Repair, ...] | UnsetType = UNSET
    code: Text = UNSET
    path: Text = UNSET
    message: Text = UNSET


class Outcomes(Struct, frozen=True):
    """What became of several events."""

    accepted: int
    rejected: int
    position: str
    events: list[EventOutcome]


class Stored(Outcomes, frozen=True):
    """What became of several events. `events_stored` counts those that are used."""

    events_stored: int


class BatchSummary(Struct, frozen=True):
    """How many events of a batch were received, used, not used, and of those how many are worth sending again."""

    received: int
    successful: int
    failed: int
    retriable: int
    non_retriable: int


class FailedEvent(Struct, frozen=True):
    """An event of a batch that is not used; `index` counts from 0."""

    index: int
    reason: str
    retriable: bool


class BatchAnswer(Struct, frozen=True):
    """The standard's answer to a batch, and our position."""

    status: BatchStatus
    summary: BatchSummary
    failed_events: list[FailedEvent]
    position: str


class EraseRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """Runs to take out of the graph, by their UUIDs."""

    runs: list[str]


class Erased(Struct, frozen=True, tag_field="status", tag="accepted"):
    """The order to erase is durable."""

    runs: int
    position: str


# questions in the printed shapes


class DescribedNode(Struct, frozen=True):
    """A dataset or a job with its current facets."""

    namespace: str
    name: str
    facets: dict[str, Raw]


class DatasetDetail(DescribedNode, frozen=True):
    """`aliases` are the other names of the same dataset, `canonical` the one its group is known by."""

    canonical: Name
    aliases: list[Name]
    position: str


class RunEvent(Struct, frozen=True, rename="camel", omit_defaults=True):
    """An OpenLineage event that sums up a run: its last state, its last time, all it read and wrote.

    A job that was only declared has no run; its event is a JobEvent, without `run` and `eventType`. What a dataset says of its own lineage,
    without a job, is a DatasetEvent: `dataset` is in the place of the job, and of the outputs.
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


class DatasetLineage(Struct, frozen=True):
    """What lies up- or downstream of a dataset. `events` holds one event for each visited job, or dataset that tells its own lineage."""

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


# our own questions


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


class RunDependency(Struct, frozen=True, omit_defaults=True):
    """Control flow, no data flow: a job, perhaps a run of it, that the run waits for (`upstream`) or that waits for it (`downstream`)."""

    direction: Literal["upstream", "downstream"]
    job: JobName
    run_id: Text = UNSET
    dependency_type: Text = UNSET
    sequence_trigger_rule: Text = UNSET
    status_trigger_rule: Text = UNSET


class RunItem(Struct, frozen=True, omit_defaults=True):
    """A run of a job, as far as its events told. `raw_id` is the id as sent, where it was no UUID.

    `unobserved`: the run never spoke, others name it. `parent_job` is the job the parent spoke under itself; where this run names
    another, `named_parent_job` is that. `nominal_...` is the scheduled interval. `streaming`: it does not end by itself.
    """

    run_id: str
    job: JobName
    state: str
    last_seen: str
    inputs: list[DatasetName]
    outputs: list[DatasetName]
    raw_id: Text = UNSET
    started_at: Text = UNSET
    ended_at: Text = UNSET
    started_inferred: bool = False
    conflict: bool = False
    parent_run_id: Text = UNSET
    parent_job: JobName | UnsetType = UNSET
    unobserved: bool = False
    streaming: bool = False
    named_parent_job: JobName | UnsetType = UNSET
    root_run_id: Text = UNSET
    root_job: JobName | UnsetType = UNSET
    nominal_start: Text = UNSET
    nominal_end: Text = UNSET
    dependencies: list[RunDependency] | UnsetType = UNSET
    liveness: Text = UNSET


class RunsAnswer(Struct, frozen=True):
    """Runs, the one that spoke last first. `truncated`: very many were looked at, and there may be more."""

    runs: list[RunItem]
    settling: bool
    position: str
    truncated: bool = False


class JobDetail(Struct, frozen=True):
    """A job, what its newest run that named a dataset read and wrote, and that run."""

    job: DescribedNode
    latest_inputs: list[DescribedNode]
    latest_outputs: list[DescribedNode]
    position: str
    latest_run: RunItem | UnsetType = UNSET


class QuarantineItem(Struct, frozen=True):
    """Bytes that are kept and not used. `size` is that of what is kept; `sample` its beginning."""

    event_id: str
    code: str
    path: str
    message: str
    arrived_at: str
    channel: str
    size: int
    sample: str


class QuarantineAnswer(Struct, frozen=True):
    """What is kept aside, newest first; `counts` are of all of it, by code."""

    items: list[QuarantineItem]
    counts: dict[str, int]
    position: str


# operations


class DiskUse(Struct, frozen=True):
    """Bytes the log uses, and bytes still free beside it."""

    used_bytes: int
    free_bytes: int


class Health(Struct, frozen=True, tag_field="status", tag="ok"):
    """The process answers."""

    disk: DiskUse


class PartState(Struct, frozen=True):
    """A part of the system: `state` is "ok" or what it is instead."""

    state: str
    detail: str


class PartStates(Struct, frozen=True):
    """The parts that must all work."""

    intake: PartState
    store: PartState
    pipeline: PartState


class Lag(Struct, frozen=True):
    """How far the graph is behind the log."""

    bytes: int
    caught_up: bool
    log_end: str
    applied: str


class Readiness(Struct, frozen=True):
    """Whether everything works, and how each part stands."""

    ready: bool
    parts: PartStates
    lag: Lag
    settling: bool
    disk: DiskUse


class Version(Struct, frozen=True):
    """Which program answers, and which version of the standard it writes."""

    version: str
    name: str = "LineageBridge"
    openlineage: str = "2-0-2"
