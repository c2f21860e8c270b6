"""Removes the last hop of a walk, and counts the removed nodes at each node that stays."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from lineage_bridge.model.graph import Edge, Walk


class NextHop(NamedTuple):
    """How many datasets lie one hop upstream and downstream of a node, beyond what a walk shows. If a flow ends at a job, the job is
    counted instead.
    """

    upstream: int
    downstream: int


def cut_walk(walk: Walk, depth: int) -> tuple[Walk, Mapping[int, NextHop]]:
    """Return the walk without nodes further away than `depth` hops, and, by the id of each node next to removed ones, how many nodes were
    removed behind it.
    """
    far = {id_ for id_, distance in walk.distances.items() if distance > depth}
    if not far:
        return replace(walk, depth=depth), {}
    kept = tuple(edge for edge in walk.edges if not _ends(edge) & far)
    jobs = {edge.job.id for edge in kept}
    beyond = {id_: NextHop(len(up), len(down)) for id_, (up, down) in _beyond(walk, far).items()}
    cut = replace(
        walk,
        depth=depth,
        nodes=tuple(node for node in walk.nodes if node.id not in far),
        distances={id_: distance for id_, distance in walk.distances.items() if id_ not in far},
        edges=kept,
        ports=tuple(port for port in walk.ports if port.dataset.id not in far and port.job.id in jobs | walk.distances.keys() - far),
        columns=tuple(column for column in walk.columns if column.source.id not in far and column.target.id not in far),
    )
    return cut, beyond


def _ends(edge: Edge) -> set[int]:
    return {edge.source.id, edge.target.id}


def _beyond(walk: Walk, far: set[int]) -> dict[int, tuple[set[int], set[int]]]:
    found: dict[int, tuple[set[int], set[int]]] = {}
    for near, other, is_upstream in _crossing(walk.edges, far):
        up, down = found.setdefault(near, (set(), set()))
        (up if is_upstream else down).add(walk.canonical.get(other, other))
    return found


def _crossing(edges: Iterable[Edge], far: set[int]) -> Iterator[tuple[int, int, bool]]:
    """For each edge that leads out of the shown nodes: the shown node, the node beyond, and whether that is upstream."""
    for edge in edges:
        source, target = edge.source.id, edge.target.id
        if source in far and target not in far:
            yield target, source, True
        elif target in far and source not in far:
            yield source, target, False
