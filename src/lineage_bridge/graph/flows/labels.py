"""Computes labels, which say whether an edge is current at a given time. An edge without new events is kept; labels only serve to filter
answers.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import Enum

from lineage_bridge.graph.ids import DAY_US

HORIZON_US = 30 * DAY_US
"""An edge is stale when the last event of a run that stated it is older than this."""
NEWEST_RUNS = 3
"""An edge is superseded when none of the newest COMPLETE runs shows it; this is how many runs are compared. Only runs that named a dataset
on the side of the edge (input or output) count."""


class Label(str, Enum):
    """The labels of an edge or a node, the best one first."""

    CURRENT = "current"
    STALE = "stale"
    SUPERSEDED = "superseded"
    ENDED = "ended"


def freshness(last: int | None, now_us: int) -> Label:
    """The label CURRENT or STALE, by the time of the last event of any run that stated the edge (UTC microseconds)."""
    return Label.CURRENT if last is not None and last >= now_us - HORIZON_US else Label.STALE


def is_superseded(names: Collection[int], newest: Sequence[frozenset[int]]) -> bool:
    """Whether the newest complete runs no longer name a dataset, under any of its names.

    `newest` has, for each of these runs, the datasets that it named as inputs, or those that it named as outputs.
    """
    return len(newest) >= NEWEST_RUNS and all(named.isdisjoint(names) for named in newest[:NEWEST_RUNS])


def side_label(last: int | None, superseded: bool, now_us: int) -> Label:
    """The label of an input or output of a job. Superseded takes precedence over stale, whatever the age."""
    return Label.SUPERSEDED if superseded else freshness(last, now_us)


def best(labels: Iterable[Label]) -> Label:
    """The best of several labels; STALE if there are none."""
    order = list(Label)
    return min(labels, key=order.index, default=Label.STALE)


def worst(labels: Iterable[Label]) -> Label:
    """The worst of several labels; CURRENT if there are none."""
    order = list(Label)
    return max(labels, key=order.index, default=Label.CURRENT)
