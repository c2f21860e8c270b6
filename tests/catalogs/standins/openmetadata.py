"""OpenMetadata's OpenLineage endpoint, as its published schemas have it: unknown members are refused, COMPLETE runs are used."""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

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


class OpenMetadata:
    """What the events that were used say; `failing` are jobs whose events fail, with whether they may be sent again, `spoiling` others."""

    def __init__(self) -> None:
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
        return Answer(404, {"code": 404, "message": "HTTP 404 Not Found"})

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
