"""Calls of OpenMetadata's API about entities and the lineage between them.

Paths, members and statuses are those of its published schemas and of its server's `LineageResource` and `LineageRepository`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from lineage_bridge.catalogs.http import HttpAnswer, TargetClient
from lineage_bridge.catalogs.kinds.openmetadata.names import PIPELINE, TOPIC, EntityName
from lineage_bridge.catalogs.target import Json
from lineage_bridge.errors import ForbiddenError, SourceError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.openmetadata.fqn import join_name

NOT_HELD: Final = "facets that OpenMetadata does not hold"
_PLURALS: Final = {"table": "tables", TOPIC: "topics", "container": "containers"}
_FIELDS: Final = {"container": "?fields=dataModel"}
"""What has to be asked for to get columns; tables and topics always have them."""
_NO_DATA: Final = frozenset(("domain", "dataProduct"))
_ADDRESS: Final = "check that the address is that of OpenMetadata's server, version 1.12 or newer"


class CatalogEntity(NamedTuple):
    """A table, topic, container or pipeline that is there. `id` is empty for one that is yet to be created."""

    kind: str
    id: str
    name: str

    @property
    def reference(self) -> Json:
        """The reference by which requests name it."""
        return {"id": self.id, "type": self.kind}


@dataclass(frozen=True)
class FoundDataset:
    """A dataset that is there: `columns` has the fully qualified name of each by its path."""

    entity: CatalogEntity
    columns: Mapping[str, str] = field(default_factory=dict)


class PipelineLineage(NamedTuple):
    """The edges of a pipeline, each as where it begins or ends, and its details. Those between two datasets are in both lists."""

    entity: CatalogEntity
    upstream: list[tuple[CatalogEntity, Json]]
    downstream: list[tuple[CatalogEntity, Json]]


class OpenMetadataCatalog:
    """Asks OpenMetadata for entities and lineage, and changes lineage and pipelines. Thread-safe."""

    def __init__(self, client: TargetClient) -> None:
        self._client = client

    def find(self, name: EntityName) -> FoundDataset | None:
        """The dataset with this name; None if there is none. Raises SourceError."""
        path = f"{_PLURALS[name.kind]}/name/{quote(name.name, safe='')}{_FIELDS.get(name.kind, '')}"
        answer = self._client.call("GET", f"/api/v1/{path}")
        if is_missing(answer):
            return None
        found = _object(answer, f"GET /api/v1/{_PLURALS[name.kind]}/name")
        entity = _entity({**found, "type": name.kind})
        return FoundDataset(entity, dict(_columns(name.kind, found)))

    def upstream(self, entity: CatalogEntity) -> list[tuple[CatalogEntity, Json]] | None:
        """The edges that lead to a dataset: where each begins, and its details; None if the dataset was deleted. Raises SourceError."""
        lineage = self._lineage(f"{entity.kind}/{entity.id}?upstreamDepth=1&downstreamDepth=0")
        return lineage.upstream if lineage else None

    def edge(self, source: CatalogEntity, target: CatalogEntity) -> Json | None:
        """The details of one edge, which may be that of a deleted dataset; None if there is none. Raises SourceError."""
        answer = self._client.call("GET", f"/api/v1/lineage/getLineageEdge/{source.id}/{target.id}")
        if is_missing(answer):
            return None
        found = _object(answer, "GET /api/v1/lineage/getLineageEdge").get("edge")
        return found if isinstance(found, dict) else {}

    def pipeline(self, name: str) -> PipelineLineage | None:
        """The edges of the pipeline with this fully qualified name; None if there is none. Raises SourceError."""
        return self._lineage(f"{PIPELINE}/name/{quote(name, safe='')}?upstreamDepth=1&downstreamDepth=1")

    def _lineage(self, path: str) -> PipelineLineage | None:
        answer = self._client.call("GET", f"/api/v1/lineage/{path}")
        if is_missing(answer):
            return None
        found = _object(answer, "GET /api/v1/lineage")
        nodes = {entity.id: entity for node in (found.get("nodes") or (), [found.get("entity")]) for entity in map(_entity, node)}
        upstream = _edges(found.get("upstreamEdges"), nodes, "fromEntity")
        return PipelineLineage(_entity(found.get("entity")), upstream, _edges(found.get("downstreamEdges"), nodes, "toEntity"))

    def put_edge(self, source: CatalogEntity, target: CatalogEntity, details: Json) -> HttpAnswer:
        """Create an edge, or replace its details."""
        edge = {"fromEntity": source.reference, "toEntity": target.reference, "lineageDetails": details}
        return self._client.call("PUT", "/api/v1/lineage", encode({"edge": edge}))

    def delete_edge(self, source: CatalogEntity, target: CatalogEntity) -> HttpAnswer:
        """Delete an edge; `is_missing` says whether it is not there."""
        return self._client.call("DELETE", f"/api/v1/lineage/{source.kind}/{source.id}/{target.kind}/{target.id}")

    def put_pipeline(self, request: Json) -> HttpAnswer:
        """Create a pipeline, or change it."""
        return self._client.call("PUT", "/api/v1/pipelines", encode(request))

    def delete_pipeline(self, pipeline: CatalogEntity) -> HttpAnswer:
        """Delete a pipeline for good; `is_missing` says whether it is not there."""
        return self._client.call("DELETE", f"/api/v1/pipelines/{pipeline.id}?hardDelete=true&recursive=true")

    def service_type(self, name: str) -> str | None:
        """The type of a pipeline service; None if there is none of this name. Raises SourceError."""
        answer = self._client.call("GET", f"/api/v1/services/pipelineServices/name/{quote(join_name((name,)), safe='')}")
        if is_missing(answer):
            return None
        return str(_object(answer, "GET /api/v1/services/pipelineServices").get("serviceType"))

    def create_service(self, name: str, kind: str, description: str) -> None:
        """Create a pipeline service. Raises SourceError."""
        made = {"name": name, "serviceType": kind, "connection": {"config": {"type": kind}}, "description": description}
        _object(self._client.call("PUT", "/api/v1/services/pipelineServices", encode(made)), "PUT /api/v1/services/pipelineServices")


def created(answer: HttpAnswer) -> CatalogEntity:
    """The pipeline in the answer to its creation or change. Raises SourceError."""
    return _entity({**_object(answer, "PUT /api/v1/pipelines"), "type": PIPELINE})


def check_connection(client: TargetClient) -> list[SourceCheck]:
    """Check whether the server answers, and accepts the token."""
    try:
        answer = client.call("GET", "/api/v1/system/version")
        version = answer.json().get("version") if answer.is_success else None
        is_it = isinstance(version, str)
        text = f"OpenMetadata {version}" if is_it else f"the server answers {answer.status}, and not as OpenMetadata does"
        checks = [SourceCheck("connect", is_it, text, "" if is_it else "check that the address is that of OpenMetadata's server")]
        if is_it:
            known = client.call("GET", "/api/v1/users/loggedInUser")
            checks.append(
                SourceCheck("authenticate", known.is_success, f"the server answers {known.status} to the request for the current user")
            )
    except ForbiddenError as error:
        return [SourceCheck("connect", True, "the server answers"), SourceCheck("authenticate", False, str(error), error.hint)]
    return checks


# answers


def is_missing(answer: HttpAnswer) -> bool:
    """Whether OpenMetadata says that there is no such thing. A 404 of a proxy in front of it says nothing about that."""
    if answer.status != 404:
        return False
    found = answer.json() if answer.body.startswith(b"{") else {}
    return isinstance(found, dict) and found.get("code") == 404


def _object(answer: HttpAnswer, call: str) -> Json:
    """The object in an answer. Raises SourceError."""
    if not answer.is_success:
        raise SourceError(f"{call} answered {answer.status}" + (f": {answer.message}" if answer.message else ""), _ADDRESS)
    found = answer.json()
    if not isinstance(found, dict):
        raise SourceError(f"{call} answered something other than an object", _ADDRESS)
    return found


def _entity(found: Any) -> CatalogEntity:  # noqa: ANN401  # JSON
    members = [found.get(name) if isinstance(found, dict) else None for name in ("type", "id", "fullyQualifiedName")]
    if not all(isinstance(member, str) and member for member in members):
        raise SourceError("OpenMetadata answered an entity without type, id or fullyQualifiedName", _ADDRESS)
    return CatalogEntity(*map(str, members))


def _edges(found: Any, nodes: Mapping[str, CatalogEntity], end: str) -> list[tuple[CatalogEntity, Json]]:  # noqa: ANN401  # JSON
    """The other ends of edges with their details; without the edges of services and domains, which OpenMetadata derives itself."""
    edges = [(edge.get(end), edge.get("lineageDetails") or {}) for edge in found or () if isinstance(edge, dict)]
    if unknown := next((id_ for id_, _ in edges if id_ not in nodes), None):
        raise SourceError(f"GET /api/v1/lineage answered an edge of {unknown}, which is not among its nodes", _ADDRESS)
    known = ((nodes[str(id_)], details) for id_, details in edges)
    return [(node, details) for node, details in known if not node.kind.endswith("Service") and node.kind not in _NO_DATA]


def _columns(kind: str, found: Json) -> Iterator[tuple[str, str]]:
    """The columns of a dataset. Those of a topic are the fields of its record, whose name is left out of their paths."""
    if kind != TOPIC:
        yield from _flat(found.get("columns") or (found.get("dataModel") or {}).get("columns"), "")
        return
    fields = (found.get("messageSchema") or {}).get("schemaFields") or []
    inner = fields[0].get("children") if len(fields) == 1 else None
    yield from _flat(inner or fields, "")


def _flat(columns: Any, above: str) -> Iterator[tuple[str, str]]:  # noqa: ANN401  # JSON
    for column in columns if isinstance(columns, list) else ():
        name, whole = column.get("name"), column.get("fullyQualifiedName")
        if isinstance(name, str) and isinstance(whole, str):
            yield f"{above}{name}", whole
            yield from _flat(column.get("children"), f"{above}{name}.")
