"""A walk along flows, told edge by edge: a flow from one dataset to another by a job is two edges."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from lineage_bridge.api.routes.graphs.graph_nodes import Link, merged, port_links
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.model.graph import Edge, Node, Walk
from lineage_bridge.ports.graph_reader import GraphReader

Heads = Mapping[int, Node]


@dataclass(frozen=True)
class Hops:
    """Nodes, nearest first, the origin among them; the edges between them; and node id to how many edges it is from the origin."""

    nodes: list[Node]
    links: list[Link]
    distances: dict[int, int]


def hops_of(reader: GraphReader, walk: Walk, hops: int) -> Hops:
    """What a walk met, as far as it is at most `hops` edges away."""
    met = {node for edge in walk.edges for node in edge[:3]} | {node for port in walk.ports for node in (port.job, port.dataset)}
    heads = reader.inventory.standing({walk.origin, *met})
    up = walk.direction == "upstream"
    links = merged([*port_links(walk.ports, heads), *(link for edge in walk.edges for link in _links(edge, heads))])
    distances = _distances(heads[walk.origin.id], _steps(walk, heads, up=up), hops)
    known = {node.id: node for node in heads.values()}
    order = sorted(distances, key=lambda id_: (distances[id_], known[id_].namespace, known[id_].name, known[id_].kind))
    return Hops([known[id_] for id_ in order], [link for link in links if _is_met(link, distances, hops, up=up)], distances)


def is_direct(edge: Edge) -> bool:
    """Whether an edge lies between two nodes without being a job's reading or writing."""
    source, target, job = edge[:3]
    others = any(end.kind == NodeKind.JOB and end != job for end in (source, target))
    return others or job.kind == NodeKind.DATASET or edge.evidence == Evidence.RENAMED


def _links(edge: Edge, heads: Heads) -> Iterator[Link]:
    source, target, job = (heads[end.id] for end in edge[:3])
    if is_direct(edge):
        yield Link(source, target, None, edge)
        return
    if source != job:
        yield Link(source, job, Side.INPUT, edge)
    if target != job:
        yield Link(job, target, Side.OUTPUT, edge)


def _steps(walk: Walk, heads: Heads, *, up: bool) -> dict[int, set[tuple[int, int | None]]]:
    """Node id to where one comes from there: the far node, and the job in between if it is another."""
    steps: dict[int, set[tuple[int, int | None]]] = defaultdict(set)
    for link in port_links(walk.ports, heads):
        near, far = (link.dst, link.src) if up else (link.src, link.dst)
        steps[near.id].add((far.id, None))
    for edge in walk.edges:
        source, target, job = (heads[end.id] for end in edge[:3])
        near, far = (target, source) if up else (source, target)
        between = None if is_direct(edge) or job in (near, far) else job.id
        steps[near.id].add((far.id, between))
    return steps


def _distances(origin: Node, steps: Mapping[int, set[tuple[int, int | None]]], hops: int) -> dict[int, int]:
    """Edges from the origin, of what is at most `hops` away. Through a job there is only the way that a flow takes."""
    found: dict[int, int] = {}
    waiting = [(0, origin.id)]
    while waiting:
        distance, id_ = heappop(waiting)
        if distance > hops or id_ in found:
            continue
        found[id_] = distance
        for far, between in steps.get(id_, ()):
            if between is not None:
                heappush(waiting, (distance + 1, between))
            heappush(waiting, (distance + (1 if between is None else 2), far))
    return found


def _is_met(link: Link, distances: Mapping[int, int], hops: int, *, up: bool) -> bool:
    near, far = (link.dst, link.src) if up else (link.src, link.dst)
    return far.id in distances and near.id in distances and distances[near.id] < hops
