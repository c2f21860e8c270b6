"""Labels: how an edge stands at a moment. Silence never removes an edge; a label is a filter, not visibility."""

from collections.abc import Iterable, Sequence
from enum import Enum

from lineage_bridge.graph.ids import DAY_US

HORIZON_US = 30 * DAY_US
"""After this long without any event of a run that said it, an edge is stale."""
NEWEST_RUNS = 3
"""An edge is superseded when this many of the newest COMPLETE runs that named a dataset on its side all lack it."""


class Label(str, Enum):
    """How an edge or a node stands, best first."""

    CURRENT = "current"
    STALE = "stale"
    SUPERSEDED = "superseded"
    ENDED = "ended"


def freshness(last: int | None, now_us: int) -> Label:
    """CURRENT or STALE by the last event of any run that said it (UTC microseconds)."""
    return Label.CURRENT if last is not None and last >= now_us - HORIZON_US else Label.STALE


def is_superseded(dataset: int, newest: Sequence[frozenset[int]]) -> bool:
    """Whether the newest complete runs, each as the datasets it named on one side, all lack `dataset`."""
    return len(newest) >= NEWEST_RUNS and all(dataset not in named for named in newest[:NEWEST_RUNS])


def side_label(last: int | None, superseded: bool, now_us: int) -> Label:
    """The label of a job's input or output: superseded, however long ago, says more than stale."""
    return Label.SUPERSEDED if superseded else freshness(last, now_us)


def best(labels: Iterable[Label]) -> Label:
    """The best label of several; STALE for none."""
    order = list(Label)
    return min(labels, key=order.index, default=Label.STALE)


def worst(labels: Iterable[Label]) -> Label:
    """The worst label of several; CURRENT for none."""
    order = list(Label)
    return max(labels, key=order.index, default=Label.CURRENT)
