"""Reads runs, with the state that follows from their events."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.runs.state import HEARTBEAT_US, TERMINAL, UNKNOWN, RunState, goes_on_unsure, run_state
from lineage_bridge.model.graph import Node
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.store.chunks import batches, chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.failures import failures
from lineage_bridge.store.runs.processing import ProcessingTypes
from lineage_bridge.store.runs.run_rows import OneRun, RunKey, RunRows

_RUN = """SELECT run, job, parent_time, parent_run, parent_job, root_run, root_job, nominal_time, nominal_start, nominal_end, raw_id
FROM run WHERE run IN ({})"""
_NAMED = """SELECT parent_raw, parent_job, max(parent_time) FROM (SELECT parent_raw, parent_job, parent_time FROM run
WHERE parent_run = :run AND parent_sure = 1 LIMIT 1000) p GROUP BY parent_raw, parent_job UNION ALL
SELECT root_raw, root_job, max(parent_time) FROM (SELECT root_raw, root_job, parent_time FROM run
WHERE root_run = :run AND root_run <> parent_run AND parent_sure = 1 LIMIT 1000) p GROUP BY root_raw, root_job"""
"""The jobs under which other runs name a run, each with the last time at which they did. At most a thousand of those other runs are read.
"""
_BY_RAW_ID = """SELECT run FROM run WHERE raw_id = ? UNION SELECT parent_run FROM run WHERE parent_raw = ?
AND parent_sure = 1 UNION SELECT root_run FROM run WHERE root_raw = ? AND root_run <> parent_run AND parent_sure = 1 ORDER BY 1"""
_EVENTS = "SELECT type, min(first), max(last) FROM run_event WHERE run = ? AND job IN ({}) GROUP BY type"
_EVENTS_OF = "SELECT run, job, type, min(first), max(last) FROM run_event WHERE run IN ({}) GROUP BY run, job, type"
_EVENTS_UNTIL = """SELECT run, job, type, min(first), max(CASE WHEN last <= {at} THEN last ELSE first END) FROM run_event
WHERE run IN ({{}}) AND first <= {at} GROUP BY run, job, type"""
_SEEN = "SELECT asserted_by, job, last FROM run_shape WHERE asserted_by IN ({})"
_NAMED_IO = "SELECT DISTINCT run, job, side, dataset FROM run_io WHERE run IN ({})"
_SHAPED_IO = """SELECT p.asserted_by, p.job, i.side, i.dataset FROM run_shape p JOIN shape_io i ON i.shape = p.shape
WHERE p.asserted_by IN ({}) AND p.origin <> 1"""
_LATEST = """WITH wanted (job) AS (VALUES {}) SELECT DISTINCT w.job, p.last, p.asserted_by FROM wanted w STRAIGHT_JOIN run_shape p
ON p.job = w.job AND p.asserted_by = (SELECT asserted_by FROM run_shape n WHERE n.job = w.job AND n.origin = ? {}
ORDER BY n.last DESC, n.asserted_by DESC LIMIT 1)"""
_FAILED = ("FAIL", "ABORT")
_UNSEEN = RunState(UNKNOWN, None, None, False, False)


class Runs:
    """Looks up runs over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, processing: ProcessingTypes | None = None) -> None:
        self.connection, self.nodes = connection, nodes
        self.processing = processing or ProcessingTypes(connection)
        self._latest: dict[tuple[int, bool], RunRecord | None] = {}

    def is_streaming(self, job: int) -> bool:
        """Whether the runs of the job are streaming: they do not end by themselves."""
        return self.processing.of_job(job).streaming

    def heartbeat(self, asserter: bytes, job: int) -> int:
        """The period of a run's heartbeats in microseconds: the declared one, else one derived from its events, else a default."""
        return self.processing.heartbeat(asserter, job, self.nodes.members(job))

    def state(self, asserter: bytes, job: int) -> RunState:
        """The state of a run that follows from its events under all names of the job."""
        return self._state(asserter, job, self._events(asserter, job))

    def states(self, asserters: Sequence[bytes], job: int, at_us: int) -> list[RunState]:
        """The states of several runs of a job, in their order, as they follow from the events until a time."""
        names = set(self.nodes.members(job))
        events: dict[bytes, list[tuple[str, int, int]]] = {asserter: [] for asserter in asserters}
        for asserter, name, *event in self._rows(_EVENTS_UNTIL.format(at=at_us), asserters):
            if name in names:
                events[asserter].append((event[0], event[1], event[2]))
        return [self._state(asserter, job, events[asserter]) for asserter in asserters]

    def _events(self, asserter: bytes, job: int) -> list[tuple[str, int, int]]:
        names = self.nodes.members(job)
        return self.connection.execute(_EVENTS.format(marks(names)), (asserter, *names)).fetchall()

    def _state(self, asserter: bytes, job: int, events: list[tuple[str, int, int]]) -> RunState:
        """The state of a run that follows from these events."""
        how = self.processing.of_job(job)
        unsure = how.streaming and goes_on_unsure(events)
        return run_state(events, how.streaming, self.heartbeat(asserter, job) if unsure else HEARTBEAT_US, retries=how.retries)

    def record(self, asserter: bytes, job: int) -> RunRecord:
        """One run of one job, from its events under all names of the job."""
        return self.records([(asserter, job)])[0]

    def records(self, keys: Sequence[RunKey]) -> list[RunRecord]:
        """The records of many runs, in the order of their keys."""
        self.processing.load({job for _, job in keys})
        self.nodes.identities.joined({job for _, job in keys})
        asserters = sorted({asserter for asserter, _ in keys})
        rows = RunRows({row[:2]: row[2:] for row in self._rows(_RUN, asserters)}, {row[:2]: row[2] for row in self._rows(_SEEN, asserters)})
        for asserter, job, type_, first, last in set(self._rows(_EVENTS_OF, asserters)):
            rows.events.setdefault((asserter, job), []).append((type_, first, last))
        names = [(asserter, name) for asserter, job in keys for name in self.nodes.members(job)]
        rows.named = self._named(set(names), asserters)
        self.nodes.load({job for _, job in keys}.union(*rows.named.values()))
        failed = sorted({asserter for (asserter, _), events in rows.events.items() if any(event[0] in _FAILED for event in events)})
        rows.failures = failures(self.connection, self.nodes, names, failed)
        return [self._record(key, rows.run([(key[0], name) for name in self.nodes.members(key[1])])) for key in keys]

    def _record(self, key: RunKey, found: OneRun) -> RunRecord:
        asserter, job = key
        (parent, parent_job, root, root_job), nominal = found.parent, found.nominal
        above, other = self.jobs_of(parent) if parent else [], self._node(parent_job)
        differs = bool(above) and other is not None and self.nodes.head(other.id) not in {self.nodes.head(node.id) for node in above}
        streaming, state = self.is_streaming(job), self._state(asserter, job, found.events)
        return RunRecord(
            run_id=_uuid_text(asserter),
            raw_id=found.raw_id,
            job=self.nodes.by_id(job),
            state=state.state,
            started=state.started,
            ended=state.ended,
            started_inferred=state.started_inferred,
            conflict=state.conflict,
            last=found.last,
            parent_run_id=_uuid(parent),
            parent_job=above[0] if differs else other,
            inputs=self._in_order(found.inputs),
            outputs=self._in_order(found.outputs),
            streaming=streaming,
            named_parent_job=other if differs else None,
            root_run_id=_uuid(root),
            root_job=self._node(root_job),
            nominal=nominal,
            heartbeat_us=self.heartbeat(asserter, job) if streaming and state.state not in TERMINAL else None,
            failures=found.failures,
        )

    def _rows(self, sql: str, asserters: Sequence[bytes]) -> list[tuple[Any, ...]]:
        return [row for some in batches(asserters) for row in self.connection.execute(sql.format(marks(some)), some).fetchall()]

    def _in_order(self, ids: Collection[int]) -> tuple[Node, ...]:
        if len(ids) == 1:
            return tuple(map(self.nodes.by_id, ids))
        return tuple(sorted(map(self.nodes.by_id, ids), key=lambda node: (node.namespace, node.name)))

    def _node(self, id_: int | None) -> Node | None:
        return None if id_ is None else self.nodes.by_id(id_)

    def jobs_of(self, run: bytes) -> list[Node]:
        """The jobs under which a run sent events itself, without duplicates, sorted by name."""
        ids = [row[0] for row in self.connection.execute("SELECT job FROM run WHERE run = ?", (run,)).fetchall()]
        found: dict[int, Node] = {}
        for node in sorted(map(self.nodes.by_id, ids), key=lambda node: (node.namespace, node.name)):
            head = self.nodes.head(node.id)
            if head not in found or node.id == head:
                found[head] = node
        return list(found.values())

    def resolved(self, run: bytes, job: int) -> RunKey:
        """The key of a run that another run names together with a job. If several jobs, among them this one, have a run with this id, the
        key contains the job; otherwise 0 in its place, because the id is enough.
        """
        heads = {self.nodes.head(node.id) for node in self.jobs_of(run)}
        named = self.nodes.head(job)
        return run, named if len(heads) > 1 and named in heads else 0

    def of_id(self, run: bytes) -> list[RunRecord]:
        """A run, as one record for each of its jobs; for a run that never sent an event, the jobs under which other runs name it."""
        jobs = self.jobs_of(run)
        if jobs:
            return [self.record(run, job.id) for job in jobs]
        named: dict[Node, tuple[int, str | None]] = {}
        for raw_id, job, last in self.connection.execute(_NAMED, {"run": run}):
            node = self.nodes.by_id(self.nodes.head(job))
            named[node] = max(named.get(node, (last, raw_id)), (last, raw_id), key=lambda pair: (pair[0], pair[1] or ""))
        return [
            RunRecord(str(UUID(bytes=run)), raw_id, job, *_UNSEEN, last, None, None, (), (), observed=False)
            for job, (last, raw_id) in sorted(named.items(), key=lambda pair: (pair[0].namespace, pair[0].name))
        ]

    def _named(self, keys: set[RunKey], asserters: Sequence[bytes]) -> dict[tuple[bytes, int, int], set[int]]:
        """The datasets that each (run, job, side) names. The datasets of a design-time statement are read from its shape."""
        found: dict[tuple[bytes, int, int], set[int]] = defaultdict(set)
        for asserter, job, side, dataset in self._rows(_NAMED_IO, asserters):
            found[asserter, job, side].add(dataset)
        named_sides = frozenset(found)
        rest = sorted({asserter for asserter, job in keys for side in (0, 1) if (asserter, job, side) not in named_sides})
        for asserter, job, side, dataset in self._rows(_SHAPED_IO, rest):
            if (asserter, job, side) not in named_sides:
                found[asserter, job, side].add(dataset)
        return found

    def latest(self, job: int, *, with_datasets: bool) -> RunRecord | None:
        """The run that shows the state of a job: the latest one under all names of the job. Runs under names with declared heartbeats take
        precedence.

        If there is no run, the latest design-time statement is returned.
        """
        return self.latest_of([job], with_datasets=with_datasets).get(job)

    def latest_of(self, jobs: Iterable[int], *, with_datasets: bool) -> dict[int, RunRecord]:
        """The `latest` run of each of many jobs; jobs without a run or statement are left out."""
        unique = list(dict.fromkeys(jobs))
        fresh = [job for job in unique if (job, with_datasets) not in self._latest]
        if fresh:
            found = self._look_up_latest(fresh, with_datasets=with_datasets)
            self._latest.update(((job, with_datasets), found.get(job)) for job in fresh)
        latest = ((job, self._latest[job, with_datasets]) for job in unique)
        return {job: record for job, record in latest if record}

    def _look_up_latest(self, jobs: Iterable[int], *, with_datasets: bool) -> dict[int, RunRecord]:
        names = {job: self.nodes.members(job) for job in jobs}
        every = {name for some in names.values() for name in some}
        self.processing.load(every)
        keys: dict[int, RunKey] = {}
        declared: set[int] = set()
        for origin in (Origin.OBSERVED, Origin.DECLARED):
            rest = {job: some for job, some in names.items() if job not in keys}
            last = self._last({name for some in rest.values() for name in some}, origin, with_datasets=with_datasets)
            for job, some in rest.items():
                found = [(self.processing.of_job(name).period_us is not None, *last[name], name) for name in some if name in last]
                if found:
                    keys[job] = max(found)[2:]
                    if origin == Origin.DECLARED:
                        declared.add(job)
        records = zip(keys, self.records(list(keys.values())), strict=True)
        return {job: replace(record, declared=True) if job in declared else record for job, record in records}

    def _last(self, jobs: Iterable[int], origin: int, *, with_datasets: bool) -> dict[int, tuple[int, bytes]]:
        """The id and the time of the last event of each job's newest run or design-time statement."""
        found: dict[int, tuple[int, bytes]] = {}
        for some in chunks(jobs):
            sql = _LATEST.format(", ".join(["(?)"] * len(some)), "AND n.shape <> 0" if with_datasets else "")
            found.update((job, (last, asserter)) for job, last, asserter in self.connection.execute(sql, (*some, origin)))
        return found

    def find(self, run_id: str) -> list[RunRecord]:
        """The run of an id, as sent or as a UUID, under each of its jobs."""
        return [record for asserter in self.ids(run_id) for record in self.of_id(asserter)]

    def ids(self, run_id: str) -> list[bytes]:
        """The ids of the runs that a text may denote. A UUID denotes one run; any other text may have been sent as the run id by several
        jobs.
        """
        try:
            return [UUID(run_id).bytes]
        except ValueError:
            return [row[0] for row in self.connection.execute(_BY_RAW_ID, (run_id,) * 3)]

    def newest_complete(self, job: int, side: Side, limit: int, scan: int = 200) -> list[frozenset[int]]:
        """The datasets on one side of each of the job's newest COMPLETE runs, newest run first. Runs without datasets on this side are
        skipped. Reads at most `scan` runs.
        """
        column = "inputs" if side == Side.INPUT else "outputs"
        rows = self.connection.execute(
            "SELECT p.asserted_by, p.shape FROM run_shape p JOIN shape s ON s.shape = p.shape "
            f"WHERE p.job = ? AND p.origin = 1 AND s.{column} > 0 "
            "ORDER BY p.last DESC, p.asserted_by DESC LIMIT ?",
            (job, scan),
        )
        found: list[frozenset[int]] = []
        for asserter, shape in rows:
            if run_state(self._events(asserter, job), streaming=False).state == "COMPLETE":
                found.append(self.shape_side(shape, side))
            if len(found) == limit:
                break
        return found

    def newest_naming(self, job: int, side: Side) -> frozenset[int]:
        """The datasets that the latest run of a job named on one side. Runs that named none on this side are skipped."""
        column = "inputs" if side == Side.INPUT else "outputs"
        row = self.connection.execute(
            f"SELECT p.shape FROM run_shape p JOIN shape s ON s.shape = p.shape WHERE p.job = ? AND p.origin = 1 AND s.{column} > 0 "
            "ORDER BY p.last DESC, p.asserted_by DESC LIMIT 1",
            (job,),
        ).fetchone()
        return self.shape_side(row[0], side) if row else frozenset()

    def shape_side(self, shape: int, side: Side) -> frozenset[int]:
        """The datasets of one side of a shape."""
        rows = self.connection.execute("SELECT dataset FROM shape_io WHERE shape = ? AND side = ?", (shape, int(side)))
        return frozenset(row[0] for row in rows)


def _uuid(run: bytes | None) -> str | None:
    return _uuid_text(run) if run else None


def _uuid_text(run: bytes) -> str:
    text = run.hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"
