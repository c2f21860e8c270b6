"""Computes the shape of a run from everything it stated, and determines which facets count.

A run's shape is the union of what its events stated. The exception is a run that declares its events to be complete snapshots (by the
emission pattern in its jobType facet). For such a run, the newest event with inputs replaces earlier statements about inputs, the newest
event with outputs those about outputs, and the newest event that states the lineage of a carrier earlier statements about that lineage.

A carrier is the node whose facet states lineage. A mark is what a jobType facet states about the events of its run: whether they are
snapshots, and whether the run is streaming. A mark is stored where other facets have a lineage set id.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from lineage_bridge.graph.flows.shape_history import ShapeHistory, run_history
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.openlineage import facets as standard

SHAPING_KEYS = frozenset({"columnLineage", "lineage", "jobType"})
"""Keys of the facets that are part of a shape or decide how it is computed."""
_MARK = bytes(15)
_SNAPSHOT, _STREAMING = 1, 2


class NamedDataset(NamedTuple):
    """A dataset that a run named as an input or output (`side`), with the times of the first and last mention."""

    side: int
    dataset: int
    first: int
    last: int


class StatedLineage(NamedTuple):
    """A lineage set (or a mark, see `read_mark`) that a run stated for a carrier, with the times of the first and last mention.

    If a run that sends complete snapshots stated several lineage sets for one carrier, only the one with the latest `last` counts.
    """

    carrier: int
    lineage_set: bytes
    first: int
    last: int


def carriers(node: int, job: int, side: int) -> list[tuple[str, int]]:
    """Which facets of a node determine the asserter's shape: the key of each facet, with its carrier.

    These are columnLineage of an output, and lineage and jobType of the job itself. For the dataset of a design-time statement without a
    job (0), these are columnLineage and lineage.
    """
    if side == Side.OUTPUT:
        return [("columnLineage", node)]
    if side != Side.SELF:
        return []
    if job == 0:
        return [("columnLineage", node), ("lineage", node)]
    return [("lineage", job), ("jobType", job)] if node == job else []


def declaring_keys(job: int) -> tuple[str, ...]:
    """The keys of the facets that state flows of a design-time statement's own node: a job, or a dataset if `job` is 0."""
    return ("lineage",) if job else ("columnLineage", "lineage")


def flow_owner(job: int, node: int, side: int) -> int:
    """The node that owns the flows which a facet of `node` states: `node`, if it is the job itself, or the dataset of a statement without a
    job (`job` is 0). The result is 0 for inputs and outputs.
    """
    if side != Side.SELF:
        return 0
    return node if job in (0, node) else 0


def read_mark(text: bytes) -> bytes | None:
    """The mark of a jobType facet: whether the run sends complete snapshots and whether it is streaming; None if neither is stated."""
    facet = standard.read_as(standard.JobTypeJobFacet, "job", "jobType", text)
    if facet is None:
        return None
    pattern = facet.emissionPattern
    is_snapshot = pattern is not None and (pattern.eventContentMode or "").upper() == "COMPLETE_SNAPSHOT"
    flags = _SNAPSHOT * is_snapshot + _STREAMING * (facet.processingType.upper() in ("STREAMING", "SERVICE"))
    return _MARK + bytes((flags,)) if flags else None


def is_mark(lineage_set: bytes) -> bool:
    """Whether a value is the mark of a jobType facet, not the id of a lineage set."""
    return lineage_set.startswith(_MARK)


def is_snapshot(lineage_set: bytes) -> bool:
    """Whether a mark declares that each event of the run is a complete snapshot."""
    return is_mark(lineage_set) and bool(lineage_set[-1] & _SNAPSHOT)


def is_streaming(lineage_set: bytes) -> bool:
    """Whether a mark declares that the run is streaming."""
    return is_mark(lineage_set) and bool(lineage_set[-1] & _STREAMING)


def run_shape(job: int, named: Iterable[NamedDataset], stated: Iterable[StatedLineage]) -> tuple[Shape, ShapeHistory]:
    """The shape of a run from everything it stated, and the history of that shape."""
    named, every = list(named), list(stated)
    stated = [row for row in every if not is_mark(row.lineage_set)]
    marks = [row for row in every if is_mark(row.lineage_set)]
    changes = [row.first for rows in (named, stated, marks) for row in rows]
    if any(is_snapshot(row.lineage_set) for row in marks):
        changes += [row.last for row in named]
        named = [row for side in Side for row in _newest([row for row in named if row.side == side])]
        outputs = {row.dataset for row in named if row.side == Side.OUTPUT}
        by_carrier = [[row for row in stated if row.carrier == carrier] for carrier in sorted({row.carrier for row in stated})]
        changes += [row.last for rows in by_carrier if len(rows) > 1 for row in rows]
        stated = [row for rows in by_carrier if rows[0].carrier in {job, *outputs} for row in _newest(rows)]
    shape = make_shape(Origin.OBSERVED, [(row.side, row.dataset) for row in named], [(row.carrier, row.lineage_set) for row in stated])
    return shape, run_history(changes)


_Row = TypeVar("_Row", NamedDataset, StatedLineage)


def _newest(rows: list[_Row]) -> list[_Row]:
    """The rows with the latest value of `last`. Several rows are returned if they have the same time."""
    last = max((row.last for row in rows), default=0)
    return [row for row in rows if row.last == last] if len(rows) > 1 else rows
