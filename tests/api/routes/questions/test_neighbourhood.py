"""Neighbourhoods over HTTP."""

from tests.api.support import Server
from tests.events import T0, columns, dataset, run_event

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
