"""The seams: what the parts ask of each other. They meet in `wiring`."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import msgspec

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.log_record import Carried, FrameKind
from lineage_bridge.graph.relations import Row
from lineage_bridge.graph.runs.ledger import Window
from lineage_bridge.model.analysis import EstateTable, FindingsSummary
from lineage_bridge.model.differences import Between, ChangePage, DriftPage, GraphDiff
from lineage_bridge.model.events import EventFilter, EventRecord, QuarantineRecord
from lineage_bridge.model.graph import Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.model.history import AliasFilter, AliasRecord, FacetHistory, LifeEntry, SchemaHistory
from lineage_bridge.model.inventory import Entry
from lineage_bridge.model.lineage import Impact, Ledger, Paths, Trace, TraceOptions
from lineage_bridge.model.runs import Dependency, RunFilter, RunLineage, RunPage, RunRecord, RunTree
from lineage_bridge.model.search import SearchFilter, SearchPage
from lineage_bridge.model.sources import KindRecord, SourceCheck, SourceRecord, SourceState
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage
from lineage_bridge.model.tasks import ExtractOrder, TaskFilter, TaskRecord

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
        """The frame at a place. Raises OffsetError or RecordError."""

    def span(self, start: int, end: int) -> int:
        """The bytes of the frames in [start, end): how far a consumer lags. Raises OffsetError."""


@dataclass(frozen=True)
class OutboxMessage:
    """What a source wants delivered: a body for a path of the API. `number` orders parcels."""

    number: int
    path: str
    body: bytes


class SourceRepository(Protocol):
    """Which sources there are and how each fares. Safe in many processes and threads at once."""

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Name to kind and settings of the sources that users added."""

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add a source, or write it anew."""

    def remove(self, name: str) -> None:
        """Forget a source that a user added, and how any source of this name fared."""

    def states(self) -> dict[str, SourceState]:
        """Name to how a source fares."""

    def pause(self, name: str, *, paused: bool) -> None:
        """Poll a source no more, or again."""

    def make_due(self, name: str) -> None:
        """Have a source polled at once."""

    def snapshot(self, name: str) -> bytes | None:
        """What a source last saw, as JSON."""

    def save_poll(self, name: str, state: SourceState, snapshot: bytes | None, messages: Sequence[tuple[str, bytes]]) -> bool:
        """Keep what a poll gave, all or nothing: state, snapshot (None: the one before stays), parcels as (path, body).

        False, and nothing is kept, if the source has been removed or polled since: `state.polls` must be one more than before.
        """

    def pending_messages(self, limit: int) -> list[OutboxMessage]:
        """The oldest parcels that were not delivered."""

    def count_pending(self) -> int:
        """How many parcels were not delivered."""

    def remove_message(self, number: int) -> None:
        """Forget a parcel."""


class SourceService(Protocol):
    """What users can do with sources. Raises NotFoundError for a source there is not, ConfigError and RequestError for what cannot be."""

    def kinds(self) -> list[KindRecord]:
        """What can be observed."""

    def records(self) -> list[SourceRecord]:
        """All sources, by name."""

    def record(self, name: str) -> SourceRecord:
        """One source."""

    def add(self, name: str, kind: str, settings: Mapping[str, Any], *, replace: bool) -> SourceRecord:
        """Add a source."""

    def remove(self, name: str) -> None:
        """Take a source away. What it told stays."""

    def pause(self, name: str, *, paused: bool) -> SourceRecord:
        """Pause a source, or let it go on."""

    def poll(self, name: str) -> SourceRecord:
        """Have it polled now."""

    def test(self, name: str) -> list[SourceCheck]:
        """Try each step of its observation."""


class TaskRepository(Protocol):
    """The tasks there are, and what their steps gave. Safe in many threads at once."""

    def add(self, task: TaskRecord) -> None:
        """Remember a new task; the oldest that have ended are forgotten."""

    def record(self, task: str) -> TaskRecord | None:
        """A task by its id."""

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """Tasks, the newest first."""

    def save(self, task: TaskRecord) -> None:
        """Remember how a task stands."""

    def save_steps(
        self,
        task: TaskRecord,
        state: SourceState,
        snapshot: bytes | None,
        messages: Sequence[tuple[str, bytes]],
        *,
        polls: int,
        begun: bool,
    ) -> bool:
        """Keep what steps of a task gave, all or nothing: how task and source stand, snapshot (None: the one before stays), parcels.

        False, and nothing is kept, if the source has been removed or polled since: it must have had this many `polls`, and have been kept
        before if the task has `begun`.
        """

    def newest_message(self, source: str) -> int:
        """The number of the newest parcel of a source that was not delivered; 0 if all were."""

    def count_pending(self, source: str, newest: int) -> int:
        """How many parcels of a source up to a number were not delivered."""

    def mark_interrupted(self, now_us: int) -> None:
        """Say of all tasks that have not ended that their process has."""


class TaskService(Protocol):
    """What users can do with tasks. Raises NotFoundError for a task there is not, ConfigError and RequestError for what cannot be."""

    def extract(self, order: ExtractOrder) -> TaskRecord:
        """Start an extraction."""

    def resume(self, task_id: str, credentials: ExtractOrder) -> TaskRecord:
        """Go on with a task that was stopped. Credentials that came with its request have to come again; no more of the order counts."""

    def cancel(self, task_id: str) -> TaskRecord:
        """Stop a task soon; what it has told stays."""

    def record(self, task_id: str) -> TaskRecord:
        """A task, as far as it is now."""

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """Tasks, the newest first."""


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


class EstateReader(Protocol):
    """Reads the whole graph, of one moment."""

    def rows(self, table: EstateTable) -> Iterator[Row]:
        """The rows of a table, in no order."""


class FindingsReader(Protocol):
    """What the last analysis found."""

    summary: FindingsSummary

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """Lines of a part (impact, cycle, orphan, unused), each a JSON object."""


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

    def heads(self, kinds: Sequence[NodeKind]) -> "Iterator[tuple[GraphReader, list[Node]]]":
        """Every dataset and job of these kinds once, as the node that stands for all its names: in portions, in the order of names.

        Each portion comes with a reader of the same moment that remembers nothing of the others.
        """

    def entries(self, heads: Sequence[Node]) -> list[Entry]:
        """What is known of nodes that stand for their groups."""

    def standing(self, nodes: Iterable[Node]) -> dict[int, Node]:
        """Node id to the node that stands for its group."""

    def described(self, nodes: Iterable[Node]) -> dict[int, Entry]:
        """Node id to what is known of its group."""

    def by_node_id(self, text: str) -> list[Node]:
        """The nodes that a node id may mean, each standing for its group: several where it leaves open which."""

    def ports(self, jobs: Iterable[Node], *, now_us: int) -> list[Port]:
        """The inputs and outputs of these jobs, under all their names, without what has ended."""

    def unnamed_ports(self, *, now_us: int) -> list[Port]:
        """What flows of jobs come from or lead to although the job never named it as its input or output."""

    def direct(self, *, now_us: int) -> Iterator[Edge]:
        """The flows between two nodes that are no job's reading or writing: what datasets declare, what lies between jobs, renames."""

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

    def latest_runs(self, jobs: Iterable[Node], *, with_datasets: bool) -> dict[int, RunRecord]:
        """Node id to the newest run, of many jobs, as far as they have one."""

    def ran(self, jobs: Sequence[Node]) -> list[Node]:
        """Those of these jobs, each standing for its group, of which a run was seen."""

    def quiet(self) -> "Iterator[tuple[GraphReader, list[Node]]]":
        """As heads: the jobs of which no run was seen, and the datasets that no job names or that tell their own lineage."""

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

    def schemas(self, dataset: Node, at_us: int | None = None) -> SchemaHistory:
        """The schema versions of a dataset, under all the names it had, as far as had been said by a time, if given."""

    def facet_history(self, node: Node, key: str, at_us: int | None = None) -> FacetHistory:
        """All that was said under one facet key of a node, under all the names it had, by a time, if given."""

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
