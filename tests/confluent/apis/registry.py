"""A Schema Registry with contexts and exporters, and its Stream Catalog, which only the package ADVANCED has."""

import hashlib
from typing import TYPE_CHECKING
from urllib.parse import quote

import httpx

from tests.confluent.apis.messages import Answer, Request, error
from tests.confluent.organization.values import Json
from tests.sources.http import Request as Plain
from tests.sources.registry.confluent import Confluent, Version

if TYPE_CHECKING:
    from tests.confluent.cloud import Cloud

TYPE = "application/vnd.schemaregistry.v1+json"
ENTITIES = ("kafka_topic", "sr_schema", "sr_record", "sr_field", "sr_subject_version", "kafka_logical_cluster", "cn_connector", "cf_entity")
MOST_FOUND = 500


def answer(cloud: "Cloud", request: Request) -> Answer:
    """A request below `registry/{lsrc}`."""
    id_, *rest = request.parts
    registry = next((registry for registry in cloud.organization["schema_registries"] if registry["id"] == id_), None)
    if registry is None:
        return error(404, "HTTP 404 Not Found", "registry", 404)
    if request.method != "GET":
        return error(405, "HTTP 405 Method Not Allowed", "registry", 405)
    if rest[:2] == ["catalog", "v1"]:
        return Catalog(cloud, registry).answer(request._replace(parts=tuple(rest[2:])))
    answer_ = _subjects(cloud, id_, request, rest) if rest[:1] != ["exporters"] else _exporters(cloud, id_, rest[1:])
    if answer_.status == 200 and rest[:1] == ["schemas"]:
        return _tagged(request, answer_)
    return answer_


def _tagged(request: Request, answer: Answer) -> Answer:
    """The answer with an ETag; 304 if the client has that one."""
    tag = '"' + hashlib.sha256(repr(answer.body).encode()).hexdigest()[:16] + '"'
    if request.headers.get("if-none-match") == tag:
        return Answer(304, b"", headers={"ETag": tag})
    return answer._replace(headers={"ETag": tag})


def _version(subject: Json) -> Version:
    more = {key: subject[key] for key in ("references", "metadata", "ruleSet") if subject[key]}
    if subject["schemaType"] != "AVRO":
        more["schemaType"] = subject["schemaType"]
    return Version(subject["subject"], subject["version"], subject["id"], subject["schema"], more, subject["deleted"])


def register(organization: Json, id_: str, url: str) -> None:
    """Register the subjects of a registry, except those in contexts, in a real one, and adopt the ids that it assigns."""
    subjects = [
        subject
        for subject in organization["subjects"]
        if subject["registry"] == id_ and not subject["deleted"] and not subject["subject"].startswith(":")
    ]
    with httpx.Client(timeout=60) as client:
        for subject in sorted(subjects, key=lambda subject: (len(subject["references"]), subject["version"], subject["id"])):
            body = {"schema": subject["schema"], "schemaType": subject["schemaType"], "references": subject["references"]}
            response = client.post(f"{url}/subjects/{quote(subject['subject'], safe='')}/versions", json=body).raise_for_status()
            subject["id"] = response.json()["id"]


def _real(url: str, request: Request, rest: list[str]) -> Answer | None:
    """A real registry's answer about subjects and schemas; None for other requests and those that it does not support."""
    if rest[:1] not in (["subjects"], ["schemas"], ["config"]) or rest == ["schemas"] or any(part.startswith(":") for part in rest):
        return None
    if rest == ["subjects"] and request.value("subjectPrefix").startswith(":"):
        return None
    path = "/".join(quote(part, safe="") for part in rest)
    response = httpx.get(f"{url}/{path}", params=request.query, timeout=30, verify=False)
    return Answer(response.status_code, response.content, TYPE)


def _subjects(cloud: "Cloud", id_: str, request: Request, rest: list[str]) -> Answer:
    if id_ in cloud.registries and (real := _real(cloud.registries[id_], request, rest)):
        return real
    subjects = [subject for subject in cloud.organization["subjects"] if subject["registry"] == id_]
    match rest:
        case ["clusterconfig"]:
            return Answer(200, {"maxSchemas": 20000, "maxRequestsPerSec": 75}, TYPE)
        case ["schemas", "types"]:
            return Answer(200, ["JSON", "PROTOBUF", "AVRO"], TYPE)
        case ["schemas", "ids", number, *part]:
            return _by_id(subjects, number, part)
        case ["subjects", subject, "versions", version, "referencedby"]:
            reference = (subject, int(version) if version.isdigit() else 0)
            ids = [entry["id"] for entry in subjects if reference in {(to["subject"], to["version"]) for to in entry["references"]}]
            return Answer(200, ids, TYPE)
    query = {key: values[-1] for key, values in request.query.items()}
    response = Confluent([_version(entry) for entry in subjects])(Plain("GET", tuple(rest), query, None, request.headers))
    return Answer(response.status, response.body, TYPE)


def _by_id(subjects: list[Json], number: str, part: list[str]) -> Answer:
    found = [subject for subject in subjects if str(subject["id"]) == number and not subject["deleted"]]
    if not found:
        return error(404, f"Schema {number} not found", "registry", 40403)
    bodies = {
        (): {key: value for key, value in _version(found[0]).body().items() if key not in ("subject", "version", "id")},
        ("subjects",): [subject["subject"] for subject in found],
        ("versions",): [{"subject": subject["subject"], "version": subject["version"]} for subject in found],
    }.get(tuple(part))
    return Answer(200, bodies, TYPE) if bodies is not None else error(404, "HTTP 404 Not Found", "registry", 404)


def _exporters(cloud: "Cloud", id_: str, rest: list[str]) -> Answer:
    exporters = {exporter["name"]: exporter for exporter in cloud.organization["exporters"] if exporter["registry"] == id_}
    if not rest:
        return Answer(200, sorted(exporters), TYPE)
    if rest[0] not in exporters:
        return error(404, f"Exporter {rest[0]} not found", "registry", 40450)
    exporter = exporters[rest[0]]
    there = exporter["destination"] if "://" in exporter["destination"] else f"{cloud.url}/registry/{exporter['destination']}"
    config = {
        "schema.registry.url": there,
        "basic.auth.credentials.source": "USER_INFO",
        "basic.auth.user.info": f"{exporter['user']}:{exporter['secret']}" if exporter.get("shown") else "[hidden]",
    }
    bodies = {
        (): {**{key: exporter[key] for key in ("name", "contextType", "context", "subjects", "subjectRenameFormat")}, "config": config},
        ("config",): config,
        ("status",): {
            "name": exporter["name"],
            "state": exporter["state"],
            "offset": exporter["offset"],
            "ts": 1767000000000,
            "trace": exporter["trace"],
        },
    }.get(tuple(rest[1:]))
    return Answer(200, bodies, TYPE) if bodies is not None else error(404, "HTTP 404 Not Found", "registry", 404)


class Catalog:
    """The Stream Catalog of a registry."""

    def __init__(self, cloud: "Cloud", registry: Json) -> None:
        self.cloud, self.registry = cloud, registry
        self.catalog = cloud.organization["catalog"]

    def answer(self, request: Request) -> Answer:  # noqa: PLR0911 - a return for each path
        """A request below `catalog/v1`."""
        if self.registry["package"] != "ADVANCED":
            return error(403, "The Stream Catalog needs Stream Governance ADVANCED.", "catalog", 40301)
        match request.parts:
            case ("search", "basic"):
                return self._search(request)
            case ("entity", "type", kind, "name", name, *part):
                return self._entity(kind, name, part)
            case ("types", "tagdefs"):
                definitions = [
                    {"category": "CLASSIFICATION", "version": 1, "entityTypes": ["cf_entity"], "attributeDefs": [], **tag}
                    for tag in self.catalog["tags"]
                ]
                return Answer(200, definitions)
            case ("types", "businessmetadatadefs"):
                definitions = [
                    {
                        "category": "BUSINESS_METADATA",
                        "name": metadata["name"],
                        "attributeDefs": [{"name": name, "typeName": "string"} for name in metadata["attributes"]],
                    }
                    for metadata in self.catalog["business_metadata"]
                ]
                return Answer(200, definitions)
            case ("types", "typedefs"):
                return Answer(200, {"entityDefs": [{"category": "ENTITY", "name": name} for name in ENTITIES]})
        return error(404, "HTTP 404 Not Found", "catalog", 404)

    def _entities(self) -> list[Json]:
        """Entities with their attributes, and the topics without any."""
        listed = [entity for entity in self.catalog["entities"] if entity["registry"] == self.registry["id"]]
        named = {entry["attributes"]["qualifiedName"] for entry in listed}
        clusters = {
            cluster["id"] for cluster in self.cloud.organization["kafka_clusters"] if cluster["environment"] == self.registry["environment"]
        }
        topics = [
            (topic, f"{self.registry['id']}:{topic['cluster']}:{topic['topic_name']}")
            for topic in self.cloud.organization["topics"]
            if topic["cluster"] in clusters
        ]
        plain = [
            {
                "typeName": "kafka_topic",
                "attributes": {"name": topic["topic_name"], "qualifiedName": qualified_name},
                "classificationNames": [],
                "businessMetadata": {},
            }
            for topic, qualified_name in topics
            if qualified_name not in named
        ]
        return listed + plain

    def _search(self, request: Request) -> Answer:
        kinds, tag = request.values("type") or request.values("types"), request.value("tag")
        limit, offset = request.value("limit", "100"), request.value("offset", "0")
        if not limit.isdigit() or int(limit) > MOST_FOUND or not offset.isdigit():
            return error(400, f"limit must be at most {MOST_FOUND}, offset a number", "catalog", 40001)
        if not kinds and not tag and not request.value("query"):
            return error(400, "a type, a tag or a query is needed", "catalog", 40001)
        if unknown := sorted(set(kinds) - set(ENTITIES)):
            return error(400, f"Type ENTITY with name {unknown[0]} does not exist", "catalog", 4040001)
        attributes = {"name", "qualifiedName", *request.values("attr"), *request.values("attrs")}
        found = [entity for entity in self._entities() if not kinds or entity["typeName"] in kinds]
        if tag:
            found = [entity for entity in found if (tag == "*" and entity["classificationNames"]) or tag in entity["classificationNames"]]
        found = found[int(offset) : int(offset) + int(limit)]
        return Answer(
            200,
            {
                "searchParameters": {"limit": int(limit), "offset": int(offset), "tag": tag or None},
                "types": kinds,
                "entities": [self._entity_body(entity, attributes) for entity in found],
            },
        )

    def _entity_body(self, entity: Json, requested: set[str]) -> Json:
        found = {key: value for key, value in entity["attributes"].items() if key in requested}
        guid = hashlib.sha256(entity["attributes"]["qualifiedName"].encode()).hexdigest()[:32]
        tags = entity["classificationNames"]
        more = {"classificationNames": tags, "classifications": [{"typeName": tag} for tag in tags]}
        return {
            "typeName": entity["typeName"],
            "attributes": found,
            "guid": guid,
            "status": "ACTIVE",
            "displayText": entity["attributes"]["name"],
            **more,
        }

    def _entity(self, kind: str, name: str, part: list[str]) -> Answer:
        entity_ = next(
            (entry for entry in self._entities() if (entry["typeName"], entry["attributes"]["qualifiedName"]) == (kind, name)), None
        )
        if entity_ is None:
            return error(404, f"Instance {kind} with unique attribute {{qualifiedName={name}}} does not exist", "catalog", 4040009)
        identity = {"entityType": kind, "entityName": name}
        if not part:
            entity = {**self._entity_body(entity_, set(entity_["attributes"])), "businessAttributes": entity_["businessMetadata"]}
            return Answer(200, {"referredEntities": {}, "entity": entity})
        if part == ["tags"]:
            return Answer(200, [{"typeName": tag, **identity} for tag in entity_["classificationNames"]])
        if part == ["businessmetadata"]:
            return Answer(200, [{"typeName": key, "attributes": value, **identity} for key, value in entity_["businessMetadata"].items()])
        return error(404, "HTTP 404 Not Found", "catalog", 404)
