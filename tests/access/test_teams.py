"""To what principals are limited who belong to teams, or to namespaces."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lineage_bridge.access.keys import ApiKeys
from lineage_bridge.access.teams import NamespaceLimits, Teams
from lineage_bridge.config.people import TeamSettings
from lineage_bridge.errors import ConfigError, RequestError
from lineage_bridge.model.access import AccessScope, KeyOptions, Principal, Visibility
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.keys import ApiKeyRepository

INGEST, READ = frozenset({AccessScope.INGEST}), frozenset({AccessScope.READ})
TEAMS = Teams({"payments": TeamSettings(namespaces=("pay-*", "kafka://pay")), "web": TeamSettings(namespaces=("web",))})
PAY = ("kafka://pay", "pay-*")


def principal(scopes: frozenset[AccessScope], limits: NamespaceLimits, teams: Teams = TEAMS) -> Principal:
    return teams.principal("p", scopes, limits, limits)


def test_who_has_no_limits_sees_everything() -> None:
    assert principal(INGEST | READ, NamespaceLimits()) == Principal("p", INGEST | READ, (), None)


@pytest.mark.parametrize(
    ("limits", "globs"),
    [
        (NamespaceLimits(("x-*",)), ("x-*",)),
        (NamespaceLimits((), ("payments",)), PAY),
        (NamespaceLimits(("x-*",), ("web", "payments")), (*PAY, "web", "x-*")),
    ],
)
def test_namespaces_and_those_of_teams_add_up(limits: NamespaceLimits, globs: tuple[str, ...]) -> None:
    assert principal(INGEST | READ, limits) == Principal("p", INGEST | READ, globs, Visibility(globs))


def test_a_key_for_events_only_is_what_it_was() -> None:
    assert principal(INGEST, NamespaceLimits(("etl-*",))) == Principal("p", INGEST, ("etl-*",))


def test_a_team_that_is_not_in_the_settings_owns_nothing() -> None:
    """It was removed since the key was made: nothing is sent or seen with it, rather than everything."""
    found = principal(INGEST | READ, NamespaceLimits((), ("gone",)))
    assert not any(found.may_send(namespace) for namespace in ("", "pay-a", "\ufffd"))
    assert found.visibility is not None
    assert found.visibility.owned(["", "pay-a", "x"]) == set()


def test_the_policy_for_what_lies_beyond_is_that_of_the_settings() -> None:
    found = principal(READ, NamespaceLimits(("x",)), Teams({}, neighbours=False))
    assert found.visibility == Visibility(("x",), neighbours=False)


# keys


@pytest.fixture
def state(tmp_path: Path) -> StateDatabase:
    return StateDatabase(tmp_path / "state.db")


@pytest.fixture
def keys(state: StateDatabase) -> ApiKeys:
    return ApiKeys(ApiKeyRepository(state), b"installation", lambda: 100, lambda size: bytes(range(size)), teams=TEAMS)


ORDER = KeyOptions("p", INGEST | READ, ("x",), teams=("payments",))


def test_a_key_keeps_its_teams(keys: ApiKeys, state: StateDatabase) -> None:
    created, _ = keys.create(ORDER, "")
    assert ApiKeyRepository(state).records() == [created]
    assert (created.namespaces, created.teams) == (("x",), ("payments",))


def test_keys_without_teams_are_stored_as_they_were(keys: ApiKeys, state: StateDatabase) -> None:
    keys.create(replace(ORDER, teams=()), "")
    with state.transaction() as connection:
        assert json.loads(connection.execute("SELECT namespaces FROM api_key").fetchone()[0]) == ["x"]


def test_a_key_of_an_unknown_team_is_refused(keys: ApiKeys) -> None:
    with pytest.raises(ConfigError, match="'p' names 'sales', which is not a team") as caught:
        keys.create(replace(ORDER, teams=("sales",)), "")
    assert "payments, web" in caught.value.hint


@pytest.mark.parametrize("scope", ["operate", "admin"])
def test_what_is_of_the_whole_server_cannot_be_limited(keys: ApiKeys, scope: str) -> None:
    for limits in ({"namespaces": ("x",)}, {"teams": ("web",)}):
        with pytest.raises(RequestError, match="only have the scopes 'ingest' and 'read'"):
            keys.create(KeyOptions("p", READ | {AccessScope(scope)}, **limits), "")  # type: ignore[arg-type]  # one of two members
