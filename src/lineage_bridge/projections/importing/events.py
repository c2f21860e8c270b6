"""Converts imported nodes and edges to design-time events. What an import states is declared lineage."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from lineage_bridge.errors import RequestError
from lineage_bridge.graph.identity.node_ids import OTHER, SCHEMA, parse_node_id, prefixed
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage.event_builder import Json, encode
from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.projections.importing.facet import Name
from lineage_bridge.projections.importing.facets import EVENTS, ImportedNode, node_facets
from lineage_bridge.projections.importing.shapes import EdgeIn, GraphIn, NodeIn, SkippedItem

_DATA = ("consumes", "produces", "transforms", "materializes")
_GROUPING = {
    "has_schema": "a schema is a facet of its topic",
    "member_of": "members of a group are stated by the runs of the group",
}


@dataclass(frozen=True)
class ImportedGraph:
    """The events of an import, how many nodes and edges they state, and what was left out."""

    events: list[bytes]
    nodes: int
    edges: int
    skipped: list[SkippedItem]


_GRAPH = msgspec.json.Decoder(GraphIn)


def translate_graph(body: bytes, now_us: int) -> ImportedGraph:
    """The events that state the nodes and edges of a graph, JSON text. Raises RequestError if any of it cannot be imported."""
    try:
        graph = _GRAPH.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"invalid graph: {error}", 'send {"nodes": [...], "edges": [...]}, as export returns it') from error
    left_out = {node.node_id for node in graph.nodes if _is_schema(node)}
    skipped = [SkippedItem(_GROUPING["has_schema"], node_id=id_) for id_ in sorted(left_out)]
    imported = {node.node_id: _imported_node(index, node) for index, node in enumerate(graph.nodes) if node.node_id not in left_out}
    edges = 0
    for index, edge in enumerate(graph.edges):
        reason = _skip_reason(index, edge, imported, left_out)
        if reason:
            skipped.append(SkippedItem(reason, src_id=edge.src_id, dst_id=edge.dst_id, edge_type=edge.edge_type))
            continue
        _attach(imported[edge.src_id], imported[edge.dst_id], edge)
        edges += 1
    events = [encode(event) for node in imported.values() for event in _events(node, now_us)]
    return ImportedGraph(events, len(imported), edges, skipped)


def _is_schema(node: NodeIn) -> bool:
    return node.namespace is None and (node.node_type == SCHEMA or node.node_id.split(":")[1:2] == [SCHEMA])


def _imported_node(index: int, node: NodeIn) -> ImportedNode:
    parsed_id = parse_node_id(node.node_id)
    if parsed_id is None:
        raise RequestError(f"nodes[{index}]: {node.node_id!r} is not a node id", "a node id is system:type:scope:name")
    type_ = node.node_type or node.node_id.split(":")[1]
    if (parsed := parse_node_id(f"external:{type_}:a:b")) is None or parsed.kind != parsed_id.kind:
        raise RequestError(f"nodes[{index}]: node_type {type_!r} does not fit {node.node_id!r}", "docs/confluent-views.md lists the types")
    for member in (node.first_seen, node.last_seen):
        if member is not None and parse_time(member) is None:
            raise RequestError(f"nodes[{index}]: {member!r} is not a time", "write it as RFC 3339: 2026-05-01T04:00:00Z")
    if node.namespace is not None and node.name is not None:
        return ImportedNode(node, parsed_id.kind, type_, (node.namespace, node.name))
    return ImportedNode(node, parsed_id.kind, type_, _name(node, type_, parsed_id.exact, parsed_id.tiers))


def _name(node: NodeIn, type_: str, exact: tuple[Name, ...], tiers: tuple[tuple[Name, ...], ...]) -> Name:
    """Choose the OpenLineage name for a node that has only an id."""
    system, _, scope, qualified = node.node_id.split(":", 3)
    if system == "confluent" and type_ == OTHER:
        return f"external://{scope}/default", qualified
    if system == "confluent" and not exact:
        return f"confluent://{scope}/{node.cluster_id or 'default'}", prefixed(type_, tiers[0][0][1])
    namespace, name = exact[0] if exact else (f"{system}://{scope}", qualified)
    workspace = (node.attributes or {}).get("workspace_url")
    if system == "databricks" and isinstance(workspace, str):
        namespace = f"databricks://{workspace.removeprefix('https://').strip('/')}"
    return namespace, prefixed(type_, name) if namespace.startswith("confluent://") else name


# edges


def _skip_reason(index: int, edge: EdgeIn, imported: Mapping[str, ImportedNode], left_out: Iterable[str]) -> str:
    """The reason why an edge is not imported; empty if it is. Raises RequestError if the edge is invalid."""
    if edge.edge_type not in (*_DATA, *_GROUPING):
        edge_types = ", ".join((*_DATA, *_GROUPING))
        raise RequestError(f"edges[{index}]: {edge.edge_type!r} is not an edge type", f"use one of {edge_types}")
    for end in (edge.src_id, edge.dst_id):
        if end not in imported and end not in left_out:
            raise RequestError(f"edges[{index}]: {end!r} is not among the nodes", "send both nodes of every edge")
    if edge.edge_type in _GROUPING:
        return _GROUPING[edge.edge_type]
    if edge.src_id not in imported or edge.dst_id not in imported:
        return "one of its nodes is left out"
    both_jobs = {imported[edge.src_id].kind, imported[edge.dst_id].kind} == {NodeKind.JOB}
    return "edges between jobs are not imported" if both_jobs else ""


def _attach(src: ImportedNode, dst: ImportedNode, edge: EdgeIn) -> None:
    """Attach an edge to the job or dataset whose event will state it. With an edge of type `consumes`, the job reads the dataset, in
    whichever direction the edge points.
    """
    if src.kind == NodeKind.JOB and edge.edge_type == "consumes":
        src, dst = dst, src
    if dst.kind == NodeKind.JOB:
        holder = dst
        dst.inputs.append(src.name)
    elif src.kind == NodeKind.JOB:
        holder = src
        src.outputs[dst.name] = dict(edge.facets or {})
    else:
        holder = dst
        dst.sources.append(src.name)
    kept: Json = {"confidence": edge.confidence, "type": edge.edge_type}
    if edge.attributes:
        kept["attributes"] = json.dumps(edge.attributes, sort_keys=True)
    source, target = ({"namespace": end.name[0], "name": end.name[1]} for end in (src, dst))
    holder.edges.append({"source": source, "target": target, **kept})


# events


def _events(node: ImportedNode, now_us: int) -> Iterator[Json]:
    """The events of a node: one for its newest state, one for when it was first seen, and one for each of its other names."""
    first, last = (_us(text, now_us) for text in (node.given.first_seen or node.given.last_seen, node.given.last_seen))
    facets = node_facets(node)
    if node.kind == NodeKind.JOB:
        if first < last:
            yield EVENTS.job_event(first, node.name)
        inputs = [EVENTS.dataset(name) for name in dict.fromkeys(node.inputs)]
        outputs = [EVENTS.dataset(name, facets_) for name, facets_ in node.outputs.items()]
        yield EVENTS.job_event(last, node.name, job_facets=facets, inputs=inputs, outputs=outputs)
        others = [EVENTS.job_event(last, name) for name in _aliases(node.given)]
    else:
        if first < last:
            yield EVENTS.dataset_event(first, node.name, {})
        yield EVENTS.dataset_event(last, node.name, facets)
        others = [EVENTS.dataset_event(last, name, {}) for name in _aliases(node.given)]
    yield from others


def _us(text: str | None, now_us: int) -> int:
    parsed = parse_time(text) if text is not None else None
    return parsed.us if parsed else now_us


def _aliases(node: NodeIn) -> Iterator[Name]:
    for alias in node.aliases or ():
        if isinstance(namespace := alias.get("namespace"), str) and isinstance(name := alias.get("name"), str):
            yield namespace, name
