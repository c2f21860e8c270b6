"""Shows a walk as nodes and edges. A flow from one dataset to another through a job becomes two edges."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from heapq import heappop, heappush

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.model.graph import Edge, Node, Walk, WalkLimits
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.edges import GraphLink, merge_links, port_links

Heads = Mapping[int, Node]
"""Node id -> the node that stands for its group."""


@dataclass(frozen=True)
class Hops:
    """The nodes that a walk reached, including the origin, nearest first; the links between them; and by node id, the number of edges from
    the origin.
    """

    nodes: list[Node]
    links: list[GraphLink]
    distances: dict[int, int]


def walk_hops(reader: GraphReader, origin: Node, direction: str, hops: int, now_us: int) -> Walk:
    """Walk far enough to reach everything within `hops` edges.

    A flow from dataset to dataset through a job is shown as two edges, so walking half as many flows is enough. If the walk contains flows
    that are shown as single edges, it is repeated with `hops` flows.
    """
    flows = (hops + 1 + (origin.kind == NodeKind.JOB)) // 2
    walk = reader.lineage.walk(origin, direction, flows, WalkLimits(), now_us=now_us)
    if not any(map(is_direct, walk.edges)):
        return walk
    return reader.lineage.walk(origin, direction, hops, WalkLimits(), now_us=now_us)


def hops_of_walk(reader: GraphReader, walk: Walk, hops: int) -> Hops:
    """The nodes and links that a walk reached within `hops` edges of its origin."""
    ends = {node for edge in walk.edges for node in edge[:3]} | {node for port in walk.ports for node in (port.job, port.dataset)}
    heads = reader.inventory.canonical_nodes({walk.origin, *ends})
    up = walk.direction == "upstream"
    links = merge_links([*port_links(walk.ports, heads), *(link for edge in walk.edges for link in _links(edge, heads))])
    distances = _distances(heads[walk.origin.id], _steps(walk, heads, up=up), hops)
    nodes = {node.id: node for node in heads.values()}
    order = sorted(distances, key=lambda id_: (distances[id_], nodes[id_].namespace, nodes[id_].name, nodes[id_].kind))
    return Hops([nodes[id_] for id_ in order], [link for link in links if _is_within(link, distances, hops, up=up)], distances)


def is_direct(edge: Edge) -> bool:
    """Whether a flow is shown as a single edge between its two ends, because it does not go through a job."""
    source, target, job = edge[:3]
    is_between_jobs = any(end.kind == NodeKind.JOB and end != job for end in (source, target))
    return is_between_jobs or job.kind == NodeKind.DATASET or edge.evidence == Evidence.RENAMED


def _links(edge: Edge, heads: Heads) -> Iterator[GraphLink]:
    source, target, job = (heads[end.id] for end in edge[:3])
    if is_direct(edge):
        yield GraphLink(source, target, None, edge)
        return
    if source != job:
        yield GraphLink(source, job, Side.INPUT, edge)
    if target != job:
        yield GraphLink(job, target, Side.OUTPUT, edge)


def _steps(walk: Walk, heads: Heads, *, up: bool) -> dict[int, set[tuple[int, int | None]]]:
    """Where the walk leads from each node: pairs of the next node, and the job in between if there is one, by node id."""
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
    """The number of edges from the origin to each node that is at most `hops` away. A path through a job only follows the job's flows."""
    distances: dict[int, int] = {}
    queue = [(0, origin.id)]
    while queue:
        distance, id_ = heappop(queue)
        if distance > hops or id_ in distances:
            continue
        distances[id_] = distance
        for far, between in steps.get(id_, ()):
            if between is not None:
                heappush(queue, (distance + 1, between))
            heappush(queue, (distance + (1 if between is None else 2), far))
    return distances


def _is_within(link: GraphLink, distances: Mapping[int, int], hops: int, *, up: bool) -> bool:
    near, far = (link.dst, link.src) if up else (link.src, link.dst)
    return far.id in distances and near.id in distances and distances[near.id] < hops
