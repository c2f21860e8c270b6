"""Neighbourhoods over HTTP."""

from typing import Any

from tests.api.support import Server
from tests.events import RUNS, T0, columns, dataset, facet, run_event

from lineage_bridge.openlineage.times import format_time


def test_a_neighbourhood_names_nodes_edges_ports_and_columns(server: Server) -> None:
    mapped = {**dataset("b"), "facets": {"columnLineage": columns(x=[("ns", "a", "y")])}}
    server.send(run_event(inputs=[dataset("a")], outputs=[mapped]))
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="b", columns=True)
    ids = {node["id"]: (node["kind"], node["name"]) for node in answer["nodes"]}
    (edge,) = answer["edges"]
    assert [ids[edge[end]] for end in ("source", "job", "target")] == [("dataset", "a"), ("job", "job"), ("dataset", "b")]
    assert (edge["origin"], edge["evidence"], edge["label"]) == ("observed", "column", "current")
    assert edge["last_seen"] == format_time(T0)
    (column,) = answer["columns"]
    assert (column["source_field"], column["target_field"]) == ("y", "x")
    assert column["transformations"] == [{"type": "DIRECT", "subtype": "IDENTITY", "masking": False}]
    distances = {node["name"]: node.get("distance") for node in answer["nodes"]}
    assert distances == {"a": 1, "b": 0, "job": None}
    assert [(ids[port["dataset"]][1], port["side"]) for port in answer["ports"]] == [("b", "output")]
    assert (answer["truncated"], answer["hidden"], answer["settling"], answer["direction"]) == ("", 0, False, "both")
    around = server.ask("/graph/neighbourhood", kind="job", namespace="jobs", name="job")
    assert {node["name"] for node in around["nodes"]} == {"a", "b", "job"}
    server.ask("/graph/neighbourhood", 404, kind="job", namespace="ns", name="b")


def test_co_occurrence_of_a_job_with_one_input_and_one_output_is_unambiguous(server: Server) -> None:
    server.send(
        run_event(job="narrow", inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event(job="wide", run=RUNS[1], inputs=[dataset("a"), dataset("x")], outputs=[dataset("c")]),
        run_event(job="stated", run=RUNS[2], inputs=[dataset("a")], outputs=[dataset("d", columnLineage=columns(x=[("ns", "a", "y")]))]),
        run_event(job="renamed", run=RUNS[3], inputs=[dataset("t", "s3a://lake")], outputs=[dataset("a")]),
        run_event(job="renamed", run=RUNS[4], inputs=[dataset("t", "s3://lake")], outputs=[dataset("a")]),
    )
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="a")
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    assert {names[edge["job"]] for edge in answer["edges"] if edge.get("unambiguous")} == {"narrow", "renamed"}
    assert {names[edge["job"]] for edge in answer["edges"]} == {"narrow", "renamed", "wide", "stated"}


def test_details_have_stewardship_where_they_are_stated(server: Server) -> None:
    stated: dict[str, Any] = {"ownership": facet(owners=[{"name": "team:a"}]), "kafka_topic": facet(config={"retention.ms": "-1"})}
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b", **stated)]))
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="b", details=True)
    kept = {node["name"]: (node["details"].get("owners"), node["details"].get("retention")) for node in answer["nodes"]}
    assert kept == {"a": (None, None), "b": (["team:a"], "without limit"), "job": (None, None)}


def test_details_have_the_tags_of_a_node_and_not_those_of_its_columns(server: Server) -> None:
    tags = [{"key": "gold", "value": "true"}, {"key": "tier", "value": "1"}, {"key": "pii", "value": "email", "field": "mail"}]
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b", tags=facet(tags=tags))]))
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="b", details=True)
    assert {node["name"]: node["details"].get("tags") for node in answer["nodes"]} == {"a": None, "b": ["gold", "tier=1"], "job": None}
