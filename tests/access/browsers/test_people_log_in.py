"""People who log in with a browser: the server as an operator starts it, a real issuer with its own forms, and who attacks in between."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

import httpx
import pytest
from tests.ports import HOST, free_port
from tests.servers.process import Process, answers, running
from tests.servers.web.openid import OpenIdProvider, made_key
from tests.serving import COMMAND, bare_environment

KEY = made_key("ES256", "one")
PREFIX = "/lineage"
SETTINGS = """
auth = "required"
external_url = "{origin}{prefix}"

[oidc.company]
issuer = "{issuer}"
audience = "https://lineage.example"
client_id = "lineage"
client_secret = "${{file:{secret}}}"

[oidc.guests]
issuer = "{other}"
audience = "https://lineage.example"
client_id = "lineage-public"

[roles.data]
scopes = ["read", "operate"]
"""
READ, LOGIN, SESSION, LOGOUT = (f"{PREFIX}{path}" for path in ("/api/v1/version", "/auth/login", "/auth/session", "/auth/logout"))
HTML = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
COOKIE = "lineage-session"


class Site:
    """The server, its issuer, and browsers that visit both."""

    def __init__(self, url: str, openid: OpenIdProvider, folder: Path) -> None:
        self.url, self.openid, self.folder = url, openid, folder
        self.callback = f"{url}{PREFIX}/auth/callback"

    def browser(self) -> httpx.Client:
        """A browser that has visited nothing yet."""
        return httpx.Client(base_url=self.url, timeout=60)

    def begun(self, browser: httpx.Client, next_: str = "") -> str:
        """The address at the issuer to which a browser is sent."""
        answer = browser.get(LOGIN, params={"issuer": "company", **({"next": next_} if next_ else {})}, headers=HTML)
        assert answer.status_code == 303, answer.text
        return answer.headers["location"]

    def returned(self, browser: httpx.Client, person: str = "data-ada", next_: str = "") -> str:
        """The address with which the issuer sends a browser back."""
        with httpx.Client(timeout=60) as at_issuer:
            return self.openid.log_in(at_issuer, self.begun(browser, next_), person, self.callback)

    @contextmanager
    def logged_in(self, person: str = "data-ada") -> Iterator[httpx.Client]:
        """A browser of somebody who has logged in."""
        with self.browser() as browser:
            answer = browser.get(self.returned(browser, person))
            assert answer.status_code == 303, answer.text
            yield browser


@pytest.fixture(scope="module")
def site(openid: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, port = tmp_path_factory.mktemp("logins"), free_port()
    site = Site(f"http://{HOST}:{port}", openid, folder)
    openid.be(openid.url, [KEY], "ES256", [site.callback])
    secret, config = folder / "secret", folder / "settings.toml"
    secret.write_text(openid.secret)
    texts = {"origin": site.url, "prefix": PREFIX, "issuer": openid.url, "secret": secret, "other": "http://127.0.0.1:9/other"}
    config.write_text(f'secret_folders = "{folder}"\n' + SETTINGS.format(**texts))
    with started(folder, config, port) as process:
        process.wait_until(lambda: answers(f"{site.url}/api/v1/health"))
        with site.browser() as browser:
            process.wait_until(lambda: browser.get(LOGIN, params={"issuer": "company"}).status_code == 303)
        yield site


def started(folder: Path, config: Path, port: int) -> Any:
    command: list[str | Path] = [*COMMAND, "api", "--config", config, "--port", str(port), "--data-dir", folder / "data"]
    return running("api", command, folder)


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def with_parameters(url: str, **changes: str | None) -> str:
    """An address with other parameters; None removes one."""
    parts = urlsplit(url)
    found = {**dict(parse_qsl(parts.query)), **changes}
    return parts._replace(query=urlencode({name: value for name, value in found.items() if value is not None})).geturl()


def test_a_browser_is_sent_to_the_login_and_comes_back_to_its_page(site):
    with site.browser() as browser:
        page = browser.get(f"{PREFIX}/docs?x=1", headers=HTML)
        assert (page.status_code, page.headers["cache-control"]) == (303, "no-store")
        choice = browser.get(page.headers["location"], headers=HTML)
        assert choice.status_code == 200
        assert "issuer=guests&amp;next=%2Flineage%2Fdocs%3Fx%3D1" in choice.text
        begun = parse_qs(urlsplit(site.begun(browser, f"{PREFIX}/docs?x=1")).query)
        assert begun["code_challenge_method"] == ["S256"]
        assert len(begun["state"][0]) == len(begun["nonce"][0]) == len(begun["code_challenge"][0]) == 43
        assert begun["redirect_uri"] == [site.callback]
        back = browser.get(site.returned(browser, next_=f"{PREFIX}/docs?x=1"))
        assert back.headers["location"] == f"{site.url}{PREFIX}/docs?x=1"
        page_text = browser.get(back.headers["location"], headers=HTML).text
        assert f"'{PREFIX}/openapi.json'" in page_text
        assert browser.get(f"{PREFIX}/docs/files/swagger-ui.css").is_success


def test_programs_are_refused_as_ever(site):
    with site.browser() as browser:
        for headers in ({}, {"Accept": "*/*"}, {**HTML, "Authorization": "Bearer lb_x"}):
            assert browser.get(READ, headers=headers).status_code == 401
        assert browser.post(f"{PREFIX}/api/v1/lineage", headers=HTML).status_code == 401


def test_a_session_has_the_roles_of_its_person_and_a_cookie_that_no_script_reads(site):
    with site.browser() as browser:
        answer = browser.get(site.returned(browser))
        (cookie,) = [text for text in answer.headers.get_list("set-cookie") if text.startswith(COOKIE)]
        assert len(browser.cookies[COOKIE]) == 43
        assert cookie.partition("; ")[2] == f"Path={PREFIX}/; HttpOnly; SameSite=Lax"
        found = browser.get(SESSION).json()
        assert (found["principal"], found["scopes"], found["issuer"]) == ("company:data-ada#data-ada", ["operate", "read"], "company")
        assert browser.get(READ).is_success
        assert browser.get(f"{PREFIX}/openapi.json").json()["servers"] == [{"url": PREFIX}]
        stored = b"".join(path.read_bytes() for path in (site.folder / "data").glob("state.db*"))
        assert browser.cookies[COOKIE].encode() not in stored
        assert found["csrf_token"].encode() not in stored
    with site.logged_in("eve") as eve:
        assert eve.get(SESSION).json()["scopes"] == []
        assert code_of(eve.get(f"{PREFIX}/api/v1/ready")) == (403, "missing_scope")


def test_a_write_needs_the_token_of_the_session_and_a_page_of_this_server(site):
    run, path = {"runs": ["00000000-0000-0000-0000-000000000001"]}, f"{PREFIX}/api/v1/operations/erase"
    with site.logged_in() as browser, site.logged_in() as other:
        token = browser.get(SESSION).json()["csrf_token"]
        own = {"Origin": site.url, "X-CSRF-Token": token}
        assert browser.post(path, json=run, headers=own).status_code == 202
        assert code_of(browser.post(path, json=run, headers={"Origin": site.url})) == (403, "no_csrf_token")
        assert code_of(browser.post(path, json=run, headers={**own, "X-CSRF-Token": other.get(SESSION).json()["csrf_token"]})) == (
            403,
            "no_csrf_token",
        )
        for origin in ("https://evil.example", "null", site.url + ".evil.example", site.url.replace("http", "https"), ""):
            assert code_of(browser.post(path, json=run, headers={**own, "Origin": origin})) == (403, "foreign_origin")
        assert code_of(browser.post(path, json=run, headers={"X-CSRF-Token": token})) == (403, "foreign_origin")
        assert code_of(browser.get(READ, headers={"Authorization": "Bearer lb_typo"})) == (401, "malformed_key")


def test_a_logout_ends_the_session_and_leads_to_the_issuer_s(site):
    with site.logged_in() as browser:
        cookie, token = browser.cookies[COOKIE], browser.get(SESSION).json()["csrf_token"]
        assert code_of(browser.post(LOGOUT, headers={"Origin": site.url})) == (403, "no_csrf_token")
        answer = browser.post(LOGOUT, headers={"Origin": site.url, "X-CSRF-Token": token})
        assert answer.json() == {"ended": True, "issuer_logout_url": f"{site.openid.url}/session/end?client_id=lineage"}
        assert COOKIE not in browser.cookies
        assert httpx.get(answer.json()["issuer_logout_url"]).is_success
    with site.browser() as again:
        assert again.get(READ, headers={"Cookie": f"{COOKIE}={cookie}"}).status_code == 401


def test_logins_and_logouts_are_in_the_audit_trail(site):
    with site.logged_in("data-grace") as browser:
        headers = {"Origin": site.url, "X-CSRF-Token": browser.get(SESSION).json()["csrf_token"]}
        browser.post(LOGOUT, headers=headers)
    config = site.folder / "settings.toml"
    listed = [*COMMAND, "audit", "list", "--json", "--config", config, "--data-dir", site.folder / "data"]
    text = subprocess.run(listed, env=bare_environment(), cwd=site.folder, capture_output=True, text=True, check=True).stdout
    assert text.count('"company:data-grace#data-grace"') == 2
    assert '"login"' in text
    assert '"logout"' in text


def test_an_administrator_ends_one_session_and_all_of_a_person(site, tmp_path):
    at = ["--config", site.folder / "settings.toml", "--data-dir", site.folder / "data"]
    key = ran(["key", "create", "ender", "--scope", "admin", *at], tmp_path).strip()

    def session(*line: str) -> Any:
        return json.loads(ran(["session", *line, "--json", "--url", f"{site.url}{PREFIX}"], tmp_path, LINEAGE_BRIDGE_API_KEY=key))

    with site.logged_in("data-hal") as first, site.logged_in("data-hal") as second, site.logged_in("data-ida") as other:
        name = "company:data-hal#data-hal"
        assert code_of(other.get(f"{PREFIX}/api/v1/sessions")) == (403, "missing_scope")
        *_, oldest = found = session("list", "--principal", name)["sessions"]
        assert [(item["principal"], item["issuer"], item["address"]) for item in found] == [(name, "company", HOST)] * 2
        assert not any(browser.cookies[COOKIE][:16] in json.dumps(found) for browser in (first, second))
        assert session("end", oldest["id"]) == {"ended": 1}
        assert code_of(first.get(READ)) == (401, "no_key")
        assert second.get(READ).is_success
        assert session("end", name) == {"ended": 1}
        assert code_of(second.get(READ)) == (401, "no_key")
        assert second.get(f"{PREFIX}/docs", headers=HTML).headers["location"].startswith(f"{site.url}{LOGIN}")
        assert other.get(READ).is_success
        assert session("list", "--principal", name) == {"sessions": []}
    entries = json.loads(ran(["audit", "list", "--principal", "ender", "--json", *at], tmp_path))
    assert [(entry["action"], entry["target"]) for entry in entries] == [
        ("DELETE /sessions/{name:path}", name),
        ("DELETE /sessions/{name:path}", oldest["id"]),
    ]


def ran(line: list[Any], folder: Path, **variables: str) -> str:
    """What a command prints."""
    environment = {**bare_environment(), **variables}
    return subprocess.run([*COMMAND, *line], env=environment, cwd=folder, capture_output=True, text=True, check=True).stdout


def test_a_login_makes_a_new_session_and_ends_the_one_before(site):
    planted = "A" * 43
    with site.browser() as browser:
        browser.cookies.set(COOKIE, planted)
        browser.get(site.returned(browser))
        (first,) = [cookie.value for cookie in browser.cookies.jar if cookie.name == COOKIE and cookie.value != planted]
    with site.browser() as browser:
        back = site.returned(browser)
        answer = browser.get(back, headers={"Cookie": f"{cookie_header(browser)}; {COOKIE}={first}"})
        assert answer.status_code == 303
    with site.browser() as browser:
        for value in (first, planted):
            assert browser.get(READ, headers={"Cookie": f"{COOKIE}={value}"}).status_code == 401


def cookie_header(browser: httpx.Client) -> str:
    return "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)


@pytest.mark.parametrize(
    "change", [lambda text: text[:-1] + ("A" if text[-1] != "A" else "B"), lambda text: text[1:], lambda _: "é", str.lower]
)
def test_a_tampered_cookie_opens_nothing(site, change):
    with site.logged_in() as browser:
        sent = f"{COOKIE}={change(browser.cookies[COOKIE])}".encode()
    with site.browser() as other:
        assert other.get(READ, headers={b"Cookie": sent}).status_code == 401
        both = b"; ".join([sent, f"{COOKIE}={browser.cookies[COOKIE]}".encode()])
        assert other.get(READ, headers={b"Cookie": both}).status_code == 401


def test_an_answer_counts_for_the_browser_that_began_the_login_and_once(site):
    with site.browser() as browser, site.browser() as other:
        back = site.returned(browser)
        site.begun(other)
        assert code_of(other.get(back)) == (400, "login_not_known"), "somebody else's login"
        for state in ("x" * 43, None, "", "é"):
            assert code_of(browser.get(with_parameters(back, state=state))) == (400, "login_not_known")
        cookies = cookie_header(browser)
        assert browser.get(back).status_code == 303
        assert code_of(browser.get(back, headers={"Cookie": cookies})) == (400, "login_not_known"), "the same answer again"
        second = parse_qs(urlsplit(site.begun(browser)).query)["state"][0]
        replayed = with_parameters(back, state=second)
        assert code_of(browser.get(replayed)) == (403, "login_refused"), "the same code in another login"


def test_answers_of_other_issuers_are_refused(site):
    for iss in ("https://evil.example", site.openid.url + "/", "http://127.0.0.1:9/other", None):
        with site.browser() as browser:
            assert code_of(browser.get(with_parameters(site.returned(browser), iss=iss))) == (403, "login_refused")
            assert COOKIE not in browser.cookies


def test_what_the_issuer_refuses_is_said(site):
    with site.browser() as browser:
        state = parse_qs(urlsplit(site.begun(browser)).query)["state"][0]
        back = with_parameters(site.callback, state=state, iss=site.openid.url, error="access_denied", error_description="<script>")
        answer = browser.get(back)
        assert code_of(answer) == (403, "login_refused")
        assert "access_denied" in answer.text
        assert "script" not in answer.text


@pytest.mark.parametrize(
    "target",
    [
        "https://evil.example/",
        "//evil.example/",
        "/\\evil.example",
        "/lineage/../other",
        "/lineage/%2e%2E/other",
        "/other/",
        "/lineage",
        "lineage/",
        "/lineage/\\evil",
        "/lineage/x\r\nSet-Cookie: a=b",
        "/lineage/" + "x" * 1100,
        "javascript:alert(1)",
        "/lineage/é",
    ],
)
def test_a_login_leads_to_this_server_only(site, target):
    with site.browser() as browser:
        assert code_of(browser.get(LOGIN, params={"issuer": "company", "next": target})) == (422, "foreign_target")


def test_unknown_issuers_and_those_that_do_not_answer(site):
    with site.browser() as browser:
        assert code_of(browser.get(LOGIN, params={"issuer": "nobody"})) == (404, "not_found")
        assert code_of(browser.get(LOGIN, params={"issuer": "guests"})) == (503, "issuer_unavailable")


def test_sessions_outlive_a_restart(openid, tmp_path):
    port = free_port()
    site = Site(f"http://{HOST}:{port}", openid, tmp_path)
    openid.be(openid.url, [KEY], "ES256", [site.callback])
    config = tmp_path / "settings.toml"
    text = SETTINGS.format(origin=site.url, prefix=PREFIX, issuer=openid.url, secret="", other="http://127.0.0.1:9/other")
    config.write_text(text.replace('client_id = "lineage"\nclient_secret = "${file:}"', 'client_id = "lineage-public"'))

    def wait(process: Process) -> None:
        process.wait_until(lambda: answers(f"{site.url}/api/v1/health"))
        process.wait_until(lambda: httpx.get(f"{site.url}{LOGIN}?issuer=company").status_code == 303)

    with started(tmp_path, config, port) as process:
        wait(process)
        with site.logged_in() as browser:
            sent = {"Cookie": cookie_header(browser)}
    with started(tmp_path, config, port) as process:
        wait(process)
        assert httpx.get(site.url + SESSION, headers=sent).json()["scopes"] == ["operate", "read"]
