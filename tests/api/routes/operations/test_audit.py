"""The audit trail over HTTP: which requests are in it, by whom, and that no secret is."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from tests.api.routes.operations.tasks.task_client import SECRETS
from tests.api.support import Server, running
from tests.events import run_event
from tests.sources import stepwise

from lineage_bridge.model.audit import AuditHead

AUDIT = "/api/v1/audit"
SCOPES = ("ingest", "read", "operate", "admin")


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store, stepwise.KINDS) as started:
        yield started


def changes(client: TestClient, **options: Any) -> list[dict[str, Any]]:
    answer = client.get(AUDIT, **options)
    assert answer.status_code == 200
    found: list[dict[str, Any]] = answer.json()["changes"]
    return found


def test_every_change_is_recorded_before_it_is_answered(server: Server) -> None:
    client, key = server.asking_for_keys(), server.key("ada", *SCOPES)
    calls = [
        ("POST", "/sources", {"name": "one", "kind": "confluent", "settings": {"cloud": {"key": "K", "secret": "${env:HOME}"}}}, "one"),
        ("POST", "/sources/one/pause", None, "one"),
        ("POST", "/operations/end", {"job": {"namespace": "ns", "name": "job"}, "source": {"namespace": "ns", "name": "a"}}, ""),
        ("POST", "/operations/erase", {"runs": ["0198c0de-0000-7000-8000-000000000001"]}, ""),
        ("POST", "/keys", {"name": "etl", "scopes": ["ingest"]}, "etl"),
        ("POST", "/keys/etl/rotate", None, "etl"),
        ("DELETE", "/keys/etl", None, "etl"),
        ("DELETE", "/sources/one", None, "one"),
    ]
    for method, path, body, _ in calls:
        answer = client.request(method, f"/api/v1{path}", json=body, headers=key)
        assert answer.is_success, answer.text
    found = changes(client, headers=key)[::-1]
    assert [(item["action"], item["target"], item["principal"], item["origin"]) for item in found] == [
        (f"{method} {path.replace('/one', '/{name}').replace('/etl', '/{name:path}')}", target, "ada", "192.0.2.1")
        for method, path, _, target in calls
    ]
    assert [json.loads(item["details"]) for item in found[2:5]] == [calls[2][2], calls[3][2], calls[4][2]]
    assert list(server.audit.faults(server.heads)) == []
    assert server.heads[-1] == AuditHead(len(calls), bytes.fromhex(found[-1]["digest"]))


def test_questions_events_and_refusals_change_nothing(server: Server) -> None:
    client, key = server.asking_for_keys(), server.key("ada", *SCOPES)
    reader = server.key("grace", "read")
    assert client.post("/api/v1/lineage", content=run_event(), headers=key).status_code == 201
    assert client.get("/api/v1/sources", headers=key).status_code == 200
    for path, headers, status in (
        ("/api/v1/sources", key, 422),
        ("/api/v1/sources/none/pause", key, 404),
        ("/api/v1/sources/none/pause", reader, 403),
        ("/api/v1/sources/none/pause", {}, 401),
        ("/api/v1/nothing", key, 404),
    ):
        assert client.post(path, headers=headers).status_code == status
    assert changes(client, headers=key) == []


def test_an_import_is_a_change(server: Server) -> None:
    answer = server.client.post(f"/api/v1/graphs/{server.services.graph_id}/import", json={"nodes": [], "edges": []})
    (found,) = changes(server.client)
    assert (answer.is_success, found["action"], found["principal"]) == (True, "POST /graphs/{graph_id}/import", "")


def test_no_secret_is_in_the_trail(server: Server) -> None:
    secret = "hunter" + "2!hunter" + "2"
    body = {"name": "db", "kind": "confluent", "settings": {"cloud": {"key": "K", "secret": "${env:HOME}"}}, "replace": True}
    assert server.client.post("/api/v1/sources", json=body).is_success
    assert server.client.post("/api/v1/tasks/extract", json={**SECRETS, "source": "db"}).status_code == 202
    note = {"name": "etl", "scopes": ["read"], "note": f"password={secret}"}
    made = server.client.post("/api/v1/keys", json=note).json()["key"]
    found = changes(server.client)
    assert [item["target"] for item in found] == ["etl", "db", "db"]
    text = json.dumps(found)
    for hidden in (secret, made, "hush-", '"CK"', "KK"):
        assert hidden not in text
    assert "psrc.example" in text


def test_a_large_body_is_not_kept_and_the_request_is_served(server: Server) -> None:
    note = {"name": "etl", "scopes": ["read"], "namespaces": [], "note": "x" * 20_000}
    assert server.client.post("/api/v1/keys", json=note).status_code == 422
    runs = {"runs": [f"0198c0de-0000-7000-8000-{number:012}" for number in range(1000)]}
    assert server.client.post("/api/v1/operations/erase", json=runs).is_success
    (found,) = changes(server.client)
    assert (found["action"], found["details"]) == ("POST /operations/erase", "")


def test_pages_and_filters(server: Server) -> None:
    client, key, other = server.asking_for_keys(), server.key("ada", *SCOPES), server.key("grace", "admin")
    for name in ("a", "b", "c"):
        client.post("/api/v1/keys", json={"name": name, "scopes": ["read"]}, headers=other if name == "b" else key)
    listed = changes(client, headers=key, params={"limit": 2})
    assert [item["target"] for item in listed] == ["c", "b"]
    assert [item["target"] for item in changes(client, headers=key, params={"below": listed[-1]["sequence"]})] == ["a"]
    assert [item["target"] for item in changes(client, headers=key, params={"principal": "grace"})] == ["b"]
    assert changes(client, headers=key, params={"action": "DELETE"}) == []
    for wrong in ({"limit": 0}, {"below": "x"}, {"below": 2**63}):
        assert client.get(AUDIT, headers=key, params=wrong).status_code == 422
