"""Who may call what: a table written by hand, tried for every route and every principal.

A server that asks for keys answers `-` routes to anybody, `any` routes to whoever has a valid key, `own` routes to LineageBridge's own
processes, `whole` routes to keys with the scope `read` that are not limited to namespaces, and all others to keys with the scope. The two
teams read: one owns what there is, one does not.
"""

import secrets
from base64 import b32decode
from typing import Any

import anyio
import httpx
import pytest
from fastapi import FastAPI
from starlette.routing import Mount, Route
from tests.api.support import NOW, URL, Server
from tests.api.test_guard import calls
from tests.events import KEY, run_event

from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.key_text import digest_of, make_key
from lineage_bridge.access.keys import ApiKeys, internal_key
from lineage_bridge.api.app import create_app
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope, KeyOptions
from lineage_bridge.store.state.keys import ApiKeyRepository, WatchedKeys

TABLE = """
-       GET     /api/v1/health
-       GET     /
-       HEAD    /
-       GET     /view/x
-       HEAD    /view/x
-       GET     /assets/x
-       HEAD    /assets/x
-       GET     /auth/login
-       GET     /auth/callback
any     GET     /auth/session
any     POST    /auth/logout
any     GET     /api/v1/catalogs
any     GET     /api/v1/version
any     GET     /openapi.json
any     HEAD    /openapi.json
any     GET     /docs
any     GET     /docs/files/x
any     GET     /spec/facets/x
ingest  POST    /api/v1/lineage
ingest  POST    /api/v1/lineage/
ingest  POST    /api/v1/lineage/batch
ingest  POST    /api/v1/lineage/batch/
ingest  POST    /api/v1/lineage/events
ingest  POST    /api/v1/lineage/events/
ingest  POST    /api/v1/graphs/x/import
read    GET     /api/v1/aliases
read    GET     /api/v1/analysis
read    GET     /api/v1/changes
read    GET     /api/v1/estate
read    GET     /api/v1/pins
read    GET     /api/v1/pins/x
read    POST    /api/v1/pins
read    DELETE  /api/v1/pins/x
read    GET     /api/v1/graph/access
read    GET     /api/v1/graph/diff
read    GET     /api/v1/graph/drift
read    GET     /api/v1/graph/facets/foreign
read    GET     /api/v1/graph/facets/history
read    GET     /api/v1/graph/impact
read    GET     /api/v1/graph/ledger
read    GET     /api/v1/graph/life
read    GET     /api/v1/graph/neighbourhood
read    GET     /api/v1/graph/paths
read    GET     /api/v1/graph/runs
read    GET     /api/v1/graph/runs/x
read    GET     /api/v1/graph/runs/x/lineage
read    GET     /api/v1/graph/runs/x/tree
read    GET     /api/v1/graph/schemas
read    GET     /api/v1/graph/schemas/changes
read    GET     /api/v1/graph/schemas/diff
read    GET     /api/v1/graph/pulse
read    GET     /api/v1/graph/pulse/stream
read    GET     /api/v1/graph/statistics
read    GET     /api/v1/graph/timeline
read    GET     /api/v1/graph/trace
read    GET     /api/v1/graphs
read    GET     /api/v1/graphs/confluent/view
read    GET     /api/v1/graphs/enriched/view
read    GET     /api/v1/graphs/x
read    GET     /api/v1/graphs/x/edges
read    GET     /api/v1/graphs/x/export
read    GET     /api/v1/graphs/x/nodes
read    GET     /api/v1/graphs/x/nodes/x
read    GET     /api/v1/graphs/x/query/downstream/x
read    GET     /api/v1/graphs/x/query/upstream/x
read    GET     /api/v1/input-kinds
whole   GET     /api/v1/inputs
whole   GET     /api/v1/inputs/x
read    GET     /api/v1/target-kinds
whole   GET     /api/v1/targets
whole   GET     /api/v1/targets/x
whole   GET     /api/v1/targets/x/ledger
whole   GET     /api/v1/targets/x/publication
read    GET     /api/v1/lineage/datasets
read    GET     /api/v1/lineage/datasets/detail
read    GET     /api/v1/lineage/datasets/lineage
read    GET     /api/v1/lineage/events
read    GET     /api/v1/lineage/events/x
whole   GET     /metrics
read    GET     /api/v1/lineage/jobs
read    GET     /api/v1/lineage/jobs/detail
read    GET     /api/v1/overview
whole   GET     /api/v1/push/providers
read    GET     /api/v1/quarantine
read    GET     /api/v1/quarantine/x/body
read    GET     /api/v1/ready
read    GET     /api/v1/search
read    GET     /api/v1/source-kinds
whole   GET     /api/v1/sources
whole   GET     /api/v1/sources/x
whole   GET     /api/v1/tasks
whole   GET     /api/v1/tasks/x
operate POST    /api/v1/inputs
operate DELETE  /api/v1/inputs/x
operate POST    /api/v1/inputs/x/pause
operate POST    /api/v1/inputs/x/resume
operate POST    /api/v1/inputs/x/test
operate POST    /api/v1/targets
operate DELETE  /api/v1/targets/x
operate POST    /api/v1/targets/x/cancel
operate POST    /api/v1/targets/x/pause
operate POST    /api/v1/targets/x/publish
operate POST    /api/v1/targets/x/resume
operate POST    /api/v1/targets/x/test
operate POST    /api/v1/operations/alias
operate POST    /api/v1/operations/end
operate POST    /api/v1/operations/erase
operate POST    /api/v1/operations/lift
operate POST    /api/v1/operations/prefer
operate POST    /api/v1/operations/unend
operate POST    /api/v1/operations/veto
operate POST    /api/v1/operations/withdraw
operate POST    /api/v1/push/x
operate POST    /api/v1/quarantine/x/retry
operate POST    /api/v1/sources
operate DELETE  /api/v1/sources/x
operate POST    /api/v1/sources/x/pause
operate POST    /api/v1/sources/x/poll
operate POST    /api/v1/sources/x/resume
operate POST    /api/v1/sources/x/test
operate POST    /api/v1/tasks/enrich
operate POST    /api/v1/tasks/extract
operate POST    /api/v1/tasks/x/cancel
operate POST    /api/v1/tasks/x/resume
operate DELETE  /api/v1/tasks/x
own     GET     /api/v1/inputs/x/positions
own     POST    /api/v1/inputs/x/positions
own     POST    /api/v1/inputs/x/records
admin   GET     /api/v1/audit
admin   GET     /api/v1/erasures
admin   GET     /api/v1/erasures/x
admin   POST    /api/v1/erasures
admin   GET     /api/v1/keys
admin   GET     /api/v1/sessions
admin   DELETE  /api/v1/sessions/x
admin   POST    /api/v1/keys
admin   DELETE  /api/v1/keys/x
admin   POST    /api/v1/keys/x/rotate
"""
ROWS = [tuple(line.split()) for line in TABLE.strip().splitlines()]
NO_PRINCIPAL = {
    "anonymous": "no_key",
    "another kind": "unknown_credentials",
    "a typo": "malformed_key",
    "wrong": "unknown_key",
    "another server's": "unknown_key",
    "expired": "expired_key",
    "revoked": "revoked_key",
}
SCOPES = {
    "ingest": {"ingest"},
    "limited": {"ingest"},
    "read": {"read", "whole"},
    "own team": {"read"},
    "foreign team": {"read"},
    "operate": {"operate"},
    "admin": {"admin"},
}
NAMESPACES = {"limited": ("x",), "own team": ("ns", "jobs"), "foreign team": ("x",)}


@pytest.fixture
def principals(server: Server) -> dict[str, dict[str, str]]:
    """The headers of each principal."""
    active = server.key("active", "read")["authorization"]
    elsewhere = ApiKeys(ApiKeyRepository(server.state), b"another installation", lambda: NOW, secrets.token_bytes)
    another = elsewhere.create(KeyOptions("another", frozenset(AccessScope)), "")[1]
    headers = {
        "anonymous": {},
        "another kind": {"authorization": "Basic YWRhOmFkYQ=="},
        "a typo": {"authorization": active[:-1] + ("a" if active[-1] != "a" else "b")},
        "wrong": {"authorization": f"Bearer {make_key(secrets.token_bytes).text}"},
        "another server's": {"authorization": f"Bearer {another}"},
        "expired": server.key("expired", "ingest", "read", "operate", "admin", expires_us=NOW + 1),
        "revoked": server.key("revoked", "ingest", "read", "operate", "admin"),
        **{
            name: server.key(name.replace(" ", "-"), *(scopes - {"whole"}), namespaces=NAMESPACES.get(name, ()))
            for name, scopes in SCOPES.items()
        },
    }
    server.keys.revoke("revoked")
    server.parts.now_us = NOW + 1
    return headers


def tried(app: FastAPI, requests: list[tuple[str, str, dict[str, str]]]) -> list[httpx.Response]:
    """The answers to requests of another machine."""

    async def ask() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app, client=("192.0.2.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url=URL) as client:
            return [await client.request(method, path, headers=headers, content=body_of(method)) for method, path, headers in requests]

    return anyio.run(ask)


def body_of(method: str) -> bytes | None:
    return b"{" if method == "POST" else None


def test_every_route_is_in_the_table(server: Server) -> None:
    assert sorted(calls(create_app(server.services))) == sorted(
        [(method, path) for _, method, path in ROWS] + [("POST", "/api/v1/lineage")]  # the fast path, and the documented route behind it
    )


def test_nobody_does_what_the_table_does_not_allow(server: Server, principals: dict[str, dict[str, str]]) -> None:
    app: Any = server.asking_for_keys(not_found_wait_s=0.0).app
    requests = [(row, name) for row in ROWS for name in principals]
    answers = tried(app, [(method, path, principals[name]) for (_, method, path), name in requests])
    wrong = [
        (*row, name, answer.status_code, answer.text)
        for ((row, name), answer) in zip(requests, answers, strict=True)
        if not is_as_the_table_says(row[0], name, answer)
    ]
    assert wrong == []


def is_as_the_table_says(needed: str, name: str, answer: httpx.Response) -> bool:
    """Whether an answer is the one that the table allows. What is allowed may fail for another reason, such as a body that is none."""
    if needed == "-" or (name in SCOPES and (needed == "any" or needed in SCOPES[name])):
        return answer.status_code not in (401, 403)
    challenge = answer.headers.get("www-authenticate", "")
    if name in NO_PRINCIPAL:
        expected = 'Bearer realm="lineage-bridge"' + ("" if name == "anonymous" else ', error="invalid_token"')
        return (answer.status_code, challenge) == (401, expected) and (
            answer.request.method == "HEAD" or code_of(answer) == NO_PRINCIPAL[name]
        )
    if needed == "own":
        return answer.status_code == 403 and code_of(answer) == "internal"
    if needed == "whole" and name.endswith("team"):
        return answer.status_code == 403 and code_of(answer) == "limited"
    needed = needed.replace("whole", "read")
    return answer.status_code == 403 and code_of(answer) == "missing_scope" and f'scope="{needed}"' in challenge and needed in answer.text


def test_what_only_our_own_processes_may_call_needs_more_than_all_scopes(server: Server) -> None:
    everything = server.key("everything", *AccessScope)
    own, text = internal_key(KEY, NOW, secrets.token_bytes)
    policy = AccessPolicy(KeyAuthenticator(WatchedKeys(server.state), KEY, lambda: NOW, (own,)))
    client = server.client_of(access=policy)
    for headers, status in (({}, 403), (everything, 403), ({"authorization": f"Bearer {text}"}, 404)):
        assert client.get("/api/v1/inputs/x/positions", headers=headers).status_code == status
        assert client.post("/api/v1/inputs/x/records", headers=headers, content=b"{").status_code == status


def code_of(answer: Any) -> str:
    return str(answer.json()["error"]["code"])


@pytest.mark.parametrize("path", ["/nowhere", "/api/v1/nowhere", "/api/v1/lineage/nowhere", "/api/v1//lineage", "/DOCS"])
def test_what_is_not_there_is_told_to_principals_only(server: Server, path: str) -> None:
    app: Any = server.asking_for_keys().app
    reader = server.key("reader", "ingest")
    for method in ("GET", "PUT", "OPTIONS"):
        anonymous, known = tried(app, [(method, path, {}), (method, path, reader)])
        assert anonymous.status_code == 401
        assert known.status_code in (403, 404, 405)


def test_a_route_without_a_scope_does_not_start(server: Server) -> None:
    app = create_app(server.services)
    app.router.routes.append(Route("/api/v1/new", endpoint=lambda _: None, methods=["GET", "PUT"]))
    with pytest.raises(ConfigError, match="/api/v1/new has no entry"):
        RouteRequirements(app.routes)
    app.router.routes[-1] = Mount("/files", app=FastAPI())
    with pytest.raises(ConfigError, match="/files has no entry"):
        RouteRequirements(app.routes)
    with pytest.raises(ConfigError, match="PUT /gone"):
        RouteRequirements([], {"PUT /gone": "principal"})


def test_a_revocation_and_an_expiry_take_effect_at_once(server: Server) -> None:
    client = server.asking_for_keys()
    headers = server.key("etl", "ingest", expires_us=NOW + 10)
    assert client.post("/api/v1/lineage", content=run_event(), headers=headers).status_code == 201
    server.parts.now_us = NOW + 10
    assert code_of(client.post("/api/v1/lineage", content=run_event(), headers=headers)) == "expired_key"
    second = server.key("etl", "ingest")
    assert client.post("/api/v1/lineage", content=run_event(), headers=second).status_code == 201
    server.keys.revoke("etl")
    assert code_of(client.post("/api/v1/lineage", content=run_event(), headers=second)) == "revoked_key"
    assert "etl" in client.post("/api/v1/lineage", content=run_event(), headers=second).text


def test_what_is_wrong_with_a_key_is_told_to_whoever_has_it(server: Server) -> None:
    """The id of a key is no secret: with another secret, it says nothing about the key."""
    headers = server.key("etl", "ingest")
    server.keys.revoke("etl")
    id_ = headers["authorization"].split("_")[1]
    guessed = make_key(lambda size: secrets.token_bytes(size) if size > 5 else b32decode(id_.upper()))
    assert guessed.id == id_
    assert digest_of(guessed.text, KEY) != server.keys.records()[0].digest
    answer = server.asking_for_keys().get("/api/v1/search", headers={"authorization": f"Bearer {guessed.text}"})
    assert code_of(answer) == "unknown_key"
    assert "etl" not in answer.text
