"""Search over HTTP."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.events import dataset, facet, run_event, schema

BOTH: dict[str, Any] = {"in": ["column", "sql"]}


def test_facets_are_searched_and_matching_lines_shown(server: Server) -> None:
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
        ("a", [{"in": "column", "text": "customer_id"}]),
        ("job", [{"in": "sql", "text": "SELECT customer_id FROM a"}]),
    ]
    assert "truncated" not in answer
    assert [node["name"] for node in server.ask("/search", q="customer", **BOTH)["results"]] == ["a", "job"]
    assert [node["name"] for node in server.ask("/search", tag="pii")["results"]] == ["a"]
    assert [node["name"] for node in server.ask("/search", q="customer", has=["tags", "schema"])["results"]] == ["a"]
    assert [node["name"] for node in server.ask("/search", has=["tags"])["results"]] == ["a"]
    assert [node["name"] for node in server.ask("/search", q="customer", limit=1, offset=2)["results"]] == ["job"]
    assert server.ask("/search", q="customer", namespace="elsewhere")["results"] == []


def test_details_say_what_was_found(server: Server) -> None:
    topic = {**dataset("orders"), "namespace": "kafka://broker:9092"}
    server.send(run_event(job="orders-job", outputs=[topic]))
    found = {node["name"]: node["details"] for node in server.ask("/search", q="orders", details=True)["results"]}
    assert (found["orders"]["system"], found["orders"]["node_type"]) == ("kafka", "kafka_topic")
    assert (found["orders-job"]["node_type"], found["orders-job"]["state"]) == ("job", "complete")
    assert not any("details" in node for node in server.ask("/search", q="orders")["results"])


def test_an_invalid_search_is_422(server: Server) -> None:
    server.send(run_event())
    assert server.ask("/search", 422)["error"]["code"] == "bad_argument"
    assert server.ask("/search", 422, q="x", **{"in": "color"})["error"]["code"] == "bad_argument"


def test_search_finds_substrings_of_names(server: Server) -> None:
    server.send(run_event(job="orders_load", inputs=[dataset("commerce.orders")], outputs=[dataset("commerce.customers")]))
    found = server.ask("/search", q="orders")["results"]
    assert sorted((node["kind"], node["name"]) for node in found) == [("dataset", "commerce.orders"), ("job", "orders_load")]
    assert [node["name"] for node in server.ask("/search", q="orders", kind="job")["results"]] == ["orders_load"]
    assert server.ask("/search", q="nothing of it")["results"] == []
    server.ask("/search", 422)


@pytest.mark.parametrize("q", ['"', "a\x00b", "a*", "NEAR(", "%", "'; --", "\u00fc\u00df\U0001f600", "or", "   ", '""""'])
def test_search_takes_any_text(server: Server, q: str) -> None:
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    assert "results" in server.ask("/search", q=q)
    server.ask("/lineage/datasets/detail", 404, namespace=q, name=q)
    assert server.ask("/lineage/datasets", namespace=q, name=q) == []
