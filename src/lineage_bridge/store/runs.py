"""Runs as the store holds them, with the state their events amount to."""

import sqlite3
from uuid import UUID

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs import STREAMING_TYPES, run_state
from lineage_bridge.openlineage.facets import JobTypeJobFacet, read_as
from lineage_bridge.ports import Node, RunRecord
from lineage_bridge.store.nodes import Nodes

_JOB_TYPE = """SELECT f.text FROM current_facet c JOIN facet f ON f.facet = c.facet WHERE c.node = ? AND c.job = 0 AND c.key = 'jobType'"""
_RUN = "SELECT parent_run, parent_job, nominal_start, nominal_end, raw_id FROM run WHERE run = ? AND job = ?"


class Runs:
    """Look-ups over one connection."""

    def __init__(self, connection: sqlite3.Connection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self._streaming: dict[int, bool] = {}

    def is_streaming(self, job: int) -> bool:
        """Whether the job's newest jobType facet says that it does not end by itself."""
        if job not in self._streaming:
            row = self.connection.execute(_JOB_TYPE, (job,)).fetchone()
            facet = read_as(JobTypeJobFacet, "job", "jobType", row[0].encode()) if row else None
            self._streaming[job] = facet is not None and facet.processingType.upper() in STREAMING_TYPES
        return self._streaming[job]

    def record(self, subject: bytes, job: int) -> RunRecord:
        """All there is to know of one run under one job."""
        events = self.connection.execute("SELECT type, first, last FROM run_event WHERE run = ?", (subject,)).fetchall()
        state = run_state(events, self.is_streaming(job))
        row = self.connection.execute(_RUN, (subject, job)).fetchone() or (None, None, None, None, None)
        seen = self.connection.execute("SELECT last FROM present WHERE subject = ? AND job = ?", (subject, job)).fetchone()
        return RunRecord(
            run_id=str(UUID(bytes=subject)),
            raw_id=row[4],
            job=self.nodes.by_id(job),
            state=state.state,
            started=state.started,
            ended=state.ended,
            started_inferred=state.started_inferred,
            conflict=state.conflict,
            last=seen[0] if seen else 0,
            parent_run_id=str(UUID(bytes=row[0])) if row[0] else None,
            parent_job=self.nodes.by_id(row[1]) if row[1] is not None else None,
            inputs=self._named(subject, job, Side.INPUT),
            outputs=self._named(subject, job, Side.OUTPUT),
        )

    def _named(self, subject: bytes, job: int, side: Side) -> tuple[Node, ...]:
        rows = self.connection.execute(
            "SELECT dataset FROM run_io WHERE run = ? AND job = ? AND side = ?", (subject, job, int(side))
        ).fetchall()
        if not rows:
            rows = self.connection.execute(
                "SELECT i.dataset FROM present p JOIN shape_io i ON i.shape = p.shape WHERE p.subject = ? AND p.job = ? AND i.side = ? "
                "AND p.origin <> 1",
                (subject, job, int(side)),
            ).fetchall()
        return tuple(sorted((self.nodes.by_id(row[0]) for row in rows), key=lambda node: (node.namespace, node.name)))

    def latest(self, job: int, *, with_datasets: bool) -> RunRecord | None:
        """The run that spoke last; a design-time statement stands in where there is no run."""
        shaped = "AND shape <> 0" if with_datasets else ""
        for origin in (1, 2):
            row = self.connection.execute(
                f"SELECT subject FROM present WHERE job = ? AND origin = ? {shaped} ORDER BY last DESC, subject DESC LIMIT 1",
                (job, origin),
            ).fetchone()
            if row:
                return self.record(row[0], job)
        return None

    def of_job(self, job: int, limit: int, offset: int) -> list[RunRecord]:
        """A job's runs, the one that spoke last first."""
        rows = self.connection.execute(
            "SELECT subject FROM present WHERE job = ? AND origin = 1 ORDER BY last DESC, subject DESC LIMIT ? OFFSET ?",
            (job, limit, offset),
        ).fetchall()
        return [self.record(row[0], job) for row in rows]

    def find(self, run_id: str) -> list[RunRecord]:
        """The run of an id, as sent or as a UUID, under each of its jobs."""
        rows = [
            row
            for subject in self.subjects(run_id)
            for row in self.connection.execute("SELECT run, job FROM run WHERE run = ?", (subject,))
        ]
        return [self.record(run, job) for run, job in sorted(rows)]

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
            events = self.connection.execute("SELECT type, first, last FROM run_event WHERE run = ?", (subject,)).fetchall()
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
