"""Computes which nodes depend on other nodes, in which part, and the paths from one node to another. Pure functions over edges between node
ids.

Edges point away from the nodes at which the search starts: in the direction of the data for a search downstream, against it for a search
upstream. A flow from a node to itself is ignored.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

Edges = Mapping[int, Collection[int]]
"""For each node, the nodes to which its edges lead."""

MOST_PATHS = 2**53 - 1
"""The maximum count of paths: the greatest integer that every JSON reader represents exactly."""


class ReachedNode(NamedTuple):
    """A node that can be reached from the origins, the nodes at which the search starts.

    `distance` is the fewest hops from any origin. `paths` is the number of paths from the origins (at most MOST_PATHS); a cycle counts as
    one node. `wholly`: all data that reaches the node passes through an origin, so without the origins the node would receive nothing.
    """

    node: int
    distance: int
    paths: int
    wholly: bool


def adjacency(pairs: Iterable[tuple[int, int]]) -> dict[int, set[int]]:
    """The end nodes of the edges from each start node, without edges from a node to itself."""
    edges: dict[int, set[int]] = {}
    for near, far in pairs:
        if near != far:
            edges.setdefault(near, set()).add(far)
    return edges


def reach(origins: Collection[int], pairs: Iterable[tuple[int, int]], fed: Collection[int]) -> list[ReachedNode]:
    """All nodes that are reachable from `origins`, without these, nearest first, then by id.

    `fed` are nodes that also receive data by edges that are not in `pairs`.
    """
    starts = frozenset(origins)
    edges = adjacency(pair for pair in pairs if pair[1] not in starts)
    distance = distances_of(starts, edges)
    met = {node: edges.get(node, ()) for node in distance}
    paths = _count(starts, met)
    partly = set(distances_of(set(fed) & (distance.keys() - starts), met))
    found = (ReachedNode(node, hops, paths[node], node not in partly) for node, hops in distance.items() if node not in starts)
    return sorted(found, key=lambda reached: (reached.distance, reached.node))


def distances(origin: int, edges: Edges) -> dict[int, int]:
    """The fewest hops from `origin` to each reachable node, by node id; `origin` itself is included."""
    return distances_of({origin}, edges)


def distances_of(origins: Collection[int], edges: Edges) -> dict[int, int]:
    """The fewest hops from any of `origins` to each reachable node, by node id; the origins themselves are included."""
    found = dict.fromkeys(origins, 0)
    waiting = deque(found)
    while waiting:
        node = waiting.popleft()
        for far in edges.get(node, ()):
            if far not in found:
                found[far] = found[node] + 1
                waiting.append(far)
    return found


def _count(origins: Collection[int], edges: Edges) -> dict[int, int]:
    """For each node that can be reached, the number of paths from `origins` to it. Each strongly connected component counts as one node. No
    edge may lead to an origin.
    """
    members_of = components(origins, edges)
    component_of = {node: index for index, members in enumerate(members_of) for node in members}
    paths = [0] * len(members_of)
    for origin in origins:
        paths[component_of[origin]] = 1
    for index in reversed(range(len(members_of))):
        for node in members_of[index]:
            for far in edges.get(node, ()):
                if component_of[far] != index:
                    paths[component_of[far]] = min(paths[component_of[far]] + paths[index], MOST_PATHS)
    return {node: paths[index] for node, index in component_of.items()}


def components(origins: Collection[int], edges: Edges) -> list[frozenset[int]]:
    """The strongly connected components that are reachable from `origins`, each before the components that lead to it."""
    import rustworkx  # noqa: PLC0415  # loads NumPy, which most processes need for nothing else

    nodes = sorted(distances_of(origins, edges))
    index_of = {node: index for index, node in enumerate(nodes)}
    graph: rustworkx.PyDiGraph[None, None] = rustworkx.PyDiGraph(multigraph=False)
    graph.add_nodes_from([None] * len(nodes))
    graph.add_edges_from_no_data([(index_of[near], index_of[far]) for near in nodes for far in edges.get(near, ())])
    # rustworkx lists components in reverse topological order.
    return [frozenset(nodes[index] for index in members) for members in rustworkx.strongly_connected_components(graph)]


def simple_paths(source: int, target: int, edges: Edges, most_hops: int, go_on: Callable[[], bool]) -> Iterator[tuple[int, ...]]:
    """The paths from `source` to `target` that visit no node twice, shortest first, then by ids. The search stops when `go_on` returns
    False.
    """
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
