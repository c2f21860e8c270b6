"""Nodes and edges as design-time events: what an import says is declared, and goes through the one intake."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec
from msgspec import Struct

from lineage_bridge.api.schemas.graphs import EdgeIn, GraphIn, NodeIn, SkippedItem
from lineage_bridge.errors import RequestError
from lineage_bridge.graph.identity.node_ids import OTHER, SCHEMA, STATED, environment, job_type, parse, prefixed
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage.event_builder import EventBuilder, Json, encode
from lineage_bridge.openlineage.times import parse_time

OUT = EventBuilder("https://lineagebridge.dev/import")
IMPORTED: Final = "lineagebridge_import"
"""The key of the facet that keeps what no other facet says of an imported node and its edges."""
_DATA = ("consumes", "produces", "transforms", "materializes")
_GROUPING = {
    "has_schema": "a schema is a facet of its topic",
    "member_of": "members of a group are told by the run of the group",
}
_DATASET_LINEAGE = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageDatasetFacet"
_KAFKA = ("partitions", "replication_factor")
_CONNECTOR = ("connector_class", "connector_type")
_STREAMING = frozenset(("connector", "connector_task", "ksqldb_query", "flink_job", "consumer_group", "streams_application", "producer"))

Name = tuple[str, str]
"""Namespace and name."""


@dataclass
class _Part:
    """A node on its way to an event: what it is called, what is said of it, and its edges."""

    node: NodeIn
    kind: NodeKind
    type: str
    name: Name
    inputs: list[Name] = field(default_factory=list)
    outputs: dict[Name, dict[str, Any]] = field(default_factory=dict)
    sources: list[Name] = field(default_factory=list)
    edges: list[Json] = field(default_factory=list)


@dataclass(frozen=True)
class Imported:
    """The events of an import, how many nodes and edges they tell of, and what was left out."""

    events: list[bytes]
    nodes: int
    edges: int
    skipped: list[SkippedItem]


_GRAPH = msgspec.json.Decoder(GraphIn)


def translate(body: bytes, now_us: int) -> Imported:
    """The events that say what a graph says. Raises RequestError for what is no graph: nothing of it may then be used."""
    try:
        graph = _GRAPH.decode(body)
    except (ValueError, msgspec.DecodeError) as error:
        raise RequestError(f"no graph: {error}", 'Send {"nodes": [...], "edges": [...]}, as export gives it.') from error
    left_out = {node.node_id for node in graph.nodes if _is_schema(node)}
    skipped = [SkippedItem(_GROUPING["has_schema"], node_id=id_) for id_ in sorted(left_out)]
    parts = {node.node_id: _part(place, node) for place, node in enumerate(graph.nodes) if node.node_id not in left_out}
    edges = 0
    for place, edge in enumerate(graph.edges):
        reason = _reason(place, edge, parts, left_out)
        if reason:
            skipped.append(SkippedItem(reason, src_id=edge.src_id, dst_id=edge.dst_id, edge_type=edge.edge_type))
            continue
        _tie(parts[edge.src_id], parts[edge.dst_id], edge)
        edges += 1
    events = [encode(event) for part in parts.values() for event in _events(part, now_us)]
    return Imported(events, len(parts), edges, skipped)


def _is_schema(node: NodeIn) -> bool:
    return node.namespace is None and (node.node_type == SCHEMA or node.node_id.split(":")[1:2] == [SCHEMA])


def _part(place: int, node: NodeIn) -> _Part:
    wanted = parse(node.node_id)
    if wanted is None:
        raise RequestError(f"nodes[{place}]: {node.node_id!r} is no node id", "A node id is system:type:scope:name.")
    type_ = node.node_type or node.node_id.split(":")[1]
    if (parsed := parse(f"external:{type_}:a:b")) is None or parsed.kind != wanted.kind:
        raise RequestError(
            f"nodes[{place}]: node_type {type_!r} is not what {node.node_id!r} is", "docs/confluent-views.md lists the types."
        )
    for member in (node.first_seen, node.last_seen):
        if member is not None and parse_time(member) is None:
            raise RequestError(f"nodes[{place}]: {member!r} is no time", "Write it as RFC 3339: 2026-05-01T04:00:00Z.")
    if node.namespace is not None and node.name is not None:
        return _Part(node, wanted.kind, type_, (node.namespace, node.name))
    return _Part(node, wanted.kind, type_, _name(node, type_, wanted.exact, wanted.tiers))


def _name(node: NodeIn, type_: str, exact: tuple[Name, ...], tiers: tuple[tuple[Name, ...], ...]) -> Name:
    """The OpenLineage name of a node that is known by its id alone."""
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


def _reason(place: int, edge: EdgeIn, parts: Mapping[str, _Part], left_out: Iterable[str]) -> str:
    """Why an edge is left out; empty if it is not. Raises RequestError for one that cannot be."""
    if edge.edge_type not in (*_DATA, *_GROUPING):
        known = ", ".join((*_DATA, *_GROUPING))
        raise RequestError(f"edges[{place}]: {edge.edge_type!r} is no type of edges", f"It is one of {known}.")
    for end in (edge.src_id, edge.dst_id):
        if end not in parts and end not in left_out:
            raise RequestError(f"edges[{place}]: {end!r} is none of the nodes", "Send both ends of every edge among the nodes.")
    if edge.edge_type in _GROUPING:
        return _GROUPING[edge.edge_type]
    if edge.src_id not in parts or edge.dst_id not in parts:
        return "one of its nodes is left out"
    both_jobs = {parts[edge.src_id].kind, parts[edge.dst_id].kind} == {NodeKind.JOB}
    return "an import tells of no edges between jobs" if both_jobs else ""


def _tie(src: _Part, dst: _Part, edge: EdgeIn) -> None:
    """Let the job, or the dataset that comes from another, know of an edge. A job that consumes reads, whichever way the edge points."""
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


def _events(part: _Part, now_us: int) -> Iterator[Json]:
    """What is said of a node at its newest; that it was there at its oldest; and that its other names are."""
    first, last = (_us(text, now_us) for text in (part.node.first_seen or part.node.last_seen, part.node.last_seen))
    facets = _facets(part)
    if part.kind == NodeKind.JOB:
        if first < last:
            yield OUT.job_event(first, part.name)
        inputs = [OUT.dataset(name) for name in dict.fromkeys(part.inputs)]
        outputs = [OUT.dataset(name, said) for name, said in part.outputs.items()]
        yield OUT.job_event(last, part.name, job_facets=facets, inputs=inputs, outputs=outputs)
        others = [OUT.job_event(last, name) for name in _aliases(part.node)]
    else:
        if first < last:
            yield OUT.dataset_event(first, part.name, {})
        yield OUT.dataset_event(last, part.name, facets)
        others = [OUT.dataset_event(last, name, {}) for name in _aliases(part.node)]
    yield from others


def _us(text: str | None, now_us: int) -> int:
    parsed = parse_time(text) if text is not None else None
    return parsed.us if parsed else now_us


def _aliases(node: NodeIn) -> Iterator[Name]:
    for alias in node.aliases or ():
        if isinstance(namespace := alias.get("namespace"), str) and isinstance(name := alias.get("name"), str):
            yield namespace, name


def _facets(part: _Part) -> dict[str, Json]:
    """The facets of a node as it was exported; of one that has none, what its attributes say in the standard's words."""
    node, left = part.node, dict(part.node.attributes or {})
    facets = dict(node.facets) if node.facets is not None else _said(part, left)
    if part.kind == NodeKind.JOB:
        _state_type(part, facets)
    elif part.sources:
        _state_sources(part, facets)
    rest = {} if node.facets is not None else _rest(node, left)
    if rest or part.edges:
        edges = sorted(part.edges, key=lambda edge: json.dumps(edge, sort_keys=True))
        facets[IMPORTED] = OUT.own_facet("1-0-0", f"LineageBridgeImport{part.kind.name.title()}Facet", edges=edges, **rest)
    return facets


def _said(part: _Part, left: Json) -> dict[str, Json]:
    """Takes out of the attributes what a facet says."""
    facets: dict[str, Json] = {}
    env, cluster = environment(part.name[0])
    place = {"environment_id": env, "cluster_id": cluster}
    if env and part.type == "kafka_topic" and all(isinstance(left.get(key), int) for key in _KAFKA):
        tags = {"tags": part.node.tags} if part.node.tags else {}
        facets["confluent_kafka"] = OUT.own_facet(
            "1-0-0", "ConfluentKafkaDatasetFacet", **place, **tags, **{key: left.pop(key) for key in _KAFKA}
        )
    if env and part.type == "connector" and all(isinstance(left.get(key), str) for key in _CONNECTOR):
        facets["confluent_connector"] = OUT.own_facet(
            "1-0-0", "ConfluentConnectorJobFacet", **place, **{key: left.pop(key) for key in _CONNECTOR}
        )
    if isinstance(left.get("description"), str):
        facets["documentation"] = OUT.documentation(part.kind.name.title(), left.pop("description"))
    if part.kind == NodeKind.JOB and isinstance(left.get("sql"), str):
        facets["sql"] = OUT.sql(left.pop("sql"), "")
    return facets


def _rest(node: NodeIn, left: Json) -> Json:
    """What no facet of the standard says."""
    words = {"environment_name": node.environment_name, "cluster_name": node.cluster_name, "url": node.url, "tags": node.tags}
    known: Json = {key: value for key, value in words.items() if value}
    return known | ({"attributes": json.dumps(left, sort_keys=True)} if left else {})


def _state_type(part: _Part, facets: dict[str, Json]) -> None:
    """Let the job be of its type."""
    facet = facets.get("jobType")
    if job_type(*part.name, json.dumps(facet) if facet else None) != part.type:
        facets["jobType"] = OUT.job_type("STREAMING" if part.type in _STREAMING else "BATCH", STATED, part.type.upper())


def _state_sources(part: _Part, facets: dict[str, Json]) -> None:
    """Let the dataset say what it comes from, as far as its facets do not."""
    told = {name for key in ("lineage", "columnLineage") for name in _names(facets.get(key))}
    missing = [name for name in dict.fromkeys(part.sources) if name not in told]
    if missing:
        known = facets.get("lineage") or {"_producer": OUT.producer, "_schemaURL": _DATASET_LINEAGE}
        sources = [{"type": "DATASET", "namespace": namespace, "name": name} for namespace, name in missing]
        facets["lineage"] = {**known, "inputs": [*known.get("inputs", []), *sources]}


def _names(value: Any) -> Iterator[Name]:  # noqa: ANN401 - a JSON edge
    """Every pair of namespace and name in a JSON value."""
    if isinstance(value, dict):
        namespace, name = value.get("namespace"), value.get("name")
        if isinstance(namespace, str) and isinstance(name, str):
            yield namespace, name
        for member in value.values():
            yield from _names(member)
    elif isinstance(value, list):
        for element in value:
            yield from _names(element)


# what an import said, read back


class KeptEdge(Struct, frozen=True):
    """What an import stated of an edge; `attributes` is JSON text."""

    source: dict[str, str]
    target: dict[str, str]
    type: str
    confidence: float
    attributes: str = "{}"


class Kept(Struct, frozen=True):
    """What an import stated of a node, and of the edges that are told with it; `attributes` is JSON text."""

    edges: list[KeptEdge] = []
    attributes: str = "{}"
    environment_name: str | None = None
    cluster_name: str | None = None
    url: str | None = None
    tags: list[str] = []

    def edge(self, source: Iterable[Name], target: Iterable[Name]) -> KeptEdge | None:
        """What was stated of the edge between two nodes, each by all its names."""
        sources, targets = set(source), set(target)
        return next((edge for edge in self.edges if _name_of(edge.source) in sources and _name_of(edge.target) in targets), None)


def _name_of(end: Mapping[str, str]) -> Name:
    return end.get("namespace", ""), end.get("name", "")


_KEPT = msgspec.json.Decoder(Kept)


def kept(facets: Mapping[str, str]) -> Kept | None:
    """What an import keeps in a node's facets."""
    try:
        return _KEPT.decode(facets[IMPORTED]) if IMPORTED in facets else None
    except msgspec.DecodeError:
        return None
