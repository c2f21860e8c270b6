"""Questions to the store. A reader sees one moment of it: every answer it gives is of the same position."""

import heapq
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from queue import Empty, LifoQueue

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.runs.ledger import Window
from lineage_bridge.model.differences import Between, Change, ChangePage, Drift, DriftPage, GraphDiff
from lineage_bridge.model.events import EventFilter, EventRecord, QuarantineRecord
from lineage_bridge.model.graph import Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.model.history import AliasFilter, AliasRecord, FacetHistory, LifeEntry, SchemaHistory
from lineage_bridge.model.inventory import Entry
from lineage_bridge.model.lineage import Impact, Ledger, Paths, Trace, TraceOptions
from lineage_bridge.model.runs import Dependency, RunFilter, RunLineage, RunPage, RunRecord, RunTree
from lineage_bridge.model.search import SearchFilter, SearchPage
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage
from lineage_bridge.store.history.diff import JobDiff, walks
from lineage_bridge.store.history.drift import DriftFinder
from lineage_bridge.store.history.facets import FacetHistories
from lineage_bridge.store.history.feed import Feed
from lineage_bridge.store.history.moment import flows, moment, resolution
from lineage_bridge.store.history.schema_versions import Schemas
from lineage_bridge.store.identity.aliases import AliasList
from lineage_bridge.store.query.impact import Reacher
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.query.search import Search
from lineage_bridge.store.query.trace import Tracer
from lineage_bridge.store.query.walk import Walker
from lineage_bridge.store.runs.ledger import Bookkeeper
from lineage_bridge.store.runs.lineage import RunLineages
from lineage_bridge.store.runs.lists import RunLists
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.runs.statistics import Statistics
from lineage_bridge.store.schema.sqlite import connect_reader
from lineage_bridge.store.whole.inventory import Inventory

_FACETS = """SELECT c.key, f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.node = ? AND c.job = ? AND f.deleted = 0 ORDER BY c.key"""
_EVENT = "SELECT time, event, type, asserted_by, repairs FROM event"
_COPY = 'SELECT source, partition, "offset" FROM event_record WHERE time = ? AND event = ? ORDER BY source, partition, "offset" LIMIT 1'
_QUARANTINE = """SELECT q.event, q.source, q.partition, q."offset", q.code, q.path, q.message, q.sample, q.size, q.arrival, q.channel
FROM quarantine q WHERE NOT EXISTS (SELECT 1 FROM released r WHERE r.event = q.event)
AND (:code IS NULL OR q.code = :code) AND (:event IS NULL OR q.event = :event)
ORDER BY q.arrival DESC, q."offset" DESC LIMIT :limit OFFSET :offset"""
_QUARANTINE_COUNTS = """SELECT code, count(*) FROM quarantine q
WHERE NOT EXISTS (SELECT 1 FROM released r WHERE r.event = q.event) GROUP BY code ORDER BY code"""
_FEW_JOBS = 500
_JOBS_A_PAGE = 500
_ALL_TIME = 2**63 - 1


class SqliteReader:
    """Implements ports.GraphReader over one connection, inside one read transaction."""

    def __init__(self, connection: sqlite3.Connection, nodes: Nodes | None = None) -> None:
        self.connection = connection
        self._nodes = nodes or Nodes(connection)
        self._runs = Runs(connection, self._nodes)

    def position(self) -> dict[tuple[str, int], int]:
        """(source, part) to place: what the store has applied."""
        return {
            (source, part): place for source, part, place in self.connection.execute('SELECT source, partition, "offset" FROM position')
        }

    def settling(self) -> bool:
        """Whether keys still wait to be derived."""
        waiting = "SELECT 1 FROM derive_queue UNION ALL SELECT 1 FROM search_queue UNION ALL SELECT 1 FROM stitch_queue LIMIT 1"
        return self.connection.execute(waiting).fetchone() is not None

    def find(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node of exactly this name."""
        return self._nodes.find(kind, namespace, name)

    def by_spelling(self, kind: NodeKind, namespace: str, name: str) -> Node | None:
        """The node that a name means, in any spelling."""
        return self._nodes.by_spelling(kind, namespace, name)

    def spelt(self, nodes: Iterable[Node], style: str) -> dict[int, Node]:
        """Node id to the node under the name it goes by."""
        return self._nodes.spelt(nodes, style)

    def aliases(self, which: AliasFilter) -> list[AliasRecord]:
        """Aliases with their evidence."""
        return AliasList(self.connection).page(which)

    def near(self, kind: NodeKind, namespace: str, name: str, limit: int = 5) -> list[Node]:
        """Nodes whose names come close."""
        return self._nodes.near(kind, namespace, name, limit)

    def search(self, text: str, kind: NodeKind | None, limit: int, offset: int) -> list[Node]:
        """Nodes whose name or namespace contains every word of the text."""
        page = self.search_all(SearchFilter(text, kind=kind, fields=("name",), limit=limit, offset=offset))
        return [match.node for match in page.matches]

    def search_all(self, which: SearchFilter) -> SearchPage:
        """Nodes by their names and by what is said of them."""
        return Search(self.connection, self._nodes).page(which)

    def nodes(self, kind: NodeKind, namespace: str | None, name: str | None, limit: int | None, offset: int) -> list[Node]:
        """Nodes by globs on namespace and name, in the order of their names."""
        return self._nodes.listed(kind, namespace, name, limit, offset)

    def count(self, kind: NodeKind) -> int:
        """How many nodes of a kind there are."""
        return int(self.connection.execute("SELECT count(*) FROM node WHERE kind = ?", (int(kind),)).fetchone()[0])

    def facets(self, node: Node, job: Node | None = None) -> dict[str, str]:
        """The current facets of a node; with `job`, those that belong to the job and the node together."""
        return dict(self.connection.execute(_FACETS, (node.id, job.id if job else 0)).fetchall())

    def group(self, node: Node) -> tuple[Node, tuple[Node, ...]]:
        """The canonical node of a node's group, and all its members."""
        return self._nodes.group(node)

    def heads(self, kinds: Sequence[NodeKind]) -> "Iterator[tuple[SqliteReader, list[Node]]]":
        """Every dataset and job of these kinds once, in portions, each with a reader that remembers nothing of the others."""
        for nodes, some in Inventory(self.connection, self._nodes).heads(kinds):
            yield SqliteReader(self.connection, nodes), some

    def entries(self, heads: Sequence[Node]) -> list[Entry]:
        """What is known of nodes that stand for their groups."""
        return Inventory(self.connection, self._nodes).entries(heads)

    def standing(self, nodes: Iterable[Node]) -> dict[int, Node]:
        """Node id to the node that stands for its group."""
        return Inventory(self.connection, self._nodes).standing(nodes)

    def described(self, nodes: Iterable[Node]) -> dict[int, Entry]:
        """Node id to what is known of its group."""
        return Inventory(self.connection, self._nodes).described(nodes)

    def by_node_id(self, text: str) -> list[Node]:
        """The nodes that a node id may mean."""
        return Inventory(self.connection, self._nodes).of_id(text)

    def ports(self, jobs: Iterable[Node], *, now_us: int) -> list[Port]:
        """The inputs and outputs of these jobs, under all their names."""
        return Inventory(self.connection, self._nodes).ports(jobs, moment(self.connection, self._nodes, self._runs, now_us))

    def unnamed_ports(self, *, now_us: int) -> list[Port]:
        """What flows of jobs come from or lead to although the job never named it as its input or output."""
        return Inventory(self.connection, self._nodes).unnamed_ports(moment(self.connection, self._nodes, self._runs, now_us))

    def direct(self, *, now_us: int) -> Iterator[Edge]:
        """The flows between two nodes that are no job's reading or writing."""
        return Inventory(self.connection, self._nodes).direct(moment(self.connection, self._nodes, self._runs, now_us))

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
        """Follow flows from a node, hop by hop, as they are now or were at `at_us`; with `ended`, also those that have ended."""
        nodes = self._nodes_at(at_us)
        when = moment(self.connection, nodes, self._runs, now_us, at_us, ended=ended)
        return Walker(when, nodes, limits, _stopwatch()).walk(node, direction, depth, columns=columns)

    def impact(self, node: Node, direction: str, depth: int, limits: WalkLimits, at_us: int | None = None) -> Impact:
        """What a change of a node reaches, or what a node depends on."""
        return replace(self._reacher(limits, at_us).impact(node, direction, depth), resolution=resolution(at_us))

    def paths(self, source: Node, target: Node, depth: int, most: int, limits: WalkLimits, at_us: int | None = None) -> Paths:
        """The ways that data takes from one node to another."""
        return replace(self._reacher(limits, at_us).paths(source, target, depth, most), resolution=resolution(at_us))

    def _reacher(self, limits: WalkLimits, at_us: int | None) -> Reacher:
        nodes = self._nodes_at(at_us)
        return Reacher(nodes, flows(self.connection, nodes, at_us), limits, _stopwatch())

    def _nodes_at(self, at_us: int | None) -> Nodes:
        """Nodes whose names are joined as they were at a time."""
        return self._nodes if at_us is None else Nodes(self.connection, at_us)

    def ledger(self, paths: Paths, number: int, window: Window, baseline: Window, factor: float) -> Ledger:
        """What passed each hop of one of the paths found in a window, against a baseline."""
        book = Bookkeeper(flows(self.connection, self._nodes), Statistics(self.connection, self._nodes))
        return book.ledger(paths, number, window, baseline, factor)

    def trace(self, node: Node, options: TraceOptions, limits: WalkLimits, at_us: int | None = None) -> Trace:
        """Where a column comes from, or ends up."""
        nodes = self._nodes_at(at_us)
        when = flows(self.connection, nodes, at_us)
        tracer = Tracer(self.connection, nodes, when, limits, _stopwatch(), at_us)
        return replace(tracer.trace(node, options), resolution=resolution(at_us))

    def diff(self, node: Node, direction: str, depth: int, limits: WalkLimits, between: Between, *, now_us: int) -> GraphDiff:
        """What changed around a node between two moments."""
        both = [self.walk(node, direction, depth, limits, now_us=now_us, at_us=at_us) for at_us in (between.since, between.until)]
        truncated = both[0].truncated or both[1].truncated
        return GraphDiff(tuple(walks(*both)), _coarser(between), truncated, None)

    def diff_jobs(self, namespace: str | None, between: Between, limit: int, offset: int, *, now_us: int) -> GraphDiff:
        """What changed of all jobs, or those of a namespace, between two moments."""
        both = [moment(self.connection, self._nodes, self._runs, now_us, at_us) for at_us in (between.since, between.until)]
        jobs, of = self.nodes(NodeKind.JOB, namespace, None, _JOBS_A_PAGE + 1, offset), JobDiff(both[0], both[1], self._nodes)
        changes: list[Change] = []
        for place, job in enumerate(jobs):
            if place == _JOBS_A_PAGE or len(changes) >= limit:
                return GraphDiff(tuple(changes), _coarser(between), "", offset + place)
            changes += of.of(job)
        return GraphDiff(tuple(changes), _coarser(between), "", None)

    def drift(self, namespace: str | None, name: str | None, limit: int, offset: int, *, now_us: int) -> DriftPage:
        """Where what declared jobs were said to do and were seen to do differ."""
        finder = DriftFinder(self.connection, self._nodes, moment(self.connection, self._nodes, self._runs, now_us))
        jobs = finder.jobs(namespace, name, _JOBS_A_PAGE + 1, offset)
        found: list[Drift] = []
        for place, job in enumerate(jobs):
            if place == _JOBS_A_PAGE or len(found) >= limit:
                return DriftPage(tuple(found), place, offset + place)
            found += finder.of_job(job)
        return DriftPage(tuple(found), len(jobs), None)

    def latest_run(self, job: Node, *, with_datasets: bool) -> RunRecord | None:
        """The newest run of a job, if asked the newest that named a dataset."""
        return self._runs.latest(job.id, with_datasets=with_datasets)

    def latest_runs(self, jobs: Iterable[Node], *, with_datasets: bool) -> dict[int, RunRecord]:
        """Node id to the newest run, of many jobs."""
        return self._runs.latest_of((job.id for job in jobs), with_datasets=with_datasets)

    def ran(self, jobs: Sequence[Node]) -> list[Node]:
        """Those of these jobs of which a run was seen."""
        return Inventory(self.connection, self._nodes).ran(jobs)

    def quiet(self) -> "Iterator[tuple[SqliteReader, list[Node]]]":
        """As heads: the jobs of which no run was seen, and the datasets that no job names or that tell their own lineage."""
        for nodes, some in Inventory(self.connection, self._nodes).quiet():
            yield SqliteReader(self.connection, nodes), some

    def runs(self, which: RunFilter) -> RunPage:
        """Runs by job, parent, state and time."""
        return RunLists(self.connection, self._runs).page(which)

    def run_tree(self, run: bytes, limit: int) -> RunTree:
        """A run with all that runs inside it."""
        return RunLists(self.connection, self._runs).tree(run, limit)

    def find_runs(self, run_id: str) -> list[RunRecord]:
        """The run of an id (as sent, or as a UUID): one record for each job it was seen under, or, if it never spoke, named under."""
        return self._runs.find(run_id)

    def run_lineage(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """Which runs produced what a run read (`upstream`), or read what it produced (`downstream`)."""
        return RunLineages(self.connection, self._nodes, self._runs).of(run, direction, depth, limit)

    def dependencies(self, run: bytes, limit: int) -> list[Dependency]:
        """What a run said it waits for, and what waits for it."""
        return RunLists(self.connection, self._runs).dependencies(run, limit)

    def statistics(self, which: StatisticsFilter) -> StatisticsPage:
        """What runs read and wrote within a window."""
        return Statistics(self.connection, self._nodes).page(which)

    def schemas(self, dataset: Node, at_us: int | None = None) -> SchemaHistory:
        """The schema versions of a dataset, under all the names it had, as far as had been said by a time, if given."""
        nodes = self._nodes_at(at_us)
        return Schemas(self.connection, nodes).of(nodes.group(dataset)[1], _ALL_TIME if at_us is None else at_us)

    def facet_history(self, node: Node, key: str, at_us: int | None = None) -> FacetHistory:
        """All that was said under one facet key of a node, under all the names it had, by a time, if given."""
        nodes = self._nodes_at(at_us)
        return FacetHistories(self.connection, nodes).of(nodes.group(node)[1], key, _ALL_TIME if at_us is None else at_us)

    def life(self, dataset: Node, limit: int, offset: int) -> list[LifeEntry]:
        """What became of a dataset, the newest first."""
        return FacetHistories(self.connection, self._nodes).life(dataset, limit, offset)

    def job_ports(self, job: Node, *, now_us: int, at_us: int | None = None) -> list[Port]:
        """The inputs and outputs of a job, in the order of side and name."""
        when = moment(self.connection, self._nodes, self._runs, now_us, at_us)
        ports = []
        for _, dataset, side, origin in (*when.flows.job_ports(job.id, Side.INPUT), *when.flows.job_ports(job.id, Side.OUTPUT)):
            label, last = when.labels.port(job.id, dataset, Side(side), origin)
            ports.append(Port(job, self._nodes.by_id(dataset), Side(side), Origin(origin), label, last))
        return sorted(ports, key=lambda port: (port.side, port.dataset.namespace, port.dataset.name, port.origin))

    def events(self, which: EventFilter) -> list[EventRecord]:
        """Events by filter. The cost follows the page, not the log, unless the globs match very many jobs."""
        span = (
            which.since if which.since is not None else -_ALL_TIME,
            which.until if which.until is not None else _ALL_TIME,
        )
        rows = self._event_rows(which, span)
        return [self._event(row) for row in islice(rows, which.offset, which.offset + which.limit)]

    def _event_rows(self, which: EventFilter, span: tuple[int, int]) -> Iterable[tuple[int, bytes, str, bytes, str]]:
        order = "ASC" if which.ascending else "DESC"
        tail = f"time >= ? AND time < ? ORDER BY time {order}, event {order}"
        if which.namespace is None and which.job is None:
            return self.connection.execute(f"{_EVENT} WHERE {tail}", span)
        jobs = [node.id for node in self.nodes(NodeKind.JOB, which.namespace, which.job, _FEW_JOBS + 1, 0)]
        if len(jobs) > _FEW_JOBS:
            named = "SELECT id FROM node WHERE kind = 2 AND namespace GLOB ? AND name GLOB ?"
            return self.connection.execute(f"{_EVENT} WHERE job IN ({named}) AND {tail}", (which.namespace or "*", which.job or "*", *span))
        streams = [self.connection.execute(f"{_EVENT} WHERE job = ? AND {tail}", (job, *span)) for job in jobs]
        return heapq.merge(*streams, key=lambda row: row[:2], reverse=not which.ascending)

    def run_events(self, run_id: str, limit: int | None = None) -> list[EventRecord]:
        """The events of a run, oldest first."""
        rows = [
            row
            for subject in self._runs.subjects(run_id)
            for row in self.connection.execute(
                f"{_EVENT} WHERE asserted_by = ? ORDER BY time, event LIMIT ?", (subject, -1 if limit is None else limit)
            )
        ]
        return [self._event(row) for row in sorted(rows)]

    def _event(self, row: tuple[int, bytes, str, bytes, str]) -> EventRecord:
        return EventRecord(*row, *self.connection.execute(_COPY, row[:2]).fetchone())

    def quarantine(self, code: str | None, limit: int, offset: int, event: bytes | None = None) -> list[QuarantineRecord]:
        """What is kept aside, newest first."""
        values = {"code": code, "limit": limit, "offset": offset, "event": event}
        return [QuarantineRecord(*row) for row in self.connection.execute(_QUARANTINE, values)]

    def quarantine_counts(self) -> dict[str, int]:
        """Reason code to number."""
        return dict(self.connection.execute(_QUARANTINE_COUNTS).fetchall())

    def changes(self, after: str | None, kinds: Collection[str], limit: int) -> ChangePage:
        """Changes behind a cursor."""
        return Feed(self.connection, self._nodes).page(after, kinds, limit)


def _stopwatch() -> Callable[[], float]:
    """Seconds since now."""
    began = time.monotonic()
    return lambda: time.monotonic() - began


def _coarser(between: Between) -> str:
    both = {resolution(between.since), resolution(between.until)}
    return "day" if "day" in both else "exact"


class ReaderPool:
    """Readers over a store file, each with a connection of its own that is used again. Safe for threads."""

    def __init__(self, path: Path, size: int = 16) -> None:
        self.path = path
        self._idle: LifoQueue[sqlite3.Connection] = LifoQueue(size)

    @contextmanager
    def reader(self) -> Iterator[SqliteReader]:
        """A reader of one moment of the store. Raises StoreMissingError, StoreVersionError."""
        try:
            connection = self._idle.get_nowait()
        except Empty:
            connection = connect_reader(self.path)
        try:
            connection.execute("BEGIN")
            yield SqliteReader(connection)
            connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        if self._idle.full():
            connection.close()
        else:
            self._idle.put_nowait(connection)

    def close(self) -> None:
        """Close the idle connections."""
        while not self._idle.empty():
            self._idle.get_nowait().close()
