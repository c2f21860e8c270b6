"""The audit trail on the command line, without a server."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from lineage_bridge.access.audit import parse_head
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.ingest.ingest import Sender, ingest_operation
from lineage_bridge.model.audit import AuditHead
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
