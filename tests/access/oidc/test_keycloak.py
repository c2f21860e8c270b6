"""Tokens of Keycloak, whose access tokens do not say what they are, and logins. Runs only if asked for: TEST_KEYCLOAK=1."""

import os
import secrets
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from tests.access.oidc.issuing import AUDIENCE, FETCH, ROLES, Clock, Door
from tests.servers.web import keycloak

from lineage_bridge.access.browsers.code_exchange import LoginClient
from lineage_bridge.access.browsers.logins import IssuerAnswer, Logins
from lineage_bridge.access.oidc.fetching import IssuerClient
from lineage_bridge.access.oidc.issuer_keys import IssuerKeys, TrustedIssuer
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.people import IssuerSettings
from lineage_bridge.model.access import AccessScope

pytestmark = pytest.mark.skipif("TEST_KEYCLOAK" not in os.environ, reason="Keycloak takes a minute to start; TEST_KEYCLOAK=1 asks for it")


def test_keycloak_s_realm_roles_give_scopes(tmp_path):
    with keycloak.started(tmp_path, [("ada", "data"), ("eve", "sales")], AUDIENCE) as realm:
        door = Door(realm.issuer, {"roles_claim": "realm_access.roles", "clients": [keycloak.CLIENT]})
        assert door.keys.problem == ""
        ada = realm.tokens("ada")
        principal = door.open(ada["access"])
        assert principal
        assert principal.name.startswith("company:ada#")
        assert principal.scopes == {AccessScope.READ, AccessScope.OPERATE}
        eve = door.open(realm.tokens("eve")["access"])
        assert eve
        assert eve.scopes == set()
        assert eve.name.rpartition("#")[2] != principal.name.rpartition("#")[2]
        for name in ("refresh", "id"):
            assert door.refusal(ada[name]).status == 401
        check_logins(realm)
        as_client = Door(realm.issuer, {"audience": keycloak.CLIENT})
        assert "ID" in str(as_client.refusal(ada["id"]))


def check_logins(realm):
    settings = IssuerSettings(issuer=realm.issuer, audience=("x",), client_id=keycloak.WEB, roles_claim="realm_access.roles")
    keys = IssuerKeys("company", settings, FETCH)
    keys.refresh()
    client = LoginClient(TrustedIssuer("company", settings, keys), IssuerClient(""), realm.password)
    logins = Logins([client], Roles(ROLES, ["company"]), keycloak.CALLBACK, Clock(), secrets.token_bytes)
    for person, roles in (("ada", ("data",)), ("eve", ())):
        begun = logins.begin("company", "/docs")
        back = parse_qs(urlsplit(realm.log_in(begun.url, person)).query)
        answer = IssuerAnswer(begun.state, back["code"][0], back["iss"][0], None)
        identity, _ = logins.finish(answer, begun.sealed)
        assert identity.principal.startswith(f"company:{person}#")
        assert identity.roles == roles
    assert httpx.get(logins.logout_url("company")).is_success
