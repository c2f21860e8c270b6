"""Computes earlier shapes, which runs and design-time statements had before they got their current shape."""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.flows.derive import bind_to_job, hub_id
from lineage_bridge.graph.flows.shape_history import LENGTH_CLASSES, longest_of_class, newest_facet_set
from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape, expand, make_shape
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.assertions import declarations_of, declared_shape, read_lineage_set, shape_at, stored_lineage_set
from lineage_bridge.store.query.flows import RawEdge

_LAST = f"""SELECT max(CASE WHEN last <= :at THEN last ELSE first END) FROM assertion
WHERE asserted_by = :asserted_by AND job IN (:job, 0) AND node = :job AND side = {int(Side.SELF)} AND first <= :at"""
_LONGEST = " ".join(f"WHEN {length_class} THEN {min(longest_of_class(length_class), 2**62)}" for length_class in LENGTH_CLASSES)
_PENDING = f"""WITH RECURSIVE class (job, length_class) AS (
    SELECT id, (SELECT min(pending_until) FROM run_shape WHERE job = id AND pending_until IS NOT NULL) FROM node WHERE id IN ({{}})
    UNION ALL SELECT c.job, (SELECT min(p.pending_until) FROM run_shape p WHERE p.job = c.job AND p.pending_until > c.length_class)
    FROM class c WHERE c.length_class IS NOT NULL)
SELECT p.asserted_by, p.job, p.origin, p.first FROM class c STRAIGHT_JOIN run_shape p ON p.job = c.job AND p.pending_until = c.length_class
AND p.current_since > ? AND p.current_since <= ? + CASE c.length_class {_LONGEST} END AND p.first_shape_at <= ?"""
"""The runs that were between their first and their current shape. Runs are indexed by the length of this time, rounded up (see
graph/flows/shape_history.py), so that a job costs one look-up for each of its lengths, however many runs it has.
"""


class PendingShape(NamedTuple):
    """The shape of one asserter, the edges of its job that follow from it, and the times of its first and last event."""

    asserted_by: bytes
    shape: Shape
    edges: tuple[RawEdge, ...]
    first: int
    last: int


class PendingShapes:
    """Finds those asserters of jobs that did not have their current shape yet at the time `at_us`. Each job is looked up once."""

    def __init__(self, connection: StoreConnection, at_us: int) -> None:
        self.connection, self.at_us = connection, at_us
        self._by_job: dict[int, list[PendingShape]] = {}

    def of_job(self, job: int) -> list[PendingShape]:
        """The pending shapes of a job's asserters."""
        if job not in self._by_job:
            self.load([job])
        return self._by_job[job]

    def of_jobs(self, jobs: Iterable[int]) -> list[PendingShape]:
        """The pending shapes of the asserters of these jobs."""
        sorted_jobs = sorted(set(jobs))
        self.load(sorted_jobs)
        return [pending for job in sorted_jobs for pending in self._by_job[job]]

    def load(self, jobs: Iterable[int]) -> None:
        """Look up many jobs at once."""
        new = [job for job in jobs if job not in self._by_job]
        self._by_job.update((job, []) for job in new)
        for some in chunks(new):
            found = self.connection.execute(_PENDING.format(marks(some)), (*some, *[self.at_us] * 3)).fetchall()
            for asserter, job, origin, first in found:
                pending = self._pending(asserter, job, origin, first)
                if pending.shape.id != NO_SHAPE:
                    self._by_job[job].append(pending)

    def _pending(self, asserter: bytes, job: int, origin: int, first: int) -> PendingShape:
        shape = self.shape(asserter, job, origin)
        expansion = expand(shape, {lineage_set: read_lineage_set(self.connection, lineage_set) for _, lineage_set in shape.lineage_sets})
        edges: list[RawEdge] = [(*row, 0) for row in bind_to_job(expansion, job, origin)]
        for number, hub in enumerate(expansion.hubs):
            pairs = ((source, target) for source in hub.inputs for target in hub.outputs)
            edges += [(*pair, job, origin, int(Evidence.CO_OCCURRENCE), hub_id(shape.id, number)) for pair in pairs]
        return PendingShape(asserter, shape, tuple(edges), first, self.last(asserter, job))

    def shape(self, asserter: bytes, job: int, origin: int) -> Shape:
        """The shape of an asserter, computed from what it had asserted by `at_us`."""
        if origin == Origin.DECLARED:
            facet_set = newest_facet_set(declarations_of(self.connection, asserter, job), self.at_us)
            if facet_set is None:
                return make_shape(Origin.DECLARED, (), ())
            return declared_shape(self.connection, job, facet_set, lambda some, key: stored_lineage_set(self.connection, some, key))
        return shape_at(self.connection, asserter, job, self.at_us)[0]

    def last(self, asserter: bytes, job: int) -> int:
        """The time of an asserter's last event by `at_us`. Of events with the same facets on one day, only the first and the last
        are known.
        """
        last = self.connection.execute(_LAST, {"asserted_by": asserter, "job": job, "at": self.at_us}).fetchone()[0]
        return 0 if last is None else int(last)


def side_of(shape: Shape, side: Side) -> frozenset[int]:
    """The datasets of one side of a shape."""
    return frozenset(dataset for on, dataset in shape.members if on == side)
