import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import msgspec
import pytest
from jsonschema import Draft4Validator
from starlette.testclient import TestClient
from tests.api.support import LINEAGE, NOW, URL, FailingLog, Server
from tests.corpora.published import schemas
from tests.eventlog.support import flip
from tests.events import RUNS, run_event

from lineage_bridge.api.app import create_app
from lineage_bridge.api.services import DiskSpace
from lineage_bridge.errors import LogFullError
from lineage_bridge.eventlog.check import acknowledge, check_log
from lineage_bridge.eventlog.record_format import HEAD
from lineage_bridge.eventlog.segment import HEADER_BYTES, segment_path

ERASE = "/api/v1/operations/erase"


def ready(server: Server, status: int) -> Any:
    return server.ask("/ready", status)


def test_health_reports_disk_use(server: Server) -> None:
    server.parts.disk = DiskSpace(123, 456)
    assert server.ask("/health") == {"status": "ok", "disk": {"used_bytes": 123, "free_bytes": 456}}


def test_version_names_the_program(server: Server) -> None:
    assert server.ask("/version") == {"version": "1.2.3", "name": "LineageBridge", "openlineage": "2-0-2"}


def test_ready_when_all_parts_work(server: Server) -> None:
    server.send(run_event())
    answer = ready(server, 200)
    assert answer["ready"] is True
    assert {name: part["state"] for name, part in answer["parts"].items()} == {"intake": "ok", "log": "ok", "store": "ok", "pipeline": "ok"}
    assert (answer["lag"]["bytes"], answer["lag"]["caught_up"], answer["settling"]) == (0, True, False)
    server.client.post(LINEAGE, content=run_event(job="x"))
    behind = ready(server, 200)["lag"]
    assert (behind["bytes"] > 100, behind["caught_up"]) == (True, False)
    assert behind["log_end"] != behind["applied"]


@pytest.mark.parametrize(
    ("change", "part", "state"),
    [
        ({"pipeline": None}, "pipeline", "absent"),
        ({"pipeline": {"state": "starting", "pid": 7, "beat_us": NOW}}, "pipeline", "starting"),
        ({"pipeline": {"state": "failed", "pid": 7, "beat_us": NOW, "error": "Spark died"}}, "pipeline", "failed"),
        ({"pipeline": {"state": "running", "pid": 7, "beat_us": NOW - 10_000_001}}, "pipeline", "silent"),
        ({"pipeline": {}}, "pipeline", "silent"),
        ({"alive": False}, "pipeline", "dead"),
        ({"log_state": "the disk is full"}, "intake", "failed"),
        ({"disk": DiskSpace(1, 100)}, "intake", "full"),
    ],
)
def test_not_ready_names_the_part(server: Server, change: dict[str, Any], part: str, state: str) -> None:
    server.fold()
    for name, value in change.items():
        setattr(server.parts, name, value)
    answer = ready(server, 503)
    states = {name: part["state"] for name, part in answer["parts"].items()}
    assert states == {"intake": "ok", "log": "ok", "store": "ok", "pipeline": "ok"} | {part: state}
    assert answer["parts"][part]["detail"]


def test_not_ready_without_a_store(server: Server) -> None:
    assert ready(server, 503)["parts"]["store"]["state"] == "missing"


def test_ready_tells_damage_to_the_log_until_it_is_acknowledged(server: Server) -> None:
    server.send(run_event(), run_event(job="other", run=RUNS[1]))
    flip(segment_path(server.folder / "log", 1), HEADER_BYTES + HEAD.size + 60)
    answer = ready(server, 200)
    assert (answer["ready"], answer["parts"]["log"]["state"]) == (True, "damaged")
    assert "log check" in answer["parts"]["log"]["detail"]
    assert (answer["log"]["places"], answer["log"]["unacknowledged"]) == (1, 1)
    assert answer["log"]["unreadable_bytes"] > 200
    acknowledge(server.folder / "log", check_log(server.folder / "log").damage)
    answer = ready(server, 200)
    assert (answer["parts"]["log"]["state"], answer["log"]["places"], answer["log"]["unacknowledged"]) == ("ok", 1, 0)


def test_ready_tells_that_a_segment_is_missing(server: Server) -> None:
    server.send(run_event())
    segment_path(server.folder / "log", 1).unlink()
    answer = ready(server, 200)
    assert (answer["parts"]["log"]["state"], answer["log"]["unacknowledged"]) == ("damaged", 1)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b'{"runs": []}', b'{"runs": ["x"]}', b'{"runs": 1}', b'{"runs": [], "all": true}', b"\xff", b"[" * 5000]
)
def test_an_invalid_operation_is_422(server: Server, body: bytes) -> None:
    answer = server.client.post(ERASE, content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_argument")
    assert server.stored() == []


def test_unknown_calls_answer_with_the_error_shape(server: Server) -> None:
    for method, path, status in (("GET", "/nowhere", 404), ("DELETE", LINEAGE, 405), ("POST", "/api/v1/health", 405)):
        answer = server.client.request(method, path)
        assert answer.status_code == status
        assert set(answer.json()["error"]) == {"code", "message", "hint"}


def test_the_documentation_page_needs_no_network(server: Server) -> None:
    page = server.client.get("/docs").text
    links = [part.split('"')[0] for mark in ('src="', 'href="') for part in page.split(mark)[1:]]
    assert links
    for link in links:
        assert link.startswith("/docs/files/")
        assert server.client.get(link).status_code == 200


def test_the_schemas_of_our_facets_are_served(server: Server) -> None:
    for url, schema in schemas():
        answer = server.client.get(urlsplit(url).path)
        assert answer.headers["Content-Type"] == "application/json"
        assert answer.json() == schema


def test_the_openapi_document_describes_every_call_and_our_shapes(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    assert document["openapi"].startswith("3.0")
    page = (Path(__file__).parents[4] / "docs" / "api.md").read_text()
    documented = set(re.findall(r"`(?:GET|POST|DELETE) (?:/api/v1)?(/[^`?]*)`", page))
    assert {path.removeprefix("/api/v1") for path in document["paths"]} == documented
    text = json.dumps(document)
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert {"Accepted", "DatasetLineage", "ErrorAnswer", "RunEvent"} <= names <= set(document["components"]["schemas"])
    assert '"null"' not in text
    assert '"const"' not in text
    assert "HTTPValidationError" not in text


def test_an_answer_has_the_documented_shape(server: Server) -> None:
    from lineage_bridge.api.schemas.nodes import NeighbourhoodAnswer
    from lineage_bridge.api.schemas.operations import Readiness

    server.send(run_event(inputs=[{"namespace": "ns", "name": "a"}]))
    answer = server.client.get("/api/v1/graph/neighbourhood?namespace=ns&name=a")
    assert msgspec.json.decode(answer.content, type=NeighbourhoodAnswer).origin.name == "a"
    assert msgspec.json.decode(server.client.get("/api/v1/ready").content, type=Readiness).ready


def test_an_unexpected_failure_is_json_with_an_id_that_is_logged(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> NoReturn:
        raise ZeroDivisionError("of the disk")

    from dataclasses import replace

    app = create_app(replace(server.services, disk=broken))
    client = TestClient(app, base_url=URL, raise_server_exceptions=False)
    with caplog.at_level(logging.ERROR):
        answer = client.get("/api/v1/health")
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (500, "internal")
    assert "disk" not in answer.text
    assert error["id"] in caplog.text


def test_a_full_disk_refuses_operations_too(server: Server) -> None:
    order = {"runs": ["00000000-0000-0000-0000-000000000001"]}
    client = server.client_of(log=FailingLog(failure=LogFullError("the disk is full")))
    assert client.post(ERASE, json=order).status_code == 507


def schemas_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every schema of an OpenAPI document."""
    if isinstance(value, dict):
        yield from (member for key, member in value.items() if key == "schema" and isinstance(member, dict))
        for member in value.values():
            yield from schemas_in(member)
    elif isinstance(value, list):
        for element in value:
            yield from schemas_in(element)


def test_the_schemas_of_the_openapi_document_are_valid_for_its_version(server: Server) -> None:
    """Schemas of version 3.0 extend JSON Schema's draft 4."""
    document = server.client.get("/openapi.json").json()
    found = [*schemas_in(document["paths"]), *document["components"]["schemas"].values()]
    assert len(found) > 100
    for schema in found:
        Draft4Validator.check_schema(schema)
    factor = next(p for p in document["paths"]["/api/v1/graph/ledger"]["get"]["parameters"] if p["name"] == "factor")
    assert (factor["schema"]["minimum"], factor["schema"]["exclusiveMinimum"]) == (1, True)
    assert "404" in document["paths"]["/api/v1/quarantine/{event_id}/body"]["get"]["responses"]
