"""Import: nodes and edges become design-time events through the one intake; what is exported comes back the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.routes.graphs.test_nodes import chain
from tests.api.support import Server, running
from tests.corpora.published import faults
from tests.events import RUNS, columns, dataset, dataset_event, facet, run_event, schema

CONFLUENT = "confluent:{}:env-1:{}"
TOPIC, CONNECTOR, GROUP, QUERY = (
    CONFLUENT.format(type_, name)
    for type_, name in (("kafka_topic", "orders"), ("connector", "pg"), ("consumer_group", "billing"), ("ksqldb_query", "CSAS_1"))
)
TABLE, OUTSIDE, NOTEBOOK = (
    "databricks:uc_table:env-1:main.sales.orders",
    "confluent:external_dataset:env-1:pg.orders",
    "databricks:notebook:env-1:n",
)


def node(id_: str, **members: Any) -> dict[str, Any]:
    system, type_, env, name = id_.split(":", 3)
    known = {"kafka_topic": "lkc-1", "connector": "lkc-1", "consumer_group": "lkc-1", "ksqldb_query": "lkc-1"}
    node_type = "catalog_table" if type_ == "uc_table" else type_
    base = {"node_id": id_, "system": system, "node_type": node_type, "qualified_name": name, "display_name": name}
    return {**base, "environment_id": env, "cluster_id": known.get(type_), "attributes": {}, "tags": [], "url": None, **members}


def edge(src: str, dst: str, type_: str, **members: Any) -> dict[str, Any]:
    return {"src_id": src, "dst_id": dst, "edge_type": type_, **members}


def prototype() -> dict[str, Any]:
    """A graph as the prototype exports it: ids without clusters, groups that point at their topics, schemas as nodes."""
    schema_id = CONFLUENT.format("schema", "orders-value")
    topic = {"partitions": 6, "replication_factor": 3, "retention_ms": "1000"}
    return {
        "nodes": [
            node(TOPIC, attributes=topic, tags=["pii"], last_seen="2026-05-01T00:00:00Z", first_seen="2026-04-01T00:00:00Z"),
            node(CONNECTOR, attributes={"connector_class": "PostgresCdcSource", "connector_type": "source"}),
            node(GROUP),
            node(QUERY, attributes={"sql": "SELECT 1;", "state": "RUNNING"}),
            node(OUTSIDE),
            node(NOTEBOOK, url="https://dbc/n"),
            node(TABLE, attributes={"workspace_url": "https://dbc.example.com/"}),
            node(schema_id),
        ],
        "edges": [
            edge(OUTSIDE, CONNECTOR, "produces"),
            edge(CONNECTOR, TOPIC, "produces", confidence=0.8, attributes={"by": "regex"}),
            edge(GROUP, TOPIC, "consumes"),
            edge(TOPIC, QUERY, "transforms"),
            edge(TOPIC, TABLE, "materializes"),
            edge(TOPIC, schema_id, "has_schema"),
            edge(NOTEBOOK, TABLE, "produces"),
        ],
    }


def imported(server: Server, graph: dict[str, Any], status: int = 200) -> Any:
    answer = server.client.post(f"/api/v1/graphs/{server.services.graph_id}/import", json=graph)
    assert answer.status_code == status, answer.text
    server.fold()
    return answer.json()


def exported(server: Server) -> tuple[dict[str, Any], dict[Any, Any]]:
    """Nodes without their times, edges without their time and origin: what an import states is declared, as of the node's last word."""
    graph = server.ask(f"/graphs/{server.services.graph_id}/export")
    nodes = {node["node_id"]: {key: value for key, value in node.items() if key not in ("last_seen", "id")} for node in graph["nodes"]}
    dropped = ("last_seen", "origin", "label")
    edges = {(e["src_id"], e["dst_id"]): {key: value for key, value in e.items() if key not in dropped} for e in graph["edges"]}
    assert (len(nodes), len(edges)) == (len(graph["nodes"]), len(graph["edges"]))
    return nodes, edges


def test_an_export_of_the_prototype_is_imported(server: Server) -> None:
    answer = imported(server, prototype())
    assert (answer["nodes_imported"], answer["edges_imported"]) == (7, 6)
    assert [(item.get("node_id"), item.get("edge_type")) for item in answer["skipped"]] == [
        ("confluent:schema:env-1:orders-value", None),
        (None, "has_schema"),
    ]
    nodes, edges = exported(server)
    topic = nodes["confluent:kafka_topic:env-1:lkc-1/orders"]
    assert topic["attributes"] == {"partitions": 6, "replication_factor": 3, "retention_ms": "1000"}
    assert (topic["tags"], topic["first_seen"][:10], set(topic["facets"])) == (["pii"], "2026-04-01", {"confluent_kafka"})
    assert nodes["databricks:notebook:env-1:n"]["url"] == "https://dbc/n"
    named = {(a.split(":", 3)[3], b.split(":", 3)[3]): (e["edge_type"], e["confidence"]) for (a, b), e in edges.items()}
    assert named == {
        ("pg.orders", "lkc-1/pg"): ("produces", 1.0),
        ("lkc-1/pg", "lkc-1/orders"): ("produces", 0.8),
        ("lkc-1/orders", "lkc-1/consumer-group/billing"): ("consumes", 1.0),
        ("lkc-1/orders", "lkc-1/ksqldb/CSAS_1"): ("transforms", 1.0),
        ("lkc-1/orders", "main.sales.orders"): ("materializes", 1.0),
        ("n", "main.sales.orders"): ("produces", 1.0),
    }
    assert edges["confluent:connector:env-1:lkc-1/pg", "confluent:kafka_topic:env-1:lkc-1/orders"]["attributes"] == {"by": "regex"}
    assert faults(json.loads(record.body) for record in server.stored()) == []
    assert imported(server, prototype())["position"] > answer["position"]
    assert exported(server) == (nodes, edges)


def test_an_export_comes_back_the_same_in_an_empty_store(server: Server, tmp_path: Path, empty_store: Path) -> None:
    entries = [
        {"type": "DATASET", "namespace": "ns", "name": t, "inputs": [{"type": "DATASET", "namespace": "ns", "name": s}]}
        for s, t in ("ab", "cd")
    ]
    pairwise = run_event(
        run=RUNS[4],
        inputs=[dataset("a", schema=schema("x")), dataset("c")],
        outputs=[dataset("b", columnLineage=columns(y=[("ns", "a", "x")])), dataset("d")],
        job_facets={"lineage": facet(entries=entries)},
    )
    own = dataset_event(dataset("e", lineage=facet(inputs=[{"type": "DATASET", "namespace": "ns", "name": "b"}])))
    same = run_event(run=RUNS[3], job="reader", inputs=[dataset("orders", "kafka://lkc-1")])
    server.send(*chain(), pairwise, own, same)
    graph = server.ask(f"/graphs/{server.services.graph_id}/export")
    with running(tmp_path / "other", empty_store) as other:
        answer = imported(other, graph)
        assert (answer["nodes_imported"], answer["edges_imported"]) == (len(graph["nodes"]), len(graph["edges"]))
        assert exported(other) == exported(server)
        below = [
            each.ask(f"/graphs/{each.services.graph_id}/query/downstream/external:external_dataset:ns:a", hops=9)["distances"]
            for each in (server, other)
        ]
        assert below[0] == below[1]
        assert exported(other)[1] != {}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"nodes": [node("orders:x:y:z")]}, "nodes[0]: 'orders:x:y:z' is not a node id"),
        ({"nodes": [node(TOPIC, node_type="connector")]}, "nodes[0]: node_type 'connector' does not fit"),
        ({"nodes": [node(TOPIC, last_seen="soon")]}, "nodes[0]: 'soon' is not a time"),
        ({"nodes": [node(CONFLUENT.format("kafka_topic", "o" * 9000))]}, "characters, the limit is"),
        ({"nodes": [node(TOPIC)], "edges": [edge(TOPIC, CONNECTOR, "consumes")]}, f"edges[0]: {CONNECTOR!r} is not among the nodes"),
        ({"nodes": [node(TOPIC)], "edges": [edge(TOPIC, TOPIC, "eats")]}, "edges[0]: 'eats' is not an edge type"),
        ({"edges": []}, "invalid graph: "),
        ([], "the body of an import must be one JSON object"),
    ],
)
def test_an_invalid_import_is_refused_with_the_reason_and_nothing_is_stored(server: Server, change: Any, reason: str) -> None:
    assert reason in imported(server, change, 422)["error"]["message"]
    assert server.stored() == []
    answer = server.client.post(f"/api/v1/graphs/{RUNS[0]}/import", json=prototype())
    assert answer.status_code == 404
