"""Keycloak, with one realm in memory. It takes about a minute to start."""

import json
import re
import secrets
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path

import httpx
from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.process import answers, running

REALM, CLIENT, WEB = "staff", "page", "lineage"
START_S = 600.0
"""It builds itself anew before it starts: a minute where nothing else runs, more than three where much does."""
CALLBACK = "https://lineage.example/auth/callback"


@dataclass(frozen=True)
class Keycloak:
    """A realm that is ready: `issuer` is its address."""

    issuer: str
    password: str = field(default_factory=lambda: secrets.token_urlsafe(12), repr=False)

    def tokens(self, person: str) -> dict[str, str]:
        """The access, refresh and ID tokens of a person."""
        form = {"grant_type": "password", "client_id": CLIENT, "username": person, "password": self.password, "scope": "openid"}
        answer = httpx.post(f"{self.issuer}/protocol/openid-connect/token", data=form, timeout=60)
        assert answer.is_success, answer.text
        return {name: answer.json()[f"{name}_token"] for name in ("access", "refresh", "id")}

    def log_in(self, url: str, person: str) -> str:
        """Log in at an address with Keycloak's form, as a browser does it; the address with which it sends the browser back."""
        with httpx.Client(timeout=60, follow_redirects=False) as browser:
            (action,) = re.findall(r'action="([^"]+)"', browser.get(url).text)
            # Its cookies are for encrypted connections, to which browsers count those to loopback addresses.
            cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in browser.cookies.jar)
            form = {"username": person, "password": self.password}
            answer = browser.post(unescape(action), data=form, headers={"Cookie": cookies})
        assert answer.status_code == 302, answer.text
        return str(answer.headers["location"])


def _realm(people: Sequence[tuple[str, str]], audience: str, password: str) -> object:
    """A realm as Keycloak imports one: people with a role each, a client whose tokens are for an audience, and one for logins."""
    mapper = {
        "name": "audience",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-audience-mapper",
        "config": {"included.custom.audience": audience, "access.token.claim": "true"},
    }
    users = [
        {
            "username": name,
            "firstName": name,
            "lastName": name,
            "email": f"{name}@company.example",
            "emailVerified": True,
            "enabled": True,
            "realmRoles": [role],
            "credentials": [{"type": "password", "value": password}],
        }
        for name, role in people
    ]
    client = {"clientId": CLIENT, "publicClient": True, "directAccessGrantsEnabled": True, "protocolMappers": [mapper]}
    roles_of_person = {
        "name": "roles",
        "protocol": "openid-connect",
        "protocolMapper": "oidc-usermodel-realm-role-mapper",
        "config": {"claim.name": "realm_access.roles", "multivalued": "true", "id.token.claim": "true", "jsonType.label": "String"},
    }
    web = {
        "clientId": WEB,
        "secret": password,
        "redirectUris": [CALLBACK],
        "attributes": {"pkce.code.challenge.method": "S256"},
        "protocolMappers": [roles_of_person],
    }
    roles = {"realm": [{"name": role} for role in sorted({role for _, role in people})]}
    return {"realm": REALM, "enabled": True, "sslRequired": "none", "roles": roles, "users": users, "clients": [client, web]}


@contextmanager
def started(folder: Path, people: Sequence[tuple[str, str]], audience: str) -> Iterator[Keycloak]:
    """A Keycloak with these people, each with a role."""
    port, management = free_ports(2)
    keycloak = Keycloak(f"http://{HOST}:{port}/realms/{REALM}")
    # It writes into its own folder when it starts.
    (packed,) = archives.unpacked("keycloak").iterdir()
    home = Path(shutil.copytree(packed, folder / "keycloak"))
    imported = home / "data" / "import" / f"{REALM}-realm.json"
    imported.parent.mkdir(parents=True)
    imported.write_text(json.dumps(_realm(people, audience, keycloak.password)), encoding="utf-8")
    options = [f"--http-host={HOST}", f"--http-port={port}", f"--http-management-port={management}", "--db=dev-mem", "--import-realm"]
    with running("keycloak", ["bash", home / "bin" / "kc.sh", "start-dev", *options], folder) as process:
        process.wait_until(lambda: answers(f"{keycloak.issuer}/.well-known/openid-configuration"), START_S)
        yield keycloak
