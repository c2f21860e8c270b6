"""Search over HTTP."""

from typing import Any

from tests.api.support import Server
from tests.events import dataset, facet, run_event, schema

BOTH: dict[str, Any] = {"in": ["column", "sql"]}


def test_what_is_said_is_found_and_told(server: Server) -> None:
    tags = facet(tags=[{"key": "pii", "value": "true"}])
    server.send(
        run_event(
            job_facets={"sql": facet(query="INSERT INTO b\nSELECT customer_id FROM a")},
            inputs=[dataset("a", schema=schema("customer_id"), tags=tags)],
            outputs=[dataset("customer")],
        )
    )
    answer = server.ask("/search", q="customer")
    assert [(node["name"], node.get("matched")) for node in answer["results"]] == [
        ("customer", None),
        ("job", [{"in": "sql", "text": "SELECT customer_id FROM a"}]),
        ("a", [{"in": "column", "text": "customer_id"}]),
    ]
    assert "truncated" not in answer
    assert [node["name"] for node in server.ask("/search", q="customer", **BOTH)["results"]] == ["job", "a"]
    assert [node["name"] for node in server.ask("/search", tag="pii")["results"]] == ["a"]
    assert [node["name"] for node in server.ask("/search", q="customer", has=["tags", "schema"])["results"]] == ["a"]
    assert [node["name"] for node in server.ask("/search", q="customer", limit=1, offset=2)["results"]] == ["a"]
    assert server.ask("/search", q="customer", namespace="elsewhere")["results"] == []


def test_what_is_no_search(server: Server) -> None:
    server.send(run_event())
    assert server.ask("/search", 422)["error"]["code"] == "bad_argument"
    assert server.ask("/search", 422, q="x", **{"in": "color"})["error"]["code"] == "bad_argument"
