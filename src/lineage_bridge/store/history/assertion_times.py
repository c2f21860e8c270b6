"""Finds the last time at which any run or design-time statement asserted an edge of a job, now or as of an earlier time."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from lineage_bridge.graph.ids import day_of
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.pending_shapes import PendingShape, PendingShapes

FEW_SHAPES = 64
"""If a job has more shapes than this, the shapes with an edge are looked up by the edge."""
_HELD = f"""WITH RECURSIVE counted (job, shape, number) AS (
    SELECT id, (SELECT min(shape) FROM job_shape WHERE job = id), 0 FROM (SELECT DISTINCT column1 AS id FROM (VALUES {{}}) v) ids
    UNION ALL SELECT job, (SELECT min(shape) FROM job_shape j WHERE j.job = counted.job AND j.shape > counted.shape), number + 1
    FROM counted WHERE shape IS NOT NULL AND number < {FEW_SHAPES}),
held AS MATERIALIZED (SELECT m.job, m.shape, s.origin FROM counted m STRAIGHT_JOIN shape s ON s.shape = m.shape)"""
"""The shapes of some jobs, at most FEW_SHAPES + 1 for each job."""
_THIS_SHAPE = "WITH held (job, shape, origin) AS (SELECT ?, ?, 0)"
_LASTS = """ SELECT job, shape, origin,
(SELECT last FROM job_shape l WHERE l.job = h.job AND l.shape = h.shape ORDER BY day DESC LIMIT 1) FROM held h"""
_HOLD_FLOW = """SELECT DISTINCT f.shape FROM shape_flow f JOIN shape s ON s.shape = f.shape AND s.origin = ?
WHERE f.source = ? AND f.target = ? AND EXISTS (SELECT 1 FROM job_shape j WHERE j.job = ? AND j.shape = f.shape)"""
_HOLD_OWN_FLOW = """SELECT DISTINCT f.shape FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = ?
STRAIGHT_JOIN shape_flow f ON f.shape = j.shape AND f.source = ? AND f.target = ? WHERE j.job = ?"""
_FEW = f"SELECT count(*) FROM (SELECT 1 FROM shape_io WHERE dataset = ? AND side = ? LIMIT {FEW_SHAPES + 1}) s"
_HOLD_PORT = """SELECT DISTINCT i.shape FROM shape_io i STRAIGHT_JOIN shape s ON s.shape = i.shape AND s.origin = ?
WHERE i.dataset = ? AND i.side = ? AND EXISTS (SELECT 1 FROM job_shape j WHERE j.job = ? AND j.shape = i.shape)"""
_HOLD_PORT_OF_MANY = """SELECT DISTINCT i.shape FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = ?
STRAIGHT_JOIN shape_io i ON i.shape = j.shape AND i.dataset = ? AND i.side = ? WHERE j.job = ?"""
_OF_CURRENT_SHAPE = """FROM run_shape_day d STRAIGHT_JOIN run_shape p ON p.asserted_by = d.asserted_by AND p.job = d.job
WHERE d.job = h.job AND d.shape = h.shape"""
_LASTS_AT = f""", asked AS MATERIALIZED (SELECT held.*, ? AS at, ? AS today FROM held),
known AS MATERIALIZED (SELECT h.*, coalesce(
    (SELECT d.last {_OF_CURRENT_SHAPE} AND d.day = h.today AND d.last <= h.at AND p.current_since <= h.at ORDER BY d.last DESC LIMIT 1),
    (SELECT d.last {_OF_CURRENT_SHAPE} AND d.day < h.today AND p.current_since <= h.at
    ORDER BY d.day DESC, d.last DESC LIMIT 1)) AS last FROM asked h)
SELECT job, shape, origin, coalesce((SELECT d.first {_OF_CURRENT_SHAPE} AND d.day = h.today AND d.first <= h.at AND d.last > h.at
    AND (h.last IS NULL OR d.first > h.last) AND p.current_since <= h.at ORDER BY d.first DESC LIMIT 1), last) FROM known h"""
"""The last events as of a time. Of asserters with events both before and after it on its day, only the first event of the day is known to
be earlier.
"""
_FLOW_OF_SHAPE = """STRAIGHT_JOIN shape_flow f ON f.shape = x.shape
AND f.source IN (:source, CASE :source WHEN :job THEN 0 ELSE :source END)
AND f.target IN (:target, CASE :target WHEN :job THEN 0 ELSE :target END)"""
_FIRST = f"""SELECT min(x.first) FROM job_shape x STRAIGHT_JOIN shape s ON s.shape = x.shape AND s.origin = :origin
{_FLOW_OF_SHAPE} WHERE x.job = :job"""
_FIRST_AT = f"SELECT min(x.first) FROM run_shape x {_FLOW_OF_SHAPE} WHERE x.job = :job AND x.origin = :origin AND x.current_since <= :at"
_TimeRow = tuple[int, int, int, int | None]


class ShapeTime(NamedTuple):
    """A shape of a job, and the time of the last event of any run that has it."""

    shape: int
    origin: int
    last: int


class AssertionTimes(ABC):
    """Looks up when runs and design-time statements asserted flows and ports, over one connection. The shapes of a job are read once and
    then cached.
    """

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self._shapes: dict[int, list[ShapeTime] | None] = {}
        self._last: dict[tuple[int, int], int | None] = {}

    @abstractmethod
    def lasts(self, held: str, values: Sequence[int]) -> list[_TimeRow]:
        """For each row of the common table expression `held`: job, shape, origin, and the time of the last event of any run with the shape
        (None if there is none).
        """

    @abstractmethod
    def first(self, source: int, target: int, job: int, origin: int) -> int | None:
        """The time of the first event of any run that asserted the flow; None if the flow is only a part of a hub."""

    def last(self, job: int, shape: int) -> int | None:
        """The last event of any run of the job that has the shape; None if no run had it."""
        if (job, shape) not in self._last:
            self._last[job, shape] = self.lasts(_THIS_SHAPE, (job, shape))[0][3]
        return self._last[job, shape]

    def load(self, jobs: Iterable[int]) -> None:
        """Read the shapes of many jobs at once."""
        for some in chunks(job for job in jobs if job not in self._shapes):
            found: dict[int, list[_TimeRow]] = {job: [] for job in some}
            for row in self.lasts(_HELD.format(", ".join(["(?)"] * len(some))), some):
                found[row[0]].append(row)
                self._last[row[:2]] = row[3]
            for job, rows in found.items():
                shapes = [ShapeTime(shape, origin, last) for _, shape, origin, last in rows if last is not None]
                self._shapes[job] = sorted(shapes, key=lambda found: -found.last) if len(rows) <= FEW_SHAPES else None

    def every_shape(self, job: int) -> list[int]:
        """All shapes of a job, however many there are."""
        shapes = self.shapes(job)
        if shapes is not None:
            return [found.shape for found in shapes]
        rows = self.connection.execute("SELECT DISTINCT shape FROM job_shape WHERE job = ?", (job,)).fetchall()
        return [shape for (shape,) in rows if self.last(job, shape) is not None]

    def pending_of(self, job: int) -> list[PendingShape]:  # noqa: ARG002 - of now, nothing is pending
        """The earlier shapes of those asserters of a job that did not have their current shape yet."""
        return []

    def alone(self, job: int) -> ShapeTime | None:
        """The only shape of a job, which then contains all edges of the job; None if the job has several shapes."""
        shapes = self.shapes(job)
        return shapes[0] if shapes is not None and len(shapes) == 1 else None

    def flow(self, source: int, target: int, job: int, origin: int) -> int | None:
        """The time of the last event of any run that asserted the flow."""
        if alone := self.alone(job):
            return alone.last
        sources = [source, OWN] if source == job else [source]
        targets = [target, OWN] if target == job else [target]
        held = f"SELECT 1 FROM shape_flow WHERE shape = ? AND source IN ({marks(sources)}) AND target IN ({marks(targets)}) LIMIT 1"
        sql = _HOLD_OWN_FLOW if job in (source, target) else _HOLD_FLOW

        def holding() -> set[int]:
            pairs = [(a, b) for a in sources for b in targets]
            return {row[0] for pair in pairs for row in self.connection.execute(sql, (origin, *pair, job))}

        return self._newest(job, origin, (held, (*sources, *targets)), holding)

    def port(self, job: int, dataset: int, side: int, origin: int) -> int | None:
        """The time of the last event in which a run of the job named the dataset as an input or output, by `side`."""
        if alone := self.alone(job):
            return alone.last
        held = "SELECT 1 FROM shape_io WHERE shape = ? AND side = ? AND dataset = ?"

        def holding() -> set[int]:
            few = self.connection.execute(_FEW, (dataset, side)).fetchone()[0] <= FEW_SHAPES
            sql = _HOLD_PORT if few else _HOLD_PORT_OF_MANY
            return {row[0] for row in self.connection.execute(sql, (origin, dataset, side, job))}

        return self._newest(job, origin, (held, (side, dataset)), holding)

    def hub(self, job: int, hub: int) -> int | None:
        """The time of the newest event of the runs whose shape contains this hub."""
        return max((last for shape in (hub, hub ^ 1) if (last := self.last(job, shape)) is not None), default=None)

    def _newest(self, job: int, origin: int, held: tuple[str, Collection[int]], holding: Callable[[], set[int]]) -> int | None:
        """The time of the last event of the job's newest shape that contains an edge; None if no shape contains it."""
        shapes = self.shapes(job)
        if shapes is None:
            return max((last for shape in holding() if (last := self.last(job, shape)) is not None), default=None)
        for found in shapes:
            if found.origin == origin and self.connection.execute(held[0], (found.shape, *held[1])).fetchone():
                return found.last
        return None

    def shapes(self, job: int) -> list[ShapeTime] | None:
        """The shapes of a job, newest first; None if there are too many."""
        if job not in self._shapes:
            self.load([job])
        return self._shapes[job]


class CurrentAssertionTimes(AssertionTimes):
    """Looks up when edges were asserted, by everything that is known now."""

    def lasts(self, held: str, values: Sequence[int]) -> list[_TimeRow]:
        """For each row of the common table expression `held`: job, shape, origin, and the time of the last event of any run with the shape
        (None if there is none).
        """
        return self.connection.execute(held + _LASTS, values).fetchall()

    def first(self, source: int, target: int, job: int, origin: int) -> int | None:
        """The time of the first event of any run that asserted the flow; None if the flow is only a part of a hub."""
        values = {"source": source, "target": target, "job": job, "origin": origin}
        found: int | None = self.connection.execute(_FIRST, values).fetchone()[0]
        return found


class AssertionTimesAt(AssertionTimes):
    """Looks up when edges were asserted as of an earlier time, at which some runs had a shape that they no longer have.

    Exact at midnights, otherwise to the day.
    """

    def __init__(self, connection: StoreConnection, pending: PendingShapes) -> None:
        super().__init__(connection)
        self.pending, self.at_us = pending, pending.at_us

    def lasts(self, held: str, values: Sequence[int]) -> list[_TimeRow]:
        """For each row of the common table expression `held`: job, shape, origin, and the time of the last event of any run with the shape
        (None if there is none).
        """
        return self.connection.execute(held + _LASTS_AT, (*values, self.at_us, day_of(self.at_us))).fetchall()

    def first(self, source: int, target: int, job: int, origin: int) -> int | None:
        """The time of the first event of any run that asserted the flow; None if the flow is only a part of a hub."""
        values = {"source": source, "target": target, "job": job, "origin": origin, "at": self.at_us}
        found: int | None = self.connection.execute(_FIRST_AT, values).fetchone()[0]
        edge = source, target, job, origin
        pending = [p.first for p in self.pending.of_job(job) if any(held[:4] == edge and not held[5] for held in p.edges)]
        return min((time for time in (found, *pending) if time is not None), default=None)

    def load(self, jobs: Iterable[int]) -> None:
        """Read the shapes of many jobs at once."""
        every = set(jobs)
        self.pending.load(every)
        super().load(every)

    def pending_of(self, job: int) -> list[PendingShape]:
        """The earlier shapes of those asserters of a job that did not have their current shape yet."""
        return self.pending.of_job(job)

    def alone(self, job: int) -> ShapeTime | None:
        """The only shape of a job, which then contains all edges of the job; None if the job has several shapes."""
        return None if self.pending.of_job(job) else super().alone(job)

    def flow(self, source: int, target: int, job: int, origin: int) -> int | None:
        """The time of the last event of any run that asserted the flow."""
        pending = self._pending_last(job, lambda f: any(edge[:4] == (source, target, job, origin) and not edge[5] for edge in f.edges))
        return _later(super().flow(source, target, job, origin), pending)

    def port(self, job: int, dataset: int, side: int, origin: int) -> int | None:
        """The time of the last event in which a run of the job named the dataset as an input or output, by `side`."""
        pending = self._pending_last(job, lambda f: f.shape.origin == origin and (side, dataset) in f.shape.members)
        return _later(super().port(job, dataset, side, origin), pending)

    def hub(self, job: int, hub: int) -> int | None:
        """The time of the last event of any run whose shape contains a hub."""
        return _later(super().hub(job, hub), self._pending_last(job, lambda f: f.shape.id in (hub, hub ^ 1)))

    def _pending_last(self, job: int, holds: Callable[[PendingShape], bool]) -> int | None:
        return max((pending.last for pending in self.pending.of_job(job) if holds(pending)), default=None)


def _later(time: int | None, other: int | None) -> int | None:
    return max((time for time in (time, other) if time is not None), default=None)
