"""Runs as the store holds them, with the state their events amount to."""

import sqlite3
from uuid import UUID

from lineage_bridge.answers.neighbourhood import Node
from lineage_bridge.answers.runs import RunRecord
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs import HEARTBEAT_US, UNKNOWN, RunState, goes_on_unsure, run_state
from lineage_bridge.store.nodes import Nodes
from lineage_bridge.store.processing import Processings

_RUN = """SELECT parent_run, parent_job, root_run, root_job, nominal_start, nominal_end, raw_id FROM run WHERE run = ? AND job = ?"""
_NAMED = """SELECT parent_run, parent_job, max(parent_time) FROM (SELECT parent_run, parent_job, parent_time FROM run
WHERE parent_run = :run LIMIT 1000) GROUP BY parent_job UNION ALL
SELECT root_run, root_job, max(parent_time) FROM (SELECT root_run, root_job, parent_time FROM run
WHERE root_run = :run AND root_run <> parent_run LIMIT 1000) GROUP BY root_job"""
"""The jobs that others give a run, and when they did last; from a thousand of those who do."""
_EVENTS = "SELECT type, min(first), max(last) FROM run_event WHERE run = ? GROUP BY type"
_NOTHING = (None,) * 7
_UNSEEN = RunState(UNKNOWN, None, None, False, False)


class Runs:
    """Look-ups over one connection."""

    def __init__(self, connection: sqlite3.Connection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self.processing = Processings(connection)

    def is_streaming(self, job: int) -> bool:
        """Whether the job's runs do not end by themselves."""
        return self.processing.of_job(job).streaming

    def state(self, subject: bytes, job: int) -> RunState:
        """What the events of a run amount to."""
        events = self.connection.execute(_EVENTS, (subject,)).fetchall()
        how = self.processing.of_job(job)
        unsure = how.streaming and goes_on_unsure(events)
        return run_state(events, how.streaming, self.processing.heartbeat(subject, job) if unsure else HEARTBEAT_US, retries=how.retries)

    def record(self, subject: bytes, job: int) -> RunRecord:
        """All there is to know of one run under one job that it was seen under."""
        state = self.state(subject, job)
        parent, parent_job, root, root_job, *nominal, raw_id = self.connection.execute(_RUN, (subject, job)).fetchone() or _NOTHING
        seen = self.connection.execute("SELECT last FROM present WHERE subject = ? AND job = ?", (subject, job)).fetchone()
        above, said = self._jobs(parent) if parent else [], self._node(parent_job)
        differs = bool(above) and said not in above
        return RunRecord(
            run_id=str(UUID(bytes=subject)),
            raw_id=raw_id,
            job=self.nodes.by_id(job),
            **state._asdict(),
            last=seen[0] if seen else 0,
            parent_run_id=_uuid(parent),
            parent_job=above[0] if differs else said,
            inputs=self._named(subject, job, Side.INPUT),
            outputs=self._named(subject, job, Side.OUTPUT),
            streaming=self.is_streaming(job),
            named_parent_job=said if differs else None,
            root_run_id=_uuid(root),
            root_job=self._node(root_job),
            nominal=(nominal[0], nominal[1]),
            heartbeat_us=self.processing.heartbeat(subject, job) if self.is_streaming(job) else None,
        )

    def _node(self, id_: int | None) -> Node | None:
        return None if id_ is None else self.nodes.by_id(id_)

    def _jobs(self, run: bytes) -> list[Node]:
        """The jobs a run was itself seen under, in the order of their names."""
        rows = self.connection.execute("SELECT job FROM run WHERE run = ?", (run,)).fetchall()
        return sorted((self.nodes.by_id(row[0]) for row in rows), key=lambda node: (node.namespace, node.name))

    def of_id(self, run: bytes) -> list[RunRecord]:
        """The run under each of its jobs; if it never spoke, as others name it."""
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

    def _named(self, subject: bytes, job: int, side: Side) -> tuple[Node, ...]:
        rows = self.connection.execute(
            "SELECT DISTINCT dataset FROM run_io WHERE run = ? AND job = ? AND side = ?", (subject, job, int(side))
        ).fetchall()
        if not rows:
            rows = self.connection.execute(
                "SELECT i.dataset FROM present p JOIN shape_io i ON i.shape = p.shape WHERE p.subject = ? AND p.job = ? AND i.side = ? "
                "AND p.origin <> 1",
                (subject, job, int(side)),
            ).fetchall()
        return tuple(sorted((self.nodes.by_id(row[0]) for row in rows), key=lambda node: (node.namespace, node.name)))

    def latest(self, job: int, *, with_datasets: bool) -> RunRecord | None:
        """The run that tells how a job stands: of all its names those that promise heartbeats speak first, and of their runs the last.

        A design-time statement stands in where there is no run.
        """
        shaped = "AND shape <> 0" if with_datasets else ""
        names = self.nodes.members(job)
        self.processing.meet(names)
        for origin in (1, 2):
            found = []
            for name in names:
                row = self.connection.execute(
                    f"SELECT last, subject FROM present WHERE job = ? AND origin = ? {shaped} ORDER BY last DESC, subject DESC LIMIT 1",
                    (name, origin),
                ).fetchone()
                if row:
                    found.append((self.processing.of_job(name).period_us is not None, *row, name))
            if found:
                return self.record(*max(found)[2:])
        return None

    def find(self, run_id: str) -> list[RunRecord]:
        """The run of an id, as sent or as a UUID, under each of its jobs."""
        return [record for subject in self.subjects(run_id) for record in self.of_id(subject)]

    def subjects(self, run_id: str) -> list[bytes]:
        """The runs an id stands for: a UUID is one; any other text may be the raw id of several jobs' runs."""
        try:
            return [UUID(run_id).bytes]
        except ValueError:
            rows = self.connection.execute("SELECT DISTINCT run FROM run WHERE raw_id = ? ORDER BY run", (run_id,))
            return [row[0] for row in rows]

    def newest_complete(self, job: int, side: Side, limit: int, scan: int = 200) -> list[frozenset[int]]:
        """What the newest COMPLETE runs that named a dataset on a side named there, newest first. Looks at `scan` runs at most."""
        column = "inputs" if side == Side.INPUT else "outputs"
        rows = self.connection.execute(
            "SELECT p.subject, p.shape FROM present p JOIN shape s ON s.shape = p.shape "
            f"WHERE p.job = ? AND p.origin = 1 AND s.{column} > 0 "
            "ORDER BY p.last DESC, p.subject DESC LIMIT ?",
            (job, scan),
        )
        found: list[frozenset[int]] = []
        for subject, shape in rows:
            events = self.connection.execute(_EVENTS, (subject,)).fetchall()
            if run_state(events, streaming=False).state == "COMPLETE":
                found.append(self.shape_side(shape, side))
            if len(found) == limit:
                break
        return found

    def newest_naming(self, job: int, side: Side) -> frozenset[int]:
        """What the run that spoke last, of those that named a dataset on a side, named there."""
        column = "inputs" if side == Side.INPUT else "outputs"
        row = self.connection.execute(
            f"SELECT p.shape FROM present p JOIN shape s ON s.shape = p.shape WHERE p.job = ? AND p.origin = 1 AND s.{column} > 0 "
            "ORDER BY p.last DESC, p.subject DESC LIMIT 1",
            (job,),
        ).fetchone()
        return self.shape_side(row[0], side) if row else frozenset()

    def shape_side(self, shape: int, side: Side) -> frozenset[int]:
        """The datasets of one side of a shape."""
        rows = self.connection.execute("SELECT dataset FROM shape_io WHERE shape = ? AND side = ?", (shape, int(side)))
        return frozenset(row[0] for row in rows)


def _uuid(run: bytes | None) -> str | None:
    return str(UUID(bytes=run)) if run else None
