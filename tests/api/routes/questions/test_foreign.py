"""What limited keys say of datasets that are not theirs, over HTTP: listed, and without effect on any other answer."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.api.support import LINEAGE, Server
from tests.events import RUNS, T0, dataset, dataset_event, facet, run_event, schema

Send = Callable[..., None]
ORDERS: dict[str, Any] = {"namespace": "db://shop", "name": "orders"}
HOUR = 3_600_000_000
OWNER = [
    run_event(namespace="shop", job="load", outputs=[dataset("orders", "db://shop", schema=schema("id"))]),
    dataset_event(dataset("orders", "db://shop", documentation=facet(description="all orders"))),
]
SAID: dict[str, Any] = {
    "schema": schema("evil"),
    "documentation": facet(description="evil"),
    "lifecycleStateChange": facet(lifecycleStateChange="DROP"),
    "symlinks": facet(identifiers=[{"namespace": "etl://x", "name": "y", "type": "TABLE"}]),
}
EVIL = run_event(namespace="etl-a", job="evil", run=RUNS[1], time_us=T0 + HOUR, outputs=[dataset("orders", "db://shop", **SAID)])


@pytest.fixture
def send(server: Server) -> Send:
    """Sends events with a key that is limited to namespaces, and folds them."""
    client, headers = server.asking_for_keys(), server.key("etl", "ingest", namespaces=("etl*",))

    def run(*events: bytes) -> None:
        for event in events:
            assert client.post(LINEAGE, content=event, headers=headers).status_code == 201
        server.fold()

    return run


def test_what_was_said_is_listed_with_who_said_it_and_why(server: Server, send: Send) -> None:
    server.send(*OWNER)
    send(EVIL)
    answer = server.ask("/graph/facets/foreign")
    assert [item["key"] for item in answer["foreign"]] == sorted(SAID)
    assert (answer["truncated"], answer["settling"]) == (False, False)
    first = answer["foreign"][0]
    assert (first["why"], first["principal"], first["namespaces"], first["side"]) == ("foreign_dataset", "etl", ["etl*"], "output")
    assert {key: first["node"][key] for key in ORDERS} == ORDERS
    assert first["job"] == {"namespace": "etl-a", "name": "evil"}
    assert first["facet"] == SAID["documentation"]


def test_other_answers_are_as_without_it(server: Server, send: Send) -> None:
    server.send(*OWNER)
    questions: list[tuple[str, dict[str, Any]]] = [
        ("/lineage/datasets/detail", ORDERS),
        ("/graph/schemas", ORDERS),
        ("/graph/facets/history", {**ORDERS, "key": "documentation"}),
        ("/graph/life", ORDERS),
        ("/aliases", {}),
        ("/graph/runs", {"namespace": "shop", "name": "load"}),
    ]
    before = [server.ask(path, **query) for path, query in questions]
    send(EVIL)
    after = [server.ask(path, **query) for path, query in questions]
    assert list(map(without_position, after)) == list(map(without_position, before))
    assert server.ask("/search", q="evil")["results"] == [
        found for found in server.ask("/search", q="evil")["results"] if found["kind"] == "job"
    ]


def without_position(answer: Any) -> Any:
    return {key: value for key, value in answer.items() if key != "position"} if isinstance(answer, dict) else answer


def test_lists_are_filtered_and_paged(server: Server, send: Send) -> None:
    send(EVIL, run_event(namespace="etl-a", job="other", run=RUNS[2], inputs=[dataset("orders", "db://shop", schema=schema("evil"))]))

    def keys(**query: Any) -> list[str]:
        return [item["key"] for item in server.ask("/graph/facets/foreign", **query)["foreign"]]

    assert keys(job_namespace="etl-a", job_name="other") == ["schema"]
    assert len(keys(**ORDERS)) == len(keys(principal="etl")) == 5
    assert keys(principal="grace") == []
    page = server.client.get("/api/v1/graph/facets/foreign?limit=3")
    rest = server.client.get(page.links["next"]["url"])
    assert [item["key"] for item in page.json()["foreign"] + rest.json()["foreign"]] == keys()
    assert "next" not in rest.links
    assert server.ask("/graph/facets/foreign", 404, namespace="db://shop", name="nothing")
    assert "must be given together" in server.ask("/graph/facets/foreign", 422, namespace="db://shop")["error"]["message"]


def test_repeats_are_one_line_and_what_somebody_else_said_alike_is_none(server: Server, send: Send) -> None:
    later = run_event(namespace="etl-a", job="evil", run=RUNS[3], time_us=T0 + 30 * HOUR, outputs=[dataset("orders", "db://shop", **SAID)])
    send(EVIL, later)
    listed = server.ask("/graph/facets/foreign")["foreign"]
    assert [item["key"] for item in listed] == sorted(SAID)
    assert all(item["first_seen"] < item["last_seen"] for item in listed)
    server.send(EVIL)
    assert all(item["first_seen"] == item["last_seen"] for item in server.ask("/graph/facets/foreign")["foreign"])
    server.send(later)
    assert server.ask("/graph/facets/foreign")["foreign"] == []
    assert server.ask("/lineage/datasets/detail", **ORDERS)["facets"]["documentation"] == SAID["documentation"]


def test_what_an_erased_run_said_is_gone(server: Server, send: Send) -> None:
    send(EVIL)
    assert server.client.post("/api/v1/operations/erase", json={"runs": [RUNS[1]]}).status_code == 202
    server.fold()
    assert server.ask("/graph/facets/foreign")["foreign"] == []


def test_a_foreign_parent_shows_the_run_inside_but_makes_no_run_of_it(server: Server, send: Send) -> None:
    server.send(*OWNER)
    of_owner: dict[str, Any] = {"namespace": "shop", "name": "load"}
    before = without_position(server.ask("/graph/runs", **of_owner))

    def inside(run: str) -> bytes:
        parent = facet(run={"runId": run}, job=of_owner)
        return run_event(namespace="etl-a", job="evil", run=RUNS[1], time_us=T0 + HOUR, run_facets={"parent": parent})

    send(inside(RUNS[4]))
    assert without_position(server.ask("/graph/runs", **of_owner)) == before
    assert server.ask(f"/graph/runs/{RUNS[4]}", 404)
    send(inside(RUNS[0]))
    assert [run["job"]["name"] for run in server.ask(f"/graph/runs/{RUNS[0]}/tree")["runs"]] == ["load", "evil"]
    server.send(inside(RUNS[4]))
    assert RUNS[4] in str(server.ask("/graph/runs", **of_owner))
