"""API keys: their text, and their life, over a real state database."""

import json
import secrets
from base64 import b32decode
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.events import KEY

from lineage_bridge.access.authentication import KeyAuthenticator
from lineage_bridge.access.key_text import digest_of, id_of, make_key
from lineage_bridge.access.keys import INTERNAL, ApiKeys
from lineage_bridge.errors import LineageBridgeError, NotFoundError, RefusedError, RequestError
from lineage_bridge.model.access import AccessScope, ApiKey, KeyOptions, Principal
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.keys import ApiKeyRepository, WatchedKeys

INGEST, OPERATE = frozenset({AccessScope.INGEST}), frozenset({AccessScope.OPERATE})
ORDER = KeyOptions("etl", INGEST, ("etl-*",), "nightly", 1000)


@dataclass
class Clock:
    """A clock that a test sets."""

    now_us: int = 100

    def __call__(self) -> int:
        return self.now_us


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def state(tmp_path: Path) -> StateDatabase:
    return StateDatabase(tmp_path / "state.db")


@pytest.fixture
def keys(state: StateDatabase, clock: Clock) -> ApiKeys:
    return ApiKeys(ApiKeyRepository(state), state.key(), clock, secrets.token_bytes)


def test_a_key_has_256_random_bits_behind_a_prefix_and_an_id() -> None:
    key = make_key(lambda size: b"\xff" * size)
    assert key.text.startswith("lb_77777777_77777777777")
    assert (key.id, id_of(key.text)) == ("77777777", "77777777")
    assert make_key(secrets.token_bytes).text != make_key(secrets.token_bytes).text


def test_no_typo_is_a_complete_key() -> None:
    text = make_key(secrets.token_bytes).text
    changed = [text[:at] + ("a" if text[at] != "a" else "b") + text[at + 1 :] for at in range(len(text))]
    swapped = [text[:at] + text[at + 1] + text[at] + text[at + 2 :] for at in range(len(text) - 1) if text[at] != text[at + 1]]
    for wrong in (*changed, *swapped, text[:-1], text + "a", text.upper(), "", "lb_", "Bearer " + text):
        assert id_of(wrong) is None


def test_a_key_in_an_event_is_masked() -> None:
    text = make_key(secrets.token_bytes).text
    masked = mask(json.dumps({"facets": {"sql": {"query": f"-- sent with {text}"}}}).encode())
    assert text.split("_")[2].encode() not in masked


def test_the_digest_depends_on_the_whole_key_and_the_installation() -> None:
    text = make_key(secrets.token_bytes).text
    assert len({digest_of(text, b"a"), digest_of(text, b"b"), digest_of(text[:-1], b"a")}) == 3


def test_the_state_database_keeps_no_key(keys: ApiKeys, state: StateDatabase) -> None:
    key, text = keys.create(ORDER, "ada")
    assert [replace(key)] == list(keys.records())
    assert (key.created_us, key.created_by, key.namespaces) == (100, "ada", ("etl-*",))
    secret = text.split("_")[2].encode()
    assert secret not in state.path.read_bytes()
    assert key.id.encode() in state.path.read_bytes()


def test_a_name_has_one_active_key(keys: ApiKeys, clock: Clock) -> None:
    keys.create(ORDER, "")
    with pytest.raises(RequestError, match="active key 'etl'"):
        keys.create(ORDER, "")
    clock.now_us = 1000
    keys.create(replace(ORDER, expires_us=None), "")
    assert [key.state(1000) for key in keys.records()] == ["expired", "active"]


def test_a_revoked_name_can_be_used_again(keys: ApiKeys, clock: Clock) -> None:
    key, _ = keys.create(ORDER, "")
    assert (keys.revoke(key.id), keys.revoke("etl")) == (1, 0)
    clock.now_us = 101
    keys.create(ORDER, "")
    assert [found.state(100) for found in keys.records()] == ["revoked", "active"]
    assert keys.revoke("etl") == 1
    with pytest.raises(NotFoundError, match="'nobody'"):
        keys.revoke("nobody")


def test_rotation_keeps_the_rights_and_the_lifetime(keys: ApiKeys, clock: Clock) -> None:
    first, _ = keys.create(ORDER, "")
    clock.now_us = 500
    second, _ = keys.rotate("etl", 200, "ada")
    assert (second.scopes, second.namespaces, second.teams) == (first.scopes, first.namespaces, first.teams)
    assert (second.note, second.expires_us, second.created_by) == ("nightly", 1400, "ada")
    assert [key.expires_us for key in keys.records()] == [700, 1400]
    clock.now_us = 501
    keys.rotate("etl", 0, "")
    assert [key.state(501) for key in keys.records()] == ["expired", "expired", "active"]
    keys.revoke("etl")
    with pytest.raises(NotFoundError, match="no active key 'etl'"):
        keys.rotate("etl", 0, "")


def test_a_grace_never_lengthens_a_life(keys: ApiKeys) -> None:
    keys.create(ORDER, "")
    keys.rotate("etl", 10**6, "")
    assert keys.records()[0].expires_us == 1000


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"name": ""}, "''"),
        ({"name": "a b"}, "'a b'"),
        ({"name": "a" * 101}, "not a valid name"),
        ({"name": INTERNAL}, INTERNAL),
        ({"scopes": frozenset()}, "no scope"),
        ({"scopes": INGEST | OPERATE}, "limited to namespaces"),
        ({"scopes": OPERATE, "namespaces": (), "teams": ("web",)}, "limited to namespaces"),
        ({"teams": ("web",) * 101}, "too many"),
        ({"namespaces": ("",)}, "empty"),
        ({"namespaces": ("a" * 501,)}, "too long"),
        ({"namespaces": tuple(map(str, range(101)))}, "too many"),
        ({"note": "a" * 501}, "note"),
        ({"expires_us": 100}, "expiry is in the past"),
    ],
)
def test_what_is_no_key_is_not_created(keys: ApiKeys, changes: dict[str, object], named: str) -> None:
    with pytest.raises(LineageBridgeError, match=named) as raised:
        keys.create(replace(ORDER, **changes), "")  # type: ignore[arg-type]  # as a user may write it
    assert raised.value.hint
    assert list(keys.records()) == []


def test_what_another_process_changes_is_seen_at_once(state: StateDatabase, keys: ApiKeys) -> None:
    watched = WatchedKeys(state)
    assert (watched.changed_keys(), watched.changed_keys()) == ([], None)
    key, _ = keys.create(ORDER, "")
    assert (watched.changed_keys(), watched.changed_keys()) == ([key], None)
    keys.revoke("etl")
    (revoked,) = watched.changed_keys() or ()
    assert revoked.revoked_us == 100
    ApiKeyRepository(state).note_uses({key.id: 105})
    (used,) = watched.changed_keys() or ()
    assert used.used_us == 105
    watched.close()


def test_nobody_waits_for_whoever_writes(state: StateDatabase, keys: ApiKeys) -> None:
    watched = WatchedKeys(state)
    watched.changed_keys()
    with state.transaction() as connection:
        connection.execute("UPDATE installation SET key = key")
        connection.raw.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("DELETE FROM api_key")
        assert watched.changed_keys() is None
    keys.create(ORDER, "")
    assert len(watched.changed_keys() or ()) == 1
    watched.close()


@pytest.mark.parametrize(
    ("globs", "namespace", "may"),
    [
        ((), "anything", True),
        (("etl-*",), "etl-sales", True),
        (("etl-*",), "ETL-sales", False),
        (("etl-*",), "my-etl-sales", False),
        (("a", "b?"), "b1", True),
        (("kafka://[ab]*",), "kafka://c:9092", False),
        (("etl",), "etl\n", False),
    ],
)
def test_a_principal_sends_events_of_its_namespaces(globs: tuple[str, ...], namespace: str, may: bool) -> None:
    assert Principal("p", INGEST, globs).may_send(namespace) is may


def test_changes_are_looked_for_at_most_so_often_and_those_of_this_process_at_once(state: StateDatabase, clock: Clock) -> None:
    watched = WatchedKeys(state)
    authenticator = KeyAuthenticator(watched, state.key(), clock, recheck_us=5)
    own = ApiKeys(ApiKeyRepository(state), state.key(), clock, secrets.token_bytes, authenticator.recheck)
    others = ApiKeys(ApiKeyRepository(state), state.key(), clock, secrets.token_bytes)

    def is_accepted(text: str) -> bool:
        try:
            return authenticator.authenticate({"authorization": f"Bearer {text}"}, "") is not None
        except RefusedError:
            return False

    first, second = (own.create(replace(ORDER, name=name), "")[1] for name in ("first", "second"))
    assert is_accepted(first)
    others.revoke("first")
    clock.now_us = 104
    assert is_accepted(first)
    clock.now_us = 105
    assert not is_accepted(first)
    assert is_accepted(second)
    own.revoke("second")
    assert not is_accepted(second)
    assert authenticator.take_uses().keys() == {key.id for key in own.records()}
    assert authenticator.take_uses() == {}
    watched.close()


class Uncompared(bytes):
    """A digest that may be compared in constant time only."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError(other)

    __ne__ = __eq__
    __hash__ = bytes.__hash__


def test_digests_are_compared_in_constant_time() -> None:
    """By construction: with `==` or a look-up by the digest, this test fails."""
    made = make_key(secrets.token_bytes)
    key = ApiKey(made.id, "ada", Uncompared(digest_of(made.text, KEY)), frozenset({AccessScope.READ}), (), "", 1)

    class Changes:
        def changed_keys(self) -> list[ApiKey]:
            return [key]

    found = KeyAuthenticator(Changes(), KEY, lambda: 2)
    assert found.authenticate({"authorization": f"Bearer {made.text}"}, "192.0.2.1") == Principal("ada", key.scopes)
    guessed = make_key(lambda size: secrets.token_bytes(size) if size > 5 else b32decode(made.id.upper()))
    assert guessed.id == made.id
    with pytest.raises(RefusedError, match="does not know"):
        found.authenticate({"authorization": f"Bearer {guessed.text}"}, "192.0.2.1")
