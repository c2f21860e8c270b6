"""The guard before every route."""

import json
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from starlette.routing import Mount
from starlette.types import Message
from tests.api.support import LINEAGE, URL, Server
from tests.events import run_event

from lineage_bridge.api.app import create_app
from lineage_bridge.api.guard import AccessPolicy, BoundedBody

ERASE = "/api/v1/operations/erase"
INGESTING = {
    LINEAGE,
    f"{LINEAGE}/",
    f"{LINEAGE}/batch",
    f"{LINEAGE}/batch/",
    f"{LINEAGE}/events",
    f"{LINEAGE}/events/",
    "/api/v1/graphs/x/import",
}

LOGOUT = "/auth/logout"
"""Ends the session of whoever asks, and of nobody else."""


def calls(app: FastAPI) -> Iterator[tuple[str, str]]:
    """Method and address of every route, the documentation's files and the fast path of events included."""
    for route in iter_route_contexts(app.routes):
        path = "/".join("x" if part.startswith("{") else part for part in (route.path or "").split("/"))
        if isinstance(route.route, Mount):
            yield "GET", f"{path}/x"
        yield from ((method, path) for method in sorted(route.methods or ()))


def code_of(answer: Any) -> Any:
    return answer.status_code, answer.json()["error"]["code"]


def test_every_route_refuses_a_foreign_host(server: Server) -> None:
    called = list(calls(create_app(server.services)))
    assert {("POST", LINEAGE), ("GET", "/docs"), ("GET", "/openapi.json"), ("GET", "/docs/files/x"), ("GET", "/spec/facets/x")} <= set(
        called
    )
    assert len(called) > 60
    for method, path in called:
        answer = server.client.request(method, path, headers={"host": "evil.example"})
        assert answer.status_code == 403, (method, path)
        if method != "HEAD":
            assert code_of(answer) == (403, "foreign_host")
    assert server.stored() == []


def test_every_route_that_writes_refuses_a_foreign_origin(server: Server) -> None:
    writes = {call for call in calls(create_app(server.services)) if call[0] not in ("GET", "HEAD", "OPTIONS")}
    assert {path for _, path in writes} > INGESTING
    for method, path in sorted(writes):
        answer = server.client.request(method, path, content=run_event(), headers={"origin": "https://evil.example"})
        assert code_of(answer) == (403, "foreign_origin"), (method, path)
    assert server.stored() == []


def test_every_route_that_writes_is_for_this_machine_unless_it_brings_events(server: Server) -> None:
    client = server.client_of("192.0.2.1")
    for method, path in calls(create_app(server.services)):
        if method in ("GET", "HEAD", "OPTIONS"):
            continue
        answer = client.request(method, path, content=b"{}")
        if path in INGESTING or path == LOGOUT:
            assert answer.status_code != 403, (method, path)
        else:
            assert code_of(answer) == (403, "not_local"), (method, path)


def test_only_this_machine_operates_the_server(server: Server) -> None:
    order = {"runs": ["00000000-0000-0000-0000-000000000001"]}
    for peer in ("192.0.2.1", "testclient"):
        assert server.client_of(peer).post(ERASE, json=order).status_code == 403
    for peer in ("127.0.0.9", "::1"):
        assert server.client_of(peer).post(ERASE, json=order).status_code == 202


@pytest.mark.parametrize("origin", ["https://evil.example", "http://127.0.0.1:9000", "null", "http://[", ""])
def test_pages_of_another_origin_may_not_write(server: Server, origin: str) -> None:
    for path in (LINEAGE, ERASE, "/api/v1/quarantine/00/retry"):
        answer = server.client.post(path, content=run_event(), headers={"origin": origin})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_origin")
    assert server.stored() == []


def test_our_own_page_may_write(server: Server) -> None:
    assert server.client.post(LINEAGE, content=run_event(), headers={"origin": URL}).status_code == 201


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil:80", "[::2]:8000"])
def test_a_foreign_name_for_this_server_is_refused(server: Server, host: str) -> None:
    for path in ("/api/v1/health", "/docs", f"{LINEAGE}/events"):
        answer = server.client.get(path, headers={"host": host})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "foreign_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:65535", "[::1]:8000", "[::1]"])
def test_this_machines_names_are_served(server: Server, host: str) -> None:
    assert server.client.get("/api/v1/health", headers={"host": host}).status_code == 200


def test_allowed_hosts_can_be_set(server: Server) -> None:
    client = server.client_of(access=AccessPolicy(allowed_hosts=frozenset({"lineage.corp"})))
    assert client.get("/api/v1/health", headers={"host": "lineage.corp:80"}).status_code == 200
    assert client.get("/api/v1/health").status_code == 403


def test_the_principal_reaches_the_record(server: Server) -> None:
    server.client.post(LINEAGE, content=run_event())
    server.client.post(ERASE, json={"runs": ["00000000-0000-0000-0000-000000000001"]})
    assert [record.principal for record in server.stored()] == ["", ""]


@pytest.mark.parametrize(
    ("chunks", "passed", "truncated"), [([6, 4], 10, False), ([6, 5], 10, True), ([11], 10, True), ([9, 9, 9, 9, 9], 10, True)]
)
def test_a_body_is_passed_on_up_to_the_limit(chunks: list[int], passed: int, truncated: bool) -> None:
    messages = iter({"type": "http.request", "body": b"x" * size, "more_body": at < len(chunks) - 1} for at, size in enumerate(chunks))

    async def receive() -> Message:
        return next(messages)

    async def read() -> tuple[bytes, bool]:
        body, data, more = BoundedBody(receive, 10), b"", True
        while more:
            message = await body()
            data, more = data + message["body"], message["more_body"]
        return data, body.truncated

    data, is_truncated = anyio.run(read)
    assert (len(data), is_truncated) == (passed, truncated)


def test_a_body_that_never_ends_is_left_unread() -> None:
    read = 0

    async def receive() -> Message:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b"x" * 10, "more_body": True}

    async def drain() -> None:
        body = BoundedBody(receive, 10)
        while (await body())["more_body"]:
            pass

    anyio.run(drain)
    assert read == 5


def test_an_operation_that_is_too_large_is_refused(server: Server) -> None:
    answer = server.client_of(max_body_bytes=100).post(ERASE, content=json.dumps({"runs": ["x" * 100]}))
    assert code_of(answer) == (422, "bad_argument")
    assert "100 bytes" in answer.json()["error"]["message"]
