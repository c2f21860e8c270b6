"""OpenMetadata's entities and the lineage between them, as its published schemas and its server's source have them: unknown members, wrong
names, loops and unknown entities are refused, columns that are not there are dropped, an edge has one pipeline, and its details are
replaced as a whole.

Schemas: `api/lineage/addLineage`, `type/entityLineage`, `type/entityReference`, `type/basic`, `api/data/createPipeline`,
`api/services/createPipelineService`; server: `LineageResource`, `LineageRepository`, `CollectionDAO.findFromPipeline`, `EntityRepository`.
"""

import json
import re
from collections.abc import Callable, Sequence
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid4, uuid5

from tests.catalogs.standins.openmetadata import OPEN, OpenMetadata, problem_of
from tests.catalogs.standins.server import Answer, Request

SERVICE = "lineage-bridge"
REFERENCE = {
    "id!": "uuid",
    "type!": "text",
    **dict.fromkeys(("name", "fullyQualifiedName", "description", "displayName", "href"), "text"),
    "deleted": OPEN,
    "inherited": OPEN,
}
DETAILS = {
    "sqlQuery": "text",
    "columnsLineage": [{"fromColumns": ["text"], "toColumn": "text", "function": "text"}],
    "pipeline": REFERENCE,
    "description": "text",
    "source": "text",
    **dict.fromkeys(("createdAt", "createdBy", "updatedAt", "updatedBy", "assetEdges"), OPEN),
    "tempLineageTables": [{"fromEntity!": "text", "toEntity!": "text"}],
}
ADD_LINEAGE = {"edge!": {"fromEntity!": REFERENCE, "toEntity!": REFERENCE, "description": "text", "lineageDetails": DETAILS}}
CREATE_PIPELINE = {
    "name!": "text",
    "service!": "text",
    **dict.fromkeys(("displayName", "description", "sourceUrl", "pipelineLocation", "startDate", "scheduleInterval", "sourceHash"), "text"),
    **dict.fromkeys(("dataProducts", "concurrency", "tasks", "state", "tags", "owners", "extension", "domains", "lifeCycle"), OPEN),
}
CREATE_SERVICE = {
    "name!": "text",
    "serviceType!": "text",
    "connection": {"config": {"type!": "text", "sourcePythonClass": "text", "connectionOptions": OPEN}},
    **dict.fromkeys(("displayName", "description", "scheduleInterval"), "text"),
    **dict.fromkeys(("tags", "style", "owners", "dataProducts", "domains", "lifeCycle", "ingestionRunner"), OPEN),
}
SOURCES = (
    *("Manual", "ViewLineage", "QueryLineage", "PipelineLineage", "DashboardLineage", "DbtLineage", "SparkLineage", "OpenLineage"),
    *("ExternalTableLineage", "CrossDatabaseLineage", "ChildAssets"),
)
SERVICE_TYPES = ("Airflow", "CustomPipeline", "Dagster", "Flink", "KafkaConnect", "OpenLineage", "Spark")
PLURALS = {"tables": "table", "topics": "topic", "containers": "container", "pipelines": "pipeline"}
HIDDEN = ("dataModel",)
"""Members that are answered only if `fields` has them: a container's columns. Those of tables and topics always are."""
ENTITY_NAME = re.compile(r"((?!::).)*")
LONGEST_NAME, LONGEST_FQN = 256, 3072


def quoted(*parts: str) -> str:
    """A fully qualified name, as OpenMetadata's `FullyQualifiedName.build` makes it of names without quotes."""
    assert all(part and '"' not in part for part in parts), parts
    return ".".join(f'"{part}"' if "." in part else part for part in parts)


class OpenMetadataEntities(OpenMetadata):
    """Entities by their ids, and edges by the ids of their ends. `columns_of` says which columns a dataset has that is asked for by its
    type and name; None if there is no such dataset. `meanwhile` is called once, when the first pipeline was written.
    """

    def __init__(self, columns_of: Callable[[str, str], Sequence[str] | None] = lambda _, __: None) -> None:
        super().__init__()
        self.columns_of = columns_of
        self.entities: dict[str, dict[str, Any]] = {}
        self.lineage: dict[tuple[str, str], dict[str, Any]] = {}
        self.services: dict[str, str] = {}
        self.meanwhile: Callable[[], None] | None = None
        self._deleted = 0

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        answer = self._got(request) if request.method == "GET" else self._changed(request)
        return super().handle(request) if answer is None else answer

    def _got(self, request: Request) -> Answer | None:
        answer = None
        match request.parts[2:]:
            case plural, "name", name if plural in PLURALS:
                found = self.named(PLURALS[plural], name)
                answer = Answer(200, _shown(found, request)) if found else _missing(PLURALS[plural], name)
            case "lineage", "getLineageEdge", source, target:
                details = self.lineage.get((source, target))
                answer = (
                    _refused(404, f"Lineage edge not found between {source} and {target}")
                    if details is None
                    else Answer(200, {"edge": details})
                )
            case "lineage", kind, "name", name:
                answer = self._lineage(kind, self.named(kind, name), name, request)
            case "lineage", kind, id_:
                answer = self._lineage(kind, self.entities.get(id_), id_, request)
            case "services", "pipelineServices", "name", name:
                there = self.services.get(name.strip('"'))
                made = {"id": str(uuid4()), "name": name, "fullyQualifiedName": name, "serviceType": there}
                answer = Answer(200, made) if there else _missing("pipelineService", name)
        return answer

    def _changed(self, request: Request) -> Answer | None:
        answer = None
        match request.method, *request.parts[2:]:
            case "PUT", "lineage":
                answer = _checked(request, ADD_LINEAGE, self._add)
            case "DELETE", "lineage", _, source, _, target:
                if missing := next((id_ for id_ in (source, target) if id_ not in self.entities), ""):
                    return _missing("entity", missing)
                answer = _refused(404, "Lineage edge not found") if self.lineage.pop((source, target), None) is None else Answer(200)
            case "PUT", "pipelines":
                answer = _checked(request, CREATE_PIPELINE, self._put_pipeline)
                if self.meanwhile:
                    self.meanwhile()
                    self.meanwhile = None
            case "DELETE", "pipelines", id_:
                answer = self._delete(id_, request.query.get("hardDelete") == "true")
            case "PUT", "services", "pipelineServices":
                answer = _checked(request, CREATE_SERVICE, self._put_service)
        return answer

    # entities

    def named(self, kind: str, name: str) -> dict[str, Any] | None:
        """The entity with a name; a dataset that is asked for the first time is there if `columns_of` knows it."""
        found = next((made for made in self.entities.values() if (made["type"], made["fullyQualifiedName"]) == (kind, name)), None)
        if found is None and kind != "pipeline" and (columns := self.columns_of(kind, name)) is not None:
            return self.put(kind, name, columns)
        return found if found and not found["deleted"] else None

    def put(self, kind: str, name: str, columns: Sequence[str] = (), /, **members: Any) -> dict[str, Any]:
        """Put an entity there."""
        id_ = str(uuid5(NAMESPACE_URL, f"{kind} {name} {self._deleted}"))
        made = {"id": id_, "type": kind, "name": name.rpartition(".")[2], "fullyQualifiedName": name, "deleted": False, **members}
        record = () if kind != "topic" else ("Record",)
        fields = [{"name": column, "dataType": "STRING", "fullyQualifiedName": f"{name}.{quoted(*record, column)}"} for column in columns]
        if kind == "topic":
            whole = {"name": "Record", "dataType": "RECORD", "fullyQualifiedName": f"{name}.Record", "children": fields}
            made["messageSchema"] = {"schemaType": "Avro", "schemaText": "{}", "schemaFields": [whole] if fields else []}
            made["partitions"] = 1
        elif kind == "container":
            made["dataModel"] = {"columns": fields}
        elif kind == "table":
            made["columns"] = fields
        self.entities[made["id"]] = made
        return made

    def _columns(self, id_: str) -> set[str]:
        made = self.entities[id_]
        found = made.get("columns") or made.get("dataModel", {}).get("columns") or made.get("messageSchema", {}).get("schemaFields") or []
        return {field["fullyQualifiedName"] for top in found for field in (top, *top.get("children", ()))}

    def _put_pipeline(self, asked: dict[str, Any]) -> Answer:
        if not ENTITY_NAME.fullmatch(asked["name"]) or not 1 <= len(asked["name"]) <= LONGEST_NAME or '"' in asked["name"]:
            return _refused(400, '[query param name must match "^((?!::).)*$"]')
        if asked["service"].strip('"') not in self.services:
            return _missing("pipelineService", asked["service"])
        name = quoted(asked["service"].strip('"'), asked["name"])
        there = next((made for made in self.entities.values() if (made["type"], made["fullyQualifiedName"]) == ("pipeline", name)), None)
        if there is None:
            return Answer(201, _shown(self.put("pipeline", name, **{"displayName": "", **asked})))
        kept = there.get("description") or asked.get("description")  # a bot does not change a description that is there
        there |= {**asked, "description": kept, "deleted": False}
        return Answer(200, _shown(there))

    def _put_service(self, asked: dict[str, Any]) -> Answer:
        if asked["serviceType"] not in SERVICE_TYPES or asked.get("connection", {}).get("config", {}).get("type") != asked["serviceType"]:
            return _refused(400, "the type of the connection must be that of the service")
        status = 200 if asked["name"] in self.services else 201
        self.services[asked["name"]] = asked["serviceType"]
        return Answer(status, {"id": str(uuid4()), "name": asked["name"], "serviceType": asked["serviceType"]})

    def _delete(self, id_: str, is_hard: bool) -> Answer:
        if id_ not in self.entities:
            return _missing("pipeline", id_)
        self.entities[id_]["deleted"] = True
        if is_hard:
            self.lineage = {ends: details for ends, details in self.lineage.items() if id_ not in ends}
            del self.entities[id_]
            self._deleted += 1
        return Answer(200, {"id": id_})

    # lineage

    def _add(self, asked: dict[str, Any]) -> Answer:
        edge = asked["edge"]
        details = {"source": "Manual", **edge.get("lineageDetails", {})}
        ends = [edge["fromEntity"], edge["toEntity"], *([details["pipeline"]] if "pipeline" in details else [])]
        for end in ends:
            made = self.entities.get(end["id"])
            if made is None or made["deleted"] or made["type"] != end["type"]:
                return _missing(end["type"], end["id"])
        columns = details.get("columnsLineage", ())
        names = [name for column in columns for name in (column["toColumn"], *column["fromColumns"])]
        if details["source"] not in SOURCES or ends[0]["id"] == ends[1]["id"] or not all(1 <= len(name) <= LONGEST_FQN for name in names):
            return _refused(400, "Invalid lineage")
        if "pipeline" in details:
            details["pipeline"] = self._reference(details["pipeline"]["id"])
        sources, targets = self._columns(ends[0]["id"]), self._columns(ends[1]["id"])
        known = [{**found, "fromColumns": [name for name in found["fromColumns"] if name in sources]} for found in columns]
        details["columnsLineage"] = [found for found in known if found["fromColumns"] and found["toColumn"] in targets]
        self.lineage[ends[0]["id"], ends[1]["id"]] = {**details, "createdBy": "bot", "updatedAt": 1}
        return Answer(200)

    def _reference(self, id_: str) -> dict[str, Any]:
        made = self.entities[id_]
        return {"id": id_, **{member: made[member] for member in ("type", "name", "fullyQualifiedName", "deleted")}}

    def _lineage(self, kind: str, made: dict[str, Any] | None, name: str, request: Request) -> Answer:
        depths = [int(request.query.get(f"{side}Depth", 1)) for side in ("upstream", "downstream")]
        assert max(depths) <= 1, "not needed here"
        if made is None or made["deleted"] or made["type"] != kind:
            return _missing(kind, name)
        id_ = made["id"]
        is_of = {ends: details for ends, details in self.lineage.items() if kind == "pipeline" and _pipeline(details) == id_}
        upstream = [(source, details) for (source, at), details in self.lineage.items() if at == id_ or (source, at) in is_of]
        downstream = [(at, details) for (source, at), details in self.lineage.items() if source == id_ or (source, at) in is_of]
        sides = [upstream if depths[0] else [], downstream if depths[1] else []]
        nodes = [self._reference(end) for end in dict.fromkeys(end for side in sides for end, _ in side)]
        edges = [
            [{**dict(zip(order, (end, id_), strict=True)), "lineageDetails": details} for end, details in side]
            for side, order in zip(sides, (("fromEntity", "toEntity"), ("toEntity", "fromEntity")), strict=True)
        ]
        if is_of and depths[0]:  # older servers put the pipeline on the edges of services, too, which they derive
            service = {"id": str(UUID(int=7)), "type": "databaseService", "name": "warehouse", "fullyQualifiedName": "warehouse"}
            nodes.append(service)
            edges[0].append({"fromEntity": service["id"], "toEntity": id_, "lineageDetails": {"source": "ChildAssets", "assetEdges": 1}})
        return Answer(200, {"entity": self._reference(id_), "nodes": nodes, "upstreamEdges": edges[0], "downstreamEdges": edges[1]})

    def edges(self) -> set[tuple[str, str, str]]:
        """The edges of all jobs, as (job, input, output): those between datasets, and those through pipelines."""
        found = set()
        for id_, made in self.entities.items():
            if made["type"] == "pipeline":
                pairs = [ends for ends, details in self.lineage.items() if _pipeline(details) == id_]
                begins, ends = ([pair[side] for pair in self.lineage if pair[1 - side] == id_] for side in (0, 1))
                pairs += [(source, target) for source in begins for target in ends]
                found |= {(made["displayName"], self._shown(source), self._shown(target)) for source, target in pairs}
        return found

    def _shown(self, id_: str) -> str:
        return str(self.entities[id_]["fullyQualifiedName"].rpartition(".")[2].strip('"'))

    def plant_job(self, job: str) -> None:
        """Somebody else's pipeline from `x` to `y`, as a node, under the name that a job of ours has."""
        self.services.setdefault(SERVICE, "CustomPipeline")
        id_ = self._put_pipeline({"name": f"jobs#{job}", "displayName": job, "service": SERVICE}).body["id"]
        self.lineage = {ends: details for ends, details in self.lineage.items() if id_ not in (*ends, _pipeline(details))}
        source, target = (self.named("table", f"warehouse.main.public.{end}") for end in ("x", "y"))
        assert source
        assert target
        self.lineage |= {(source["id"], id_): {"source": "Manual"}, (id_, target["id"]): {"source": "Manual"}}


def _pipeline(details: dict[str, Any]) -> str:
    return str(details.get("pipeline", {}).get("id"))


def _checked(request: Request, shape: Any, then: Callable[[dict[str, Any]], Answer]) -> Answer:
    asked = json.loads(request.body)
    problem = problem_of(asked, shape, "$")
    return _refused(400, problem) if problem else then(asked)


def _shown(made: dict[str, Any], request: Request | None = None) -> dict[str, Any]:
    """An entity as it is answered."""
    asked = request.query.get("fields", "").split(",") if request else []
    shown = {member: value for member, value in made.items() if member != "type" and (member not in HIDDEN or member in asked)}
    service = made["fullyQualifiedName"].partition(".")[0]
    kind = {"table": "databaseService", "topic": "messagingService", "container": "storageService"}.get(made["type"], "pipelineService")
    return {**shown, "service": {"id": str(uuid5(NAMESPACE_URL, service)), "type": kind, "fullyQualifiedName": service}}


def _missing(kind: str, name: str) -> Answer:
    return _refused(404, f"{kind} instance for {name} not found")


def _refused(status: int, message: str) -> Answer:
    return Answer(status, {"code": status, "message": message})
