"""Sessions: how long they last, how many there are, and what of them is stored."""

import secrets
from pathlib import Path

import pytest

from lineage_bridge.access.browsers.cookies import Cookie
from lineage_bridge.access.browsers.sessions import SessionLimits, Sessions
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.config.people import RoleSettings
from lineage_bridge.errors import NotFoundError, OverloadedError
from lineage_bridge.model.access import AccessScope, LoginIdentity, Principal
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sessions import BrowserSessionRepository

ADA = LoginIdentity("company:ada#1", "company", ("data",))
LIMITS = SessionLimits(idle_us=100, whole_us=1000, most=5, most_of_principal=3)


class Shelf:
    """Sessions in a state database, and their clock."""

    def __init__(self, folder: Path) -> None:
        self.repository, self.now_us = BrowserSessionRepository(StateDatabase(folder / "state.db")), 0
        self.sessions = self.opened()

    def opened(self, issuers: tuple[str, ...] = ("company",), scope: str = "read") -> Sessions:
        """The sessions as a server finds them at its start."""
        roles = Roles({"data": RoleSettings(scopes=(scope,))}, ["company"])
        return Sessions(self.repository, roles, issuers, b"key", lambda: self.now_us, secrets.token_bytes, LIMITS)

    def stored(self) -> int:
        return len(self.repository.records())


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


def test_a_session_is_over_when_it_is_not_used(shelf: Shelf) -> None:
    secret = shelf.sessions.begin(ADA)
    for now_us in range(90, 960, 90):
        shelf.now_us = now_us
        assert shelf.sessions.find(secret)
    shelf.now_us += 100
    assert shelf.sessions.find(secret) is None
    shelf.sessions.tidy()
    assert shelf.stored() == 0


def test_a_session_is_over_when_its_time_is_up(shelf: Shelf) -> None:
    secret = shelf.sessions.begin(ADA)
    for now_us in range(50, 1000, 50):
        shelf.now_us = now_us
        assert shelf.sessions.find(secret)
    shelf.now_us = 1000
    assert shelf.sessions.find(secret) is None


def test_a_session_outlives_a_restart_with_the_roles_of_today(shelf: Shelf) -> None:
    secret = shelf.sessions.begin(ADA)
    shelf.now_us = 90
    assert shelf.sessions.find(secret)
    shelf.sessions.tidy()
    shelf.now_us = 180
    found = shelf.opened(scope="operate").find(secret)
    assert found
    assert found[1] == Principal("company:ada#1", frozenset({AccessScope.OPERATE}))
    assert shelf.opened(issuers=()).find(secret) is None
    assert shelf.stored() == 0


def test_a_session_that_is_ended_by_its_id_is_not_found_again(shelf: Shelf) -> None:
    first, second = shelf.sessions.begin(ADA, address="192.0.2.1"), shelf.sessions.begin(ADA)
    shelf.now_us = 50
    assert shelf.sessions.find(second, "192.0.2.2")
    found = {each.address: each for each in shelf.sessions.records()}
    assert {address: each.used_us for address, each in found.items()} == {"192.0.2.1": 0, "192.0.2.2": 50}
    assert not {each.session.id for each in found.values()} & {first, second, *(each.session.digest.hex()[:16] for each in found.values())}
    assert shelf.sessions.end_named(found["192.0.2.1"].session.id) == 1
    assert shelf.sessions.find(first) is None
    assert shelf.sessions.find(second)
    with pytest.raises(NotFoundError, match="there is no session"):
        shelf.sessions.end_named(found["192.0.2.1"].session.id)
    again = shelf.opened()
    assert [each.address for each in again.records()] == [""]
    assert again.find(first) is None


def test_all_sessions_of_a_principal_end_together(shelf: Shelf) -> None:
    others = LoginIdentity("company:bob#2", "company", ("data",))
    secrets_ = [shelf.sessions.begin(ADA), shelf.sessions.begin(ADA), shelf.sessions.begin(others)]
    assert shelf.sessions.end_named("company:ada#1") == 2
    assert [shelf.sessions.find(secret) is not None for secret in secrets_] == [False, False, True]
    assert shelf.stored() == 1
    shelf.now_us = 100
    assert shelf.sessions.records() == []


def test_only_a_digest_is_stored(shelf: Shelf, tmp_path: Path) -> None:
    secret = shelf.sessions.begin(ADA)
    assert len(secret) == 43
    files = b"".join(path.read_bytes() for path in tmp_path.glob("state.db*"))
    assert b"company:ada#1" in files
    assert secret.encode() not in files
    assert shelf.sessions.csrf_token(secret).encode() not in files
    assert len({secret, shelf.sessions.csrf_token(secret), shelf.sessions.begin(ADA)}) == 3


def test_one_person_drives_out_only_its_own_sessions(shelf: Shelf) -> None:
    eve = shelf.sessions.begin(LoginIdentity("company:eve#2", "company", ()))
    own = [shelf.sessions.begin(ADA) for _ in range(6)]
    assert [bool(shelf.sessions.find(secret)) for secret in (eve, *own)] == [True, False, False, False, True, True, True]
    assert shelf.stored() == 4


def test_a_session_too_many_is_refused_and_the_others_stay(shelf: Shelf) -> None:
    names = [f"company:{number}" for number in range(5)]
    open_ = [shelf.sessions.begin(LoginIdentity(name, "company", ())) for name in names]
    with pytest.raises(OverloadedError, match="too many"):
        shelf.sessions.begin(ADA)
    assert all(shelf.sessions.find(secret) for secret in open_)
    assert shelf.sessions.find(shelf.sessions.begin(ADA, replaced=open_[0]))
    shelf.now_us = 100
    assert shelf.sessions.find(shelf.sessions.begin(ADA)), "those that are over make room"
    assert shelf.stored() == 1


def test_an_ended_session_is_gone_for_good(shelf: Shelf) -> None:
    secret = shelf.sessions.begin(ADA)
    assert shelf.sessions.end(secret) == ADA
    assert shelf.sessions.end(secret) is None
    assert shelf.sessions.find(secret) is None
    shelf.sessions.tidy()
    assert shelf.opened().find(secret) is None


@pytest.mark.parametrize(
    ("external", "name", "attributes"),
    [
        (ExternalAddress("https://a.example"), "__Host-lineage-session", "Path=/; HttpOnly; SameSite=Lax; Secure"),
        (ExternalAddress("https://a.example", "/x"), "__Secure-lineage-session", "Path=/x/; HttpOnly; SameSite=Lax; Secure"),
        (ExternalAddress("http://localhost:8000"), "lineage-session", "Path=/; HttpOnly; SameSite=Lax"),
    ],
)
def test_cookies_are_as_narrow_as_they_can_be(external: ExternalAddress, name: str, attributes: str) -> None:
    cookie = Cookie.session(external)
    assert cookie.with_value("v") == f"{name}=v; {attributes}"
    assert "; Max-Age=0" in cookie.removed()
    assert cookie.value({"cookie": f"a=b; {name}=v; x{name}=w"}) == "v"
    assert cookie.value({"cookie": f"{name}=v; {name}=w"}) == ""
    assert cookie.value({}) == ""
