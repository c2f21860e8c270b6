"""Paths through dropped datasets: a dropped table in the middle of a pipeline does not hide the datasets derived from it.

Such a path goes through a dataset by a flow into it and a flow out of it. A drop interrupts the path if it certainly lies between the last
time of the flow into the dataset and the first time of the flow out of it. A flow at a dropped dataset counts if it lies on paths that lead
to existing datasets in both directions.
"""

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from lineage_bridge.store.history.assertion_times import AssertionTimes
from lineage_bridge.store.query.drops import Drops
from lineage_bridge.store.query.flows import Direction, RawEdge
from lineage_bridge.store.query.nodes import Nodes

ALWAYS_US, NEVER_US = 2**63 - 1, -(2**63)
MOST_GONE = 5_000
"""The maximum number of consecutive dropped datasets that are followed. Beyond it, all count as leading to an existing dataset."""

EdgesFrom = Callable[[Collection[int], Direction], Iterable[RawEdge]]
FlowKey = tuple[int, int, int, int]
"""The ids of source, target and job, and the origin."""


class _Hop(NamedTuple):
    """A flow from a dropped dataset, in the direction of a path. The dataset is given by its canonical node."""

    near: int
    far: int
    edge: FlowKey


class DroppedPaths:
    """Looks up paths through dropped datasets."""

    def __init__(self, nodes: Nodes, times: AssertionTimes, drops: Drops) -> None:
        self.nodes, self.times, self.drops = nodes, times, drops
        self._firsts: dict[FlowKey, int] = {}
        self._limits: dict[tuple[int, Direction], int | None] = {}

    def last(self, edge: FlowKey) -> int:
        """The last time of a flow; ALWAYS_US if it is unknown."""
        last = self.times.flow(*edge)
        return ALWAYS_US if last is None else last

    def first(self, edge: FlowKey) -> int:
        """The first time of a flow; NEVER_US if it is unknown."""
        if edge not in self._firsts:
            first = self.times.first(*edge)
            self._firsts[edge] = NEVER_US if first is None else first
        return self._firsts[edge]

    def time(self, edge: FlowKey, direction: Direction) -> int:
        """The time at which a flow arrives at its far end: its last time in a walk downstream, its first time in a walk upstream."""
        return self.last(edge) if direction is Direction.DOWN else self.first(edge)

    def is_cut(self, dataset: int, direction: Direction, came: int, edge: FlowKey) -> bool:
        """Whether a drop of `dataset` lies between the time at which a walk reached it and a flow that leads on from it."""
        left = self.first(edge) if direction is Direction.DOWN else self.last(edge)
        return self._is_between(dataset, direction, came, left)

    def leads_on(self, dataset: int, direction: Direction, came: int, edges: EdgesFrom) -> bool:
        """Whether a path that reached a dropped dataset at the time `came` continues to an existing dataset. `edges` returns the flows from
        given nodes, except flows that have ended for another reason than a drop.
        """
        head = self.nodes.head(dataset)
        if (head, direction) not in self._limits:
            self._search(head, direction, edges)
        limit = self._limits[head, direction]
        return limit is not None and not self._is_between(dataset, direction, came, limit)

    def _is_between(self, dataset: int, direction: Direction, came: int, left: int) -> bool:
        earlier, later = (came, left) if direction is Direction.DOWN else (left, came)
        return self.drops.between(dataset, earlier, later)

    def _search(self, head: int, direction: Direction, edges: EdgesFrom) -> None:
        """Find for this dropped dataset, and for those beyond it, the best time of a flow that leads to an existing dataset."""
        hops, gone = self._hops(head, direction, edges)
        if len(gone) > MOST_GONE:
            self._limits.update(((id_, direction), NEVER_US if direction is Direction.DOWN else ALWAYS_US) for id_ in gone)
            return
        self._limits.update(((id_, direction), None) for id_ in gone)
        changed = True
        while changed:
            changed = False
            for hop in hops:
                if self._is_good(hop, direction):
                    left = self.first(hop.edge) if direction is Direction.DOWN else self.last(hop.edge)
                    best = self._limits[hop.near, direction]
                    if best is None or (left < best if direction is Direction.DOWN else left > best):
                        self._limits[hop.near, direction] = left
                        changed = True

    def _hops(self, head: int, direction: Direction, edges: EdgesFrom) -> tuple[list[_Hop], set[int]]:
        hops, gone, frontier = [], {head}, {head}
        while frontier and len(gone) <= MOST_GONE:
            further = list(edges(self.nodes.expand(frontier), direction))
            frontier = set()
            for edge in further:
                far = direction.ahead(edge)
                hops.append(_Hop(self.nodes.head(edge[0] if direction is Direction.DOWN else edge[1]), far, edge[:4]))
                behind = self.nodes.head(far)
                if self.drops.is_gone(far) and behind not in gone and (behind, direction) not in self._limits:
                    frontier.add(behind)
            gone |= frontier
        return hops, gone

    def _is_good(self, hop: _Hop, direction: Direction) -> bool:
        if not self.drops.is_gone(hop.far):
            return True
        limit = self._limits[self.nodes.head(hop.far), direction]
        return limit is not None and not self._is_between(hop.far, direction, self.time(hop.edge, direction), limit)


class Arrivals:
    """The dropped datasets that a walk in one direction reached, each with the best time of reaching it.

    `any` is false if nothing was ever dropped, or if the walk follows `ended` flows too.
    """

    def __init__(self, dropped_paths: DroppedPaths, direction: Direction, *, ended: bool = False) -> None:
        self.dropped_paths, self.direction = dropped_paths, direction
        self.any = dropped_paths.drops.any and not ended
        self._best: dict[int, int] = {}

    def passes(self, edge: RawEdge) -> bool:
        """Whether a walk may follow a flow: the flow's near end exists or is the origin of the walk, or no drop interrupts the path
        there.
        """
        near = edge[0] if self.direction is Direction.DOWN else edge[1]
        if not self.dropped_paths.drops.is_gone(near):
            return True
        came = self._best.get(self.dropped_paths.nodes.head(near))
        return came is None or not self.dropped_paths.is_cut(near, self.direction, came, edge[:4])

    def improve(self, edge: RawEdge) -> bool:
        """Record that the walk followed a flow. Returns whether its far end is dropped and new paths may lead on from there."""
        far = self.direction.ahead(edge)
        if not self.dropped_paths.drops.is_gone(far):
            return False
        head, came = self.dropped_paths.nodes.head(far), self.dropped_paths.time(edge[:4], self.direction)
        best = self._best.get(head)
        if best is not None and (came <= best if self.direction is Direction.DOWN else came >= best):
            return False
        self._best[head] = came
        return True
