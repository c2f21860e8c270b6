"""DataZone's lineage events as far as publications meet them: taken, processed later, and the same for the same token.

Requests and answers are held against botocore's model of the service.
"""

import json
import uuid
from typing import Any

from tests.catalogs.standins.amazon import model_of, problems
from tests.catalogs.standins.glue import Fault
from tests.catalogs.standins.server import Answer, Request

REGION, DOMAIN = "us-east-1", "dzd_4k2m0000000000"


class DataZone:
    """Events in the order in which they came. Each is processed at the second question for it; those of jobs in `failing` fail."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.failing: set[str] = set()
        self.faults: list[Fault] = []
        self.slow = False
        self._tokens: dict[str, tuple[bytes, str]] = {}
        self._questions: dict[str, int] = {}
        self._bodies: dict[str, bytes] = {}

    def handle(self, request: Request) -> Answer:
        """Answer a request."""
        operation = {("POST", 5): "PostLineageEvent", ("GET", 5): "ListLineageEvents", ("GET", 6): "GetLineageEvent"}[
            request.method, len(request.parts)
        ]
        for fault in self.faults:
            if fault.operation == operation and fault.times:
                fault.times -= 1
                return _error(fault.status, fault.code, "on command", fault.headers)
        asked: dict[str, Any] = {"domainIdentifier": request.parts[2]}
        if operation == "PostLineageEvent":
            asked |= {"event": request.body, "clientToken": request.headers["client-token"]}
        if operation == "GetLineageEvent":
            asked["identifier"] = request.parts[5]
        if operation == "ListLineageEvents":
            asked["maxResults"] = int(request.query["maxResults"])
        if found := problems(model_of("datazone").operation_model(operation).input_shape, asked):
            return _error(400, "ValidationException", "; ".join(found))
        if asked["domainIdentifier"] != DOMAIN:
            return _error(404, "ResourceNotFoundException", "no such domain")
        if operation == "ListLineageEvents":
            return _answer(operation, {"items": []})
        return self._take(asked) if operation == "PostLineageEvent" else self._show(asked["identifier"])

    def _take(self, asked: dict[str, Any]) -> Answer:
        body, token = asked["event"], asked["clientToken"]
        if problem := _problem(body):
            return _error(400, "ValidationException", problem)
        before, id_ = self._tokens.setdefault(token, (body, f"{len(self._tokens):014d}"))
        if before != body:
            return _error(409, "ConflictException", "the token was used for another event")
        if id_ not in self._bodies:
            self._bodies[id_] = body
            self.events.append(json.loads(body))
        return _answer("PostLineageEvent", {"id": id_, "domainId": DOMAIN})

    def _show(self, id_: str) -> Answer:
        if id_ not in self._bodies:
            return _error(404, "ResourceNotFoundException", "no such event")
        self._questions[id_] = asked = self._questions.get(id_, 0) + 1
        name = json.loads(self._bodies[id_])["job"]["name"]
        status = "PROCESSING" if asked < 2 or self.slow else "FAILED" if name in self.failing else "SUCCESS"
        return Answer(200, self._bodies[id_], {"Domain-Id": DOMAIN, "Id": id_, "Processing-Status": status})


def _problem(body: bytes) -> str:
    event = json.loads(body)
    if not event.get("schemaURL", "").endswith("RunEvent") or "run" not in event or "job" not in event:
        return "only run events are taken"
    uuid.UUID(event["run"]["runId"])
    return "" if event.get("eventTime") and event.get("producer") else "eventTime and producer are required"


def _answer(operation: str, body: dict[str, Any]) -> Answer:
    assert not problems(model_of("datazone").operation_model(operation).output_shape, body)
    return Answer(200, body)


def _error(status: int, code: str, message: str, headers: Any = None) -> Answer:
    return Answer(status, {"message": message}, {"x-amzn-errortype": code, **(headers or {})})
