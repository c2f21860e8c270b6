"""A tenant of Atlan as far as publications meet it: events of runs that become assets when the run has ended, a search of them, archiving.

Paths, requests and answers are those of pyatlan 11.6.0, which `test_atlan_client.py` asks this with; what becomes of events is what Atlan's
pages say of the connector generic-openlineage. Events that it does not use are taken all the same, and dropped.
"""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from tests.catalogs.standins.server import Answer, Request

TOKEN, CLIENT, SECRET = "atlan-token", "atlan-client", "atlan-secret"
CONNECTOR, CONNECTION = "generic-openlineage", "lineage"
QUALIFIED = f"default/{CONNECTOR}/1700000000"
MOST_BYTES = 1 << 20
LINEAGE = ("api", "v1", "lineage")
ENDED = ("COMPLETE", "ABORT", "FAIL")
RELATIONAL = ("postgres", "oracle", "mysql", "mssql", "trino", "redshift", "teradata", "awsathena", "snowflake", "bigquery", "hive")
SEARCHED = {
    "FlowControlOperation": {"name", "qualifiedName", "flowRunId", "flowDataResults", "connectionQualifiedName", "assetUserDefinedType"},
    "Process": {"name", "qualifiedName", "inputs", "outputs", "columnProcesses", "connectionQualifiedName"},
    "Connection": {"name", "qualifiedName", "connectorName"},
}
"""The attributes that each type has."""
TYPE = "__typeName.keyword"
FIELDS = {"__state", TYPE, "__guid", "qualifiedName", "name.keyword", "connectorName"}


@dataclass
class Run:
    """What the events of a run have said so far."""

    job: tuple[str, str]
    began: str = ""
    inputs: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    outputs: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    job_type: str = ""


class Atlan:
    """Assets by their ids. `lag` is how many searches pass before an ended run is shown; `dropped` are events that were not used."""

    def __init__(self) -> None:
        self.enabled = {CONNECTOR}
        self.lag = 0
        self.tokens = {TOKEN}
        self.assets: dict[str, dict[str, Any]] = {}
        self.runs: dict[str, Run] = {}
        self.waiting: list[tuple[int, str, dict[str, Any], Run]] = []
        self.events: list[dict[str, Any]] = []
        self.dropped: list[str] = []
        self.refusing = ""
        self.searches: list[dict[str, Any]] = []
        self.connect(CONNECTION, QUALIFIED)

    def connect(self, name: str, qualified: str) -> None:
        """Create a connection."""
        self.put("Connection", qualified, name=name, connectorName=CONNECTOR)

    def put(self, kind: str, qualified: str, **attributes: Any) -> str:
        """Create or change an active asset; its id."""
        there = next((guid for guid, asset in self.assets.items() if self._is(asset, kind, qualified)), str(uuid4()))
        asset = self.assets.setdefault(there, {"typeName": kind, "guid": there, "status": "ACTIVE", "attributes": {}})
        asset["attributes"] |= {"qualifiedName": qualified, **attributes}
        return there

    @staticmethod
    def _is(asset: dict[str, Any], kind: str, qualified: str) -> bool:
        return (asset["status"], asset["typeName"], asset["attributes"]["qualifiedName"]) == ("ACTIVE", kind, qualified)

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        is_event = request.method == "POST" and request.parts[:2] == ("events", "openlineage") and request.parts[3:] == LINEAGE
        if is_event and request.parts[2] not in self.enabled:
            text = f"Unauthorized: url path not configured to receive data, urlPath: /{'/'.join(request.parts)}"
            return Answer(401, text.encode(), {"Content-Type": "text/plain"})
        is_login = request.method == "POST" and request.parts == ("api", "service", "oauth-clients", "token")
        if not is_login and request.headers.get("authorization", "").removeprefix("Bearer ") not in self.tokens:
            return _error(401, "ATLAS-401-00-001", "the token is not valid")
        return self._take(request.parts[2], request.body) if is_event else self._answer(request)

    def _answer(self, request: Request) -> Answer:
        match request.method, *request.parts:
            case "POST", "api", "service", "oauth-clients", "token":
                return self._log_in(json.loads(request.body))
            case "POST", "api", "meta", "search", "indexsearch":
                return self._search(json.loads(request.body))
            case ("GET", "api", "meta", "entity", "guid", guid) if guid in self.assets:
                return Answer(200, {"entity": self.assets[guid], "referredEntities": {}})
            case "DELETE", "api", "meta", "entity", "bulk":
                return self._archive(request.lists.get("guid", []), request.query.get("deleteType", ""))
        return _error(404, "ATLAS-404-00-001", "no such resource")

    def _log_in(self, login: dict[str, str]) -> Answer:
        if login != {"clientId": CLIENT, "clientSecret": SECRET}:
            return _error(400, "OAUTH-400", "client id or secret are wrong")
        self.tokens = {f"token-{uuid4()}"}
        return Answer(200, {"accessToken": next(iter(self.tokens)), "tokenType": "Bearer", "expiresIn": 600})

    # events

    def _take(self, connector: str, body: bytes) -> Answer:
        if len(body) > MOST_BYTES:
            return Answer(413, b"Request Entity Too Large", {"Content-Type": "text/plain"})
        try:
            event = json.loads(body)
            problem = _problem(event)
        except ValueError as error:
            problem = str(error)
        if not problem and self.refusing and event["job"]["name"].endswith(self.refusing):
            problem = "not allowed here"
        if problem:
            return _error(400, "CHRONOS-400", problem)
        self.events.append(event)
        self._use(connector, event)
        return Answer(202, b"Event received", {"Content-Type": "text/plain"})

    def _use(self, connector: str, event: dict[str, Any]) -> None:
        run_id, job = event["run"]["runId"], (event["job"]["namespace"], event["job"]["name"])
        run = self.runs.get(run_id)
        if event["eventType"] == "START" and run is None:
            run = self.runs[run_id] = Run(job, event["eventTime"])
        if run is None or run.job != job:
            self.dropped.append(f"{event['eventType']} of a run that has not begun, or of another job")
            return
        stated = event["job"].get("facets", {}).get("jobType", {}).get("jobType", "")
        run.job_type = stated or run.job_type
        for side, known in (("inputs", run.inputs), ("outputs", run.outputs)):
            known.update({(dataset["namespace"], dataset["name"]): dataset for dataset in event.get(side, ())})
        if event["eventType"] in ENDED:
            if _time(event) <= _time({"eventTime": run.began}):
                self.dropped.append("a run that ends before it has begun")
                return
            self.waiting.append((self.lag, connector, event, run))
            self._show(0)

    def _show(self, searches: int) -> None:
        """Make assets of the runs that have waited long enough, after so many searches more."""
        waiting, self.waiting = self.waiting, []
        for lag, connector, event, run in waiting:
            if lag > 0:
                self.waiting.append((lag - searches, connector, event, run))
            else:
                self._make(connector, event, run)

    def _make(self, connector: str, event: dict[str, Any], run: Run) -> None:
        of_name = [
            asset["attributes"]["qualifiedName"]
            for asset in self.assets.values()
            if asset["typeName"] == "Connection"
            and (asset["attributes"]["name"], asset["attributes"]["connectorName"]) == (run.job[0], connector)
        ]
        if not of_name:
            self.dropped.append(f"a run in {run.job[0]}, which is no connection")
            return
        if run.job_type not in ("APPLICATION", "DAG", "WORKFLOW") and "parent" not in event["run"].get("facets", {}):
            self.dropped.append(f"a run of the type {run.job_type} without a parent")
            return
        connection, (_, name) = of_name[0], run.job
        results = []
        if run.inputs and run.outputs:
            inputs, outputs = ([self._partial(dataset) for dataset in side] for side in (run.inputs, run.outputs))
            within = {"connectionQualifiedName": connection}
            process = self.put("Process", f"{connection}/{name}/process", name=name, inputs=inputs, outputs=outputs, **within)
            columns = [self.put("ColumnProcess", f"{connection}/{name}/{edge}", name=str(edge), **within) for edge in _columns(run)]
            self.assets[process]["attributes"]["columnProcesses"] = [{"guid": guid, "typeName": "ColumnProcess"} for guid in columns]
            results = [{"guid": process, "typeName": "Process"}]
        self.put(
            "FlowControlOperation",
            f"{connection}/{name}",
            name=name,
            connectionQualifiedName=connection,
            flowRunId=event["run"]["runId"],
            flowDataResults=results,
            assetUserDefinedType=run.job_type,
        )

    def _partial(self, dataset: tuple[str, str]) -> dict[str, str]:
        guid = self.put("Table", "/".join(dataset), name=dataset[1], isPartial=True)
        return {"guid": guid, "typeName": "Table"}

    # assets

    def _search(self, asked: dict[str, Any]) -> Answer:
        self._show(1)
        self.searches.append(asked)
        dsl = asked["dsl"]
        terms = {
            name: _values(name, value) for part in dsl["query"]["bool"]["filter"] for kind in part.values() for name, value in kind.items()
        }
        kind = next((known for known in SEARCHED if [known.casefold()] == terms.get(TYPE)), "")
        if not terms.keys() <= FIELDS or not set(asked["attributes"]) <= SEARCHED.get(kind, set()):
            return _error(400, "ATLAS-400-00-001", f"unknown fields in {asked}")
        if dsl["sort"] != [{"__guid": {"order": "asc"}}] or not 0 < dsl["size"] <= 300:
            return _error(400, "ATLAS-400-00-002", "pages need an order")
        found = [asset for _, asset in sorted(self.assets.items()) if all(_field(asset, name) in values for name, values in terms.items())]
        shown = [self._shown(asset, asked["attributes"]) for asset in found[dsl["from"] :][: dsl["size"]]]
        return Answer(200, {"approximateCount": len(found), **({"entities": shown} if shown else {})})

    @staticmethod
    def _shown(asset: dict[str, Any], attributes: list[str]) -> dict[str, Any]:
        shown = {name: asset["attributes"][name] for name in attributes if name in asset["attributes"]}
        return {**asset, "attributes": {"qualifiedName": asset["attributes"]["qualifiedName"], **shown}}

    def _archive(self, guids: list[str], how: str) -> Answer:
        if how != "SOFT" or not guids or not set(guids) <= self.assets.keys():
            return _error(404, "ATLAS-404-00-005", f"no such assets: {guids}")
        for guid in guids:
            self.assets[guid]["status"] = "DELETED"
        return Answer(200, {"mutatedEntities": {"DELETE": [{**self.assets[guid], "attributes": {}} for guid in guids]}})

    def edges(self) -> set[tuple[str, str, str]]:
        """Job, input and output, by name, of the jobs that are there."""
        return {
            (asset["attributes"]["name"].rpartition("#")[2], self._name(source), self._name(target))
            for asset in self.active("FlowControlOperation")
            for result in asset["attributes"]["flowDataResults"]
            for source in self.assets[result["guid"]]["attributes"]["inputs"]
            for target in self.assets[result["guid"]]["attributes"]["outputs"]
        }

    def active(self, kind: str) -> list[dict[str, Any]]:
        """The assets of a type that are not archived."""
        return [asset for asset in self.assets.values() if asset["typeName"] == kind and asset["status"] == "ACTIVE"]

    def _name(self, reference: dict[str, str]) -> str:
        name: str = self.assets[reference["guid"]]["attributes"]["name"]
        return name


def _error(status: int, code: str, message: str) -> Answer:
    return Answer(status, {"errorCode": code, "errorMessage": message})


def _values(name: str, value: Any) -> list[Any]:
    """The values of a term, which clients write in several forms; types are found in any case."""
    value = value["value"] if isinstance(value, dict) else value
    values = value if isinstance(value, list) else [value]
    return [str(found).casefold() for found in values] if name == TYPE else values


def _field(asset: dict[str, Any], name: str) -> Any:
    of_asset = {"__state": asset["status"], TYPE: asset["typeName"].casefold(), "__guid": asset["guid"]}
    return of_asset[name] if name in of_asset else asset["attributes"].get(name.removesuffix(".keyword"))


def _time(event: dict[str, Any]) -> datetime:
    return datetime.fromisoformat(event["eventTime"].replace("Z", "+00:00"))


def _problem(event: Any) -> str:
    """Why an event is none of a run."""
    if not isinstance(event, dict) or not {"eventTime", "producer", "schemaURL", "eventType", "run", "job"} <= event.keys():
        return "not an event of a run"
    if not event["schemaURL"].endswith("/RunEvent") or event["eventType"] not in ("START", "RUNNING", "OTHER", *ENDED):
        return "unknown type of event"
    UUID(event["run"]["runId"])
    _time(event)
    subjects = [event["job"], *event.get("inputs", ()), *event.get("outputs", ())]
    return "" if all(isinstance(subject.get("name"), str) and subject.get("namespace") for subject in subjects) else "a name is missing"


def _columns(run: Run) -> list[tuple[str, ...]]:
    """The edges of columns between relational datasets."""

    def is_relational(namespace: str) -> bool:
        return namespace.partition(":")[0] in RELATIONAL

    return [
        (*map(str, source.values()), *dataset, column)
        for dataset, stated in run.outputs.items()
        for column, found in stated.get("facets", {}).get("columnLineage", {}).get("fields", {}).items()
        for source in ({name: part[name] for name in ("namespace", "name", "field")} for part in found["inputFields"])
        if is_relational(dataset[0]) and is_relational(source["namespace"])
    ]
