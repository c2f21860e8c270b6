"""Tokens of Keycloak, whose access tokens do not say in their header what they are. Runs only if it is asked for: TEST_KEYCLOAK=1."""

import os

import pytest
from tests.access.oidc.issuing import AUDIENCE, Door
from tests.servers import keycloak

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
        as_client = Door(realm.issuer, {"audience": keycloak.CLIENT})
        assert "ID" in str(as_client.refusal(ada["id"]))
