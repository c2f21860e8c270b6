"""Questions that are answered without FastAPI's dependencies: which ones, and with the same arguments."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from fastapi.routing import APIRoute
from tests.api.support import Server, running
from tests.events import dataset, run_event

from lineage_bridge.api.answering.direct_route import DirectRoute, direct_route
from lineage_bridge.api.app import create_question_app

NODE = {"namespace": "ns", "name": "a"}
HOT = {
    "/api/v1/graph/neighbourhood": NODE,
    "/api/v1/lineage/datasets/lineage": NODE,
    "/api/v1/graph/trace": NODE,
    "/api/v1/graph/impact": NODE,
    "/api/v1/graph/paths": {"source_namespace": "ns", "source_name": "a", "target_namespace": "ns", "target_name": "b"},
    "/api/v1/search": {"q": "a"},
    "/api/v1/lineage/datasets": {},
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Server]:
    """A server with a flow from `a` to `b`."""
    with running(tmp_path_factory.mktemp("direct"), empty_store) as server:
        server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
        yield server


def scope_of(query: dict[str, Any], headers: dict[str, str] | None = None) -> dict[str, Any]:
    named = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    return {"type": "http", "query_string": urlencode(query, doseq=True).encode(), "headers": named}


def route_of(server: Server, path: str) -> DirectRoute:
    routes = create_question_app(server.services).routes
    route = next(route for route in routes if isinstance(route, APIRoute) and route.path == path)
    dependencies = [found.call for found in route.dependant.dependencies]
    waiting, take_slot = dependencies[0], dependencies[-1]
    assert waiting
    assert take_slot
    direct = direct_route(route, take_slot, waiting)
    assert direct
    return direct


@pytest.mark.parametrize("path", HOT)
def test_frequent_questions_are_answered_directly(shared: Server, path: str) -> None:
    assert route_of(shared, path).parse(scope_of(HOT[path]))


@pytest.mark.parametrize(
    "more", [{"depth": "deep"}, {"depth": "51"}, {"direction": "sideways"}, {"min_position": "x"}, {"min-position": "x"}, {"wait": "1"}]
)
def test_questions_with_invalid_arguments_and_those_that_wait_are_not(shared: Server, more: dict[str, str]) -> None:
    direct = route_of(shared, "/api/v1/graph/neighbourhood")
    assert not direct.parse(scope_of(NODE | more))


def test_a_missing_argument_and_a_header_that_waits_are_left_to_fastapi(shared: Server) -> None:
    direct = route_of(shared, "/api/v1/graph/neighbourhood")
    assert not direct.parse(scope_of({"namespace": "ns"}))
    assert not direct.parse(scope_of(NODE, {"x-min-position": "x"}))


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("/api/v1/graph/neighbourhood", {**dataset("a"), "columns": "true", "depth": " 3 ", "unknown": "x"}),
        ("/api/v1/graph/neighbourhood", {**dataset("a"), "name": ["b", "a"]}),
        ("/api/v1/search", {"q": "a", "in": ["name", "column"], "has": []}),
        ("/api/v1/search", {"q": "a\0", "limit": "1"}),
        ("/api/v1/lineage/datasets/lineage", {**dataset("a"), "at": "2026-01-01T00:00:00+01:00"}),
    ],
)
def test_answers_are_those_of_fastapi(shared: Server, path: str, query: dict[str, Any]) -> None:
    query = {name: value for name, value in query.items() if not isinstance(value, dict)}
    answers = [shared.client.get(path, params=query | more) for more in ({}, {"wait": "0"})]
    assert answers[0].status_code == answers[1].status_code
    assert answers[0].content == answers[1].content
