"""Columns of the same name where a trace meets flows without column lineage: suggestions, never facts."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, columns, dataset, dataset_event, facet, run_event, schema

from lineage_bridge.api.routes.questions.traces import trace as trace_route
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.projections.traces.suggestions import MOST

HOUR_US = 3_600_000_000
OTHER_NAME = facet(identifiers=[{"namespace": "ns", "name": "b", "type": "TABLE"}])
DOWN: dict[str, Any] = {"namespace": "ns", "name": "a", "field": "customerId", "direction": "downstream", "suggestions": True}


def gap(source: dict[str, Any], target: dict[str, Any], run: str = RUNS[0], job: str = "opaque", time_us: int = T0) -> bytes:
    return run_event(run=run, job=job, inputs=[source], outputs=[target], time_us=time_us)


def pairs(answer: Any) -> list[str]:
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    return [
        f"{names[item['near']]}.{item['near_field']} ~ {names[item['node']]}.{item['field']} by {names[item['job']]}"
        for item in answer["suggestions"]["items"]
    ]


def test_columns_of_the_same_name_behind_a_gap_are_suggested_whatever_joins_their_words(server: Server) -> None:
    nested = facet(fields=[{"name": "after", "type": "STRUCT", "fields": [{"name": "customerId", "type": "INT"}]}])
    server.send(
        gap(dataset("a"), dataset("b", schema=schema("CUSTOMER_ID", "customer-id", "customer", "id"))),
        gap(dataset("a"), dataset("c", schema=nested), RUNS[1], "other"),
    )
    answer = server.ask("/graph/trace", **DOWN)
    assert pairs(answer) == [
        "a.customerId ~ b.CUSTOMER_ID by opaque",
        "a.customerId ~ b.customer-id by opaque",
        "a.customerId ~ c.after.customerId by other",
    ]
    assert (answer["suggestions"]["cut"], answer["flows"], len(answer["columns"])) == ("", [], 1)
    plain = server.ask("/graph/trace", **{**DOWN, "suggestions": False})
    assert ("suggestions" in plain, plain["digest"], plain["columns"]) == (False, answer["digest"], answer["columns"])
    up = server.ask("/graph/trace", namespace="ns", name="b", field="customer-id", suggestions=True)
    assert pairs(up) == [], "the dataset before the gap has no schema"


def test_a_column_within_others_is_like_one_of_its_last_name_after_those_of_the_same_path(server: Server) -> None:
    both = facet(fields=[{"name": "EMAIL"}, *({"name": name, "fields": [{"name": "email"}]} for name in ("before", "after"))])
    server.send(gap(dataset("a"), dataset("b", schema=both)))
    asked = {**DOWN, "field": "after.email"}
    assert pairs(server.ask("/graph/trace", **asked)) == ["a.after.email ~ b.after.email by opaque", "a.after.email ~ b.EMAIL by opaque"]


def test_they_are_not_followed_nor_is_what_was_reached_suggested(server: Server) -> None:
    server.send(
        run_event(
            job="known", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=columns(customerid=[("ns", "a", "customerId")]))]
        ),
        gap(dataset("a"), dataset("b", schema=schema("customerid", "customer_id")), RUNS[1]),
        gap(dataset("b"), dataset("c", schema=schema("CustomerId")), RUNS[2], "next"),
        gap(dataset("c"), dataset("d", schema=schema("CustomerId")), RUNS[3], "behind"),
    )
    answer = server.ask("/graph/trace", **DOWN)
    assert pairs(answer) == ["a.customerId ~ b.customer_id by opaque", "b.customerid ~ c.CustomerId by next"]


def test_where_a_trace_ended_at_a_mask_nothing_is_compared(server: Server) -> None:
    masked = columns(customerId=[("ns", "a", "customerId")])
    masked["fields"]["customerId"]["inputFields"][0]["transformations"][0]["masking"] = True
    server.send(
        run_event(job="mask", inputs=[dataset("a")], outputs=[dataset("b", columnLineage=masked)]),
        gap(dataset("b"), dataset("c", schema=schema("customerId")), RUNS[1]),
    )
    assert pairs(server.ask("/graph/trace", **DOWN)) == []
    assert pairs(server.ask("/graph/trace", **DOWN, through_masking=True)) == ["b.customerId ~ c.customerId by opaque"]


def test_schemas_are_those_of_the_time_of_the_question_under_any_name(server: Server) -> None:
    server.parts.now_us = T0 + 2 * HOUR_US
    server.send(
        gap(dataset("a"), dataset("b")),
        dataset_event(dataset("other", schema=schema("customer_id"), symlinks=OTHER_NAME)),
        dataset_event(dataset("other", schema=schema("id"), symlinks=OTHER_NAME), time_us=T0 + HOUR_US),
    )
    assert pairs(server.ask("/graph/trace", **DOWN)) == []
    assert pairs(server.ask("/graph/trace", **DOWN, at=format_time(T0 + 1))) == ["a.customerId ~ b.customer_id by opaque"]


def test_there_are_a_hundred_at_most_and_why_there_may_be_more(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    alike = ["customerId" + "_" * number for number in range(MOST + 1)]
    server.send(gap(dataset("a"), dataset("b", schema=schema(*alike))), gap(dataset("a"), dataset("c"), RUNS[1], "other"))
    found = server.ask("/graph/trace", **DOWN)["suggestions"]
    assert (len(found["items"]), found["cut"]) == (MOST, "suggestions")
    assert server.ask("/graph/trace", **DOWN, gaps=0)["suggestions"] == {"items": [], "cut": "gaps"}
    monkeypatch.setattr(trace_route, "READING_SECONDS", 0)
    assert server.ask("/graph/trace", **DOWN)["suggestions"] == {"items": [], "cut": "time"}


def test_of_datasets_that_a_limited_key_may_not_see_nothing_is_suggested(server: Server) -> None:
    server.send(gap(dataset("a"), dataset("b", "theirs", schema=schema("customer_id"))))
    client, headers = server.asking_for_keys(), server.key("ours", "read", namespaces=("ns",))
    answer = client.get("/api/v1/graph/trace", params=DOWN, headers=headers).json()
    assert (answer["suggestions"], "customer_id" in str(answer)) == ({"items": [], "cut": ""}, False)
    assert pairs(server.ask("/graph/trace", **DOWN)) == ["a.customerId ~ b.customer_id by opaque"]
