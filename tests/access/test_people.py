"""People at a server that asks who they are: the command as an operator starts it, a real issuer, and headers that a proxy would set."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.events import run_event
from tests.ports import HOST, free_port
from tests.servers.openid import OpenIdProvider, made_key
from tests.servers.process import answers, running
from tests.serving import COMMAND, bare_environment

AUDIENCE = "https://lineage.example"
KEY = made_key("ES256", "one")
SETTINGS = """
auth = "required"

[oidc.company]
issuer = "{issuer}"
audience = "{audience}"

[roles.data]
scopes = ["read"]

[roles.orders]
scopes = ["ingest"]
namespaces = ["orders-*"]

[trusted_proxy]
addresses = ["{proxy}"]
groups_header = "X-Forwarded-Groups"
"""
AS_ADA = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": "data"}
READ, SEND = "/api/v1/ready", "/api/v1/lineage"


def written(folder: Path, issuer: str, proxy: str, **changes: str) -> Path:
    path = folder / "settings.toml"
    text = SETTINGS.format(issuer=issuer, audience=AUDIENCE, proxy=proxy)
    for before, after in changes.items():
        text = text.replace(before, after)
    path.write_text(text)
    return path


def command(folder: Path, config: Path, port: int) -> list[str | Path]:
    return [*COMMAND, "api", "--config", config, "--port", str(port), "--data-dir", folder / "data"]


@pytest.fixture(scope="module")
def server(openid: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server whose trusted proxy has an address that nobody has here."""
    folder, port = tmp_path_factory.mktemp("people"), free_port()
    openid.be(openid.url, [KEY], "ES256")
    with running("api", command(folder, written(folder, openid.url, "10.0.0.5"), port), folder) as process:
        url = f"http://{HOST}:{port}"
        process.wait_until(lambda: answers(f"{url}/api/v1/health"))
        with httpx.Client(base_url=url, timeout=60) as client:
            client.headers["Authorization"] = f"Bearer {openid.person_tokens('data-ada', AUDIENCE)[0]}"
            process.wait_until(lambda: client.get("/api/v1/version").is_success)
            del client.headers["Authorization"]
            yield client


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def code_of(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_person_may_do_what_the_role_of_the_group_allows(openid, server):
    access, id_token = openid.person_tokens("data-ada", AUDIENCE)
    ready = server.get(READ, headers=bearer(access))
    assert ready.json()["parts"]["issuers"] == {"state": "ok", "detail": "the keys of company are known"}
    refused = server.post(SEND, headers=bearer(access), content=run_event())
    assert code_of(refused) == (403, "missing_scope")
    assert "'company:data-ada#data-ada'" in refused.json()["error"]["message"]
    assert code_of(server.get(READ, headers=bearer(id_token))) == (401, "invalid_token")


def test_a_program_sends_events_of_the_namespaces_of_its_role(openid, server):
    token = bearer(openid.client_token(AUDIENCE))
    for namespace, status in (("orders-eu", 201), ("payments", 403)):
        assert server.post(SEND, headers=token, content=run_event(namespace=namespace)).status_code == status
    assert code_of(server.get(READ, headers=token)) == (403, "missing_scope")


def test_who_has_no_role_may_do_nothing(openid, server):
    access, _ = openid.person_tokens("eve", AUDIENCE)
    assert server.get("/api/v1/version", headers=bearer(access)).status_code == 200
    assert code_of(server.get(READ, headers=bearer(access))) == (403, "missing_scope")


def test_nobody_comes_in_without_proof(openid, server):
    assert code_of(server.get(READ)) == (401, "no_key")
    other = server.get(READ, headers=bearer(openid.client_token("https://other.example")))
    assert code_of(other) == (401, "invalid_token")
    assert 'error="invalid_token"' in other.headers["WWW-Authenticate"]
    assert code_of(server.get(READ, headers=bearer("a.b.c.d.e"))) == (401, "unknown_credentials")


@pytest.mark.parametrize("name", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "X-Forwarded-Host", "True-Client-IP"])
def test_nobody_becomes_the_proxy_by_a_header(server, name):
    for value in ("10.0.0.5", "for=10.0.0.5", "10.0.0.5, 127.0.0.1", "127.0.0.1, 10.0.0.5"):
        answer = server.get(READ, headers={**AS_ADA, name: value, "X-Forwarded-Proto": "https"})
        assert code_of(answer) == (401, "no_key")


def test_a_token_of_an_unknown_key_is_asked_for_again(openid, server):
    openid.be(openid.url, [made_key("ES256", "two")], "ES256")
    answer = server.get(READ, headers=bearer(openid.client_token(AUDIENCE)))
    assert code_of(answer) == (503, "key_not_known_yet")
    assert answer.headers["Retry-After"] == "1"
    openid.be(openid.url, [KEY], "ES256")


def test_the_proxy_is_the_address_of_the_connection(tmp_path):
    port = free_port()
    with running("api", command(tmp_path, written(tmp_path, "http://127.0.0.1:9", HOST), port), tmp_path) as process:
        url = f"http://{HOST}:{port}"
        process.wait_until(lambda: answers(f"{url}/api/v1/health"))
        ready = httpx.get(url + READ, headers={**AS_ADA, "X-Forwarded-For": "192.0.2.1"})
        assert ready.json()["parts"]["issuers"]["state"] == "failed"
        assert code_of(httpx.post(url + SEND, headers=AS_ADA, content=run_event())) == (403, "missing_scope")
        assert code_of(httpx.get(url + READ, headers={"X-Forwarded-Groups": "data"})) == (401, "no_key")
        assert code_of(httpx.get(url + READ, headers=[*AS_ADA.items(), ("X-Forwarded-User", "eve")])) == (401, "invalid_proxy_header")
        assert process.has_logged("the keys of the issuer 'company' cannot be had")


def test_settings_that_give_nobody_what_they_say_stop_the_start(tmp_path):
    config = written(tmp_path, "https://login.example", "10.0.0.5", **{'["read"]': '["reed"]'})
    done = subprocess.run(command(tmp_path, config, 0), env=bare_environment(), capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "'reed'" in done.stderr
    assert "Traceback" not in done.stderr
