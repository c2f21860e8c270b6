"""The audit trail on the command line, without a server."""

import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.eventlog.support import flip

from lineage_bridge.access.audit import parse_head
from lineage_bridge.config import DataFolder
from lineage_bridge.eventlog.record_format import HEAD
from lineage_bridge.eventlog.segment import HEADER_BYTES, list_segments, segment_path
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.ingest.ingest import Sender, ingest_operation
from lineage_bridge.model.audit import AuditHead
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.wiring.audit import CHANNEL, publish_head


@pytest.fixture
def run(call, tmp_path: Path):
    return lambda *arguments: call(*arguments, "--data-dir", tmp_path / "data")


def test_changes_of_keys_are_listed_without_their_secrets(run):
    text = run("key", "create", "etl", "--scope", "ingest").out.strip()
    run("key", "rotate", "etl", "--grace", "0s")
    run("key", "revoke", "etl")
    listed = run("audit", "list")
    assert [line.split("key ")[1].split()[0] for line in listed.out.splitlines()[1:]] == ["revoke", "rotate", "create"]
    items = json.loads(run("audit", "list", "--json").out)
    assert [(item["sequence"], item["action"], item["target"]) for item in items[:2]] == [
        (3, "key revoke", "etl"),
        (2, "key rotate", "etl"),
    ]
    assert json.loads(items[2]["details"])["scopes"] == ["ingest"]
    assert text not in listed.out + json.dumps(items)
    assert "--limit 4" in run("audit", "list", "--limit", "2").err


def test_a_head_that_was_printed_proves_what_came_before_it(run, tmp_path: Path):
    run("key", "create", "etl", "--scope", "ingest")
    head = run("audit", "head").out.strip()
    run("key", "revoke", "etl")
    whole = run("audit", "verify", "--head", head)
    assert (whole.code, "2 changes is whole; compared with 1 head" in whole.out) == (0, True)
    exported = [json.loads(line) for line in run("audit", "export").out.splitlines()]
    assert [item["action"] for item in exported] == ["key create", "key revoke"]
    assert exported[0]["digest"] == head.partition(":")[2]
    with closing(sqlite3.connect(tmp_path / "data" / "state.db")) as connection, connection:
        connection.execute("DELETE FROM audit")
    lost = run("audit", "verify", "--head", head)
    assert (lost.code, lost.out.strip()) == (1, "the chain ends at entry 0, but it had 1 entries before")


def test_heads_in_the_log_are_compared(run, tmp_path: Path):
    run("key", "create", "etl", "--scope", "ingest")
    with LogWriter(tmp_path / "data" / "log", 0) as log:
        publish_head(log, parse_head(run("audit", "head").out))
        ingest_operation(b'{"operation": "audit", "head": 7}', Sender(CHANNEL), log, 1).result()
        publish_head(log, AuditHead(7, bytes(32)))
    found = run("audit", "verify", "--log")
    assert (found.code, found.out.strip()) == (1, "the chain ends at entry 1, but it had 7 entries before")


def test_what_a_principal_changed_is_erased(run, tmp_path: Path):
    run("key", "create", "etl", "--scope", "ingest")
    with closing(sqlite3.connect(tmp_path / "data" / "state.db")) as connection, connection:
        connection.execute("UPDATE audit SET principal = 'ada'")
    assert run("audit", "erase", "ada").out == "1 change erased\n"
    assert "(erased)" in run("audit", "list").out
    assert run("audit", "verify").code == 0


def actions(call, folder: Path) -> list[tuple[str, str]]:
    """What the trail of a data folder has, the oldest first."""
    items = json.loads(call("audit", "list", "--json", "--data-dir", folder).out)
    return [(item["action"], item["target"]) for item in reversed(items)]


def test_secrets_are_recorded_by_their_names(run, call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(sys, "stdin", io.StringIO("hunter2"))
    assert "no secret" in run("secret", "remove", "cloud").err
    for words in (("key",), ("set", "cloud"), ("list",), ("rotate",), ("remove", "cloud")):
        assert run("secret", *words).code == 0
    recorded = [("secret key", ""), ("secret set", "cloud"), ("secret rotate", ""), ("secret remove", "cloud")]
    assert actions(call, tmp_path / "data") == recorded
    assert "hunter2" not in run("audit", "export").out


def test_copies_and_repairs_are_recorded(call, data_folder: Path, tmp_path: Path):
    backup, again = tmp_path / "backup", tmp_path / "again"
    assert call("backup", "--data-dir", data_folder, backup).code == 0
    call("log", "check", "--data-dir", data_folder)
    call("log", "repair", "--data-dir", data_folder)
    flip(segment_path(data_folder / "log", 1), HEADER_BYTES + HEAD.size + 60)
    call("log", "check", "--acknowledge", "--data-dir", data_folder)
    call("log", "repair", "--data-dir", data_folder)
    call("log", "restore", "--data-dir", data_folder, backup / "log")
    assert actions(call, data_folder) == [("backup", str(backup)), ("log check --acknowledge", ""), ("log repair", "")]
    assert call("restore", "--data-dir", again, backup).code == 0
    for segment in list_segments(again / "log"):
        segment_path(again / "log", segment).unlink()
    assert call("log", "restore", "--data-dir", again, backup / "log").code == 0
    assert actions(call, again) == [("restore", str(backup)), ("log restore", str(backup / "log"))]
    assert call("audit", "verify", "--data-dir", again).code == 0


def test_the_state_that_was_put_back_says_so(call, data_folder: Path):
    paths = DataFolder(data_folder)
    StateDatabase(paths.state).copy_to(paths.state_copy)
    call("key", "create", "etl", "--scope", "ingest", "--data-dir", data_folder)
    assert call("restore", "--state", "--data-dir", data_folder).code == 0
    assert actions(call, data_folder) == [("restore", "state.db")]
