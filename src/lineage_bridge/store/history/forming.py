"""Shapes as they were: what runs and design-time statements amounted to before they reached their present shape."""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.flows.derive import bind_to_job, hub_id
from lineage_bridge.graph.flows.shape_history import LENGTH_CLASSES, longest_of_class, newest_facet_set
from lineage_bridge.graph.flows.shapes import NO_SHAPE, Shape, expand, make_shape
from lineage_bridge.graph.ids import day_of
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.assertions import declared_shape, read_lineage_set, sayings_of, shape_at, stored_meaning
from lineage_bridge.store.query.flows import RawEdge

_LAST = """SELECT CASE WHEN last <= :at THEN last ELSE first END FROM run_shape_day
WHERE asserted_by = :asserted_by AND job = :job AND day <= :day AND first <= :at ORDER BY day DESC LIMIT 1"""
_LONGEST = " ".join(f"WHEN {stretch} THEN {min(longest_of_class(stretch), 2**62)}" for stretch in LENGTH_CLASSES)
_SUBJECTS = f"""WITH RECURSIVE class (job, stretch) AS (
    SELECT id, (SELECT min(pending_until) FROM run_shape WHERE job = id AND pending_until IS NOT NULL) FROM node WHERE id IN ({{}})
    UNION ALL SELECT c.job, (SELECT min(p.pending_until) FROM run_shape p WHERE p.job = c.job AND p.pending_until > c.stretch)
    FROM class c WHERE c.stretch IS NOT NULL)
SELECT p.asserted_by, p.job, p.origin FROM class c STRAIGHT_JOIN run_shape p ON p.job = c.job AND p.pending_until = c.stretch
AND p.current_since > ? AND p.current_since <= ? + CASE c.stretch {_LONGEST} END AND p.first_shape_at <= ?"""
"""An index look-up for each class of stretches that a job has, however many runs it has."""


class PendingShape(NamedTuple):
    """The shape of one asserter, the edges of its job that follow from it, and the time of its last event."""

    shape: Shape
    edges: tuple[RawEdge, ...]
    last: int


class PendingShapes:
    """The subjects of jobs that had not reached their present shape at a time; each job is looked up once."""

    def __init__(self, connection: StoreConnection, at_us: int) -> None:
        self.connection, self.at_us = connection, at_us
        self._known: dict[int, list[PendingShape]] = {}

    def of_job(self, job: int) -> list[PendingShape]:
        """What the forming subjects of a job amounted to."""
        if job not in self._known:
            self.load([job])
        return self._known[job]

    def of(self, jobs: Iterable[int]) -> list[PendingShape]:
        """What the forming subjects of these jobs amounted to."""
        wanted = sorted(set(jobs))
        self.load(wanted)
        return [formed for job in wanted for formed in self._known[job]]

    def load(self, jobs: Iterable[int]) -> None:
        """Look up many jobs at once."""
        new = [job for job in jobs if job not in self._known]
        self._known.update((job, []) for job in new)
        for some in chunks(new):
            found = self.connection.execute(_SUBJECTS.format(marks(some)), (*some, *[self.at_us] * 3)).fetchall()
            for subject, job, origin in found:
                formed = self._formed(subject, job, origin)
                if formed.shape.id != NO_SHAPE:
                    self._known[job].append(formed)

    def _formed(self, subject: bytes, job: int, origin: int) -> PendingShape:
        shape = self.shape(subject, job, origin)
        expansion = expand(shape, {meaning: read_lineage_set(self.connection, meaning) for _, meaning in shape.lineage_sets})
        edges: list[RawEdge] = [(*row, 0) for row in bind_to_job(expansion, job, origin)]
        for place, hub in enumerate(expansion.hubs):
            pairs = ((source, target) for source in hub.inputs for target in hub.outputs)
            edges += [(*pair, job, origin, int(Evidence.CO_OCCURRENCE), hub_id(shape.id, place)) for pair in pairs]
        return PendingShape(shape, tuple(edges), self.last(subject, job))

    def shape(self, subject: bytes, job: int, origin: int) -> Shape:
        """The shape of an asserter by its assertions until then."""
        if origin == Origin.DECLARED:
            content = newest_facet_set(sayings_of(self.connection, subject, job), self.at_us)
            if content is None:
                return make_shape(Origin.DECLARED, (), ())
            return declared_shape(self.connection, job, content, lambda some, key: stored_meaning(self.connection, some, key))
        return shape_at(self.connection, subject, job, self.at_us)[0]

    def last(self, subject: bytes, job: int) -> int:
        """The time of an asserter's last event by then, to the day."""
        values = {"asserted_by": subject, "job": job, "at": self.at_us, "day": day_of(self.at_us)}
        row = self.connection.execute(_LAST, values).fetchone()
        return int(row[0]) if row else 0


def side_of(shape: Shape, side: Side) -> frozenset[int]:
    """The datasets of one side of a shape."""
    return frozenset(dataset for on, dataset in shape.members if on == side)
