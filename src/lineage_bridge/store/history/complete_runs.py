"""Looks up which datasets the newest runs of a job named, as of an earlier time."""

from collections.abc import Iterator

from lineage_bridge.graph.flows.shapes import NO_SHAPE
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.state import run_state
from lineage_bridge.store.chunks import marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.pending_shapes import PendingShapes, side_of
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.runs import Runs

_ENDED = """SELECT asserted_by, shape, last, current_since FROM run_shape WHERE job = ? AND origin = 1 AND last <= ?
ORDER BY last DESC, asserted_by DESC LIMIT ?"""
_SPANNING = """SELECT asserted_by, shape, last, current_since FROM run_shape WHERE job = ? AND origin = 1 AND last > ? AND first <= ?
ORDER BY last LIMIT ?"""
_EVENTS = """SELECT type, min(first), max(CASE WHEN last <= ? THEN last ELSE first END)
FROM run_event WHERE run = ? AND job IN ({}) AND first <= ? GROUP BY type"""
_SCAN = 200


class CompleteRunsAt:
    """Looks up the newest runs of a job as of an earlier time. Labels are computed from them.

    A job that is known to be streaming now counts as streaming at all times.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs, pending: PendingShapes) -> None:
        """`nodes` must have the groups of names as of that time."""
        self.connection, self.nodes, self.runs, self.pending, self.at_us = connection, nodes, runs, pending, pending.at_us

    def is_streaming(self, job: int) -> bool:
        """Whether the runs of the job are streaming: they do not end by themselves."""
        return self.runs.is_streaming(job)

    def newest_complete(self, job: int, side: Side, limit: int) -> list[frozenset[int]]:
        """The datasets that each of the newest COMPLETE runs named as inputs or outputs (`side`), newest run first. Runs that named none
        are skipped.
        """
        found: list[frozenset[int]] = []
        names = self.nodes.members(job)
        for asserter, named in self._newest(job, side):
            events = self.connection.execute(_EVENTS.format(marks(names)), (self.at_us, asserter, *names, self.at_us)).fetchall()
            if run_state(events, streaming=False).state == "COMPLETE":
                found.append(named)
            if len(found) == limit:
                break
        return found

    def newest_naming(self, job: int, side: Side) -> frozenset[int]:
        """The datasets that the latest run by that time named as inputs or outputs (`side`). Runs that named none on this side are
        skipped.
        """
        return next((named for _, named in self._newest(job, side)), frozenset())

    def _newest(self, job: int, side: Side) -> Iterator[tuple[bytes, frozenset[int]]]:
        rows = self.connection.execute(_ENDED, (job, self.at_us, _SCAN)).fetchall()
        for asserter, shape, _, current_since in self.connection.execute(_SPANNING, (job, self.at_us, self.at_us, _SCAN)).fetchall():
            rows.append((asserter, shape, self.pending.last(asserter, job), current_since))
        rows.sort(key=lambda row: (row[2], row[0]), reverse=True)
        for asserter, shape, _, current_since in rows:
            named = self._side(asserter, job, shape, current_since, side)
            if named:
                yield asserter, named

    def _side(self, asserter: bytes, job: int, shape: int, current_since: int, side: Side) -> frozenset[int]:
        if current_since > self.at_us:
            return side_of(self.pending.shape(asserter, job, 1), side)
        return self.runs.shape_side(shape, side) if shape != NO_SHAPE else frozenset()
