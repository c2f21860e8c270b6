"""A Schema Registry with contexts and exporters, and the Stream Catalog beside it, which only ADVANCED has."""

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
    registry = next((one for one in cloud.organization["schema_registries"] if one["id"] == id_), None)
    if registry is None:
        return error(404, "HTTP 404 Not Found", "registry", 404)
    if request.method != "GET":
        return error(405, "HTTP 405 Method Not Allowed", "registry", 405)
    if rest[:2] == ["catalog", "v1"]:
        return Catalog(cloud, registry).answer(request._replace(parts=tuple(rest[2:])))
    answered = _subjects(cloud, id_, request, rest) if rest[:1] != ["exporters"] else _exporters(cloud, id_, rest[1:])
    if answered.status == 200 and rest[:1] == ["schemas"]:
        return _tagged(request, answered)
    return answered


def _tagged(request: Request, answered: Answer) -> Answer:
    """Schemas with their ETag; nothing, if the asker has them."""
    tag = '"' + hashlib.sha256(repr(answered.body).encode()).hexdigest()[:16] + '"'
    if request.headers.get("if-none-match") == tag:
        return Answer(304, b"", headers={"ETag": tag})
    return answered._replace(headers={"ETag": tag})


def _version(one: Json) -> Version:
    more = {key: one[key] for key in ("references", "metadata", "ruleSet") if one[key]}
    if one["schemaType"] != "AVRO":
        more["schemaType"] = one["schemaType"]
    return Version(one["subject"], one["version"], one["id"], one["schema"], more, one["deleted"])


def register(organization: Json, id_: str, url: str) -> None:
    """Gives the subjects of a registry, outside of contexts, to a real one, and takes on the ids that it gives."""
    mine = [one for one in organization["subjects"] if one["registry"] == id_ and not one["deleted"] and not one["subject"].startswith(":")]
    with httpx.Client(timeout=60) as client:
        for one in sorted(mine, key=lambda one: (len(one["references"]), one["version"], one["id"])):
            body = {"schema": one["schema"], "schemaType": one["schemaType"], "references": one["references"]}
            said = client.post(f"{url}/subjects/{quote(one['subject'], safe='')}/versions", json=body).raise_for_status()
            one["id"] = said.json()["id"]


def _real(url: str, request: Request, rest: list[str]) -> Answer | None:
    """What a real registry says of subjects and schemas; none, if it is not asked that or cannot tell."""
    if rest[:1] not in (["subjects"], ["schemas"], ["config"]) or rest == ["schemas"] or any(part.startswith(":") for part in rest):
        return None
    if rest == ["subjects"] and request.one("subjectPrefix").startswith(":"):
        return None
    path = "/".join(quote(part, safe="") for part in rest)
    said = httpx.get(f"{url}/{path}", params=request.query, timeout=30)
    return Answer(said.status_code, said.content, TYPE)


def _subjects(cloud: "Cloud", id_: str, request: Request, rest: list[str]) -> Answer:
    if id_ in cloud.registries and (real := _real(cloud.registries[id_], request, rest)):
        return real
    mine = [one for one in cloud.organization["subjects"] if one["registry"] == id_]
    match rest:
        case ["clusterconfig"]:
            return Answer(200, {"maxSchemas": 20000, "maxRequestsPerSec": 75}, TYPE)
        case ["schemas", "types"]:
            return Answer(200, ["JSON", "PROTOBUF", "AVRO"], TYPE)
        case ["schemas", "ids", number, *part]:
            return _by_id(mine, number, part)
        case ["subjects", subject, "versions", version, "referencedby"]:
            reference = (subject, int(version) if version.isdigit() else 0)
            ids = [one["id"] for one in mine if reference in {(to["subject"], to["version"]) for to in one["references"]}]
            return Answer(200, ids, TYPE)
    query = {key: values[-1] for key, values in request.query.items()}
    said = Confluent([_version(one) for one in mine])(Plain("GET", tuple(rest), query, None, request.headers))
    return Answer(said.status, said.body, TYPE)


def _by_id(mine: list[Json], number: str, part: list[str]) -> Answer:
    found = [one for one in mine if str(one["id"]) == number and not one["deleted"]]
    if not found:
        return error(404, f"Schema {number} not found", "registry", 40403)
    told = {
        (): {key: value for key, value in _version(found[0]).told().items() if key not in ("subject", "version", "id")},
        ("subjects",): [one["subject"] for one in found],
        ("versions",): [{"subject": one["subject"], "version": one["version"]} for one in found],
    }.get(tuple(part))
    return Answer(200, told, TYPE) if told is not None else error(404, "HTTP 404 Not Found", "registry", 404)


def _exporters(cloud: "Cloud", id_: str, rest: list[str]) -> Answer:
    mine = {one["name"]: one for one in cloud.organization["exporters"] if one["registry"] == id_}
    if not rest:
        return Answer(200, sorted(mine), TYPE)
    if rest[0] not in mine:
        return error(404, f"Exporter {rest[0]} not found", "registry", 40450)
    one = mine[rest[0]]
    there = one["destination"] if "://" in one["destination"] else f"{cloud.url}/registry/{one['destination']}"
    config = {
        "schema.registry.url": there,
        "basic.auth.credentials.source": "USER_INFO",
        "basic.auth.user.info": f"{one['user']}:{one['secret']}" if one.get("shown") else "[hidden]",
    }
    told = {
        (): {**{key: one[key] for key in ("name", "contextType", "context", "subjects", "subjectRenameFormat")}, "config": config},
        ("config",): config,
        ("status",): {"name": one["name"], "state": one["state"], "offset": one["offset"], "ts": 1767000000000, "trace": one["trace"]},
    }.get(tuple(rest[1:]))
    return Answer(200, told, TYPE) if told is not None else error(404, "HTTP 404 Not Found", "registry", 404)


class Catalog:
    """The Stream Catalog of a registry."""

    def __init__(self, cloud: "Cloud", registry: Json) -> None:
        self.cloud, self.registry = cloud, registry
        self.known = cloud.organization["catalog"]

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
                told = [
                    {"category": "CLASSIFICATION", "version": 1, "entityTypes": ["cf_entity"], "attributeDefs": [], **one}
                    for one in self.known["tags"]
                ]
                return Answer(200, told)
            case ("types", "businessmetadatadefs"):
                told = [
                    {
                        "category": "BUSINESS_METADATA",
                        "name": one["name"],
                        "attributeDefs": [{"name": name, "typeName": "string"} for name in one["attributes"]],
                    }
                    for one in self.known["business_metadata"]
                ]
                return Answer(200, told)
            case ("types", "typedefs"):
                return Answer(200, {"entityDefs": [{"category": "ENTITY", "name": name} for name in ENTITIES]})
        return error(404, "HTTP 404 Not Found", "catalog", 404)

    def _mine(self) -> list[Json]:
        """Entities with what is said of them, and topics of which nothing is said."""
        told = [one for one in self.known["entities"] if one["registry"] == self.registry["id"]]
        named = {one["attributes"]["qualifiedName"] for one in told}
        clusters = {one["id"] for one in self.cloud.organization["kafka_clusters"] if one["environment"] == self.registry["environment"]}
        topics = [
            (one, f"{self.registry['id']}:{one['cluster']}:{one['topic_name']}")
            for one in self.cloud.organization["topics"]
            if one["cluster"] in clusters
        ]
        plain = [
            {
                "typeName": "kafka_topic",
                "attributes": {"name": one["topic_name"], "qualifiedName": place},
                "classificationNames": [],
                "businessMetadata": {},
            }
            for one, place in topics
            if place not in named
        ]
        return told + plain

    def _search(self, request: Request) -> Answer:
        kinds, tag = request.many("type") or request.many("types"), request.one("tag")
        limit, offset = request.one("limit", "100"), request.one("offset", "0")
        if not limit.isdigit() or int(limit) > MOST_FOUND or not offset.isdigit():
            return error(400, f"limit must be at most {MOST_FOUND}, offset a number", "catalog", 40001)
        if not kinds and not tag and not request.one("query"):
            return error(400, "a type, a tag or a query is needed", "catalog", 40001)
        if unknown := sorted(set(kinds) - set(ENTITIES)):
            return error(400, f"Type ENTITY with name {unknown[0]} does not exist", "catalog", 4040001)
        asked = {"name", "qualifiedName", *request.many("attr"), *request.many("attrs")}
        found = [one for one in self._mine() if not kinds or one["typeName"] in kinds]
        if tag:
            found = [one for one in found if (tag == "*" and one["classificationNames"]) or tag in one["classificationNames"]]
        found = found[int(offset) : int(offset) + int(limit)]
        return Answer(
            200,
            {
                "searchParameters": {"limit": int(limit), "offset": int(offset), "tag": tag or None},
                "types": kinds,
                "entities": [self._told(one, asked) for one in found],
            },
        )

    def _told(self, one: Json, asked: set[str]) -> Json:
        attributes = {key: value for key, value in one["attributes"].items() if key in asked}
        guid = hashlib.sha256(one["attributes"]["qualifiedName"].encode()).hexdigest()[:32]
        tags = one["classificationNames"]
        more = {"classificationNames": tags, "classifications": [{"typeName": tag} for tag in tags]}
        return {
            "typeName": one["typeName"],
            "attributes": attributes,
            "guid": guid,
            "status": "ACTIVE",
            "displayText": one["attributes"]["name"],
            **more,
        }

    def _entity(self, kind: str, name: str, part: list[str]) -> Answer:
        one = next((one for one in self._mine() if (one["typeName"], one["attributes"]["qualifiedName"]) == (kind, name)), None)
        if one is None:
            return error(404, f"Instance {kind} with unique attribute {{qualifiedName={name}}} does not exist", "catalog", 4040009)
        place = {"entityType": kind, "entityName": name}
        if not part:
            entity = {**self._told(one, set(one["attributes"])), "businessAttributes": one["businessMetadata"]}
            return Answer(200, {"referredEntities": {}, "entity": entity})
        if part == ["tags"]:
            return Answer(200, [{"typeName": tag, **place} for tag in one["classificationNames"]])
        if part == ["businessmetadata"]:
            return Answer(200, [{"typeName": key, "attributes": value, **place} for key, value in one["businessMetadata"].items()])
        return error(404, "HTTP 404 Not Found", "catalog", 404)
