"""The calls that LineageBridge's own documentation shows for imports, views, dataset lineage and traversal get the shapes it prints."""

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient
from tests.api.support import Server, running
from tests.events import facet

from lineage_bridge.api.app import create_app

CLOUD, ABC = "confluent://env-26wn6m/lkc-mjnq51", "confluent://env-abc/lkc-123"
WORKSPACE = "dbc-7c6e0c41-4172.cloud.databricks.com"
TABLE = "lb_uc_75083e95.lkc-mjnq51.lineage_bridge_orders_v2"
ORDERS, ENRICHED = "lineage_bridge.orders_v2", "lineage_bridge.enriched_orders"
EXTERNAL = {
    "eventTime": "2026-04-30T00:00:00Z",
    "eventType": "COMPLETE",
    "run": {"runId": "external-run-1"},
    "job": {"namespace": "databricks://workspace-1", "name": "etl-pipeline"},
    "inputs": [{"namespace": ABC, "name": "orders"}],
    "outputs": [{"namespace": "databricks://workspace-1", "name": "main.sales.orders"}],
}


def event(job: tuple[str, str], inputs: list[tuple[str, str]], outputs: list[tuple[str, str]], **facets: Any) -> dict[str, Any]:
    inputs_, outputs_ = ([{"namespace": namespace, "name": name} for namespace, name in side] for side in (inputs, outputs))
    return {
        "eventTime": "2026-05-01T04:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": str(uuid.uuid5(uuid.NAMESPACE_URL, job[1]))},
        "job": {"namespace": job[0], "name": job[1], "facets": facets},
        "inputs": inputs_,
        "outputs": outputs_,
        "producer": "https://example.org",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
    }


def company_events() -> list[dict[str, Any]]:
    """What an extraction tells of the estate that the documentation speaks of."""
    connector = facet(processingType="STREAMING", integration="KAFKA_CONNECT", jobType="CONNECTOR")
    unity = f"unitycatalog://{WORKSPACE}"
    return [
        event((CLOUD, "lb-uc-75083e95-datagen-orders"), [(CLOUD, "DatagenSource")], [(CLOUD, ORDERS)], jobType=connector),
        event((CLOUD, "ksqldb/lksqlc-1/CSAS_1"), [(CLOUD, ORDERS)], [(CLOUD, ENRICHED)]),
        event((CLOUD, "tableflow/orders"), [(CLOUD, ORDERS)], [(unity, TABLE)]),
        event(("dbt", "revenue"), [(unity, TABLE)], [(unity, "main.marts.revenue")]),
        event(
            (ABC, "postgres-cdc-source"), [("postgres://db.example.com:5432", "shop.public.orders")], [(ABC, "orders")], jobType=connector
        ),
        event(("airflow", "unrelated"), [("s3://a", "x")], [("s3://a", "y")]),
    ]


def client_of(server: Server) -> TestClient:
    """A client as the documentation makes it, of a server that has extracted."""
    client = TestClient(create_app(server.services), base_url="http://localhost:8000/api/v1", client=("127.0.0.1", 50_000))
    assert client.post("/lineage/events", json=company_events()).json()["events_stored"] == 6
    server.fold()
    return client


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory, empty_store: Path) -> Iterator[TestClient]:
    """One for all questions."""
    with running(tmp_path_factory.mktemp("seed"), empty_store) as server:
        yield client_of(server)


def test_external_lineage_is_imported(server: Server) -> None:
    client = client_of(server)
    response = client.post("/lineage/events", json=[EXTERNAL])
    assert response.status_code == 201
    assert response.json()["events_stored"] == 1
    assert client.post("/lineage/events", json=[{**EXTERNAL, "run": {"runId": str(uuid.uuid4())}}]).json()["events_stored"] == 1
    server.fold()
    lineage = client.get(
        "/lineage/datasets/lineage", params={"namespace": "databricks://workspace-1", "name": "main.sales.orders", "depth": 5}
    ).json()
    assert [answer["job"]["name"] for answer in lineage["events"]] == ["postgres-cdc-source", "etl-pipeline"]
    assert client.get("/lineage/events/external-run-1").json() == [EXTERNAL]


def test_the_unified_view(client: TestClient) -> None:
    all_lineage = client.get("/graphs/enriched/view").json()
    assert len(all_lineage.get("events", [])) == 6
    filtered = client.get("/graphs/enriched/view", params={"systems": "confluent,databricks"}).json()
    assert {answer["job"]["name"] for answer in filtered["events"]} == {answer["job"]["name"] for answer in all_lineage["events"]} - {
        "unrelated"
    }
    assert all_lineage["view"] == filtered["view"] == "enriched"


def _google(body: Any) -> int:
    """The status that processOpenLineageRunEvent answers: one RunEvent of the first major version, of at most 5 MB, and nothing else."""
    is_event = isinstance(body, dict) and {"eventTime", "run", "job", "producer", "schemaURL"} <= body.keys() and "dataset" not in body
    if not is_event or not body["schemaURL"].endswith("/RunEvent") or body.get("eventType", "OTHER") == "UNKNOWN":
        return 400
    names = [body["job"], *body["inputs"], *body["outputs"]]
    is_run = str(uuid.UUID(body["run"]["runId"])) == body["run"]["runId"]
    short = all(0 < len(named["namespace"]) + len(named["name"]) <= 4000 for named in names)
    return 200 if is_run and short and len(json.dumps(body)) <= 5_000_000 else 400


def test_the_view_goes_to_google_event_by_event(client: TestClient) -> None:
    lineage = client.get("/graphs/confluent/view").json()
    assert {answer["job"]["name"] for answer in lineage["events"]} == {
        "lb-uc-75083e95-datagen-orders",
        "ksqldb/lksqlc-1/CSAS_1",
        "tableflow/orders",
        "postgres-cdc-source",
    }
    assert _google(lineage) == 400
    assert {_google(answer) for answer in lineage["events"]} == {200}
    (cdc,) = (answer for answer in lineage["events"] if answer["job"]["name"] == "postgres-cdc-source")
    assert cdc["inputs"] == [{"namespace": "postgres://db.example.com:5432", "name": "shop.public.orders"}]


def test_upstream_of_a_topic(client: TestClient) -> None:
    asked: dict[str, str | int] = {"namespace": CLOUD, "name": ORDERS, "direction": "upstream", "depth": 3}
    lineage = client.get("/lineage/datasets/lineage", params=asked).json()
    (answer,) = lineage["events"]
    assert {key: lineage[key] for key in ("origin", "direction", "depth", "datasets_visited", "jobs_visited")} == {
        "origin": {"namespace": CLOUD, "name": ORDERS},
        "direction": "upstream",
        "depth": 3,
        "datasets_visited": 2,
        "jobs_visited": 1,
    }
    assert {key: answer[key] for key in ("eventTime", "eventType", "job", "inputs", "outputs")} == {
        "eventTime": "2026-05-01T04:00:00.000000Z",
        "eventType": "COMPLETE",
        "job": {"namespace": CLOUD, "name": "lb-uc-75083e95-datagen-orders"},
        "inputs": [{"namespace": CLOUD, "name": "DatagenSource"}],
        "outputs": [{"namespace": CLOUD, "name": ORDERS}],
    }


def test_downstream_of_a_table_by_the_address_of_its_workspace(client: TestClient) -> None:
    asked: dict[str, str | int] = {"namespace": f"databricks://https://{WORKSPACE}", "name": TABLE, "direction": "downstream", "depth": 5}
    lineage = client.get("/lineage/datasets/lineage", params=asked).json()
    assert [(answer["job"]["name"], [o["name"] for o in answer["outputs"]]) for answer in lineage["events"]] == [
        ("revenue", ["main.marts.revenue"])
    ]


def test_both_directions(client: TestClient) -> None:
    asked: dict[str, str | int] = {"namespace": CLOUD, "name": ENRICHED, "direction": "both", "depth": 10}
    lineage = client.get("/lineage/datasets/lineage", params=asked).json()
    assert (lineage["origin"]["name"], lineage["direction"], lineage["datasets_visited"], lineage["jobs_visited"]) == (
        ENRICHED,
        "both",
        3,
        2,
    )
    assert {answer["job"]["name"] for answer in lineage["events"]} == {"lb-uc-75083e95-datagen-orders", "ksqldb/lksqlc-1/CSAS_1"}


@pytest.mark.parametrize(
    ("node_id", "direction", "found"),
    [
        (f"confluent:kafka_topic:env-26wn6m:{ORDERS}", "upstream", (2, 2)),
        (f"confluent:kafka_topic:env-26wn6m:lkc-mjnq51/{ORDERS}", "upstream", (2, 2)),
        (f"databricks:uc_table:env-26wn6m:{TABLE}", "upstream", (3, 3)),
        (f"databricks:uc_table:env-26wn6m:{TABLE}", "downstream", (2, 2)),
        ("confluent:kafka_topic:env-abc:lkc-123/orders", "upstream", (2, 2)),
    ],
)
def test_traversal_of_the_graph(client: TestClient, node_id: str, direction: str, found: tuple[int, int]) -> None:
    graph_id = client.get("/graphs").json()[0]["graph_id"]
    answers = [
        client.get(f"/graphs/{graph_id}/query/{direction}/{path}", params={"hops": 3}).json() for path in (quote(node_id, safe=""), node_id)
    ]
    lineage = answers[0]
    assert (lineage["node_count"], lineage["edge_count"]) == found
    assert answers[1] == lineage
    assert (lineage["direction"], lineage["hops"], len(lineage["nodes"])) == (direction, 3, found[0])
    assert client.get(f"/graphs/{graph_id}").json()["graph_id"] == graph_id


def test_a_topic_is_a_node_and_a_dataset_as_printed(server: Server) -> None:
    client = client_of(server)
    kafka = {"cluster_id": "lkc-123", "environment_id": "env-abc", "partitions": 6, "replication_factor": 3}
    topic = {"namespace": ABC, "name": "orders", "facets": {"confluent_kafka": facet(**kafka)}}
    about = {"eventTime": "2026-05-02T00:00:00Z", "producer": "p", "schemaURL": "u#/$defs/DatasetEvent", "dataset": topic}
    assert client.post("/lineage/events", json=[about]).status_code == 201
    server.fold()
    graph_id = client.get("/graphs").json()[0]["graph_id"]
    node = client.get(f"/graphs/{graph_id}/nodes/confluent:kafka_topic:env-abc:lkc-123/orders").json()
    printed = {
        "node_id": "confluent:kafka_topic:env-abc:lkc-123/orders",
        "system": "confluent",
        "node_type": "kafka_topic",
        "qualified_name": "lkc-123/orders",
        "display_name": "orders",
        "attributes": {"partitions": 6, "replication_factor": 3},
    }
    assert {key: node[key] for key in printed} == printed
    (answer,) = (event for event in client.get("/graphs/confluent/view").json()["events"] if event["job"]["namespace"] == ABC)
    assert answer["outputs"][0]["facets"]["confluent_kafka"].items() >= kafka.items()
