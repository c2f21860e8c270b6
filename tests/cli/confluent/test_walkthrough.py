"""The documented calls on lineage of Confluent Cloud, use by use, on a server that extracted the whole stand-in."""

import json
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from tests.confluent.installation import Installation, installed
from tests.confluent.organization.resources import ANALYTICS, PROD
from tests.sources.http import Reply, Request, Standin, standing

ORDERS = ("confluent://env-p9k2x7/lkc-p1ord7", "orders")
EVENT = {"eventTime", "eventType", "run", "job", "inputs", "outputs"}


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with installed(tmp_path_factory.mktemp("walkthrough"), environments=[]) as found:
        yield found


@pytest.fixture(scope="module")
def client(installation: Installation) -> Iterator[httpx.Client]:
    """A client as the examples make it, once everything has been extracted."""
    with httpx.Client(base_url=f"{installation.server.url}/api/v1", timeout=60) as client:
        answer = client.post("/tasks/extract")
        assert answer.status_code == 202
        extracted(client, answer.json()["task_id"])
        yield client


def extracted(client: httpx.Client, task_id: str) -> dict[str, Any]:
    """The task, once it is completed."""
    until = time.monotonic() + 180
    while time.monotonic() < until:
        task: dict[str, Any] = client.get(f"/tasks/{task_id}").json()
        if task["status"] == "completed":
            return task
        assert task["status"] in ("pending", "running"), task
        time.sleep(0.5)
    raise AssertionError(task)


def lineage(client: httpx.Client, namespace: str, name: str, direction: str, depth: int) -> dict[str, Any]:
    """An answer of the dataset lineage call, which has the printed shape."""
    requested: dict[str, str | int] = {"namespace": namespace, "name": name, "direction": direction, "depth": depth}
    found: dict[str, Any] = client.get("/lineage/datasets/lineage", params=requested).raise_for_status().json()
    assert {key: found[key] for key in ("origin", "direction", "depth")} == {
        "origin": {"namespace": namespace, "name": name},
        "direction": direction,
        "depth": depth,
    }
    assert isinstance(found["datasets_visited"], int)
    assert found["jobs_visited"] == len(found["events"])
    for event in found["events"]:
        assert EVENT - event.keys() in (set(), {"eventType", "run"})
        assert all({"namespace", "name"} <= named.keys() for named in (event["job"], *event["inputs"], *event["outputs"]))
    return found


def chain(found: dict[str, Any]) -> set[str]:
    """The lines that the examples print."""
    return {
        f"{', '.join(sorted(node['name'] for node in event['inputs']))} -> [{event['job']['name']}] -> "
        f"{', '.join(sorted(node['name'] for node in event['outputs']))}"
        for event in found["events"]
    }


# exporting: extract, wait, events


def test_events_are_listed_after_an_extraction(client: httpx.Client, tmp_path) -> None:
    events = client.get("/lineage/events").json()
    (tmp_path / "confluent-lineage.json").write_text(json.dumps(events, indent=2))
    assert len(events) == 100
    assert all(event.keys() & {"job", "dataset"} for event in events)


@pytest.mark.parametrize("how", ["query", "body"])
def test_environments_in_the_query_or_the_body(client: httpx.Client, how: str) -> None:
    requested = {"params": {"environment_ids": ANALYTICS}} if how == "query" else {"json": {"environment_ids": [ANALYTICS]}}
    task = extracted(client, client.post("/tasks/extract", **requested).json()["task_id"])
    assert task["params"]["environment_ids"] == [ANALYTICS]
    scopes = {plane["scope"].split("/")[0] for plane in task["planes"] if plane["scope"].startswith("env-")}
    assert scopes == {ANALYTICS}
    assert task["result"].keys() >= {"graph_id", "node_count", "edge_count"}


# importing: what another system says joins


@pytest.mark.parametrize("run", ["external-run-1", "2c5a1b66-8b53-4a8c-9a7e-0d8f1f2a3b4c"])
def test_events_of_a_notebook_join_the_extracted_graph(installation: Installation, client: httpx.Client, run: str) -> None:
    table = {"namespace": "databricks://workspace-1", "name": "main.sales.orders"}
    event = {
        "eventTime": "2026-04-30T00:00:00Z",
        "eventType": "COMPLETE",
        "run": {"runId": run},
        "job": {
            "namespace": "databricks://workspace-1",
            "name": "etl-pipeline",
            "facets": {"documentation": {"description": "Reads from Kafka and writes to UC"}},
        },
        "inputs": [{"namespace": ORDERS[0], "name": ORDERS[1]}],
        "outputs": [table],
    }
    answer = client.post("/lineage/events", json=[event])
    assert (answer.status_code, answer.json()["events_stored"]) == (201, 1)

    def arrived() -> bool:
        found = client.get("/lineage/datasets/lineage", params={**table, "direction": "upstream", "depth": 5})
        return found.is_success and len(found.json()["events"]) > 1

    installation.wait(arrived)
    found = lineage(client, table["namespace"], table["name"], "upstream", 5)
    assert "orders -> [etl-pipeline] -> main.sales.orders" in chain(found)
    assert len(found["events"]) > 1


# the unified view


def test_the_views_have_the_events_of_all_systems(client: httpx.Client) -> None:
    whole = client.get("/graphs/enriched/view").json()
    some = client.get("/graphs/enriched/view", params={"systems": "confluent,databricks"}).json()
    own = client.get("/graphs/confluent/view").json()
    assert len(whole["events"]) >= len(some["events"]) >= len(own["events"]) > 300
    assert (whole["view"], own["view"]) == ("enriched", "confluent")
    assert all(event.keys() >= EVENT for event in whole["events"])
    assert {event["job"]["namespace"].partition("://")[0] for event in own["events"]} == {"confluent"}


def google(request: Request) -> Reply:
    """As Google's Data Lineage judges: one run event, whole, and nothing around it."""
    event = request.body
    whole = isinstance(event, dict) and event.keys() >= {"eventTime", "run", "job", "producer", "schemaURL"}
    if request.parts != ("v1", "projects", "my-project", "locations", "us:processOpenLineageRunEvent") or not whole:
        return Reply(400, {"error": {"code": 400, "status": "INVALID_ARGUMENT"}})
    assert request.headers["authorization"] == "Bearer token"
    return Reply(200, {"process": "p", "run": event["run"]["runId"], "lineageEvents": []})


def test_a_view_goes_to_google_event_by_event(client: httpx.Client) -> None:
    view = client.get("/graphs/confluent/view", params={"names": "standard"}).json()
    with standing(Standin(google)) as server, httpx.Client(headers={"Authorization": "Bearer token"}) as sender:
        url = f"{server.url}/v1/projects/my-project/locations/us:processOpenLineageRunEvent"
        assert sender.post(url, json=view).status_code == 400
        assert {sender.post(url, json=event).status_code for event in view["events"]} == {200}


# dataset lineage


def test_upstream_of_a_topic(client: httpx.Client) -> None:
    found = lineage(client, *ORDERS, "upstream", 3)
    assert (found["datasets_visited"], found["jobs_visited"]) > (1, 0)


def test_downstream_of_a_table_of_unity_catalog_and_up_to_its_topic(client: httpx.Client) -> None:
    tables = client.get("/lineage/datasets", params={"namespace": "unitycatalog://*", "limit": 100}).json()
    table = next(node for node in tables if ".lkc-" in node["name"])
    host = table["namespace"].removeprefix("unitycatalog://").partition(":")[0]
    requested = {"namespace": f"databricks://https://{host}", "name": table["name"]}
    for direction, least in (("downstream", 0), ("upstream", 1)):
        found = client.get("/lineage/datasets/lineage", params={**requested, "direction": direction, "depth": 5}).raise_for_status().json()
        assert found["jobs_visited"] >= least
        assert all({"name"} <= named.keys() for event in found["events"] for named in (event["job"], *event["outputs"]))
    assert any(event["job"]["name"].startswith("tableflow/") for event in found["events"])


def test_both_directions_are_the_union(client: httpx.Client) -> None:
    up, down, both = (chain(lineage(client, *ORDERS, direction, 10)) for direction in ("upstream", "downstream", "both"))
    assert both == up | down
    assert up
    assert down


# the graph


@pytest.mark.parametrize("encoded", [True, False])
def test_node_ids_with_and_without_the_cluster(client: httpx.Client, encoded: bool) -> None:  # one of two spellings
    (graph,) = client.get("/graphs").json()
    assert client.get(f"/graphs/{graph['graph_id']}").json()["stats"]["node_count"] > 1000
    alone = client.get(f"/graphs/{graph['graph_id']}/nodes", params={"type": "kafka_topic", "env_id": PROD, "limit": 2000}).json()["nodes"]
    names = [node["display_name"] for node in alone]
    node = next(node for node in alone if names.count(node["display_name"]) == 1 and node["display_name"].startswith("shop"))
    whole = node["node_id"]
    short = f"confluent:kafka_topic:{PROD}:{node['display_name']}"
    answers = []
    for node_id in (whole, short):
        path = quote(node_id, safe="") if encoded else node_id
        for direction in ("upstream", "downstream"):
            requested = client.get(f"/graphs/{graph['graph_id']}/query/{direction}/{path}", params={"hops": 3})
            answers.append(requested.raise_for_status().json())
    assert answers[:2] == answers[2:]
    assert answers[0]["node_count"] + answers[1]["node_count"] > 0
    assert all(len(answer["nodes"]) == answer["node_count"] and len(answer["edges"]) == answer["edge_count"] for answer in answers)
