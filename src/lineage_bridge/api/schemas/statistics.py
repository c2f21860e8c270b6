"""The responses with amounts: what runs read and wrote, and numbers about the whole graph."""

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from lineage_bridge.api.schemas.names import DatasetRef, JobRef
from lineage_bridge.api.schemas.nodes import GraphNode
from lineage_bridge.api.schemas.runs import RunItem

Count = int | UnsetType
Rate = float | UnsetType
EndCode = Literal["expired", "refused", "stopping", "failed"]


class Bucket(Struct, frozen=True, omit_defaults=True):
    """The amounts within one bucket of time, from `start` on."""

    start: str
    rows: Count = UNSET
    bytes: Count = UNSET
    files: Count = UNSET


class Series(Struct, frozen=True, omit_defaults=True):
    """The amounts that the runs of a job read from, or wrote to, a dataset within the window.

    `counting` is how its runs report: `cumulative` from their start, per `interval`, or both. Rates are averages over the whole window.
    """

    job: JobRef
    dataset: DatasetRef
    side: Literal["input", "output"]
    runs: int
    samples: int
    first: str
    last: str
    counting: tuple[str, ...]
    rows: Count = UNSET
    bytes: Count = UNSET
    files: Count = UNSET
    rows_per_second: Rate = UNSET
    bytes_per_second: Rate = UNSET
    files_per_second: Rate = UNSET
    buckets: list[Bucket] | UnsetType = UNSET


class StatisticsAnswer(Struct, frozen=True):
    """Amounts within [since, until). `truncated`: not all runs or samples of the window were read."""

    since: str
    until: str
    series: list[Series]
    truncated: bool
    settling: bool
    position: str


class StuckAnswer(Struct, frozen=True):
    """Partitions of a topic that have unread records and on which a consumer group makes no progress, while it reads other partitions: the
    number of such partitions, the one with the most unread records, and the number of these records.
    """

    partitions: int
    worst: int
    rows: int


class LagAnswer(Struct, frozen=True, omit_defaults=True):
    """How many records of a dataset a job had not read at a time, by the last report about it.

    `drain_s` is how many seconds it takes to read them at the rate of the window, without the records that arrive meanwhile; it is absent
    if the rate is 0 or unknown.
    """

    at: str
    rows: int
    drain_s: Rate = UNSET
    stuck: StuckAnswer | UnsetType = UNSET


class PulseItem(Struct, frozen=True, omit_defaults=True):
    """The recent amounts that a job read from, or wrote to, a dataset: rates over the whole window, and the time of the last report.

    `lag` is that of a consumer group that reads the dataset.
    """

    job: GraphNode
    dataset: GraphNode
    side: Literal["input", "output"]
    last: str
    rows_per_second: Rate = UNSET
    bytes_per_second: Rate = UNSET
    lag: LagAnswer | UnsetType = UNSET


class PulseAnswer(Struct, frozen=True):
    """Rates within the window of `window_s` seconds that ends `at`. `truncated`: not all runs or samples of the window were read."""

    at: str
    window_s: int
    flows: list[PulseItem]
    truncated: bool
    settling: bool
    position: str


class PulseEnd(Struct, frozen=True):
    """A flow that is no longer in the answer, by the ids of its job and its dataset."""

    job: str
    dataset: str
    side: Literal["input", "output"]


class PulseChange(Struct, frozen=True):
    """An event `rates` of the stream of a pulse: rates within the window of `window_s` seconds that ends `at`.

    If it `is_whole`, `flows` are all; otherwise those that have changed since the event before, and `gone` are those that have ended.
    """

    at: str
    window_s: int
    is_whole: bool
    flows: list[PulseItem]
    gone: list[PulseEnd]
    truncated: bool
    settling: bool
    position: str


class PulseStreamEnd(Struct, frozen=True):
    """The event `end`, the last one of a stream that the server ends: `expired`, if it has lasted as long as it may, `refused`, if its
    client may no longer ask, `stopping`, if the server is being stopped, or `failed`.
    """

    code: EndCode
    message: str


class NamespaceCount(Struct, frozen=True):
    """How many datasets a namespace has."""

    namespace: str
    datasets: int


class SystemCount(Struct, frozen=True):
    """How many datasets a system has, in how many namespaces, and which of these are the largest."""

    system: str
    datasets: int
    namespaces: int
    largest: list[NamespaceCount]


class StateCount(Struct, frozen=True):
    """How many jobs are in a state."""

    state: str
    jobs: int


class JobTypeCount(Struct, frozen=True):
    """How many jobs of a type there are, by their state."""

    job_type: str
    jobs: int
    states: list[StateCount]


class UrgentItem(Struct, frozen=True):
    """A job that needs attention, and the run whose state is the reason."""

    job: JobRef
    job_type: str
    state: str
    run: RunItem


class OverviewAnswer(Struct, frozen=True):
    """Datasets by system, jobs by type, and jobs that need attention, the worst first.

    The state of a job is the liveness of a stream that runs, or else the state of its newest run, or `declared` if it never ran.
    `states` counts all jobs; those that need attention are in the states `fail`, `gone`, `silent` and `abort`.
    """

    systems: list[SystemCount]
    job_types: list[JobTypeCount]
    states: list[StateCount]
    urgent: list[UrgentItem]
    settling: bool
    position: str


class EstateNode(Struct, frozen=True):
    """A system, or one of its environments: an environment of Confluent Cloud if the namespace contains one, or else the namespace.

    `readers` are the jobs that read its datasets and write none, `writers` those that write its datasets and read none. `largest` are its
    namespaces with the most datasets. The node `(others)`, without a system, stands for all that the answer has no room for.
    """

    id: str
    system: str
    environment: str
    datasets: int
    namespaces: int
    largest: list[NamespaceCount]
    readers: int
    writers: int


class EstateFlow(Struct, frozen=True):
    """The data flow from one node of the estate to another, or within one node: the number of jobs that move data, and of flows without a
    job.

    A job counts for each pair of nodes of which it reads one and writes the other.
    """

    source: str
    target: str
    jobs: int
    direct: int


class EstateAnswer(Struct, frozen=True):
    """Systems or their environments, those with the most datasets first, and the flows between them.

    `others` is how many systems or environments with datasets the node `(others)` stands for, `flows_left_out` how many flows there are
    besides those of the answer, which are the largest.
    """

    scale: Literal["system", "environment"]
    nodes: list[EstateNode]
    flows: list[EstateFlow]
    flows_left_out: int
    others: int
    settling: bool
    position: str
