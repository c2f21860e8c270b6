"""API keys over the API, for principals with the scope admin."""

from typing import Any

import pytest
from tests.api.support import NOW, Server

KEYS = "/api/v1/keys"


@pytest.fixture
def admin(server: Server) -> Any:
    """Asks as a principal with the scope admin."""
    client, headers = server.asking_for_keys(), server.key("superuser", "admin")
    return lambda method, path="", status=200, **body: answered(client.request(method, KEYS + path, headers=headers, **body), status)


def answered(answer: Any, status: int) -> Any:
    assert answer.status_code == status, answer.text
    return answer.json()


def test_a_key_is_created_used_rotated_and_revoked(server: Server, admin: Any) -> None:
    order = {"name": "etl", "scopes": ["ingest"], "namespaces": ["etl-*"], "note": "nightly", "expires_in_s": 3600}
    created = admin("POST", status=201, json=order)
    assert (created["created_by"], created["state"], created["namespaces"], created["note"]) == (
        "superuser",
        "active",
        ["etl-*"],
        "nightly",
    )
    client = server.asking_for_keys()
    sent: dict[str, Any] = {"headers": {"authorization": f"Bearer {created['key']}"}, "content": b"[]"}
    assert client.post("/api/v1/lineage", **sent).status_code == 201

    rotated = admin("POST", "/etl/rotate", status=201, json={"grace_s": 60})
    assert (rotated["scopes"], rotated["namespaces"], rotated["expires_at"]) == (["ingest"], ["etl-*"], created["expires_at"])
    assert client.post("/api/v1/lineage", **sent).status_code == 201
    server.parts.now_us = NOW + 60_000_000
    assert client.post("/api/v1/lineage", **sent).json()["error"]["code"] == "expired_key"

    assert admin("DELETE", "/etl") == {"revoked": 2}
    listed = admin("GET")["keys"]
    assert [(key["name"], key["state"], "key" in key) for key in listed] == [
        ("etl", "revoked", False),
        ("etl", "revoked", False),
        ("superuser", "active", False),
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "", b"{", 422),
        ("POST", "", b'{"name": "a", "scopes": []}', 422),
        ("POST", "", b'{"name": "a", "scopes": ["write"]}', 422),
        ("POST", "", b'{"name": "a", "scopes": ["read"], "expires_in_s": -1}', 422),
        ("POST", "", b'{"name": "a", "scopes": ["read"], "expires_in_s": 99999999999}', 422),
        ("POST", "", b'{"name": "a", "scopes": ["read"], "key": "mine"}', 422),
        ("POST", "", b'{"name": "superuser", "scopes": ["read"]}', 422),
        ("POST", "/nobody/rotate", b"", 404),
        ("POST", "/superuser/rotate", b'{"grace_s": -1}', 422),
        ("DELETE", "/nobody", b"", 404),
    ],
)
def test_wrong_requests_change_nothing(server: Server, admin: Any, method: str, path: str, body: bytes, status: int) -> None:
    admin(method, path, status=status, content=body)
    assert len(server.keys.records()) == 1
