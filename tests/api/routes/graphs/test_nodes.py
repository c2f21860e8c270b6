"""The one graph as nodes and edges, and what lies up- and downstream of a node, edge by edge."""

from typing import Any
from urllib.parse import quote

import pytest
from tests.api.support import Server
from tests.events import RUNS, T0, dataset, dataset_event, facet, job_event, run_event

from lineage_bridge.openlineage.times import format_time

ENV = "confluent://env-1/lkc-1"
TOPIC = "confluent:kafka_topic:env-1:lkc-1/"
CONNECT = {"jobType": facet(processingType="STREAMING", integration="KAFKA_CONNECT", jobType="CONNECTOR")}
POSTGRES = "postgres://db:5432"
SOURCE = "external:external_dataset:postgres~3A//db~3A5432:shop.public.orders"


def chain() -> list[bytes]:
    """postgres -> connector -> orders -> flink -> sums -> tableflow -> table; a group reads orders, and two columns cross one job."""
    kafka = {"partitions": 6, "replication_factor": 3, "tags": ["pii"], "environment_id": "env-1", "cluster_id": "lkc-1"}
    orders = dataset("orders", ENV, confluent_kafka=facet(**kafka), documentation=facet(description="All orders"))
    answer: list[tuple[str, list[dict[str, Any]], list[dict[str, Any]], dict[str, Any]]] = [
        ("postgres-cdc", [dataset("shop.public.orders", POSTGRES)], [orders], CONNECT),
        ("flink/sums", [dataset("orders", ENV)], [dataset("sums", ENV)], {}),
        ("consumer-group/billing", [dataset("orders", ENV)], [], {}),
        ("tableflow/sums", [dataset("sums", ENV)], [dataset("main.sales.sums", "databricks://w-1")], {}),
    ]
    return [
        run_event("COMPLETE", RUNS[n], job, namespace=ENV, inputs=inputs, outputs=outputs, job_facets=facets)
        for n, (job, inputs, outputs, facets) in enumerate(answer)
    ]


@pytest.fixture
def graph(server: Server) -> str:
    server.send(*chain())
    return f"/graphs/{server.services.graph_id}"


def pairs(edges: list[dict[str, Any]]) -> set[tuple[str, str, str]]:
    def name(id_: str) -> str:
        return id_.split(":", 3)[3]

    return {(name(edge["src_id"]), name(edge["dst_id"]), edge["edge_type"]) for edge in edges}


EDGES = {
    ("shop.public.orders", "lkc-1/postgres-cdc", "consumes"),
    ("lkc-1/postgres-cdc", "lkc-1/orders", "produces"),
    ("lkc-1/orders", "lkc-1/flink/sums", "transforms"),
    ("lkc-1/flink/sums", "lkc-1/sums", "transforms"),
    ("lkc-1/orders", "lkc-1/consumer-group/billing", "consumes"),
    ("lkc-1/sums", "lkc-1/tableflow/sums", "consumes"),
    ("lkc-1/tableflow/sums", "main.sales.sums", "materializes"),
}


def test_the_graph_is_listed_and_given_whole(server: Server, graph: str) -> None:
    (listed,) = server.ask("/graphs")
    assert (listed["graph_id"], listed["node_count"], listed["edge_count"], listed["pipeline_count"]) == (graph[8:], 8, 7, 1)
    whole = server.ask(graph)
    assert whole["stats"] == {"node_count": 8, "edge_count": 7, "pipeline_count": 1, "validation_warnings": []}
    assert pairs(whole["edges"]) == EDGES == pairs(server.ask(graph + "/edges")["edges"])
    assert server.ask("/graphs/" + RUNS[0], 404)["error"]["hint"].endswith(graph[8:])


def test_a_node_is_found_by_either_form_of_its_id(server: Server, graph: str) -> None:
    for id_ in (TOPIC + "orders", "confluent:kafka_topic:env-1:orders", quote(TOPIC + "orders", safe="")):
        node = server.ask(f"{graph}/nodes/{id_}")
        assert node["node_id"] == TOPIC + "orders"
    assert node["attributes"] == {"partitions": 6, "replication_factor": 3, "description": "All orders"}
    assert (node["display_name"], node["qualified_name"], node["tags"]) == ("orders", "lkc-1/orders", ["pii"])
    assert (node["system"], node["node_type"], node["environment_id"], node["cluster_id"]) == ("confluent", "kafka_topic", "env-1", "lkc-1")
    assert (node["namespace"], node["name"], set(node["facets"])) == (ENV, "orders", {"confluent_kafka", "documentation"})
    assert node["last_seen"] == node["first_seen"] == format_time(T0)
    assert server.ask(f"{graph}/nodes/confluent:flink_job:env-1:sums")["display_name"] == "sums"
    table = server.ask(f"{graph}/nodes/databricks:uc_table:env-1:main.sales.sums")
    assert (table["node_type"], table["catalog_type"]) == ("catalog_table", "UNITY_CATALOG")


def test_an_ambiguous_id_lists_its_nodes_and_an_unknown_id_lists_similar_ones(server: Server, graph: str) -> None:
    server.send(run_event(run=RUNS[4], job="other", outputs=[dataset("orders", "confluent://env-1/lkc-2")]))
    answer = server.ask(f"{graph}/nodes/confluent:kafka_topic:env-1:orders", 409)["error"]
    assert (answer["code"], len(answer["near"])) == ("ambiguous", 2)
    assert TOPIC + "orders" in answer["hint"]
    answer = server.ask(f"{graph}/nodes/{TOPIC}ordres", 404)["error"]
    assert TOPIC + "orders" in answer["hint"]
    assert server.ask(f"{graph}/nodes/orders", 404)["error"]["code"] == "not_found"


def test_nodes_are_filtered_and_paged(server: Server, graph: str) -> None:
    def listed(**which: Any) -> list[str]:
        found = server.ask(graph + "/nodes", **which)
        assert found["total"] == len(found["nodes"])
        return [node["display_name"] for node in found["nodes"]]

    assert listed(type="kafka_topic") == ["orders", "sums"]
    assert listed(type="connector") == ["postgres-cdc"]
    assert listed(type="catalog_table") == listed(type="uc_table") == listed(system="databricks") == ["main.sales.sums"]
    assert listed(env_id="env-1", search="FLINK/s") == ["sums"]
    assert listed(env_id="env-2") == []
    first = server.client.get("/api/v1" + graph + "/nodes", params={"limit": 5})
    assert (len(first.json()["nodes"]), first.json()["total"]) == (5, 8)
    rest = server.client.get(first.headers["Link"].split(";")[0].strip("<>"))
    assert (len(rest.json()["nodes"]), rest.json()["total"], "Link" in rest.headers) == (3, 8, False)
    assert first.json()["nodes"] + rest.json()["nodes"] == server.ask(graph + "/nodes")["nodes"]
    assert server.ask(graph + "/nodes", 422, type="nothing")["error"]["code"] == "bad_argument"


@pytest.mark.parametrize("hops", [1, 2, 3, 4, 5, 6])
def test_a_hop_is_an_edge(server: Server, graph: str, hops: int) -> None:
    found = server.ask(f"{graph}/query/downstream/{SOURCE}", hops=hops)
    ways = ["", "lkc-1/postgres-cdc", "lkc-1/orders", "lkc-1/flink/sums", "lkc-1/sums", "lkc-1/tableflow/sums", "main.sales.sums"]
    expected = {name: distance for distance, name in enumerate(ways) if 0 < distance <= hops}
    expected |= {"lkc-1/consumer-group/billing": 3} if hops >= 3 else {}
    assert {node["qualified_name"]: found["distances"][node["node_id"]] for node in found["nodes"]} == expected
    assert (found["node_count"], found["edge_count"]) == (len(expected), len(expected)) == (len(found["nodes"]), len(found["edges"]))
    assert pairs(found["edges"]) <= EDGES
    assert (found["origin"], found["direction"], found["hops"], found["truncated"]) == (SOURCE, "downstream", hops, "")


def test_upstream_mirrors_downstream_and_begins_at_jobs_too(server: Server, graph: str) -> None:
    table = "databricks:uc_table:w-1:main.sales.sums"
    up = server.ask(f"{graph}/query/upstream/{quote(table, safe='')}", hops=6)
    assert up["distances"][SOURCE] == 6
    assert pairs(up["edges"]) == {edge for edge in EDGES if "billing" not in edge[1]}
    job = server.ask(f"{graph}/query/upstream/confluent:flink_job:env-1:sums", hops=2)
    assert sorted(job["distances"].values()) == [0, 1, 2]
    assert server.ask(f"{graph}/query/upstream/{TOPIC}nothing", 404)
    assert server.ask(f"{graph}/query/upstream/{table}", 422, hops=51)


def test_a_declared_flow_is_one_edge_and_a_job_connects_only_what_flows(server: Server) -> None:
    entries = [
        {"type": "DATASET", "namespace": "ns", "name": t, "inputs": [{"type": "DATASET", "namespace": "ns", "name": s}]}
        for s, t in ("ab", "cd")
    ]
    lineage = {"lineage": facet(entries=entries)}
    pairwise = run_event(inputs=[dataset("a"), dataset("c")], outputs=[dataset("b"), dataset("d")], job_facets=lineage)
    own = dataset_event(dataset("e", lineage=facet(inputs=[{"type": "DATASET", "namespace": "ns", "name": "b"}])))
    server.send(pairwise, own, job_event("declared", inputs=[dataset("e")]))
    graph = f"/graphs/{server.services.graph_id}"
    found = server.ask(f"{graph}/query/downstream/external:external_dataset:ns:a", hops=4)
    names = {node["name"]: found["distances"][node["node_id"]] for node in found["nodes"]}
    assert names == {"job": 1, "b": 2, "e": 3, "declared": 4}
    assert {(edge["edge_type"], edge["confidence"]) for edge in found["edges"]} == {
        ("consumes", 1.0),
        ("produces", 1.0),
        ("transforms", 0.9),
        ("consumes", 0.9),
    }
    assert server.ask(graph)["stats"]["edge_count"] == len(server.ask(graph + "/edges")["edges"]) == 6


def test_the_two_names_of_a_topic_are_one_node(server: Server) -> None:
    server.send(
        run_event(run=RUNS[0], job="writer", outputs=[dataset("t", "confluent://env-1/lkc-1")]),
        run_event(run=RUNS[1], job="reader", inputs=[dataset("t", "kafka://lkc-1")]),
    )
    graph = f"/graphs/{server.services.graph_id}"
    (topic,) = server.ask(graph + "/nodes", type="kafka_topic")["nodes"]
    assert (topic["node_id"], len(topic["aliases"])) == ("confluent:kafka_topic:env-1:lkc-1/t", 1)
    assert server.ask(graph)["stats"] == {"node_count": 3, "edge_count": 2, "pipeline_count": 1, "validation_warnings": []}
    assert server.ask(f"{graph}/query/upstream/external:job:jobs:reader", hops=2)["node_count"] == 2
