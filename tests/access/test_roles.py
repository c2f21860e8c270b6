"""What roles and groups give."""

import pytest

from lineage_bridge.access.roles import Roles
from lineage_bridge.access.teams import Teams
from lineage_bridge.config.people import RoleSettings, TeamSettings
from lineage_bridge.errors import ConfigError
from lineage_bridge.model.access import AccessScope, Visibility

READ, INGEST = AccessScope.READ, AccessScope.INGEST
LIMITED, LIMITED_TOO = (RoleSettings(scopes=("ingest",), namespaces=(glob,)) for glob in ("b-*", "a-*"))


@pytest.mark.parametrize(
    ("roles", "scopes", "namespaces"),
    [
        ([], set(), ()),
        (["unknown"], set(), ()),
        (["reader"], {READ}, ()),
        (["a"], {INGEST}, ("a-*",)),
        (["b", "a", "reader"], {INGEST, READ}, ("a-*", "b-*")),
        (["a", "sender"], {INGEST}, ()),
    ],
)
def test_roles_add_up_and_the_widest_counts(roles, scopes, namespaces):
    settings = {"reader": RoleSettings(scopes=("read",)), "sender": RoleSettings(scopes=("ingest",)), "a": LIMITED_TOO, "b": LIMITED}
    principal = Roles(settings, ["company"]).principal("x", "company", roles)
    assert (principal.name, principal.scopes, principal.namespaces) == ("x", scopes, namespaces)


@pytest.mark.parametrize(
    ("roles", "namespaces", "seen"),
    [
        (["web"], ("web",), ("web",)),
        (["web", "a"], ("a-*", "web"), ("web",)),
        (["web", "reader"], ("web",), None),
        (["web", "sender"], (), ("web",)),
        (["web", "watcher"], ("web",), ("w-*", "web")),
        (["a", "reader"], ("a-*",), None),
    ],
)
def test_what_may_be_sent_and_what_is_seen_are_limited_each_by_the_roles_that_give_it(roles, namespaces, seen):
    settings = {
        "reader": RoleSettings(scopes=("read", "operate")),
        "sender": RoleSettings(scopes=("ingest",)),
        "watcher": RoleSettings(scopes=("read",), namespaces=("w-*",)),
        "a": LIMITED_TOO,
        "web": RoleSettings(scopes=("ingest", "read"), teams=("web",)),
    }
    principal = Roles(settings, [], Teams({"web": TeamSettings(namespaces=("web",))})).principal("x", "company", roles)
    assert (principal.namespaces, principal.visibility) == (namespaces, None if seen is None else Visibility(seen))


def test_a_role_may_be_granted_by_some_issuers_only():
    roles = Roles({"reader": RoleSettings(scopes=("read",), granted_by=("company", "proxy"))}, ["company", "partner"])
    given = {by: roles.principal("x", by, ["reader"]).scopes for by in ("company", "partner", "proxy")}
    assert given == {"company": {READ}, "partner": set(), "proxy": {READ}}


@pytest.mark.parametrize(
    ("role", "reason"),
    [
        (RoleSettings(scopes=("write",)), "'write'"),
        (RoleSettings(scopes=("read", "operate"), namespaces=("x",)), "only have the scopes 'ingest' and 'read'"),
        (RoleSettings(scopes=("admin",), teams=("web",)), "only have the scopes 'ingest' and 'read'"),
        (RoleSettings(scopes=("read",), teams=("nobody",)), "names 'nobody', which is not a team"),
        (RoleSettings(scopes=("read",), granted_by=("nobody",)), "'nobody'"),
    ],
)
def test_roles_that_cannot_be(role, reason):
    with pytest.raises(ConfigError, match=reason) as caught:
        Roles({"mine": role}, ["company"])
    assert "'mine'" in str(caught.value)
