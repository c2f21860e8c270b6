"""DataHub's metadata service as far as publications and sources meet it: proposals are checked against entities and aspects, and replace
them whole; entities are listed by the scroll endpoint, whose parameters are those that acryl-datahub sends.

Aspects and their required members are those of the Avro schemas in acryl-datahub 1.7.0.17.
"""

import json
import re
from typing import Any
from urllib.parse import quote_plus

from tests.catalogs.standins.datahub_events import RefusedError, aspects_of
from tests.catalogs.standins.server import Answer, Request

ASPECTS = {
    ("dataset", "datasetKey"): ({"platform", "name", "origin"}, {"platform", "name", "origin"}),
    ("dataFlow", "dataFlowInfo"): ({"name"}, {"name", "customProperties", "description", "externalUrl", "project", "env"}),
    ("dataJob", "dataJobInfo"): (
        {"name", "type"},
        {"name", "type", "customProperties", "description", "externalUrl", "flowUrn", "status", "env"},
    ),
    ("dataJob", "dataJobInputOutput"): (
        {"inputDatasets", "outputDatasets"},
        {"inputDatasets", "outputDatasets", "inputDatajobs", "fineGrainedLineages"},
    ),
}
"""Required and possible members."""
TYPES = {"dataJobInputOutput": "com.linkedin.datajob.DataJobInputOutput", "dataJobInfo": "com.linkedin.datajob.DataJobInfo"}
DATASET = r"urn:li:dataset:\(urn:li:dataPlatform:[^,()]+,[^,()]+,[A-Z_]+\)"
FLOW = r"urn:li:dataFlow:\([^,()]+,[^,()]+,[A-Z_]+\)"
URNS = {
    "dataset": re.compile(DATASET),
    "dataFlow": re.compile(FLOW),
    "dataJob": re.compile(rf"urn:li:dataJob:\({FLOW},[^,()]+\)"),
    "schemaField": re.compile(rf"urn:li:schemaField:\({DATASET},[^,()]+\)"),
}
AUDIT = {"time": 0, "actor": "urn:li:corpuser:datahub"}
LISTED: dict[str, tuple[set[str], set[str], dict[str, tuple[set[str], set[str]]]]] = {
    "datasetProperties": (
        set(),
        {"created", "customProperties", "description", "externalUrl", "lastModified", "name", "qualifiedName", "tags", "uri"},
        {},
    ),
    "editableDatasetProperties": (set(), {"created", "deleted", "description", "lastModified", "name"}, {}),
    "schemaMetadata": (
        {"fields", "hash", "platform", "platformSchema", "schemaName", "version"},
        {"created", "dataset", "fields", "hash", "lastModified", "platform", "platformSchema", "primaryKeys", "schemaName", "version"},
        {
            "fields": (
                {"fieldPath", "nativeDataType", "type"},
                {"description", "fieldPath", "globalTags", "glossaryTerms", "isPartOfKey", "nativeDataType", "nullable", "type"},
            )
        },
    ),
    "editableSchemaMetadata": (
        {"editableSchemaFieldInfo"},
        {"created", "editableSchemaFieldInfo", "lastModified"},
        {"editableSchemaFieldInfo": ({"fieldPath"}, {"description", "fieldPath", "globalTags", "glossaryTerms"})},
    ),
    "ownership": (
        {"owners"},
        {"lastModified", "ownerTypes", "owners"},
        {"owners": ({"owner", "type"}, {"attribution", "owner", "source", "type", "typeUrn"})},
    ),
    "globalTags": ({"tags"}, {"tags"}, {"tags": ({"tag"}, {"attribution", "context", "tag"})}),
    "glossaryTerms": (
        {"auditStamp", "terms"},
        {"auditStamp", "terms"},
        {"terms": ({"urn"}, {"actor", "attribution", "context", "urn"})},
    ),
    "subTypes": ({"typeNames"}, {"typeNames"}, {}),
    "status": (set(), {"lifecycleStage", "removed"}, {}),
    "upstreamLineage": (
        {"upstreams"},
        {"fineGrainedLineages", "upstreams"},
        {
            "upstreams": ({"dataset", "type"}, {"auditStamp", "created", "dataset", "properties", "query", "type"}),
            "fineGrainedLineages": (
                {"downstreamType", "upstreamType"},
                {"confidenceScore", "downstreamType", "downstreams", "query", "transformOperation", "upstreamType", "upstreams"},
            ),
        },
    ),
}
"""Of the aspects that only sources read: required and possible members, and those of the objects in their lists."""
SCROLLED = {"count", "query", "scrollId", "skipCache", "includeSoftDelete", "pitKeepAlive"}
PROPOSAL = {"entityType", "entityUrn", "changeType", "aspectName", "aspect"}


class DataHub:
    """Aspects by URN and name; proposals for URNs that end with `refusing` are refused.

    Entities in `hidden` are not listed, `expired` are scroll ids that are not accepted any more, and `failing` are the statuses with which
    lists of a type of entities fail. A page has at most `page` entities. `runs` are those of the events that it took.
    """

    def __init__(self) -> None:
        self.refusing = "nothing"
        self.aspects: dict[tuple[str, str], Any] = {}
        self.requests: list[int] = []
        self.runs: list[str] = []
        self.has_endpoint = True
        self.hidden: set[str] = set()
        self.scrolls: list[str] = []
        self.expired: set[str] = set()
        self.failing: dict[str, int] = {}
        self.page = 100

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        if request.parts[:2] == ("openapi", "openlineage"):
            return self._event(request)
        return self._listed(request) if request.parts[:3] == ("openapi", "v3", "entity") else self._published(request)

    def _event(self, request: Request) -> Answer:
        if request.parts[2:] != ("api", "v1", "lineage") or not self.has_endpoint:
            return Answer(404)
        if request.method != "POST":
            return Answer(405)
        try:
            made = aspects_of(request.body)
        except RefusedError:
            return Answer(500)
        self.runs += [urn for urn, name in made if name == "dataProcessInstanceRunEvent"]
        self.aspects |= made
        return Answer(200)

    def _published(self, request: Request) -> Answer:
        if request.parts != ("config",) and request.headers.get("x-restli-protocol-version") != "2.0.0":
            return _error(400, "the protocol's version is missing")
        match request.method, request.parts[0], request.query.get("action", ""):
            case "GET", "config", _:
                return Answer(200, {"noCode": "true", "versions": {}})
            case "GET", "aspects", _:
                return self._read("/".join(request.parts[1:]), request.query["aspect"])
            case "POST", "aspects", "ingestProposalBatch":
                return self._take(json.loads(request.body))
            case "POST", "entities", "delete":
                urn = json.loads(request.body)["urn"]
                gone = [key for key in self.aspects if key[0] == urn]
                for key in gone:
                    del self.aspects[key]
                return Answer(200, {"value": {"rows": len(gone), "timeseriesRows": 0, "urn": urn}})
        return _error(404, "no such resource")

    def _read(self, urn: str, name: str) -> Answer:
        if (urn, name) not in self.aspects:
            return _error(404, f"cannot find aspect {name} of {urn}")
        return Answer(200, {"version": 0, "aspect": {TYPES[name]: self.aspects[urn, name]}})

    def _take(self, body: dict[str, Any]) -> Answer:
        proposals = body["proposals"]
        problem = next(filter(None, map(_problem, proposals)), "" if body.get("async") in ("true", "false") else "async must be text")
        if any(proposal["entityUrn"].endswith(self.refusing) for proposal in proposals):
            problem = "not allowed here"
        if problem or not 0 < len(proposals) <= 200:
            return _error(422, problem or "too many proposals")
        self.requests.append(len(proposals))
        for proposal in proposals:
            self.aspects[proposal["entityUrn"], proposal["aspectName"]] = json.loads(proposal["aspect"]["value"])
        return Answer(200, {"value": proposals[0]["entityUrn"]})

    def plant(self, urn: str, **aspects: Any) -> None:
        """Put aspects of an entity there, as somebody else's ingestion does."""
        kind = urn.split(":")[2]
        assert URNS[kind].fullmatch(urn), urn
        self.aspects.setdefault((urn, f"{kind}Key"), {})
        for name, value in aspects.items():
            required, possible, inner = LISTED[name] if name in LISTED else (*ASPECTS[kind, name], {})
            assert required <= value.keys() <= possible, (name, sorted(value))
            for member, (needed, allowed) in inner.items():
                assert all(needed <= found.keys() <= allowed for found in value.get(member, ())), (name, member)
            self.aspects[urn, name] = value

    def remove(self, urn: str) -> None:
        """Delete an entity."""
        self.aspects = {key: value for key, value in self.aspects.items() if key[0] != urn}

    def _listed(self, request: Request) -> Answer:
        body = json.loads(request.body)
        return self._scroll(request.query, body) if request.parts[3:] == ("scroll",) else self._found(request.parts[3], body)

    def _scroll(self, query: dict[str, str], body: dict[str, Any]) -> Answer:
        (kind,) = body["entities"]
        at = query.get("scrollId", "")
        unknown = query.keys() - SCROLLED or set(body["aspects"]) - LISTED.keys() - {name for _, name in ASPECTS}
        if unknown or query["query"] != "*" or not 0 < int(query["count"]) <= 10_000:
            return _error(400, f"unknown: {unknown or query}")
        if kind in self.failing or at in self.expired:
            return _error(self.failing.get(kind, 400), "the scroll is not there")
        self.scrolls.append(at)
        removed = {urn for (urn, name), value in self.aspects.items() if name == "status" and value.get("removed")}
        urns = sorted({urn for urn, _ in self.aspects if urn.split(":")[2] == kind and urn > at} - self.hidden - removed)
        shown = urns[: min(int(query["count"]), self.page)]
        following = {"scrollId": shown[-1]} if len(shown) < len(urns) else {}
        return Answer(200, {"entities": [self._entity(urn, body["aspects"]) for urn in shown], "totalCount": len(urns), **following})

    def _found(self, kind: str, asked: list[dict[str, Any]]) -> Answer:
        if "batchGet" in self.failing:
            return _error(self.failing["batchGet"], "not allowed")
        known = {urn for urn, _ in self.aspects if urn.split(":")[2] == kind}
        return Answer(200, [self._entity(entry["urn"], entry.keys() - {"urn"}) for entry in asked if entry["urn"] in known])

    def _entity(self, urn: str, names: Any) -> dict[str, Any]:
        return {"urn": urn, **{name: {"value": self.aspects[urn, name]} for name in names if (urn, name) in self.aspects}}

    def edges(self) -> set[tuple[str, str, str]]:
        """Job, input and output, by name."""
        return {
            (urn[:-1].rpartition(",")[2], source.split(",")[1], target.split(",")[1])
            for (urn, name), value in self.aspects.items()
            if name == "dataJobInputOutput"
            for source in _datasets(value, "input")
            for target in _datasets(value, "output")
        }


def _datasets(aspect: dict[str, Any], side: str) -> list[str]:
    """The datasets of a side, which events state as edges."""
    return [*aspect[f"{side}Datasets"], *(edge["destinationUrn"] for edge in aspect.get(f"{side}DatasetEdges", ()))]


def _error(status: int, message: str) -> Answer:
    return Answer(status, {"exceptionClass": "com.linkedin.restli.server.RestLiServiceException", "message": message, "status": status})


def _problem(proposal: dict[str, Any]) -> str:
    kind, urn, name = proposal.get("entityType", ""), proposal.get("entityUrn", ""), proposal.get("aspectName", "")
    if proposal.keys() != PROPOSAL or proposal["changeType"] != "UPSERT" or (kind, name) not in ASPECTS:
        return f"unknown proposal {proposal}"
    if not URNS[kind].fullmatch(urn) or len(quote_plus(urn, safe="*").replace("~", "%7E")) > 512:
        return f"invalid urn {urn}"
    if proposal["aspect"].keys() != {"contentType", "value"} or proposal["aspect"]["contentType"] != "application/json":
        return "invalid aspect"
    value = json.loads(proposal["aspect"]["value"])
    required, possible = ASPECTS[kind, name]
    if not required <= value.keys() <= possible:
        return f"members of {name} are {sorted(value)}"
    if name == "dataJobInfo" and value["type"].keys() != {"string"}:
        return "type is a union"
    fields = [urn for found in value.get("fineGrainedLineages", ()) for urn in (*found["upstreams"], *found["downstreams"])]
    urns = [*value.get("inputDatasets", ()), *value.get("outputDatasets", ())]
    is_valid = all(map(URNS["dataset"].fullmatch, urns)) and all(map(URNS["schemaField"].fullmatch, fields))
    return "" if is_valid else f"invalid urn in {value}"
