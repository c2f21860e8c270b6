"""The configuration of nginx in the documentation, run by nginx before a server with the settings that stand beside it."""

import re
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import trustme
from tests.events import run_event
from tests.ports import HOST, free_port
from tests.servers.process import answers, running
from tests.servers.web import nginx
from tests.servers.web.openid import OpenIdProvider, made_key
from tests.serving import COMMAND, bare_environment

ROOT = Path(__file__).resolve().parents[3]
DOCS = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
CLIENT = "127.0.0.9"
HTML = {"Accept": "text/html"}
PEOPLE = """
[oidc.company]
issuer = "{issuer}"
audience = "https://lineage.example"
client_id = "lineage-public"

[roles.data]
scopes = ["read", "operate"]
"""
AROUND = """
daemon off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
{server}
}}
"""


def block(language: str, containing: str) -> str:
    """The one block of the documentation in a language that contains a text."""
    (found,) = [text for text in re.findall(rf"```{language}\n(.*?)```", DOCS, re.DOTALL) if containing in text]
    return str(found)


def replaced(text: str, changes: dict[str, str]) -> str:
    """A text with parts replaced, each of which it has."""
    for before, after in changes.items():
        assert before in text
        text = text.replace(before, after)
    return text


class Site:
    """nginx as the documentation has it, and the server behind it."""

    def __init__(self, url: str, folder: Path, trusted: ssl.SSLContext) -> None:
        self.url, self.folder, self.trusted = url, folder, trusted

    def client(self) -> httpx.Client:
        """A client at another address of this machine than nginx calls the server from."""
        transport = httpx.HTTPTransport(verify=self.trusted, local_address=CLIENT)
        return httpx.Client(base_url=self.url, transport=transport, timeout=60)

    def command(self, *arguments: str) -> str:
        """What a command on the server's machine prints."""
        command = [*COMMAND, *arguments, "--config", str(self.folder / "settings.toml")]
        return subprocess.run(command, env=bare_environment(), cwd=self.folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def site(openid: OpenIdProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, port, inner = tmp_path_factory.mktemp("nginx"), free_port(), free_port()
    authority = trustme.CA()
    certificate, trusted = authority.issue_cert("localhost"), ssl.create_default_context()
    authority.configure_trust(trusted)
    certificate.private_key_pem.write_to_path(folder / "key.pem")
    certificate.cert_chain_pems[0].write_to_path(folder / "chain.pem")
    site = Site(f"https://localhost:{port}/lineage", folder, trusted)
    openid.be(openid.url, [made_key("ES256", "one")], "ES256", [f"{site.url}/auth/callback"])
    settings = replaced(block("toml", "lineage.example.com/lineage"), {"https://lineage.example.com/lineage": site.url})
    (folder / "settings.toml").write_text(
        f'port = {inner}\ndata_dir = "{folder}/data"\nauth = "required"\n{settings}{PEOPLE.format(issuer=openid.url)}'
    )
    changes = {
        "listen 443 ssl": f"listen {HOST}:{port} ssl",
        "lineage.example.com": "localhost",
        "/etc/lineage-bridge": str(folder),
        "127.0.0.1:8000": f"{HOST}:{inner}",
    }
    (folder / "nginx.conf").write_text(AROUND.format(folder=folder, server=replaced(block("nginx", "proxy_pass"), changes)))
    proxy: list[str | Path] = [nginx.program(), "-p", folder, "-e", "stderr", "-c", folder / "nginx.conf"]
    server: list[str | Path] = [*COMMAND, "api", "--config", folder / "settings.toml"]
    with running("api", server, folder) as process, running("nginx", proxy, folder), site.client() as client:
        process.wait_until(lambda: answers(f"http://{HOST}:{inner}/api/v1/health"))
        process.wait_until(lambda: client.get("/auth/login").status_code == 303)
        yield site


def test_pages_and_addresses_are_below_the_path(site: Site) -> None:
    key = {"Authorization": f"Bearer {site.command('key', 'create', 'ada', '--scope', 'read').split()[-1]}"}
    with site.client() as client:
        assert client.get("/api/v1/health").json() == {"status": "ok"}
        assert client.get(site.url).headers["location"] == f"{site.url}/docs"
        assert client.get("/docs", headers=HTML).headers["location"] == f"{site.url}/auth/login?next=%2Flineage%2Fdocs"
        paths = re.findall(r'(?:src|href|url)[=:] ?["\'](/[^"\']*)', client.get("/docs", headers=key).text)
        assert len(paths) >= 4
        for path in paths:
            assert path.startswith("/lineage/")
            assert client.get(f"{site.url.removesuffix('/lineage')}{path}", headers=key).is_success
        assert client.get("/openapi.json", headers=key).json()["servers"] == [{"url": "/lineage"}]
        assert client.get("/docs/", headers=key).headers["location"] == f"{site.url}/docs"


def test_a_person_logs_in_and_writes_over_tls(site: Site, openid: OpenIdProvider) -> None:
    with site.client() as browser, httpx.Client(timeout=60) as at_issuer:
        begun = browser.get("/auth/login").headers["location"]
        back = browser.get(openid.log_in(at_issuer, begun, "data-ada", f"{site.url}/auth/callback"))
        (cookie,) = [text for text in back.headers.get_list("set-cookie") if "-session=" in text]
        assert cookie.startswith("__Secure-lineage-session=")
        assert cookie.endswith("; Path=/lineage/; HttpOnly; SameSite=Lax; Secure")
        assert back.headers["location"] == f"{site.url}/docs"
        assert browser.get("/docs", headers=HTML).is_success
        token = browser.get("/auth/session").json()["csrf_token"]
        headers = {"Origin": site.url.removesuffix("/lineage"), "X-CSRF-Token": token}
        run = {"runs": ["00000000-0000-0000-0000-000000000001"]}
        assert browser.post("/api/v1/operations/erase", json=run, headers=headers).status_code == 202
    (erased,) = [line for line in site.command("audit", "list").splitlines() if "erase" in line]
    assert CLIENT in erased


def test_what_clients_send_in_the_proxy_s_headers_means_nothing(site: Site) -> None:
    forged = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-User": "ada", "X-Forwarded-Groups": "data", "X-Forwarded-Prefix": "/evil"}
    with site.client() as client:
        assert client.get("/api/v1/ready", headers=forged).status_code == 401
        begun = client.get("/auth/login", headers={**forged, "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"})
        assert "evil" not in str(begun.headers)


def test_large_bodies_pass_and_too_large_ones_do_not(site: Site) -> None:
    key = {"Authorization": f"Bearer {site.command('key', 'create', 'etl', '--scope', 'ingest').split()[-1]}"}
    events = b"\n".join(run_event(job=f"job-{number}") for number in range(2000))
    with site.client() as client:
        sent = client.post("/api/v1/lineage", content=events, headers={**key, "Content-Type": "application/x-ndjson"})
        assert (sent.status_code, sent.json()["accepted"]) == (201, 2000)
        assert client.post("/api/v1/lineage", content=b"x" * (65 << 20), headers=key).status_code == 413
