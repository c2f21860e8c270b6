"""API keys on the command line, without a server."""

import json
import stat
from pathlib import Path

import pytest

from lineage_bridge.access.key_text import id_of


@pytest.fixture
def key(call, tmp_path: Path):
    return lambda *arguments: call("key", *arguments, "--data-dir", tmp_path / "data")


def test_the_first_key_needs_no_server(key, tmp_path: Path):
    created = key("create", "etl", "--scope", "ingest", "--namespace", "etl-*", "--expires", "90d", "--note", "nightly")
    assert created.code == 0
    id_ = id_of(created.out.strip())
    assert id_ is not None
    assert "Authorization: Bearer" in created.err
    assert [stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "data", tmp_path / "data" / "state.db")] == [0o700, 0o600]
    listed = key("list")
    assert all(text in listed.out for text in (id_, "etl", "ingest", "etl-*", "active", "nightly"))
    assert created.out.strip() not in listed.out


def test_json_has_the_key_once(key):
    created = json.loads(key("create", "ada", "--scope", "read", "--scope", "operate", "--json").out)
    (listed,) = json.loads(key("list", "--json").out)
    assert listed == {name: value for name, value in created.items() if name != "key"}
    assert (id_of(created["key"]), listed["scopes"], listed["state"]) == (listed["id"], ["operate", "read"], "active")
    assert "expires_at" not in listed


def test_keys_are_rotated_and_revoked(key):
    key("create", "etl", "--scope", "ingest")
    assert id_of(key("rotate", "etl", "--grace", "0s").out.strip())
    assert [item["state"] for item in json.loads(key("list", "--json").out)] == ["expired", "active"]
    assert key("revoke", "etl").out == "2 keys revoked\n"
    assert {item["state"] for item in json.loads(key("list", "--json").out)} == {"revoked"}
    assert key("revoke", "etl").out == "0 keys revoked\n"


def test_a_key_is_limited_to_teams_of_the_settings(key, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LINEAGE_BRIDGE_TEAMS", '{"web": {"namespaces": ["web-*"]}}')
    key("create", "ada", "--scope", "read", "--scope", "ingest", "--team", "web", "--namespace", "x")
    (item,) = json.loads(key("list", "--json").out)
    assert (item["namespaces"], item["teams"]) == (["x"], ["web"])
    assert "x team:web" in key("list").out


def test_without_keys_the_list_says_how_to_make_one(key):
    assert "key create" in key("list").err


@pytest.mark.parametrize(
    ("arguments", "code", "named"),
    [
        (("create", "a b", "--scope", "read"), 2, "a b"),
        (("create", "a"), 2, "--scope"),
        (("create", "a", "--scope", "write"), 2, "write"),
        (("create", "a", "--scope", "read", "--expires", "soon"), 2, "90d"),
        (("create", "a", "--scope", "operate", "--namespace", "x"), 2, "'ingest' and 'read'"),
        (("create", "a", "--scope", "read", "--team", "x"), 2, "'x', which is not a team"),
        (("revoke", "nobody"), 1, "nobody"),
        (("rotate", "nobody"), 1, "nobody"),
    ],
)
def test_wrong_requests_are_one_line_errors(key, arguments: tuple[str, ...], code: int, named: str):
    done = key(*arguments)
    assert (done.code, done.err.count("\n")) == (code, 1)
    assert named in done.err
