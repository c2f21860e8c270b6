"""DataHub's metadata service as far as publications meet it: proposals are checked against entities and aspects, and replace them whole.

Aspects and their required members are those of the Avro schemas in acryl-datahub 1.7.0.17.
"""

import json
import re
from typing import Any
from urllib.parse import quote_plus

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
PROPOSAL = {"entityType", "entityUrn", "changeType", "aspectName", "aspect"}


class DataHub:
    """Aspects by URN and name; proposals for URNs that end with `refusing` are refused."""

    def __init__(self) -> None:
        self.refusing = "nothing"
        self.aspects: dict[tuple[str, str], Any] = {}
        self.requests: list[int] = []

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        if request.headers.get("x-restli-protocol-version") != "2.0.0":
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

    def edges(self) -> set[tuple[str, str, str]]:
        """Job, input and output, by name."""
        return {
            (urn[:-1].rpartition(",")[2], source.split(",")[1], target.split(",")[1])
            for (urn, name), value in self.aspects.items()
            if name == "dataJobInputOutput"
            for source in value["inputDatasets"]
            for target in value["outputDatasets"]
        }


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
