"""What every answer has: errors in one shape, and headers for browsers."""

import re
from base64 import b64encode
from hashlib import sha256
from http import HTTPStatus

import pytest
from tests.api.support import LINEAGE, Server
from tests.events import run_event

SHAPES = [
    ("GET", "/api/v1/search?q=x", 401, "no_key"),
    ("GET", "/api/v1/keys", 403, "missing_scope"),
    ("GET", "/api/v1/graphs/x", 404, "not_found"),
    ("GET", "/api/v1/nowhere", 404, "not_found"),
    ("PUT", "/api/v1/version", 405, "method_not_allowed"),
    ("GET", "/api/v1/graph/paths", 422, "bad_argument"),
    ("GET", "/api/v1/lineage/datasets", 503, "no_graph_yet"),
]


@pytest.mark.parametrize(("method", "path", "status", "code"), SHAPES, ids=str)
def test_errors_have_the_members_of_the_standard_beside_our_own(server: Server, method: str, path: str, status: int, code: str) -> None:
    headers = {} if status == 401 else server.key("most", "ingest", "read", "operate")
    answer = server.asking_for_keys(not_found_wait_s=0.0).request(method, path, headers=headers)
    problem = answer.json()
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert (problem["status"], problem["title"]) == (status, HTTPStatus(status).phrase)
    assert problem["type"] == f"urn:lineage-bridge:problem:{code}"
    assert (problem["error"]["code"], problem["error"]["message"]) == (code, problem["detail"])
    assert ("www-authenticate" in answer.headers) == (status in (401, 403))


def test_every_call_declares_that_it_may_be_refused(server: Server) -> None:
    document = server.client.get("/openapi.json").json()
    calls = {f"{method.upper()} {path}": call for path, methods in document["paths"].items() for method, call in methods.items()}
    for call in calls.values():
        for status in ("401", "403", "503"):
            assert call["responses"][status]["content"]["application/problem+json"]["schema"]["$ref"].endswith("/ErrorAnswer")
    assert {name for name, call in calls.items() if call["security"] == []} == {
        "GET /api/v1/health",
        "GET /auth/login",
        "GET /auth/callback",
    }
    assert calls["POST /api/v1/keys"]["x-required-scope"] == "admin"
    assert "Scope: `read`." in calls["GET /api/v1/search"]["description"]
    assert "application/json" in calls["GET /api/v1/ready"]["responses"]["503"]["content"]


@pytest.mark.parametrize("path", ["/docs", "/docs/files/swagger-ui.css", "/openapi.json", "/api/v1/health", "/api/v1/nowhere", LINEAGE])
def test_browsers_are_told_what_they_may_do(server: Server, path: str) -> None:
    for client in (server.client, server.asking_for_keys()):
        for method in ("GET", "POST", "OPTIONS"):
            headers = client.request(method, path, headers={"origin": "https://page.example"}).headers
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-resource-policy"] == "same-origin"
            assert headers["content-security-policy"].startswith("default-src 'none'")
            assert "frame-ancestors 'none'" in headers["content-security-policy"]
            assert [name for name in headers if name.startswith("access-control")] == []
            assert "x-lineage-insecure" not in headers


def test_the_documentation_runs_its_own_scripts_only(server: Server) -> None:
    answer = server.client.get("/docs")
    (script,) = re.findall(r"<script>(.*?)</script>", answer.text, re.DOTALL)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert [source for source in re.findall(r'(?:src|href)="([^"]*)"', answer.text) if not source.startswith("/docs/files/")] == []


def test_health_tells_numbers_to_those_who_may_read(server: Server) -> None:
    client = server.asking_for_keys()
    assert client.get("/api/v1/health").json() == {"status": "ok"}
    assert client.get("/api/v1/health", headers={"authorization": "Bearer lb_typo"}).json() == {"status": "ok"}
    assert "disk" in client.get("/api/v1/health", headers=server.key("ada", "read")).json()
    assert "disk" in server.client.get("/api/v1/health").json()


def test_where_nobody_is_asked_a_valid_key_counts_and_others_do_not(server: Server) -> None:
    client = server.client_of(access=server.policy(required=False))
    headers = server.key("etl", "ingest")
    assert client.post(LINEAGE, content=run_event(), headers=headers).status_code == 201
    assert client.get("/api/v1/sources", headers=headers).json()["error"]["code"] == "missing_scope"
    for ignored in ("Bearer secret", "Bearer lb_typo", headers["authorization"][:-1] + "!", "Basic eDp5"):
        assert client.post(LINEAGE, content=run_event(job="other"), headers={"authorization": ignored}).status_code == 201
        assert client.get("/api/v1/sources", headers={"authorization": ignored}).status_code == 200
    assert [record.principal for record in server.stored()] == ["etl", "", "", "", ""]
