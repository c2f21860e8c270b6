"""The seams: what the parts ask of each other. They meet in `wiring`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple, Protocol

import msgspec

from lineage_bridge.graph.carried import Carried, FrameKind
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.labels import Label
from lineage_bridge.graph.ledger import Entry, Window
from lineage_bridge.graph.liveness import Liveness
from lineage_bridge.graph.relations import Evidence, Origin, Row, Side
from lineage_bridge.graph.statistics import Amount
from lineage_bridge.openlineage.facets import SchemaField

LOG_SOURCE = "log"
"""The name of the embedded event log as a source of frames."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One entry of the event log. `event_id` has 16 bytes, `arrival_us` is UTC microseconds, `note` is empty or a small JSON text."""

    kind: FrameKind
    event_id: bytes
    arrival_us: int
    channel: str
    principal: str
    note: bytes
    body: bytes


@dataclass(frozen=True)
class Batch:
    """The facts of one micro-batch, merged per partition, with the stretch (start, end) of each stream (source, part) they come from."""

    spans: Mapping[tuple[str, int], tuple[int, int]]
    rows: Mapping[str, list[Row]]


@dataclass(frozen=True)
class Budget:
    """How many rows one transaction may read and write to derive values, beyond those its batch brought.

    At least one key is always derived.
    """

    rows: int


class Counted(NamedTuple):
    """How many rows a relation has in a store and in one computed again."""

    relation: str
    before: int
    after: int


class EventLog(Protocol):
    """Where accepted events become durable."""

    def submit(self, frames: Sequence[Frame]) -> "Future[list[int]]":
        """The frames' places, once they are durable. Raises UnavailableError under overload; the future fails with LogError."""

    def end(self) -> int:
        """The durable end: the place behind the last durable frame."""


class FrameReader(Protocol):
    """Reads frames back from where they are durable."""

    def durable_end(self) -> int:
        """The durable end of the log; 0 when it is empty."""

    def read_one(self, offset: int) -> Frame:
        """The frame at a place. Raises OffsetError or FrameError."""

    def span(self, start: int, end: int) -> int:
        """The bytes of the frames in [start, end): how far a consumer lags. Raises OffsetError."""


class GraphStore(Protocol):
    """The graph store, opened by the pipeline alone."""

    def position(self, source: str) -> dict[int, int]:
        """Part to place: where the next batch of `source` starts."""

    def apply(self, batch: Batch, budget: Budget) -> None:
        """Merge one batch in one transaction. Raises PositionError, CollisionError."""

    def settle(self, budget: Budget) -> int:
        """Derive what earlier batches left; the number of keys still left."""


class CarriedFrames(Protocol):
    """A stretch of a stream as frames with their places."""

    def __call__(self, start: int, end: int) -> Iterator[Carried]:
        """The frames from `start` up to `end`."""


@dataclass(frozen=True)
class Node:
    """A dataset or a job (`kind`) by its name."""

    id: int
    kind: NodeKind
    namespace: str
    name: str


@dataclass(frozen=True)
class Edge:
    """Data moves from `source` to `target` by the work of `job`: a dataset or a job at either end.

    A flow that a dataset declares of itself, in an event without a job, has that dataset in the place of the job.
    `last` is UTC microseconds. `hub`: the pair merely lies in a wide run. `liveness` is told of streams.
    """

    source: Node
    target: Node
    job: Node
    origin: Origin
    evidence: Evidence
    label: Label
    last: int | None
    hub: bool = False
    liveness: Liveness | None = None


@dataclass(frozen=True)
class Port:
    """A job names a dataset as its input or output (`side`)."""

    job: Node
    dataset: Node
    side: Side
    origin: Origin
    label: Label
    last: int | None
    liveness: Liveness | None = None


@dataclass(frozen=True)
class Change:
    """What became of one node, edge or port between two moments: it `appeared`, `disappeared`, or `changed`.

    An edge or port that is there is as it is in the later moment; `label_before` and `evidence_before` tell how it was.
    """

    change: str
    node: Node | None = None
    edge: Edge | None = None
    port: Port | None = None
    label_before: Label | None = None
    evidence_before: Evidence | None = None


@dataclass(frozen=True)
class Drift:
    """What a job was declared to do and never seen to do (`origin` DECLARED), or the other way round (OBSERVED).

    `what` is "input" or "output" of `node`, or a "flow" from `node` to `target`. `since` is UTC microseconds.
    """

    job: Node
    origin: Origin
    what: str
    node: Node
    target: Node | None
    since: int | None


@dataclass(frozen=True)
class DriftPage:
    """The drift of some jobs, in the order of their names; `next` is the job the next page begins with, None if there is none."""

    drifts: tuple[Drift, ...]
    jobs: int
    next: int | None


@dataclass(frozen=True)
class Between:
    """Two moments (UTC microseconds; None is now)."""

    since: int
    until: int | None


@dataclass(frozen=True)
class GraphDiff:
    """What changed between two moments.

    `truncated` names the limit that ended a walk early; `next` is where the next page begins, or None.
    """

    changes: tuple[Change, ...]
    resolution: str
    truncated: str
    next: int | None


@dataclass(frozen=True)
class ColumnEdge:
    """One column (or, with an empty field, a whole dataset) comes from another. Transformations are (type, subtype, masking), sorted."""

    source: Node
    source_field: str
    target: Node
    target_field: str
    job: Node
    origin: Origin
    transformations: tuple[tuple[str, str, bool], ...]


@dataclass(frozen=True)
class Walk:
    """What lies up- or downstream of `origin`. `distances` is node id to hops (flows, 0 for the origin's group).

    `canonical` maps those nodes that are one of several names of a dataset to the name it goes by.

    `truncated` names the limit that ended it early, or is empty; `hidden` counts the edges not followed for it.
    `at` is the time it is of (UTC microseconds), None for now; `resolution` is "exact", or "day" where what a subject
    said last within that day may be an earlier of several contents.
    """

    origin: Node
    members: tuple[Node, ...]
    direction: str
    depth: int
    nodes: tuple[Node, ...]
    distances: Mapping[int, int]
    canonical: Mapping[int, int]
    edges: tuple[Edge, ...]
    ports: tuple[Port, ...]
    columns: tuple[ColumnEdge, ...]
    truncated: str
    hidden: int
    at: int | None = None
    resolution: str = "exact"


@dataclass(frozen=True)
class RunRecord:
    """A run of a job, as far as its events told. Times are UTC microseconds.

    `observed` is false for a run that only others name. `parent_job` is the job the parent run itself spoke under; where a child
    names another, `named_parent_job` is that. `nominal` is the scheduled interval. `heartbeat_us` is the period of a stream's heartbeats.
    """

    run_id: str
    raw_id: str | None
    job: Node
    state: str
    started: int | None
    ended: int | None
    started_inferred: bool
    conflict: bool
    last: int
    parent_run_id: str | None
    parent_job: Node | None
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    observed: bool = True
    streaming: bool = False
    named_parent_job: Node | None = None
    root_run_id: str | None = None
    root_job: Node | None = None
    nominal: tuple[int | None, int | None] = (None, None)
    heartbeat_us: int | None = None


@dataclass(frozen=True)
class RunFilter:
    """Which runs to list: of a job, of a parent (a run's 16 bytes), or both; `state` one of the states of a run.

    Times in UTC microseconds: runs that spoke at or after `since` and began before `until`.
    """

    job: int | None = None
    parent: bytes | None = None
    state: str | None = None
    since: int | None = None
    until: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class RunPage:
    """Runs, the one that spoke last first. `truncated` says that the search for a state gave up after very many runs."""

    runs: tuple[RunRecord, ...]
    truncated: bool = False


@dataclass(frozen=True)
class RunTree:
    """A run and what runs inside it, in the order of a walk from the top; each with its depth. `truncated`: there is more."""

    runs: tuple[tuple[int, RunRecord], ...]
    truncated: bool


@dataclass(frozen=True)
class Dependency:
    """Control flow, no data flow: `job`, perhaps a run of it, that a run waits for (`upstream`) or that waits for it (`downstream`).

    `words` are (dependency type, sequence rule, status rule), empty where not told.
    """

    direction: str
    job: Node
    run_id: str | None
    words: tuple[str, str, str]


@dataclass(frozen=True)
class RunLink:
    """The run `consumer` read of `dataset` what the run `producer` had written.

    `by` is what says so: the same `version`, the writer that shares a parent or root (`same_root`), else the `latest` before, or `overlap`
    in time.
    """

    producer: str
    consumer: str
    dataset: Node
    by: str


@dataclass(frozen=True)
class RunLineage:
    """Runs up- or downstream of a run, each with its distance in hops, and their links. `truncated`: there may be more."""

    runs: tuple[tuple[int, RunRecord], ...]
    links: tuple[RunLink, ...]
    truncated: bool


@dataclass(frozen=True)
class StatisticsFilter:
    """Which statistics to sum: of a job, of datasets, of a run, or of several of these at once.

    Times in UTC microseconds, `since` inclusive, `until` exclusive; `bucket_us` 0 for no buckets. `limit` and `offset` count series.
    """

    since: int
    until: int
    job: int | None = None
    datasets: frozenset[int] | None = None
    side: Side | None = None
    run: bytes | None = None
    bucket_us: int = 0
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class StatisticsSeries:
    """What the runs of a job read from, or wrote to, a dataset within a window. Times are UTC microseconds.

    `counting` names how its runs count (`cumulative`, `interval`). Buckets are (start, amount), without the empty ones.
    """

    job: Node
    dataset: Node
    side: Side
    amount: Amount
    runs: int
    samples: int
    first: int
    last: int
    counting: tuple[str, ...]
    buckets: tuple[tuple[int, Amount], ...]


@dataclass(frozen=True)
class StatisticsPage:
    """Series in the order of job, dataset, side. `truncated`: a job has so many runs or samples in the window that not all were read."""

    series: tuple[StatisticsSeries, ...]
    truncated: bool


@dataclass(frozen=True)
class SchemaVersion:
    """A stretch of time in which a dataset had a version (empty: its schema was withdrawn), with who said so.

    `first` and `last` are (UTC microseconds, event id) of the mentions that prove it. `brief`: who named it named another soon after.
    """

    version: str
    fields: tuple[SchemaField, ...]
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: tuple[Node, ...]
    current: bool
    brief: bool


@dataclass(frozen=True)
class SchemaHistory:
    """The versions of a dataset, oldest first. `evidence` is whose word they rest on: `dataset` itself, `output`, `input`, or nobody's.

    `renamed_from` are names it had before. `truncated`: so much was said of it that only the newest days were read.
    """

    evidence: str
    versions: tuple[SchemaVersion, ...]
    renamed_from: tuple[Node, ...]
    truncated: bool


@dataclass(frozen=True)
class FacetEntry:
    """One content of a facet, said from one side by up to 20 jobs. `first` and `last` are (UTC microseconds, event id)."""

    facet: bytes
    side: Side
    text: str
    deleted: bool
    first: tuple[int, bytes]
    last: tuple[int, bytes]
    jobs: tuple[Node, ...]


@dataclass(frozen=True)
class FacetHistory:
    """All contents of a facet, the one said last first. `truncated`: only the newest days were read."""

    entries: tuple[FacetEntry, ...]
    truncated: bool


@dataclass(frozen=True)
class LifeEntry:
    """A change in a dataset's life, as said first (by `event`) and last. `previous` is the dataset's name before."""

    change: str
    dataset: Node
    previous: Node | None
    job: Node | None
    first: int
    last: int
    event: bytes


@dataclass(frozen=True)
class SearchFilter:
    """What to search: nodes that contain every word of `text` in the fields asked for (`name` stands for namespace and name).

    A word matches the beginning of a word that is said, or any part of a name. The other members leave out what does not fit: `tag` is a
    key or `key=value`, `has` are keys of current facets. Without text, `owner` or `tag` is searched for.
    """

    text: str
    kind: NodeKind | None = None
    namespace: str | None = None
    owner: str | None = None
    tag: str | None = None
    has: tuple[str, ...] = ()
    fields: tuple[str, ...] = ("name", "column", "owner", "tag", "description", "sql")
    limit: int = 50
    offset: int = 0


@dataclass(frozen=True)
class Match:
    """A node that was found: by its name, by lines of what is said of it as (field, line), or by both."""

    node: Node
    named: bool
    lines: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class SearchPage:
    """What was found, names first. `truncated`: so much matches that only some of it was looked at."""

    matches: tuple[Match, ...]
    truncated: bool


@dataclass(frozen=True)
class EventRecord:
    """An event as the graph lists it; its body lies at `place` of (source, part)."""

    time: int
    event: bytes
    type: str
    subject: bytes
    repairs: str
    source: str
    part: int
    place: int


@dataclass(frozen=True)
class QuarantineRecord:
    """A frame that is kept but not used, and why."""

    event: bytes
    source: str
    part: int
    place: int
    code: str
    path: str
    message: str
    sample: str
    size: int
    arrival: int
    channel: str


class EstateTable(Enum):
    """The whole graph as rows, for a batch: their columns.

    node: id, head (the id that stands for its group), kind, namespace and name it goes by, dashboard (1 or 0). flow: source, target.
    hub: hub, side, dataset. shape_io: shape, side, dataset. job_shape: job, shape, when it was last seen (UTC microseconds).
    """

    NODE = "node"
    FLOW = "flow"
    HUB = "hub"
    SHAPE_IO = "shape_io"
    JOB_SHAPE = "job_shape"


class EstateReader(Protocol):
    """Reads the whole graph, of one moment."""

    def rows(self, table: EstateTable) -> Iterator[Row]:
        """The rows of a table, in no order."""


@dataclass(frozen=True)
class NodeMeasure:
    """How many other datasets, and dashboards among them, lie downstream of a node, and how many datasets upstream."""

    node: Node
    downstream: int
    dashboards: int
    upstream: int


@dataclass(frozen=True)
class Touched:
    """When a dataset was last written and read (None: never), UTC microseconds."""

    dataset: Node
    written: int
    read: int | None


@dataclass(frozen=True)
class Analysis:
    """Measures of the whole graph, by group. `exact`: or else counts are estimates. `flows` counts the edges that were walked."""

    nodes: tuple[NodeMeasure, ...]
    cycles: tuple[tuple[Node, ...], ...]
    orphans: tuple[Node, ...]
    unused: tuple[Touched, ...]
    flows: int
    exact: bool


class FindingsPart(msgspec.Struct, frozen=True):
    """Where the lines of a part of an analysis begin, in bytes behind its first line, and how many they are."""

    start: int
    count: int


class FindingsSummary(msgspec.Struct, frozen=True):
    """What an analysis was. `position` is "source/part" to place; `made_at` is RFC 3339; `nodes` counts groups of names."""

    position: dict[str, int]
    made_at: str
    unused_days: int
    exact: bool
    nodes: int
    flows: int
    parts: dict[str, FindingsPart]


class FindingsReader(Protocol):
    """What the last analysis found."""

    summary: FindingsSummary

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """Lines of a part (impact, cycle, orphan, unused), each a JSON object."""


class Turn(IntEnum):
    """What became of a derived row."""

    REMOVED = 0
    ADDED = 1
    CHANGED = 2


@dataclass(frozen=True)
class ChangeRecord:
    """One change of the graph. `kind` says what of it: node, port, flow, hub, columns, identity, alias, facet.

    A node that is there no more has an empty name. `node` and `other` are the ends of a flow, a dataset's name and its canonical name,
    or the one node that it is about; of a hub there is only its id. `value` is the content address of a facet, or of what columns mean.
    """

    seq: int
    kind: str
    turn: Turn
    node: Node
    other: Node | None
    job: Node | None
    side: Side | None
    origin: Origin | None
    evidence: Evidence | None
    key: str
    value: bytes


@dataclass(frozen=True)
class ChangePage:
    """A stretch of the change feed. `following` is the cursor behind it, `oldest` the one before the oldest change that is kept."""

    changes: tuple[ChangeRecord, ...]
    following: str
    oldest: str
    more: bool


@dataclass(frozen=True)
class EventFilter:
    """Which events to list. Globs on the job's names; times in UTC microseconds, `since` inclusive, `until` exclusive.

    Newest first unless `ascending`.
    """

    namespace: str | None = None
    job: str | None = None
    since: int | None = None
    until: int | None = None
    ascending: bool = False
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class Affected:
    """One node that lies behind another. `paths` counts the ways there, at most graph.reach.MOST_PATHS; a cycle counts as one place.

    `wholly`: all that reaches it comes through the origin. A job has no paths of its own.
    """

    node: Node
    distance: int
    paths: int | None
    wholly: bool


@dataclass(frozen=True)
class Impact:
    """What depends on `origin` (downstream), or what it depends on (upstream): the nearest first, then by names."""

    origin: Node
    direction: str
    depth: int
    affected: tuple[Affected, ...]
    truncated: str
    hidden: int
    resolution: str = "exact"


@dataclass(frozen=True)
class Path:
    """A way from one node to another: `nodes`, and between each two the jobs that move the data."""

    nodes: tuple[Node, ...]
    jobs: tuple[tuple[Node, ...], ...]


@dataclass(frozen=True)
class Paths:
    """Ways from `source` to `target` with the data, the shortest first. `more`: there are others, or there may be."""

    source: Node
    target: Node
    paths: tuple[Path, ...]
    more: bool
    truncated: str
    hidden: int
    resolution: str = "exact"


@dataclass(frozen=True)
class LedgerHop:
    """One hop of a path by one job, with what it read and wrote."""

    source: Node
    target: Node
    job: Node
    entry: Entry


@dataclass(frozen=True)
class Ledger:
    """What passed each hop of a path in a window, against a baseline. `found` paths lead from source to target; `more`: perhaps others."""

    source: Node
    target: Node
    nodes: tuple[Node, ...]
    window: Window
    baseline: Window
    hops: tuple[LedgerHop, ...]
    found: int
    more: bool


@dataclass(frozen=True)
class TraceOptions:
    """How to trace. An empty field stands for every column; `gaps` is how many gaps to name at most."""

    field: str
    direction: str
    depth: int = 20
    indirect: bool = False
    through_masking: bool = False
    proofs: bool = True
    gaps: int = 100


@dataclass(frozen=True)
class Proof:
    """The event that said something last: its id, its time (UTC microseconds), and the run or design-time statement that spoke."""

    event: bytes
    time: int
    subject: bytes


@dataclass(frozen=True)
class TracedColumn:
    """A column that a trace met, `distance` hops away. Without a distance the trace ended before it: `end` says why."""

    node: Node
    field: str
    distance: int | None
    end: str


@dataclass(frozen=True)
class TracedFlow:
    """One column goes into another by the work of a job. `masked`: only masked; `indirect`: it decides, but its values do not pass.

    `descriptions` are the words of whoever stated it, sorted.
    """

    source: Node
    source_field: str
    target: Node
    target_field: str
    job: Node
    origin: Origin
    transformations: tuple[tuple[str, str, bool], ...]
    masked: bool
    indirect: bool
    proof: Proof | None
    descriptions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Gap:
    """A flow at a dataset on the way of which no columns are told: what was traced may have taken it too."""

    source: Node
    target: Node
    job: Node
    origin: Origin
    evidence: Evidence


@dataclass(frozen=True)
class Coverage:
    """How many flows at the traced datasets tell of columns, how many do not, and some of those."""

    told: int
    untold: int
    gaps: tuple[Gap, ...]


@dataclass(frozen=True)
class Trace:
    """Where a column comes from, or ends up."""

    origin: Node
    options: TraceOptions
    columns: tuple[TracedColumn, ...]
    flows: tuple[TracedFlow, ...]
    coverage: Coverage
    truncated: str
    hidden: int
    resolution: str = "exact"


@dataclass(frozen=True)
class WalkLimits:
    """Where a walk stops: nodes met, edges returned, seconds spent."""

    nodes: int = 5_000
    edges: int = 50_000
    seconds: float = 5.0


@dataclass(frozen=True)
class AliasFilter:
    """Which aliases to list: on one kind of evidence (or `veto`), of datasets or jobs, with this namespace or name at either end."""

    kind: str | None = None
    entity: NodeKind | None = None
    namespace: str | None = None
    name: str | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class AliasRecord:
    """Two spellings (namespace, name) of one thing, or with `whole` two namespaces, the second's name being a prefix; and why.

    `parts`: of names of so many dotted parts only, 0 for all. `at_us`: when an operator said so, UTC microseconds.
    """

    entity: int
    whole: bool
    a: tuple[str, str]
    b: tuple[str, str]
    kind: str
    evidence: str
    standing: bool
    parts: int
    by: str | None
    at_us: int | None


class GraphReader(Protocol):
    """Questions to the graph store. Made per request; every answer within one reader is of one moment of the store."""

    def position(self) -> dict[tuple[str, int], int]:
        """(source, part) to place: what the store has applied."""

    def settling(self) -> bool:
        """Whether keys still wait to be derived."""

    def find(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node of exactly this name."""

    def by_spelling(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node that a name means, in any spelling: seen, or made by the rules of naming or an alias."""

    def spelt(self, nodes: Iterable[Node], style: str) -> dict[int, Node]:
        """Node id to the node under the name it goes by: `standard`, or as `lineagebridge` would write it."""

    def aliases(self, which: AliasFilter) -> list[AliasRecord]:
        """Aliases with their evidence."""

    def near(self, kind: NodeKind, namespace: str, name: str, limit: int = 5) -> list[Node]:
        """Nodes whose names come close."""

    def search(self, text: str, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        """Nodes whose name or namespace contains the text, best first."""

    def search_all(self, which: SearchFilter) -> SearchPage:
        """Nodes by their names and by what is said of them."""

    def nodes(self, kind: NodeKind, namespace: str | None, name: str | None, limit: int | None, offset: int) -> list[Node]:
        """Nodes by globs on namespace and name, in the order of their names."""

    def count(self, kind: NodeKind) -> int:
        """How many nodes of a kind there are."""

    def facets(self, node: Node, job: Node | None = None) -> dict[str, str]:
        """The current facets of a node, key to JSON text; with `job`, those that belong to the job and the node together."""

    def group(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The canonical node of a node's group, and all its members."""

    def walk(
        self,
        node: Node,
        direction: str,
        depth: int,
        limits: WalkLimits,
        *,
        now_us: int,
        columns: bool = False,
        at_us: int | None = None,
        ended: bool = False,
    ) -> Walk:
        """Follow flows `upstream`, `downstream` or `both` (the union of the two) for `depth` hops.

        As they were at `at_us`, if given; what has ended is left out unless asked for.
        """

    def impact(self, node: Node, direction: str, depth: int, limits: WalkLimits, at_us: int | None = None) -> Impact:
        """What a change of a node reaches, or what a node depends on; as things were at `at_us`, if given."""

    def paths(self, source: Node, target: Node, depth: int, most: int, limits: WalkLimits, at_us: int | None = None) -> Paths:
        """The ways that data takes from one node to another, at most `most` of them; as things were at `at_us`, if given."""

    def ledger(self, paths: Paths, number: int, window: Window, baseline: Window, factor: float) -> Ledger:
        """What passed each hop of one of the paths found (`number` from 0) in a window, against a baseline."""

    def trace(self, node: Node, options: TraceOptions, limits: WalkLimits, at_us: int | None = None) -> Trace:
        """Where a column comes from, or ends up; as things were at `at_us`, if given: then without proofs."""

    def diff(self, node: Node, direction: str, depth: int, limits: WalkLimits, between: Between, *, now_us: int) -> GraphDiff:
        """What changed around a node between two moments: all of it."""

    def diff_jobs(self, namespace: str | None, between: Between, limit: int, offset: int, *, now_us: int) -> GraphDiff:
        """What changed of all jobs, or those of a namespace (a glob), in the order of their names.

        A page ends with the job whose changes reach `limit`, or after 500 jobs; `offset` and `next` count jobs.
        """

    def drift(self, namespace: str | None, name: str | None, limit: int, offset: int, *, now_us: int) -> DriftPage:
        """Where what declared jobs (by globs) were said to do and were seen to do differ.

        A page ends with the job whose drift reaches `limit`, or after 500 jobs; `offset` and `next` count declared jobs.
        """

    def latest_run(self, job: Node, *, with_datasets: bool) -> RunRecord | None:
        """The newest run of a job, if asked the newest that named a dataset."""

    def runs(self, which: RunFilter) -> RunPage:
        """Runs by job, parent, state and time."""

    def run_tree(self, run: bytes, limit: int) -> RunTree:
        """A run with all that runs inside it."""

    def find_runs(self, run_id: str) -> list[RunRecord]:
        """The run of an id (as sent, or as a UUID): one record for each job it was seen under, or, if it never spoke, named under."""

    def run_lineage(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """Which runs produced what a run read (`upstream`), or read what it produced (`downstream`)."""

    def dependencies(self, run: bytes, limit: int) -> list[Dependency]:
        """What a run said it waits for, and what waits for it."""

    def statistics(self, which: StatisticsFilter) -> StatisticsPage:
        """What runs read and wrote within a window."""

    def schemas(self, dataset: Node, at_us: int) -> SchemaHistory:
        """The schema versions of a dataset, under all its names, as far as had been said by a time."""

    def facet_history(self, node: Node, key: str, at_us: int) -> FacetHistory:
        """All that was said under one facet key of a node, under all its names, by a time."""

    def life(self, dataset: Node, limit: int, offset: int) -> list[LifeEntry]:
        """What became of a dataset, the newest first."""

    def job_ports(self, job: Node, *, now_us: int, at_us: int | None = None) -> list[Port]:
        """The inputs and outputs of a job."""

    def events(self, which: EventFilter) -> list[EventRecord]:
        """Events by filter."""

    def run_events(self, run_id: str, limit: int | None = None) -> list[EventRecord]:
        """The events of a run (its id as sent, or as a UUID), oldest first."""

    def quarantine(self, code: str | None, limit: int, offset: int, event: bytes | None = None) -> list[QuarantineRecord]:
        """What is kept aside, newest first, without what has been accepted since; with `event`, only under that event id."""

    def quarantine_counts(self) -> dict[str, int]:
        """Reason code to number."""

    def changes(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """Changes behind a cursor, "now" for the newest, None for the oldest; of some kinds (all if empty).

        Raises GoneError when what follows the cursor is no longer kept, RequestError for no cursor.
        """
