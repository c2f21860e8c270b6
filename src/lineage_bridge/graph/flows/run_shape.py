"""Subjects: what makes the shape of a run, or of a design-time statement, out of all it said.

A run's shape is the union of what its events said. Only a run that declares its events to be complete snapshots (the emission pattern of
its job type facet) takes something back: of a side, and of the lineage of one carrier, what its newest event that speaks of it says.
"""

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

from lineage_bridge.graph.flows.shape_history import ShapeHistory, run_history
from lineage_bridge.graph.flows.shapes import Shape, make_shape
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.openlineage import facets as standard

SHAPING_KEYS = frozenset({"columnLineage", "lineage", "jobType"})
"""Facets that make a shape, or decide how it is made."""
_MARK = bytes(15)
_SNAPSHOT, _STREAMING = 1, 2


class NamedDataset(NamedTuple):
    """A run named a dataset on a side, first and last at these times."""

    side: int
    dataset: int
    first: int
    last: int


class StatedLineage(NamedTuple):
    """A run said a meaning (or a mark) of a carrier, first and last at these times; `last` counts where it said several of one carrier."""

    carrier: int
    lineage_set: bytes
    first: int
    last: int


def carriers(node: int, job: int, side: int) -> list[tuple[str, int]]:
    """Which facets said about a node shape who says them, and what carries them.

    columnLineage of an output, lineage and job type of the job itself; of a dataset that a design-time statement without a job is about,
    both kinds of lineage.
    """
    if side == Side.OUTPUT:
        return [("columnLineage", node)]
    if side != Side.SELF:
        return []
    if job == 0:
        return [("columnLineage", node), ("lineage", node)]
    return [("lineage", job), ("jobType", job)] if node == job else []


def declaring_keys(job: int) -> tuple[str, ...]:
    """Which facets of a design-time statement's own node speak of flow: a statement without a job (0) is about a dataset."""
    return ("lineage",) if job else ("columnLineage", "lineage")


def flow_owner(job: int, node: int, side: int) -> int:
    """Under which node what is said of `about` itself gives flows: the job, or the dataset of a statement without a job; 0 for none."""
    if side != Side.SELF:
        return 0
    return node if job in (0, node) else 0


def read_mark(text: bytes) -> bytes | None:
    """What a job type facet says of how the events of its run are to be taken, in the place of a meaning; None when it says nothing."""
    facet = standard.read_as(standard.JobTypeJobFacet, "job", "jobType", text)
    if facet is None:
        return None
    pattern = facet.emissionPattern
    is_snapshot = pattern is not None and (pattern.eventContentMode or "").upper() == "COMPLETE_SNAPSHOT"
    flags = _SNAPSHOT * is_snapshot + _STREAMING * (facet.processingType.upper() in ("STREAMING", "SERVICE"))
    return _MARK + bytes((flags,)) if flags else None


def is_mark(lineage_set: bytes) -> bool:
    """Whether this is a mark instead of a meaning."""
    return lineage_set.startswith(_MARK)


def is_snapshot(lineage_set: bytes) -> bool:
    """Whether this is the mark of a run whose events are complete snapshots."""
    return is_mark(lineage_set) and bool(lineage_set[-1] & _SNAPSHOT)


def is_streaming(lineage_set: bytes) -> bool:
    """Whether this is the mark of a run that says it is streaming."""
    return is_mark(lineage_set) and bool(lineage_set[-1] & _STREAMING)


def run_shape(job: int, named: Iterable[NamedDataset], stated: Iterable[StatedLineage]) -> tuple[Shape, ShapeHistory]:
    """The shape of a run of a job by all it said, and since when it has had it."""
    named, every = list(named), list(stated)
    said = [row for row in every if not is_mark(row.lineage_set)]
    marks = [row for row in every if is_mark(row.lineage_set)]
    changes = [row.first for rows in (named, said, marks) for row in rows]
    if any(is_snapshot(row.lineage_set) for row in marks):
        changes += [row.last for row in named]
        named = [row for side in Side for row in _newest([row for row in named if row.side == side])]
        outputs = {row.dataset for row in named if row.side == Side.OUTPUT}
        by_carrier = [[row for row in said if row.carrier == carrier] for carrier in sorted({row.carrier for row in said})]
        changes += [row.last for rows in by_carrier if len(rows) > 1 for row in rows]
        said = [row for rows in by_carrier if rows[0].carrier in {job, *outputs} for row in _newest(rows)]
    shape = make_shape(Origin.OBSERVED, [(row.side, row.dataset) for row in named], [(row.carrier, row.lineage_set) for row in said])
    return shape, run_history(changes)


_Row = TypeVar("_Row", NamedDataset, StatedLineage)


def _newest(rows: list[_Row]) -> list[_Row]:
    """Those that were said last, all of them if at one time."""
    last = max((row.last for row in rows), default=0)
    return [row for row in rows if row.last == last] if len(rows) > 1 else rows
