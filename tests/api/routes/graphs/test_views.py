"""Views: the graph as OpenLineage events, each of which is accepted as it stands, and says again what is known."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.api.routes.graphs.test_nodes import ENV, chain
from tests.api.support import LINEAGE, Server, running
from tests.events import PRODUCER, RUNS, T0, columns, dataset, dataset_event, design_events, facet, job_event, run_event, run_events, schema

from lineage_bridge.openlineage.times import format_time

KAFKA = "kafka://broker:9092"
SAME = {"aliases": [{"a": {"namespace": ENV}, "b": {"namespace": KAFKA}}]}


def view(server: Server, which: str = "enriched", **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = server.ask(f"/graphs/{which}/view", **query)
    assert list(found) == ["view", "systems", "events", "statements"]
    return found


def jobs(found: dict[str, Any], part: str = "events") -> list[str]:
    return [event["job"]["name"] for event in found[part] if "job" in event]


def sent(server: Server, event: dict[str, Any]) -> None:
    """An event is taken by itself, and nothing of it has to be mended."""
    answer = server.client.post(LINEAGE, json=event)
    assert (answer.status_code, answer.json().get("repairs")) == (201, []), answer.text


def test_a_view_has_one_event_for_each_job(server: Server) -> None:
    server.send(*chain())
    server.send(run_event("START", RUNS[4], "flink/sums", namespace=ENV, time_us=T0 + 7, inputs=[dataset("orders", ENV)]))
    found = view(server, "confluent")
    assert (found["view"], found["systems"], found["statements"]) == ("confluent", None, [])
    assert jobs(found) == ["consumer-group/billing", "flink/sums", "postgres-cdc", "tableflow/sums"]
    cdc, flink = found["events"][2], found["events"][1]
    assert (flink["eventType"], flink["eventTime"], flink["run"]["runId"]) == ("START", format_time(T0 + 7), RUNS[4])
    assert [dataset["name"] for dataset in flink["inputs"]] == ["orders"]
    assert set(cdc["job"]["facets"]) == {"jobType"}
    assert cdc["inputs"] == [{"namespace": "postgres://db:5432", "name": "shop.public.orders"}]
    assert set(cdc["outputs"][0]["facets"]) == {"confluent_kafka", "documentation"}
    assert cdc["outputs"][0]["facets"]["confluent_kafka"]["partitions"] == 6


def test_systems_are_those_of_the_job_or_of_any_of_its_datasets(server: Server) -> None:
    outside = run_event(run=RUNS[4], job="dbt", inputs=[dataset("a", "postgres://db:5432")], outputs=[dataset("b", "s3://bucket")])
    server.send(*chain(), outside)
    assert jobs(view(server)) == ["consumer-group/billing", "flink/sums", "postgres-cdc", "tableflow/sums", "dbt"]
    assert jobs(view(server, systems="databricks")) == ["tableflow/sums"]
    assert jobs(view(server, systems="external, databricks")) == ["postgres-cdc", "tableflow/sums", "dbt"]
    assert jobs(view(server, systems="s3")) == ["dbt"]
    assert view(server, systems="confluent,databricks")["systems"] == ["confluent", "databricks"]
    assert "dbt" not in jobs(view(server, "confluent"))


def test_a_job_that_was_only_declared_is_a_statement(server: Server) -> None:
    declared = job_event("planned", inputs=[dataset("a")], outputs=[dataset("b")], job_facets={"documentation": facet(description="x")})
    alone = dataset_event(dataset("c", schema=schema("id")))
    own = dataset_event(dataset("b", lineage=facet(inputs=[{"type": "DATASET", "namespace": "ns", "name": "c"}])))
    server.send(declared, alone, own, run_event(job="idle"))
    found = view(server)
    assert jobs(found) == ["idle"]
    assert [event.get("eventType") for event in found["statements"]] == [None] * 3
    planned, b, c = found["statements"]
    assert (planned["job"]["name"], planned["inputs"], planned["outputs"]) == (
        "planned",
        [{"namespace": "ns", "name": "a"}],
        [{"namespace": "ns", "name": "b"}],
    )
    assert (b["dataset"]["name"], set(b["dataset"]["facets"])) == ("b", {"lineage"})
    assert (c["dataset"]["name"], c["schemaURL"][-12:]) == ("c", "DatasetEvent")
    for event in found["statements"]:
        sent(server, event)


def test_names_follow_the_requested_style_in_lineage_facets_too(server: Server) -> None:
    cdc = run_event(
        job="copy",
        inputs=[dataset("t", KAFKA)],
        outputs=[dataset("out", columnLineage=columns(id=[(KAFKA, "t", "id")]))],
        job_facets={"documentation": {"description": "without its meta"}, "sql": {"nothing": 1}},
    )
    assert server.client.post("/api/v1/operations/alias", json=SAME).status_code == 202
    server.send(cdc, run_event(run=RUNS[1], job="write", outputs=[dataset("t", ENV)]))
    for style, namespace in (("lineagebridge", ENV), ("standard", KAFKA)):
        event = view(server, names=style)["events"][0]
        assert event["inputs"][0]["namespace"] == namespace
        lineage = event["outputs"][0]["facets"]["columnLineage"]
        assert lineage["fields"]["id"]["inputFields"][0]["namespace"] == namespace
        assert set(event["job"]["facets"]) == {"documentation"}
        assert event["job"]["facets"]["documentation"]["description"] == "without its meta"
        sent(server, event)


def test_a_question_in_lineagebridges_style_is_answered_in_it(server: Server) -> None:
    assert server.client.post("/api/v1/operations/alias", json=SAME).status_code == 202
    server.send(run_event(inputs=[dataset("t", KAFKA)], outputs=[dataset("u", KAFKA)]), run_event(job="w", outputs=[dataset("t", ENV)]))
    asked: list[tuple[str, dict[str, Any], str]] = [(ENV, {}, ENV), (KAFKA, {}, KAFKA), (ENV, {"names": "standard"}, KAFKA)]
    for namespace, names, expected in asked:
        found = server.ask("/lineage/datasets/lineage", namespace=namespace, name="t", direction="downstream", **names)
        assert found["origin"] == {"namespace": expected, "name": "t"}
        assert found["events"][0]["inputs"] == [{"namespace": expected, "name": "t"}]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(events=st.lists(run_events | design_events, min_size=1, max_size=8))
def test_every_event_of_a_view_is_accepted_as_it_stands_and_changes_no_view(
    events: list[bytes], tmp_path_factory: pytest.TempPathFactory, empty_store: Any
) -> None:
    with running(tmp_path_factory.mktemp("views"), empty_store) as server:
        server.send(*events)
        found = view(server)
        for event in found["events"]:
            assert server.ask(f"/graph/runs/{event['run']['runId']}")["runs"][0].get("unobserved") is not True
        for event in (*found["events"], *found["statements"]):
            sent(server, event)
        assert all(set(event) >= {"run", "job", "inputs", "outputs", "eventTime", "schemaURL"} for event in found["events"])
        whole = server.ask(f"/graphs/{server.services.graph_id}")
        counts = {key: count for key, count in server.ask("/graphs")[0].items() if key.endswith("_count")}
        assert counts.items() <= whole["stats"].items()
        assert len({(edge["src_id"], edge["dst_id"], edge["edge_type"]) for edge in whole["edges"]}) == whole["stats"]["edge_count"]
        assert {edge[end] for edge in whole["edges"] for end in ("src_id", "dst_id")} <= {node["node_id"] for node in whole["nodes"]}
        server.fold()
        again = view(server)
        assert [event["job"]["name"] for event in again["events"]] == [event["job"]["name"] for event in found["events"]]
        assert PRODUCER not in {event["producer"] for event in again["events"]}
