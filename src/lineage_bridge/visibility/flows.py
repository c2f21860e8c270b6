"""Limits flows, ports and walks to what may be shown across the border."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import ColumnEdge, Edge, Node, Port, Walk
from lineage_bridge.model.lineage import ImpactFlow, TracedFlow
from lineage_bridge.visibility.border import Border, Flow

Columns = TypeVar("Columns", ColumnEdge, TracedFlow)
Item = TypeVar("Item")


def flow_of(item: Edge | ColumnEdge | ImpactFlow | TracedFlow) -> Flow:
    """The three nodes of a flow: source, job and target."""
    return item.source, item.target, item.job


def leading_on(border: Border, flows: Sequence[Flow]) -> set[tuple[int, int, int]]:
    """The ids of the flows that an answer may contain: flows at own nodes, and flows on paths between own nodes."""
    border.load(node for flow in flows for node in flow)
    own = [flow for flow in flows if border.touches(*flow)]
    pairs = [(border.group(source), border.group(target)) for source, target, _ in flows]
    into = _reached({border.group(flow[0]) for flow in own}, [(target, source) for source, target in pairs])
    out_of = _reached({border.group(flow[1]) for flow in own}, pairs)
    kept = {_ids(flow) for flow in own}
    return kept | {_ids(flow) for flow, (source, target) in zip(flows, pairs, strict=True) if source in out_of and target in into}


def unique(items: Iterable[Item], key: Callable[[Item], object]) -> list[Item]:
    """The items, without those that have the same key as an earlier item."""
    found: dict[object, Item] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())


def _ids(flow: Flow) -> tuple[int, int, int]:
    return flow[0].id, flow[1].id, flow[2].id


def _reached(start: set[int], steps: Iterable[tuple[int, int]]) -> set[int]:
    """The groups that can be reached from the groups `start` along `steps`."""
    ahead: dict[int, set[int]] = defaultdict(set)
    for here, there in steps:
        ahead[here].add(there)
    reached, frontier = set(start), list(start)
    while frontier:
        fresh = ahead[frontier.pop()] - reached
        reached |= fresh
        frontier += fresh
    return reached


def shown_edges(border: Border, edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """The edges as an answer may show them: edges at own nodes, and, without details, edges on paths between own nodes. Edges that look the
    same are shown once.
    """
    kept_ids = leading_on(border, [flow_of(edge) for edge in edges])
    kept = [edge for edge in edges if _ids(flow_of(edge)) in kept_ids]
    for edge in kept:
        border.note_flow(flow_of(edge))
    names = border.all_shown(node for edge in kept for node in flow_of(edge))
    shown = []
    for edge in kept:
        known = edge if border.touches(*flow_of(edge)) else edge._replace(last=None, hub=False, liveness=None, only_failed=False)
        shown.append(known._replace(source=names[edge.source.id], target=names[edge.target.id], job=names[edge.job.id]))
    return tuple(unique(shown, lambda edge: (*_ids(flow_of(edge)), edge.origin)))


def shown_ports(border: Border, ports: Sequence[Port]) -> list[Port]:
    """The inputs and outputs of own jobs, and own datasets as inputs and outputs of other jobs."""
    border.load(node for port in ports for node in (port.job, port.dataset))
    kept = [port for port in ports if border.touches(port.job, port.dataset)]
    for port in kept:
        border.note_neighbours(port.job, port.dataset)
    names = border.all_shown(node for port in kept for node in (port.job, port.dataset))
    shown = [port._replace(job=names[port.job.id], dataset=names[port.dataset.id]) for port in kept]
    return unique(shown, lambda port: (port.job.id, port.dataset.id, port.side, port.origin))


def shown_columns(border: Border, columns: Iterable[Columns]) -> list[Columns]:
    """Flows between columns, without the columns of datasets beyond the border."""
    items = list(columns)
    kept_ids = leading_on(border, [flow_of(item) for item in items])
    kept = [item for item in items if _ids(flow_of(item)) in kept_ids]
    for item in kept:
        border.note_flow(flow_of(item))
    return unique([_without_foreign_columns(border, item) for item in kept], _column_key)


def _column_key(item: ColumnEdge | TracedFlow) -> tuple[object, ...]:
    return (*_ids(flow_of(item)), item.source_field, item.target_field, item.origin)


def _without_foreign_columns(border: Border, item: Columns) -> Columns:
    names = border.all_shown(flow_of(item))
    shown = replace(
        item,
        source=names[item.source.id],
        target=names[item.target.id],
        job=names[item.job.id],
        source_field=item.source_field if border.is_own(item.source) else "",
        target_field=item.target_field if border.is_own(item.target) else "",
    )
    return shown if border.touches(item.job, item.target) else replace(shown, transformations=(), descriptions=())


def shown_walk(border: Border, walk: Walk) -> Walk:
    """A walk that goes through nodes beyond the border as places, if it leads back to own nodes."""
    border.load(walk.nodes)
    for port in walk.ports:
        if border.touches(port.job, port.dataset):
            border.note_neighbours(port.job, port.dataset)
    edges, ports = shown_edges(border, walk.edges), tuple(shown_ports(border, walk.ports))
    columns = tuple(shown_columns(border, walk.columns))
    met = {node.id for edge in edges for node in flow_of(edge)} | {node.id for port in ports for node in (port.job, port.dataset)}
    own = [node for node in walk.nodes if border.is_own(node)]
    nodes, distances = {node.id: node for node in own}, {node.id: walk.distances[node.id] for node in own}
    for node in walk.nodes:
        place = None if border.is_own(node) else border.known(node)
        if place is not None and place.id in met:
            nodes[place.id] = place
            distances[place.id] = min(distances.get(place.id, walk.distances[node.id]), walk.distances[node.id])
    return replace(
        walk,
        nodes=tuple(sorted(nodes.values(), key=by_name)),
        distances=distances,
        canonical={node.id: walk.canonical[node.id] for node in own if node.id in walk.canonical},
        edges=edges,
        ports=ports,
        columns=columns,
        dropped=walk.dropped & nodes.keys(),
    )


def by_name(node: Node) -> tuple[NodeKind, str, str]:
    """The key by which answers sort nodes."""
    return node.kind, node.namespace, node.name
