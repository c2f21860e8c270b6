"""Converts what walks find to the JSON that answers contain. An answer has hundreds of these items."""

from collections.abc import Iterable, Mapping
from typing import Literal

from msgspec import UNSET

from lineage_bridge.api.schemas.nodes import GraphColumn, GraphEdge, GraphPort, TransformationItem, WalkNode
from lineage_bridge.api.serialization import KIND_NAMES, node_id_of, other_name, time_text
from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.model.graph import ColumnEdge, Edge, Node, Port, Walk
from lineage_bridge.projections.nodes import node_id_text

_ORIGINS = {origin: origin.name.lower() for origin in Origin}
_EVIDENCE = {evidence: evidence.text for evidence in Evidence}
_LABELS = {label: label.value for label in Label}
_SIDES: dict[Side, Literal["input", "output"]] = {side: "input" if side == Side.INPUT else "output" for side in Side}


def nodes_of_walk(walk: Walk) -> list[Node]:
    """All nodes in the answer of a walk, sorted: those that it reached, and the jobs in between."""
    every = {node.id: node for node in walk.nodes}
    for port in walk.ports:
        every[port.job.id] = port.job
        every[port.dataset.id] = port.dataset
    for edge in walk.edges:
        for end in edge[:3]:
            every[end.id] = end
    return sorted(every.values(), key=lambda node: (node.kind, node.namespace, node.name))


def walk_nodes(walk: Walk, nodes: Iterable[Node], names: Mapping[int, Node]) -> list[WalkNode]:
    """The nodes of a walk as answers show them: a node that the walk reached has its distance, a job in between has none. `names` are their
    names in the style of the answer.
    """
    return [
        WalkNode(
            node_id_text(node.id),
            KIND_NAMES[node.kind],
            node.namespace,
            node.name,
            other_name(node, names),
            node.id in walk.dropped,
            walk.distances.get(node.id, UNSET),
            node_id_text(walk.canonical[node.id]) if node.id in walk.canonical else UNSET,
        )
        for node in nodes
    ]


def graph_edge(edge: Edge) -> GraphEdge:
    """A flow as answers show it: an edge between ids of nodes."""
    source, target, job, origin, evidence, label, last, hub, alive, only_failed, unambiguous = edge
    return GraphEdge(
        node_id_text(source.id),
        node_id_text(target.id),
        node_id_text(job.id),
        _ORIGINS[origin],
        _EVIDENCE[evidence],
        _LABELS[label],
        time_text(last),
        hub,
        alive.value if alive else UNSET,
        only_failed,
        unambiguous,
    )


def graph_port(port: Port) -> GraphPort:
    """An input or output of a job, as answers show it."""
    return GraphPort(
        node_id_text(port.job.id),
        node_id_text(port.dataset.id),
        _SIDES[port.side],
        _ORIGINS[port.origin],
        _LABELS[port.label],
        time_text(port.last),
        port.liveness.value if port.liveness else UNSET,
        port.only_failed,
    )


def graph_column(column: ColumnEdge) -> GraphColumn:
    """A column that is derived from another, as answers show it."""
    return GraphColumn(
        source=node_id_of(column.source),
        source_field=column.source_field,
        target=node_id_of(column.target),
        target_field=column.target_field,
        job=node_id_of(column.job),
        origin=column.origin.name.lower(),
        transformations=[TransformationItem(*change) for change in column.transformations],
        descriptions=list(column.descriptions),
    )
