"""Runs as the store holds them, with the state their events amount to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.state import HEARTBEAT_US, UNKNOWN, RunState, goes_on_unsure, run_state
from lineage_bridge.model.graph import Node
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.store.chunks import batches, chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.processing import ProcessingTypes

_RUN = """SELECT run, job, parent_run, parent_job, root_run, root_job, nominal_start, nominal_end, raw_id FROM run WHERE run IN ({})"""
_NAMED = """SELECT parent_run, parent_job, max(parent_time) FROM (SELECT parent_run, parent_job, parent_time FROM run
WHERE parent_run = :run LIMIT 1000) GROUP BY parent_job UNION ALL
SELECT root_run, root_job, max(parent_time) FROM (SELECT root_run, root_job, parent_time FROM run
WHERE root_run = :run AND root_run <> parent_run LIMIT 1000) GROUP BY root_job"""
"""The jobs that others give a run, and when they did last; from a thousand of those who do."""
_EVENTS = "SELECT type, min(first), max(last) FROM run_event WHERE run = ? GROUP BY type"
_EVENTS_OF = "SELECT run, type, min(first), max(last) FROM run_event WHERE run IN ({}) GROUP BY run, type"
_SEEN = "SELECT asserted_by, job, last FROM run_shape WHERE asserted_by IN ({})"
_NAMED_IO = "SELECT DISTINCT run, job, side, dataset FROM run_io WHERE run IN ({})"
_SHAPED_IO = """SELECT p.asserted_by, p.job, i.side, i.dataset FROM run_shape p JOIN shape_io i ON i.shape = p.shape
WHERE p.asserted_by IN ({}) AND p.origin <> 1"""
_LATEST = """WITH wanted (job) AS (VALUES {}) SELECT DISTINCT w.job, p.last, p.asserted_by FROM wanted w STRAIGHT_JOIN run_shape p
ON p.job = w.job AND p.asserted_by = (SELECT asserted_by FROM run_shape n WHERE n.job = w.job AND n.origin = ? {}
ORDER BY n.last DESC, n.asserted_by DESC LIMIT 1)"""
_NO_RUN: tuple[Any, ...] = (None,) * 7
RunKey = tuple[bytes, int]
"""A run, and a job it was seen under."""
_UNSEEN = RunState(UNKNOWN, None, None, False, False)


class Runs:
    """Look-ups over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, processing: ProcessingTypes | None = None) -> None:
        self.connection, self.nodes = connection, nodes
        self.processing = processing or ProcessingTypes(connection)

    def is_streaming(self, job: int) -> bool:
        """Whether the job's runs do not end by themselves."""
        return self.processing.of_job(job).streaming

    def state(self, asserter: bytes, job: int) -> RunState:
        """What the events of a run amount to."""
        return self._state(asserter, job, self.connection.execute(_EVENTS, (asserter,)).fetchall())

    def _state(self, asserter: bytes, job: int, events: list[tuple[str, int, int]]) -> RunState:
        """What the events of a run amount to."""
        how = self.processing.of_job(job)
        unsure = how.streaming and goes_on_unsure(events)
        return run_state(events, how.streaming, self.processing.heartbeat(asserter, job) if unsure else HEARTBEAT_US, retries=how.retries)

    def record(self, asserter: bytes, job: int) -> RunRecord:
        """Everything known about a run, as a run of this job."""
        return self.records([(asserter, job)])[0]

    def records(self, keys: Sequence[RunKey]) -> list[RunRecord]:
        """The records of many runs, in the order of their keys."""
        self.processing.load({job for _, job in keys})
        asserters = sorted({asserter for asserter, _ in keys})
        stated = {row[:2]: row[2:] for row in self._rows(_RUN, asserters)}
        seen = {row[:2]: row[2] for row in self._rows(_SEEN, asserters)}
        events: dict[bytes, list[tuple[str, int, int]]] = defaultdict(list)
        for asserter, *event in set(self._rows(_EVENTS_OF, asserters)):
            events[asserter].append((event[0], event[1], event[2]))
        named = self._named(set(keys), asserters)
        self.nodes.load({job for _, job in keys}.union(*named.values()))
        return [self._record(key, stated.get(key, _NO_RUN), seen.get(key, 0), events[key[0]], named) for key in keys]

    def _record(
        self,
        key: RunKey,
        stated: tuple[Any, ...],
        last: int,
        events: list[tuple[str, int, int]],
        named: Mapping[tuple[bytes, int, int], set[int]],
    ) -> RunRecord:
        asserter, job = key
        parent, parent_job, root, root_job, *nominal, raw_id = stated
        above, other = self._jobs(parent) if parent else [], self._node(parent_job)
        differs = bool(above) and other not in above
        streaming = self.is_streaming(job)
        return RunRecord(
            run_id=str(UUID(bytes=asserter)),
            raw_id=raw_id,
            job=self.nodes.by_id(job),
            **self._state(asserter, job, events)._asdict(),
            last=last,
            parent_run_id=_uuid(parent),
            parent_job=above[0] if differs else other,
            inputs=self._in_order(named.get((*key, int(Side.INPUT)), ())),
            outputs=self._in_order(named.get((*key, int(Side.OUTPUT)), ())),
            streaming=streaming,
            named_parent_job=other if differs else None,
            root_run_id=_uuid(root),
            root_job=self._node(root_job),
            nominal=(nominal[0], nominal[1]),
            heartbeat_us=self.processing.heartbeat(asserter, job) if streaming else None,
        )

    def _rows(self, sql: str, asserters: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        for some in batches(asserters):
            yield from self.connection.execute(sql.format(marks(some)), some)

    def _in_order(self, ids: Iterable[int]) -> tuple[Node, ...]:
        return tuple(sorted(map(self.nodes.by_id, ids), key=lambda node: (node.namespace, node.name)))

    def _node(self, id_: int | None) -> Node | None:
        return None if id_ is None else self.nodes.by_id(id_)

    def _jobs(self, run: bytes) -> list[Node]:
        """The jobs a run was itself seen under, in the order of their names."""
        rows = self.connection.execute("SELECT job FROM run WHERE run = ?", (run,)).fetchall()
        return sorted((self.nodes.by_id(row[0]) for row in rows), key=lambda node: (node.namespace, node.name))

    def of_id(self, run: bytes) -> list[RunRecord]:
        """The run under each of its jobs; a run that never sent an event, as other runs name it."""
        jobs = self._jobs(run)
        if jobs:
            return [self.record(run, job.id) for job in jobs]
        named: dict[Node, int] = {}
        for _, job, last in self.connection.execute(_NAMED, {"run": run}):
            node = self.nodes.by_id(job)
            named[node] = max(named.get(node, last), last)
        return [
            RunRecord(str(UUID(bytes=run)), None, job, *_UNSEEN, last, None, None, (), (), observed=False)
            for job, last in sorted(named.items(), key=lambda pair: (pair[0].namespace, pair[0].name))
        ]

    def _named(self, keys: set[RunKey], asserters: Sequence[bytes]) -> dict[tuple[bytes, int, int], set[int]]:
        """(run, job, side) to the datasets named there; of a statement, those of its shape."""
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
        """The run that shows the state of a job: the latest, under all its names; names with declared heartbeats take precedence.

        If there is no run, it is the latest design-time statement.
        """
        return self.latest_of([job], with_datasets=with_datasets).get(job)

    def latest_of(self, jobs: Iterable[int], *, with_datasets: bool) -> dict[int, RunRecord]:
        """The `latest` run of each of many jobs; jobs without a run or statement are left out."""
        names = {job: self.nodes.members(job) for job in jobs}
        every = {name for some in names.values() for name in some}
        self.processing.load(every)
        keys: dict[int, RunKey] = {}
        for origin in (1, 2):
            rest = {job: some for job, some in names.items() if job not in keys}
            last = self._last({name for some in rest.values() for name in some}, origin, with_datasets=with_datasets)
            for job, some in rest.items():
                found = [(self.processing.of_job(name).period_us is not None, *last[name], name) for name in some if name in last]
                if found:
                    keys[job] = max(found)[2:]
        return dict(zip(keys, self.records(list(keys.values())), strict=True))

    def _last(self, jobs: Iterable[int], origin: int, *, with_datasets: bool) -> dict[int, tuple[int, bytes]]:
        """Job to the time of the last event of its newest run or statement, and which one it is."""
        found: dict[int, tuple[int, bytes]] = {}
        for some in chunks(jobs):
            sql = _LATEST.format(", ".join(["(?)"] * len(some)), "AND n.shape <> 0" if with_datasets else "")
            found.update((job, (last, asserter)) for job, last, asserter in self.connection.execute(sql, (*some, origin)))
        return found

    def find(self, run_id: str) -> list[RunRecord]:
        """The run of an id, as sent or as a UUID, under each of its jobs."""
        return [record for asserter in self.ids(run_id) for record in self.of_id(asserter)]

    def ids(self, run_id: str) -> list[bytes]:
        """The runs that an id may mean: a UUID is one run; any other text may be the raw id of several jobs' runs."""
        try:
            return [UUID(run_id).bytes]
        except ValueError:
            rows = self.connection.execute("SELECT DISTINCT run FROM run WHERE raw_id = ? ORDER BY run", (run_id,))
            return [row[0] for row in rows]

    def newest_complete(self, job: int, side: Side, limit: int, scan: int = 200) -> list[frozenset[int]]:
        """The datasets on one side of each of the job's newest COMPLETE runs with any, newest first. Searches at most `scan` runs."""
        column = "inputs" if side == Side.INPUT else "outputs"
        rows = self.connection.execute(
            "SELECT p.asserted_by, p.shape FROM run_shape p JOIN shape s ON s.shape = p.shape "
            f"WHERE p.job = ? AND p.origin = 1 AND s.{column} > 0 "
            "ORDER BY p.last DESC, p.asserted_by DESC LIMIT ?",
            (job, scan),
        )
        found: list[frozenset[int]] = []
        for asserter, shape in rows:
            events = self.connection.execute(_EVENTS, (asserter,)).fetchall()
            if run_state(events, streaming=False).state == "COMPLETE":
                found.append(self.shape_side(shape, side))
            if len(found) == limit:
                break
        return found

    def newest_naming(self, job: int, side: Side) -> frozenset[int]:
        """The datasets on one side of the job's latest run with any."""
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
    return str(UUID(bytes=run)) if run else None
