"""Makes the facets of imported nodes."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from lineage_bridge.graph.identity.node_ids import STATED, environment, job_type
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.projections.importing.facet import IMPORTED, Name
from lineage_bridge.projections.importing.shapes import NodeIn

EVENTS = EventBuilder("https://lineagebridge.dev/import")
_DATASET_LINEAGE = "https://openlineage.io/spec/facets/1-0-0/LineageFacet.json#/$defs/LineageDatasetFacet"
_KAFKA = ("partitions", "replication_factor")
_CONNECTOR = ("connector_class", "connector_type")
_STREAMING = frozenset(("connector", "connector_task", "ksqldb_query", "flink_job", "consumer_group", "streams_application", "producer"))


@dataclass
class ImportedNode:
    """An imported node that becomes an event. `given` is the node in the import; with its OpenLineage name, and the edges that the event
    states.
    """

    given: NodeIn
    kind: NodeKind
    type: str
    name: Name
    inputs: list[Name] = field(default_factory=list)
    outputs: dict[Name, dict[str, Any]] = field(default_factory=dict)
    sources: list[Name] = field(default_factory=list)
    edges: list[Json] = field(default_factory=list)


def node_facets(node: ImportedNode) -> dict[str, Json]:
    """The facets that a node had when it was exported; if it had none, the standard facets that express its attributes."""
    given, left = node.given, dict(node.given.attributes or {})
    facets = dict(given.facets) if given.facets is not None else _standard_facets(node, left)
    if node.kind == NodeKind.JOB:
        _add_job_type(node, facets)
    elif node.sources:
        _add_sources(node, facets)
    rest = {} if given.facets is not None else _import_members(given, left)
    if rest or node.edges:
        edges = sorted(node.edges, key=lambda edge: json.dumps(edge, sort_keys=True))
        facets[IMPORTED] = EVENTS.own_facet("1-0-0", f"LineageBridgeImport{node.kind.name.title()}Facet", edges=edges, **rest)
    return facets


def _standard_facets(node: ImportedNode, left: Json) -> dict[str, Json]:
    """The facets of OpenLineage and of Confluent that express the attributes. Attributes that are expressed are removed from `left`."""
    facets: dict[str, Json] = {}
    env, cluster = environment(node.name[0])
    scope = {"environment_id": env, "cluster_id": cluster}
    if env and node.type == "kafka_topic" and all(isinstance(left.get(key), int) for key in _KAFKA):
        tags = {"tags": node.given.tags} if node.given.tags else {}
        facets["confluent_kafka"] = EVENTS.own_facet(
            "1-0-0", "ConfluentKafkaDatasetFacet", **scope, **tags, **{key: left.pop(key) for key in _KAFKA}
        )
    if env and node.type == "connector" and all(isinstance(left.get(key), str) for key in _CONNECTOR):
        facets["confluent_connector"] = EVENTS.own_facet(
            "1-0-0", "ConfluentConnectorJobFacet", **scope, **{key: left.pop(key) for key in _CONNECTOR}
        )
    if isinstance(left.get("description"), str):
        facets["documentation"] = EVENTS.documentation(node.kind.name.title(), left.pop("description"))
    if node.kind == NodeKind.JOB and isinstance(left.get("sql"), str):
        facets["sql"] = EVENTS.sql(left.pop("sql"), "")
    return facets


def _import_members(given: NodeIn, left: Json) -> Json:
    """The members of the import's own facet, which has what no other facet can express."""
    members = {"environment_name": given.environment_name, "cluster_name": given.cluster_name, "url": given.url, "tags": given.tags}
    given_members: Json = {key: value for key, value in members.items() if value}
    return given_members | ({"attributes": json.dumps(left, sort_keys=True)} if left else {})


def _add_job_type(node: ImportedNode, facets: dict[str, Json]) -> None:
    """Add the facet for the imported type of a job, unless the job's other facets already result in that type."""
    facet = facets.get("jobType")
    if job_type(*node.name, json.dumps(facet) if facet else None) != node.type:
        facets["jobType"] = EVENTS.job_type("STREAMING" if node.type in _STREAMING else "BATCH", STATED, node.type.upper())


def _add_sources(node: ImportedNode, facets: dict[str, Json]) -> None:
    """Add those datasets from which a dataset is derived that its facets do not state."""
    stated = {name for key in ("lineage", "columnLineage") for name in _names(facets.get(key))}
    missing = [name for name in dict.fromkeys(node.sources) if name not in stated]
    if missing:
        stated_facet = facets.get("lineage") or {"_producer": EVENTS.producer, "_schemaURL": _DATASET_LINEAGE}
        sources = [{"type": "DATASET", "namespace": namespace, "name": name} for namespace, name in missing]
        facets["lineage"] = {**stated_facet, "inputs": [*stated_facet.get("inputs", []), *sources]}


def _names(value: Any) -> Iterator[Name]:  # noqa: ANN401 - a JSON edge
    """All pairs of namespace and name in a JSON value."""
    if isinstance(value, dict):
        namespace, name = value.get("namespace"), value.get("name")
        if isinstance(namespace, str) and isinstance(name, str):
            yield namespace, name
        for member in value.values():
            yield from _names(member)
    elif isinstance(value, list):
        for element in value:
            yield from _names(element)
