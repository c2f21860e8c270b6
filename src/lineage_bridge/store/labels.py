"""Labels of edges and ports, read from the shapes that hold them."""

import sqlite3

from lineage_bridge.graph.labels import HORIZON_US, NEWEST_RUNS, Label, freshness, is_superseded, side_label, worst
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.statements import OWN
from lineage_bridge.store.runs import Runs

_FLOW_LAST = """SELECT max(j.last) FROM shape_flow f JOIN shape s ON s.shape = f.shape JOIN job_shape j ON j.shape = f.shape
WHERE f.source = ? AND f.target = ? AND j.job = ? AND s.origin = ?"""
_PORT_LAST = """SELECT max(j.last) FROM job_shape j JOIN shape s ON s.shape = j.shape
JOIN shape_io i ON i.shape = j.shape AND i.side = ? AND i.dataset = ? WHERE j.job = ? AND s.origin = ?"""
_HUB_LAST = "SELECT max(last) FROM job_shape WHERE job = ? AND shape IN (?, ?)"


class Labels:
    """Labels as of `now_us` over one connection; what concerns a whole job is computed once."""

    def __init__(self, connection: sqlite3.Connection, runs: Runs, now_us: int) -> None:
        self.connection, self.runs, self.now_us = connection, runs, now_us
        self._complete: dict[tuple[int, Side], list[frozenset[int]]] = {}
        self._newest: dict[tuple[int, Side], frozenset[int]] = {}

    def flow(self, source: int, target: int, job: int, origin: int) -> tuple[Label, int | None]:
        """The label of a flow, and the last event (UTC microseconds) of any run that said it."""
        last = max(
            (
                self._flow_last(a, b, job, origin)
                for a in {source, OWN if source == job else source}
                for b in {target, OWN if target == job else target}
            ),
            default=0,
        )
        return self._ends(source, target, job, origin, last or None), last or None

    def _flow_last(self, source: int, target: int, job: int, origin: int) -> int:
        return int(self.connection.execute(_FLOW_LAST, (source, target, job, origin)).fetchone()[0] or 0)

    def hub_pair(self, hub: int, source: int, target: int, job: int, origin: int) -> tuple[Label, int | None]:
        """The same for a pair that a hub stands for."""
        last = self.connection.execute(_HUB_LAST, (job, hub, hub ^ 1)).fetchone()[0]
        return self._ends(source, target, job, origin, last), last

    def _ends(self, source: int, target: int, job: int, origin: int, last: int | None) -> Label:
        fresh = freshness(last, self.now_us)
        if origin != Origin.OBSERVED:
            return fresh
        sides = ((source, Side.INPUT), (target, Side.OUTPUT))
        return worst(
            [
                fresh,
                *(Label.SUPERSEDED for dataset, side in sides if dataset != job and self.superseded(job, dataset, side, last)),
            ]
        )

    def port(self, job: int, dataset: int, side: Side, origin: int) -> tuple[Label, int | None]:
        """The label of an input or output, and the last event of any run that named it."""
        last = self.connection.execute(_PORT_LAST, (int(side), dataset, job, origin)).fetchone()[0]
        gone = origin == Origin.OBSERVED and self.superseded(job, dataset, side, last)
        return side_label(last, gone, self.now_us), last

    def superseded(self, job: int, dataset: int, side: Side, last: int | None) -> bool:
        """Whether newer runs of the job have taken other datasets on this side."""
        if not self._named(job, dataset, side):
            return False
        if self.runs.is_streaming(job):
            silent = last is None or last < self.now_us - HORIZON_US
            return silent and dataset not in self.newest(job, side)
        return is_superseded(dataset, self.complete(job, side))

    def _named(self, job: int, dataset: int, side: Side) -> bool:
        """Whether the job ever named the dataset on this side itself; a column's source need not be an input."""
        row = self.connection.execute(
            "SELECT 1 FROM job_io WHERE job = ? AND dataset = ? AND side = ?", (job, dataset, int(side))
        ).fetchone()
        return row is not None

    def complete(self, job: int, side: Side) -> list[frozenset[int]]:
        """What the job's newest complete runs named on a side."""
        if (job, side) not in self._complete:
            self._complete[job, side] = self.runs.newest_complete(job, side, NEWEST_RUNS)
        return self._complete[job, side]

    def newest(self, job: int, side: Side) -> frozenset[int]:
        """What the job's newest run that names anything on a side named there."""
        if (job, side) not in self._newest:
            self._newest[job, side] = self.runs.newest_naming(job, side)
        return self._newest[job, side]
