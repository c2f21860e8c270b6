"""Every call of the OpenAPI document, with arguments of its schemas and others: what it answers is declared."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote

import pytest
from tests.api.support import Server, running
from tests.events import KEY, dataset, run_event

from lineage_bridge.graph.ids import graph_id

METHODS = ("get", "post", "delete")
TRIES = 6
TEXTS = ["ns", "a", "b", "jobs", "", "*", "[", "\x00", "-1", "1e9", "now", "2026-01-01", "é", "a b/c?d"]
BODIES = [b"", b"{}", b"[]", b"null", b'{"x": 1}', b"\xff", b'{"nodes": [], "edges": []}']


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("openapi"), empty_store) as server:
        server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
        yield server


def value_of(random: Random, parameter: dict[str, Any]) -> str:
    """A value of a parameter's schema, or any text."""
    schema = parameter["schema"]
    if parameter["name"] == "graph_id" and random.random() < 0.7:
        return graph_id(KEY)
    if "enum" in schema and random.random() < 0.7:
        return str(random.choice(schema["enum"]))
    if schema.get("type") in ("integer", "number") and random.random() < 0.7:
        return str(random.randint(schema.get("minimum", -5), schema.get("maximum", 100)))
    return random.choice(TEXTS)


def request(random: Random, path: str, call: dict[str, Any]) -> tuple[str, dict[str, str]]:
    """A path and a query for a call. Half of them have no more than they need."""
    query, optional = {"wait": "0"}, random.random() < 0.5
    for parameter in call.get("parameters", ()):
        value = value_of(random, parameter)
        if parameter["in"] == "path":
            path = path.replace("{" + parameter["name"] + "}", quote(value or "x", safe=""))
        elif parameter["in"] == "query" and parameter["name"] not in ("wait", "wait_s") and (parameter.get("required") or optional):
            query[parameter["name"]] = value
    return path, query


def test_every_answer_is_declared(shared: Server) -> None:
    random, undeclared = Random(1), []
    for template, methods in shared.client.get("/openapi.json").json()["paths"].items():
        for method, call in methods.items():
            for _ in range(TRIES if method in METHODS else 0):
                path, query = request(random, template, call)
                answer = shared.client.request(method, path, params=query, content=random.choice(BODIES) if method == "post" else None)
                if str(answer.status_code) not in call["responses"]:
                    undeclared.append((method, str(answer.request.url), answer.status_code, answer.text[:200]))
    assert undeclared == []
