"""People at a server that asks who they are: the command as an operator starts it, a real issuer, and headers that a proxy would set."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.events import run_event
from tests.ports import HOST, free_port
from tests.servers.process import answers, running
from tests.servers.web.openid import OpenIdProvider, made_key
from tests.serving import COMMAND

from lineage_bridge.config import load_settings
from lineage_bridge.errors import ConfigError
from lineage_bridge.wiring.access import check_reachable

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
user_header = "X-Forwarded-User"
groups_header = "X-Forwarded-Groups"
"""
AS_ADA = {"X-Forwarded-User": "ada", "X-Forwarded-Groups": "data"}
PROXY = "127.0.0.2"
READ, SEND = "/api/v1/ready", "/api/v1/lineage"


def written(folder: Path, issuer: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(SETTINGS.format(issuer=issuer, audience=AUDIENCE, proxy=PROXY))
    return path


@pytest.fixture(scope="module")
def server(openid: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a server whose trusted proxy has another address of this machine."""
    folder, port = tmp_path_factory.mktemp("people"), free_port()
    openid.be(openid.url, [KEY], "ES256")
    command: list[str | Path] = [
        *COMMAND,
        "api",
        "--config",
        written(folder, openid.url),
        "--port",
        str(port),
        "--data-dir",
        folder / "data",
    ]
    with running("api", command, folder) as process:
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
    assert ready.json()["parts"]["issuers"] == {"state": "ok", "detail": "the signing keys of company are available"}
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
    for value in (PROXY, f"for={PROXY}", f"{PROXY}, 127.0.0.1", f"127.0.0.1, {PROXY}"):
        answer = server.get(READ, headers={**AS_ADA, name: value, "X-Forwarded-Proto": "https"})
        assert code_of(answer) == (401, "no_key")


def test_a_token_of_an_unknown_key_is_asked_for_again(openid, server):
    openid.be(openid.url, [made_key("ES256", "two")], "ES256")
    answer = server.get(READ, headers=bearer(openid.client_token(AUDIENCE)))
    assert code_of(answer) == (503, "key_not_known_yet")
    assert answer.headers["Retry-After"] == "1"
    openid.be(openid.url, [KEY], "ES256")


def test_the_proxy_is_the_address_of_the_connection(server):
    with httpx.Client(base_url=server.base_url, transport=httpx.HTTPTransport(local_address=PROXY)) as proxy:
        assert proxy.get(READ, headers={**AS_ADA, "X-Forwarded-For": "192.0.2.1"}).json()["parts"]["issuers"]
        assert code_of(proxy.post(SEND, headers=AS_ADA, content=run_event())) == (403, "missing_scope")
        assert code_of(proxy.get(READ, headers={"X-Forwarded-Groups": "data"})) == (401, "no_key")
        assert code_of(proxy.get(READ, headers=[*AS_ADA.items(), ("X-Forwarded-User", "eve")])) == (401, "invalid_proxy_header")


def test_roles_that_cannot_be_stop_the_start(tmp_path):
    config = written(tmp_path, "https://login.example")
    config.write_text(config.read_text().replace('["read"]', '["reed"]'))
    with pytest.raises(ConfigError, match="'reed'"):
        check_reachable(load_settings({}, {}, tmp_path, config))
