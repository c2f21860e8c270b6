"""Finds how the values of a column arrive at the other columns of its trace: unchanged, masked, or not at all. Pure."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence

from lineage_bridge.model.lineage import Arrival
from lineage_bridge.store.query.columns import Column, ColumnStep


def is_indirect(step: ColumnStep) -> bool:
    """Whether the source of a step only affects which rows the target has."""
    return step.type == "INDIRECT" or not step.target_field


def value_arrivals(
    starts: Collection[Column], steps: Iterable[Sequence[ColumnStep]], head: Callable[[int], int], *, up: bool
) -> dict[Column, Arrival]:
    """For each column that the steps lead to, the best way in which values arrive from the columns `starts`. A way is as good as its worst
    step. Each entry of `steps` has all statements of one flow between two columns; `head` returns the canonical id of a node.
    """
    onward: dict[Column, list[tuple[Column, Arrival]]] = defaultdict(list)
    for alike in steps:
        step = alike[0]
        source, target = (head(step.source), step.source_field), (head(step.target), step.target_field)
        near, far = (target, source) if up else (source, target)
        onward[near].append((far, min(_arrival(each, up=up) for each in alike)))
    best: dict[Column, Arrival] = {}
    # Ways that allow a kind of step that does not occur lead to the same columns as those that do not allow it.
    occurring = {Arrival.CLEAR, *(arrival for ways in onward.values() for _, arrival in ways)}
    for worst in sorted(occurring, reverse=True):
        best.update(dict.fromkeys(_reached(starts, onward, worst), worst))
    return best


def _arrival(step: ColumnStep, *, up: bool) -> Arrival:
    if is_indirect(step):
        return Arrival.INDIRECT
    return Arrival.MASKED if step.masking and not up else Arrival.CLEAR


def _reached(starts: Collection[Column], onward: dict[Column, list[tuple[Column, Arrival]]], worst: Arrival) -> set[Column]:
    reached, frontier = set(starts), list(starts)
    while frontier:
        node, field = frontier.pop()
        steps = [*onward.get((node, field), ()), *(onward.get((node, ""), ()) if field else ())]  # statements about the whole dataset, too
        fresh = {far for far, arrival in steps if arrival <= worst} - reached
        reached |= fresh
        frontier += fresh
    return reached
