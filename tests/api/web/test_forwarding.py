"""Requests that come through a proxy: where they come from, how they were addressed, and what that changes."""

import logging
import re

import pytest
from starlette.testclient import TestClient
from tests.api.support import Server
from tests.events import run_event

from lineage_bridge.access.networks import Networks
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.api.services import LOOPBACK
from lineage_bridge.config.external import ExternalAddress

EXTERNAL = ExternalAddress("https://lineage.example", "/lineage")
ERASE = "/api/v1/operations/erase"
RUN = {"runs": ["00000000-0000-0000-0000-000000000001"]}
FORWARDED = {
    "X-Forwarded-For": "203.0.113.9, 192.0.2.1",
    "X-Forwarded-Host": "lineage.example",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Prefix": "/lineage",
}


def behind(server: Server, peer: str = "127.0.0.1", external: ExternalAddress | None = None) -> TestClient:
    """A client whose connection comes from an address, of a server that has a proxy at 127.0.0.1."""
    return server.client_of(peer, access=AccessPolicy(proxies=Networks(["127.0.0.1"]), external=external))


def origins(server: Server) -> list[str]:
    return [entry.change.origin for entry in server.audit.newest(9) if entry.change]


def test_the_audit_trail_has_the_client_s_address_if_the_proxy_says_it(server: Server) -> None:
    assert behind(server).post(ERASE, json=RUN, headers=FORWARDED).status_code == 202
    assert origins(server) == ["192.0.2.1"]
    assert behind(server, "127.0.0.2").post(ERASE, json=RUN, headers=FORWARDED).status_code == 202
    assert origins(server)[0] == "127.0.0.2", "nobody else is believed"


def test_who_is_asked_depends_on_the_connection_alone(server: Server) -> None:
    remote = behind(server, "192.0.2.7")
    for headers in ({"X-Forwarded-For": "127.0.0.1"}, {"X-Real-IP": "127.0.0.1"}, {"Forwarded": "for=127.0.0.1"}):
        assert remote.post(ERASE, json=RUN, headers=headers).status_code == 403
    trusted = server.client_of("192.0.2.7", access=AccessPolicy(proxies=Networks(["192.0.2.7"])))
    assert trusted.post(ERASE, json=RUN, headers={"X-Forwarded-For": "127.0.0.1"}).json()["error"]["code"] == "not_local"
    assert behind(server).post(ERASE, json=RUN, headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 202


def test_a_page_that_rebinds_its_name_to_this_machine_gains_nothing_by_a_header(server: Server) -> None:
    policy = AccessPolicy(proxies=Networks(["127.0.0.1"]), allowed_hosts=LOOPBACK)
    client = server.client_of(access=policy)
    for host, forwarded, status in (
        ("127.0.0.1:8000", "localhost", 200),
        ("evil.example:8000", "localhost", 403),
        ("localhost", "evil.example", 403),
    ):
        answer = client.get("/api/v1/sources", headers={"Host": host, "X-Forwarded-Host": forwarded})
        assert answer.status_code == status
        assert status == 200 or answer.json()["error"]["code"] == "foreign_host"


@pytest.mark.parametrize("path", ["/docs", "/lineage/docs"])
def test_links_are_below_the_path_whether_the_proxy_removes_it_or_not(server: Server, path: str) -> None:
    client = behind(server, external=EXTERNAL)
    found = re.findall(r'(?:src|href|url)[=:] ?["\'](/[^"\']*)', client.get(path).text)
    assert len(found) >= 4
    assert {address.split("/")[1] for address in found} == {"lineage"}
    for address in found:
        assert client.get(address).status_code == 200
        assert client.get(address.removeprefix("/lineage")).status_code == 200


def test_the_proxy_may_name_the_path(server: Server) -> None:
    client = behind(server)
    assert client.get("/openapi.json", headers=FORWARDED).json()["servers"] == [{"url": "/lineage"}]
    assert "servers" not in client.get("/openapi.json").json()
    assert "servers" not in behind(server, "127.0.0.2").get("/openapi.json", headers=FORWARDED).json()
    configured = behind(server, external=ExternalAddress("https://lineage.example"))
    assert "servers" not in configured.get("/openapi.json", headers=FORWARDED).json(), "what is configured outranks it"


def test_redirects_lead_to_the_address_that_the_client_used(server: Server) -> None:
    answer = behind(server).get("/docs/", headers=FORWARDED, follow_redirects=False)
    assert answer.headers["location"] == "https://lineage.example/lineage/docs"
    other = behind(server, "127.0.0.2").get("/docs/", headers=FORWARDED, follow_redirects=False)
    assert other.headers["location"] == "http://127.0.0.1:8000/docs"


@pytest.mark.parametrize("path", ["/lineagex/docs", "/lineage/lineage/docs", "/lineage//docs"])
def test_other_paths_lead_nowhere(server: Server, path: str) -> None:
    assert behind(server, external=EXTERNAL).get(path).status_code == 404


def test_every_scope_holds_below_the_path(server: Server) -> None:
    client = server.client_of("192.0.2.1", access=AccessPolicy(external=EXTERNAL))
    for prefix in ("", "/lineage"):
        assert client.post(f"{prefix}/api/v1/lineage", content=run_event()).status_code == 201
        assert client.post(f"{prefix}{ERASE}", json=RUN).json()["error"]["code"] == "not_local"
        assert client.get(f"{prefix}/api/v1/sources").status_code == 200


def test_pages_of_the_external_address_are_our_own(server: Server) -> None:
    client = behind(server, external=EXTERNAL)
    assert client.post(ERASE, json=RUN, headers={"Origin": "https://lineage.example"}).status_code == 202
    for origin in ("http://lineage.example", "https://lineage.example.evil", "https://lineage.example:8443", "null"):
        assert client.post(ERASE, json=RUN, headers={"Origin": origin}).json()["error"]["code"] == "foreign_origin"


def test_the_line_about_a_request_has_the_client_s_address_and_the_route(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    policy = AccessPolicy(proxies=Networks(["127.0.0.1"]), external=EXTERNAL)
    client = server.client_of(access=policy, log_requests=True)
    with caplog.at_level(logging.INFO, logger="lineage_bridge.api.telemetry.requests"):
        for path in ("/lineage/docs/files/swagger-ui.css", "/api/v1/health"):
            assert client.get(path, headers=FORWARDED).status_code == 200
    fields = [vars(record)["fields"] for record in caplog.records]
    assert [(line["peer"], line["path"], line["route"]) for line in fields] == [
        ("192.0.2.1", "/lineage/docs/files/swagger-ui.css", "/docs/files"),
        ("192.0.2.1", "/lineage/api/v1/health", "/api/v1/health"),
    ]
