"""Every request has an id, which its answer and its log lines name."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

import anyio
import pytest
from starlette.testclient import TestClient
from tests.api.answering.test_lanes import scope_of
from tests.api.support import LINEAGE, URL, Server
from tests.events import run_event

from lineage_bridge.api.app import create_app
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.api.telemetry.counters import Counters
from lineage_bridge.api.telemetry.requests import RequestTelemetry
from lineage_bridge.config.log_format import log_formatter

HEADER = "x-request-id"


class Lines(logging.Handler):
    """Keeps lines as they would be written."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(log_formatter("json", "api"))
        self.lines: list[dict[str, Any]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(json.loads(self.format(record)))


@pytest.fixture
def lines() -> Iterator[Lines]:
    handler, logger = Lines(), logging.getLogger("lineage_bridge")
    logger.addHandler(handler)
    level = logger.level
    logger.setLevel(logging.INFO)
    yield handler
    logger.setLevel(level)
    logger.removeHandler(handler)


def test_an_answer_names_the_id_that_the_client_gave(server: Server) -> None:
    for path in ("/api/v1/version", "/api/v1/nowhere", "/api/v1/search?q=x"):
        assert server.client.get(path, headers={HEADER: "load/7:a"}).headers[HEADER] == "load/7:a"


@pytest.mark.parametrize("given", [None, "", "a b", "x" * 129, 'a"b', "ü".encode()], ids=str)
def test_a_request_without_a_usable_id_gets_one(server: Server, given: str | bytes | None) -> None:
    headers: dict[str, Any] = {} if given is None else {HEADER: given}
    ids = [server.client.get("/api/v1/version", headers=headers).headers.get_list(HEADER) for _ in range(2)]
    assert [len(id_) for (id_,) in ids] == [16, 16]
    assert ids[0] != ids[1]


def test_refused_requests_have_an_id_too(server: Server) -> None:
    answer = server.asking_for_keys().get("/api/v1/search?q=x", headers={HEADER: "who"})
    assert (answer.status_code, answer.headers[HEADER]) == (401, "who")


def test_requests_are_logged_if_the_settings_say_so(server: Server, lines: Lines) -> None:
    server.client.post(LINEAGE, content=run_event())
    assert lines.lines == []
    with TestClient(create_app(replace(server.services, log_requests=True)), URL, client=("127.0.0.1", 1)) as client:
        client.post(LINEAGE, content=run_event(), headers={HEADER: "load-7"})
        client.get("/api/v1/graph/runs/x", headers={HEADER: "ask-8"})
    first, second = lines.lines
    assert {name: first[name] for name in ("request_id", "method", "route", "path", "status", "program", "level")} == {
        "request_id": "load-7",
        "method": "POST",
        "route": LINEAGE,
        "path": LINEAGE,
        "status": 201,
        "program": "api",
        "level": "info",
    }
    assert (second["request_id"], second["route"], second["status"]) == ("ask-8", "/api/v1/graph/runs/{run_id:path}", 503)
    assert first["bytes"] > 0
    assert first["duration_ms"] > 0
    assert "principal" not in first


def test_an_error_inside_the_server_is_logged_with_the_id_of_its_request(server: Server, lines: Lines) -> None:
    def broken() -> NoReturn:
        raise RuntimeError("no")

    services = replace(server.services, findings=broken)
    with TestClient(create_app(services), URL, client=("127.0.0.1", 1), raise_server_exceptions=False) as client:
        answer = client.get("/api/v1/analysis", headers={HEADER: "why-9"})
    assert (answer.status_code, answer.json()["error"]["id"]) == (500, "why-9")
    assert [line["request_id"] for line in lines.lines if line["level"] == "error"] == ["why-9"]


def test_a_request_whose_client_goes_before_the_answer_is_no_error_of_the_server() -> None:
    async def abandoned(*_: Any) -> Any:
        return None

    async def ask() -> None:
        await telemetry(abandoned, scope_of("/api/v1/search"), abandoned, abandoned)

    counters = Counters()
    telemetry = RequestTelemetry(counters, RouteRequirements([], {}), log_requests=False)
    anyio.run(ask)
    samples = [sample for metric in counters.registry.collect() for sample in metric.samples]
    assert {sample.labels["status"] for sample in samples if "status" in sample.labels} == {"499"}
