"""Reach: how one node matters to those that lie behind it, and the ways from one node to another. Pure functions over edges of ids.

Edges point away from where the question starts: with the data for what lies downstream, against it for what lies upstream. A flow of a node
to itself counts for nothing here.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

Edges = Mapping[int, Collection[int]]
"""Node to the nodes that its edges lead to."""

MOST_PATHS = 2**53 - 1
"""Paths are counted up to here, the greatest whole number that every JSON reader keeps."""


class Reached(NamedTuple):
    """One node behind the origin. `distance` is the fewest hops, `paths` the number of ways (at most MOST_PATHS); a cycle is one place.

    `wholly`: whatever reaches the node has come through the origin, so without it the node gets nothing.
    """

    node: int
    distance: int
    paths: int
    wholly: bool


def adjacency(pairs: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """Edges by where they begin, without those that end where they begin."""
    edges: dict[int, set[int]] = {}
    for near, far in pairs:
        if near != far:
            edges.setdefault(near, set()).add(far)
    return edges


def reach(origin: int, pairs: Iterable[tuple[int, int]], fed: Collection[int]) -> list[Reached]:
    """All nodes that edges lead to from `origin`, the nearest first. `fed` are nodes that something else than these edges leads to."""
    edges = adjacency(pair for pair in pairs if pair[1] != origin)
    distance = distances(origin, edges)
    met = {node: edges.get(node, ()) for node in distance}
    ways = _count(origin, met)
    partly = set(distances_of(set(fed) & (distance.keys() - {origin}), met))
    found = (Reached(node, hops, ways[node], node not in partly) for node, hops in distance.items() if node != origin)
    return sorted(found, key=lambda reached: (reached.distance, reached.node))


def distances(origin: int, edges: Edges) -> dict[int, int]:
    """The fewest hops from `origin` to each node that edges lead to, itself included."""
    return distances_of({origin}, edges)


def distances_of(origins: Collection[int], edges: Edges) -> dict[int, int]:
    """The fewest hops from any of `origins`."""
    found = dict.fromkeys(origins, 0)
    waiting = deque(found)
    while waiting:
        node = waiting.popleft()
        for far in edges.get(node, ()):
            if far not in found:
                found[far] = found[node] + 1
                waiting.append(far)
    return found


def _count(origin: int, edges: Edges) -> dict[int, int]:
    """The number of ways from `origin` to each node: paths between the places that remain when each cycle is drawn together to one."""
    places = components(origin, edges)
    place_of = {node: place for place, members in enumerate(places) for node in members}
    ways = [0] * len(places)
    ways[place_of[origin]] = 1
    for place in reversed(range(len(places))):
        for node in places[place]:
            for far in edges.get(node, ()):
                if place_of[far] != place:
                    ways[place_of[far]] = min(ways[place_of[far]] + ways[place], MOST_PATHS)
    return {node: ways[place] for node, place in place_of.items()}


def components(origin: int, edges: Edges) -> list[frozenset[int]]:
    """The strongly connected components behind `origin`, each before those that lead to it (Tarjan 1972, without recursion)."""
    order: dict[int, int] = {origin: 0}
    low: dict[int, int] = {origin: 0}
    open_, is_open, found = [origin], {origin}, []
    work: list[tuple[int, Iterator[int]]] = [(origin, iter(edges.get(origin, ())))]
    while work:
        node, rest = work[-1]
        far = next(rest, None)
        if far is None:
            work.pop()
            if work:
                low[work[-1][0]] = min(low[work[-1][0]], low[node])
            if low[node] == order[node]:
                found.append(_close(node, open_, is_open))
        elif far not in order:
            order[far] = low[far] = len(order)
            open_.append(far)
            is_open.add(far)
            work.append((far, iter(edges.get(far, ()))))
        elif far in is_open:
            low[node] = min(low[node], order[far])
    return found


def _close(node: int, open_: list[int], is_open: set[int]) -> frozenset[int]:
    at = open_.index(node)
    members = frozenset(open_[at:])
    del open_[at:]
    is_open -= members
    return members


def simple_paths(source: int, target: int, edges: Edges, most_hops: int, go_on: Callable[[], bool]) -> Iterator[tuple[int, ...]]:
    """Ways from `source` to `target` that visit no node twice, the shortest first, then by ids; ends early when `go_on` says no."""
    back = adjacency((far, near) for near, fars in edges.items() for far in fars)
    left = distances(target, back)
    if source not in left or source == target:
        return
    for hops in range(left[source], most_hops + 1):
        yield from _of_length(source, target, edges, left, hops, go_on)
        if not go_on():
            return


def _of_length(
    source: int, target: int, edges: Edges, left: Mapping[int, int], hops: int, go_on: Callable[[], bool]
) -> Iterator[tuple[int, ...]]:
    path, seen = [source], {source}
    work = [iter(sorted(edges.get(source, ())))]
    while work and go_on():
        far = next(work[-1], None)
        if far is None:
            work.pop()
            seen.discard(path.pop())
        elif far == target:
            if len(path) == hops:
                yield (*path, target)
        elif far not in seen and far in left and len(path) + left[far] <= hops:
            path.append(far)
            seen.add(far)
            work.append(iter(sorted(edges.get(far, ()))))
