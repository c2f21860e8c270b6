"""OpenMetadata's OpenLineage endpoint, as its published schemas have it: unknown members are refused, COMPLETE runs are used; and
its search, with the parameters by which openmetadata-ingestion pages through it, and documents in the forms of its generated models.
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from tests.catalogs.standins.server import Answer, Request

BATCH = ("api", "v1", "openlineage", "lineage", "batch")
OPEN = None
"""In place of a shape: any members."""
BASE = {"_producer": "text", "_schemaURL": "text"}
OWNERS = {**BASE, "owners": [{"name!": "text", "type": "text"}]}
FIELD = {"namespace!": "text", "name!": "text", "field!": "text"}
COLUMN = {"inputFields!": [FIELD], "transformationDescription": "text", "transformationType": "text"}
DATASET_FACETS = {
    "schema": {**BASE, "fields": [{"name!": "text", "type!": "text", "description": "text"}]},
    "symlinks": {**BASE, "identifiers": [{"namespace!": "text", "name!": "text", "type!": "text"}]},
    "documentation": {**BASE, "description": "text"},
    "ownership": OWNERS,
    "columnLineage": {**BASE, "fields!": {"*": COLUMN}},
    "*": OPEN,
}
DATASET = {"namespace!": "text", "name!": "text", "facets": DATASET_FACETS, "inputFacets": OPEN, "outputFacets": OPEN}
EVENT = {
    "eventTime!": "text",
    "producer!": "text",
    "schemaURL!": "text",
    "eventType": "text",
    "run!": {"runId!": "uuid", "facets": OPEN},
    "job!": {"namespace!": "text", "name!": "text", "facets": {"sql": {**BASE, "query!": "text"}, "ownership": OWNERS, "*": OPEN}},
    "inputs": [DATASET],
    "outputs": [DATASET],
}
"""The shape of an event: `!` marks members that are required, `*` others that are allowed."""

LABEL = {"tagFQN!": "text", "name": "text", "source!": "text", "labelType!": "text", "state!": "text", "description": "text"}
REFERENCE = {"id!": "uuid", "type!": "text", "name": "text", "fullyQualifiedName": "text", "displayName": "text", "deleted": OPEN}
COLUMN_THERE = {
    "name!": "text",
    "dataType!": "text",
    "dataTypeDisplay": "text",
    "description": "text",
    "fullyQualifiedName": "text",
    "tags": [LABEL],
    "children": OPEN,
}
EDGE_END = {"id": "uuid", "fullyQualifiedName": "text", "fqnHash": "text", "type": "text"}
EDGE = {
    "fromEntity": EDGE_END,
    "toEntity": EDGE_END,
    "pipeline": OPEN,
    "sqlQuery": "text",
    "columns": [{"fromColumns": OPEN, "toColumn": "text", "function": "text"}],
    "description": "text",
    "source": "text",
    "docId": "text",
    "docUniqueId": "text",
}
DOCUMENT = {
    "id!": "uuid",
    "name!": "text",
    "fullyQualifiedName!": "text",
    "description": "text",
    "columns": [COLUMN_THERE],
    "messageSchema": {"schemaText": "text", "schemaType": "text", "schemaFields": [COLUMN_THERE]},
    "owners": [REFERENCE],
    "tags": [LABEL],
    "tier": LABEL,
    "tableType": "text",
    "updatedBy": "text",
    "upstreamLineage": [EDGE],
}
"""The shape of a table or topic in the search index, of what is read of it."""
SEARCHED = {"q", "size", "deleted", "index", "include_source_fields", "sort_field", "sort_order", "search_after"}


class OpenMetadata:
    """What the events that were used say; `failing` are jobs whose events fail, with whether they may be sent again, `spoiling` others.

    `there` has tables and topics by kind and name; those in `hidden` are not found by searches, `denied` may not be read, and `answers` are
    answered instead of the next searches. A page has at most `page` documents.
    """

    def __init__(self) -> None:
        self.there: dict[tuple[str, str], dict[str, Any]] = {}
        self.hidden: set[str] = set()
        self.denied: set[str] = set()
        self.answers: list[Answer] = []
        self.searches: list[str] = []
        self.page = 100
        self.events: list[dict[str, Any]] = []
        self.failing: dict[str, bool] = {}
        self.spoiling: set[str] = set()
        self.types = {"COMPLETE"}
        self.sizes: list[int] = []

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        match request.method, *request.parts:
            case "GET", "api", "v1", "system", "version":
                return Answer(200, {"version": "1.12.6", "revision": "r", "timestamp": 1})
            case "GET", "api", "v1", "users", "loggedInUser":
                return Answer(200, {"name": "ingestion-bot"})
            case ("POST", *parts) if tuple(parts) == BATCH:
                return self._take(request.body)
            case "GET", "api", "v1", "search", "query":
                return self.answers.pop(0) if self.answers else self._search(request)
            case "GET", "api", "v1", ("tables" | "topics") as kind, "name", name:
                return self._by_name(kind.removesuffix("s"), name)
        return Answer(404, {"code": 404, "message": "HTTP 404 Not Found"})

    def plant(self, kind: str, name: str, **members: Any) -> None:
        """Put a table or topic there, as somebody else's ingestion does."""
        found = {"id": str(uuid5(NAMESPACE_URL, name)), "name": name.rpartition(".")[2], "fullyQualifiedName": name, **members}
        assert not (problem := problem_of(found, DOCUMENT, "$")), problem
        self.there[kind, name] = found

    def _search(self, request: Request) -> Answer:
        asked, after = request.query, request.lists.get("search_after", [""])[0]
        is_known = request.lists.keys() <= SEARCHED and (asked["sort_field"], asked["sort_order"]) == ("fullyQualifiedName", "asc")
        kind = asked["index"].removesuffix("_search_index")
        if not is_known or kind not in ("table", "topic") or asked["deleted"] != "false":
            return Answer(400, {"code": 400, "message": f"unknown: {asked}"})
        self.searches.append(after)
        names = sorted(name for of, name in self.there if of == kind and name > after and name not in self.hidden)
        hits = [
            {
                "_index": asked["index"],
                "_id": self.there[kind, name]["id"],
                "_source": {key: value for key, value in self.there[kind, name].items() if key in request.lists["include_source_fields"]},
                "sort": [name],
            }
            for name in names[: min(self.page, int(asked["size"]))]
        ]
        total = {"relation": "eq", "value": len(names)}
        return Answer(200, {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": {"total": total, "hits": hits}})

    def _by_name(self, kind: str, name: str) -> Answer:
        if name in self.denied:
            return Answer(403, {"code": 403, "message": "Principal: CatalogPrincipal{name='bot'} operations [ViewAll] not allowed"})
        if (kind, name) not in self.there:
            return Answer(404, {"code": 404, "message": f"{kind} instance for {name} not found"})
        return Answer(200, self.there[kind, name])

    def _take(self, body: bytes) -> Answer:
        try:
            request = json.loads(body)
        except ValueError as error:
            return Answer(400, {"code": 400, "message": str(error)})
        problem = problem_of(request, {"events!": [EVENT]}, "$") or ("" if request["events"] else "events must not be empty")
        if not problem and self.spoiling & {event["job"]["name"] for event in request["events"]}:
            problem = "spoiled"
        if problem:
            return Answer(400, {"code": 400, "message": problem})
        self.sizes.append(len(request["events"]))
        failed, skipped = [], 0
        for index, event in enumerate(request["events"]):
            if event.get("eventType", "COMPLETE") not in self.types:
                skipped += 1
            elif event["job"]["name"] in self.failing:
                failed.append({"index": index, "reason": "cannot be used", "retriable": self.failing[event["job"]["name"]]})
            else:
                self.events.append(event)
        done = len(request["events"]) - skipped - len(failed)
        status = "success" if not failed else "partial_success" if done else "failure"
        summary = {"received": len(request["events"]), "successful": done, "failed": len(failed), "skipped": skipped}
        return Answer(200, {"status": status, "summary": summary, "failedEvents": failed, "lineageEdgesCreated": done})


def problem_of(value: Any, shape: Any, at: str) -> str:
    """What is wrong with a value; empty if nothing is."""
    if shape is OPEN:
        return ""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{at} must be a list"
        return next(filter(None, (problem_of(item, shape[0], f"{at}[{index}]") for index, item in enumerate(value))), "")
    if isinstance(shape, Mapping):
        return _problem_of_members(value, shape, at)
    return "" if isinstance(value, str) and (shape == "text" or _is_uuid(value)) else f"{at} must be {shape}"


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


def _problem_of_members(value: Any, shape: Mapping[str, Any], at: str) -> str:
    if not isinstance(value, dict):
        return f"{at} must be an object"
    required = [name[:-1] for name in shape if name.endswith("!")]
    if missing := [name for name in required if value.get(name) is None]:
        return f"{at}.{missing[0]} must not be null"
    shapes = {name.rstrip("!"): member for name, member in shape.items()}
    for name, member in value.items():
        if name not in shapes and "*" not in shapes:
            return f'Unrecognized field "{name}" at {at}'
        if problem := problem_of(member, shapes.get(name, shapes.get("*")), f"{at}.{name}"):
            return problem
    return ""
