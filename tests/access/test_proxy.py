"""Headers of a proxy: believed from its addresses, and from nobody else."""

import pytest
from starlette.datastructures import Headers

from lineage_bridge.access.proxy import ProxyAuthenticator
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.people import ProxySettings, RoleSettings
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import AccessScope, Principal

ROLES = Roles({"data": RoleSettings(scopes=("read", "operate")), "*": RoleSettings(scopes=("read",))}, [])
OPTIONS = {
    "addresses": ["10.0.0.5", "10.1.0.0/16", "2001:db8::5"],
    "user_header": "X-Forwarded-User",
    "groups_header": "X-Forwarded-Groups",
}
ADA = [("X-Forwarded-User", "ada"), ("X-Forwarded-Groups", "sales, data")]


def principal(headers, peer, **options):
    raw = [(name.lower().encode(), value.encode()) for name, value in headers]
    return ProxyAuthenticator(ProxySettings(**{**OPTIONS, **options}), ROLES).authenticate(Headers(raw=raw), peer)


@pytest.mark.parametrize("peer", ["10.0.0.5", "10.1.2.3", "2001:db8::5", "::ffff:10.0.0.5"])
def test_the_proxy_is_believed(peer):
    assert principal(ADA, peer) == Principal("proxy:ada", frozenset({AccessScope.READ, AccessScope.OPERATE}))


@pytest.mark.parametrize("peer", ["10.0.0.6", "127.0.0.1", "::1", "2001:db8::6", "", "unix:", "10.0.0.5.evil.example", "testclient"])
def test_nobody_else_is(peer):
    assert principal(ADA, peer) is None


def test_without_addresses_there_is_no_proxy():
    assert principal(ADA, "10.0.0.5", addresses=[]) is None


@pytest.mark.parametrize(
    "headers", [[], [("X-Forwarded-User", "")], [("X-Forwarded-User", " ")], [("X-Forwarded-Groups", "data")], [("X-User", "ada")]]
)
def test_without_a_user_there_is_no_principal(headers):
    assert principal(headers, "10.0.0.5") is None


def test_groups_count_only_if_the_settings_name_their_header():
    found = principal(ADA, "10.0.0.5", groups_header="")
    assert found
    assert found.scopes == {AccessScope.READ}


def test_the_headers_names_are_settings():
    found = principal([("Remote-User", "ada"), ("X-Forwarded-User", "eve")], "10.0.0.5", user_header="Remote-User")
    assert found
    assert found.name == "proxy:ada"


@pytest.mark.parametrize(
    "headers",
    [
        [*ADA, ("X-Forwarded-User", "eve")],
        [*ADA, ("X-Forwarded-Groups", "admins")],
        [("X-Forwarded-User", "a\x7fb")],
        [("X-Forwarded-User", "a" * 201)],
    ],
)
def test_headers_that_the_proxy_did_not_replace_are_refused(headers):
    with pytest.raises(RefusedError) as caught:
        principal(headers, "10.0.0.5")
    assert (caught.value.status, caught.value.code) == (401, "invalid_proxy_header")


def test_names_may_be_in_any_script():
    found = principal([("X-Forwarded-User", "Åsa 王")], "10.0.0.5")
    assert found
    assert found.name == "proxy:Åsa 王"
