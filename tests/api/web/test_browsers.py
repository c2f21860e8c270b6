"""Requests of a browser that has logged in: every route of the server."""

from collections.abc import Iterator
from dataclasses import dataclass
from secrets import token_bytes

import pytest
from starlette.testclient import TestClient
from tests.api.access.test_table import ROWS
from tests.api.support import NOW, URL, Server
from tests.api.test_guard import LOGOUT, calls, code_of

from lineage_bridge.access.browsers.cookies import Cookie
from lineage_bridge.access.browsers.sessions import SessionLimits, Sessions
from lineage_bridge.access.browsers.signed_in import SignedInBrowsers
from lineage_bridge.access.roles import Roles
from lineage_bridge.api.app import create_app
from lineage_bridge.api.guard import AccessPolicy
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.config.people import RoleSettings
from lineage_bridge.model.access import LoginIdentity
from lineage_bridge.store.state.sessions import BrowserSessionRepository

EXTERNAL = ExternalAddress("https://lineage.example")
ROLES = {"all": RoleSettings(scopes=("ingest", "read", "operate", "admin")), "readers": RoleSettings(scopes=("read",))}
HTML = {"Accept": "text/html"}
OWN = {(method, path) for needed, method, path in ROWS if needed == "own"}
"""What only LineageBridge's own processes may call."""


@dataclass
class Browser:
    """A browser of somebody who has logged in: its client, and what it sends with a write."""

    client: TestClient
    writing: dict[str, str]


@pytest.fixture
def browsers(server: Server) -> SignedInBrowsers:
    limits = SessionLimits(1_000_000, 1_000_000)
    repository, roles = BrowserSessionRepository(server.state), Roles(ROLES, ["company"])
    return SignedInBrowsers(Sessions(repository, roles, ["company"], b"key", lambda: server.parts.now_us, token_bytes, limits), EXTERNAL)


def signed_in(server: Server, browsers: SignedInBrowsers, role: str) -> Browser:
    secret = browsers.sessions.begin(LoginIdentity("company:ada#1", "company", (role,)))
    access = AccessPolicy(server.policy(required=True).authenticator, required=True, browsers=browsers, external=EXTERNAL)
    client = server.client_of("192.0.2.1", access=access, not_found_wait_s=0.0)
    client.headers["Cookie"] = f"{Cookie.session(EXTERNAL).name}={secret}"
    return Browser(client, {"Origin": EXTERNAL.origin, "X-CSRF-Token": browsers.sessions.csrf_token(secret)})


@pytest.fixture
def browser(server: Server, browsers: SignedInBrowsers) -> Iterator[Browser]:
    browser = signed_in(server, browsers, "all")
    with browser.client:
        yield browser


def test_it_may_ask_every_question_of_its_roles(server: Server, browsers: SignedInBrowsers) -> None:
    reader = signed_in(server, browsers, "readers").client
    for needed, method, path in ROWS:
        if method in ("GET", "HEAD"):
            answer = reader.request(method, path, follow_redirects=False)
            allowed = needed in ("-", "any", "read", "whole")
            assert (answer.status_code not in (401, 403)) is allowed, (method, path, answer.status_code)


def test_it_changes_nothing_without_the_token_of_its_session(server: Server, browser: Browser) -> None:
    other = {**browser.writing, "Origin": "https://evil.example"}
    for method, path in calls(create_app(server.services)):
        if method not in ("GET", "HEAD", "OPTIONS"):
            without = browser.client.request(method, path, content=b"{}", headers={"Origin": EXTERNAL.origin})
            assert code_of(without) == (403, "no_csrf_token"), (method, path)
            assert code_of(browser.client.request(method, path, content=b"{}", headers=other)) == (403, "foreign_origin"), (method, path)
            if path != LOGOUT:
                answer = browser.client.request(method, path, content=b"{}", headers=browser.writing)
                refused = (method, path) in OWN
                assert (answer.status_code in (401, 403)) is refused, (method, path)
                assert not refused or code_of(answer) == (403, "internal")


def test_it_changes_nothing_from_another_name_of_this_server(browser: Browser) -> None:
    token = {"X-CSRF-Token": browser.writing["X-CSRF-Token"]}
    for origin in ({}, {"Origin": URL}, {"Origin": "http://lineage.example"}):
        assert code_of(browser.client.post("/api/v1/operations/erase", json={"runs": []}, headers={**token, **origin})) == (
            403,
            "foreign_origin",
        )


def test_other_credentials_outrank_its_session(server: Server, browser: Browser) -> None:
    key = server.key("etl", "ingest")
    assert browser.client.get("/auth/session", headers=key).json() == {"principal": "etl", "scopes": ["ingest"], "namespaces": []}
    assert code_of(browser.client.get("/auth/session", headers={"Authorization": "Bearer lb_typo"})) == (401, "malformed_key")
    assert code_of(browser.client.get("/auth/session", headers={"Authorization": "Basic eDp5"})) == (401, "unknown_credentials")


def test_a_session_that_is_over_leads_to_the_login(server: Server, browser: Browser) -> None:
    assert browser.client.get("/docs", headers=HTML).status_code == 200
    server.parts.now_us = NOW + 1_000_000
    page = browser.client.get("/api/v1/search?q=a&x=é", headers=HTML, follow_redirects=False)
    assert page.headers["location"] == "https://lineage.example/auth/login?next=%2Fapi%2Fv1%2Fsearch%3Fq%3Da%26x%3D%25C3%25A9"
    assert code_of(browser.client.get("/docs")) == (401, "no_key")
    assert code_of(browser.client.post("/api/v1/lineage", headers=HTML)) == (401, "no_key")
    assert browser.client.get("/auth/login", headers=HTML).status_code == 404, "nobody logs in at this server"


def test_a_server_without_logins_sends_nobody_to_one(server: Server) -> None:
    assert code_of(server.asking_for_keys().get("/docs", headers=HTML)) == (401, "no_key")
