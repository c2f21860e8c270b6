"""What each command that calls a server needs, written by hand, and what it says without it: one line, and which scope is missing."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.api.support import Server, running
from tests.cli.conftest import Outcome
from tests.cli.test_help import LINES
from tests.events import KEY, dataset, run_event

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

TABLE = """
read    status
read    source list
read    source kinds
operate source add s connect url=http://h:8083
operate source test s
operate source pause s
operate source resume s
operate source poll s
operate source remove s
read    input list
read    input kinds
read    input show i
operate input add i kafka bootstrap_servers=b:9092 topics=["t"]
operate input test i
operate input pause i
operate input resume i
operate input remove i
read    target list
read    target kinds
read    target show t
read    target ledger t
operate target add t files
operate target test t
operate target pause t
operate target cancel t
operate target resume t
operate target remove t
operate publish t
admin   session list
admin   session end x
operate extract
operate extract --resume t
operate enrich
operate enrich t
read    watch
read    task list
read    task show t
operate task cancel t
operate task resume t
ingest  send events.ndjson
read    lineage ns a
read    impact ns a
read    pin add view/estate
read    pin list
read    pin remove x
read    paths ns a ns b
read    trace ns a --column c
read    ledger ns a ns b
read    search a
read    runs ns j
read    runs 0198c0de-0000-7000-8000-000000000001
read    diff --since 2026-05-01T00:00:00Z
read    drift
operate end jobs j --source ns a
read    changes
read    stats ns a
read    schemas ns a
read    facets ns a
read    life ns a
read    foreign
read    alias list
operate alias add ns a ns b
operate alias veto ns a ns b
operate alias lift ns a ns b
operate alias prefer ns a
operate alias withdraw ns a
operate alias load aliases.ndjson
read    quarantine list
read    quarantine show 9f86d081884c7d659a2feaa0c55ad015
operate quarantine retry 9f86d081884c7d659a2feaa0c55ad015
ingest  demo load
"""
ROWS = [(line.split()[0], line.split()[1:]) for line in TABLE.strip().splitlines()]
ON_THE_DATA_FOLDER = {
    *(
        "serve",
        "api",
        "pipeline",
        "observe",
        "inputs",
        "publisher",
        "export",
        "verify",
        "analyse",
        "sql",
        "jars",
        "replay",
        "backup",
        "restore",
        "version",
    ),
    *("log", "key", "audit", "secret", "erase", "retention"),
}
"""Commands that no server is asked for: the files that they read and write belong to their user."""
WITH_SEVERAL_CALLS = {("demo", "remove")}
SCOPES = ("ingest", "read", "operate", "admin")


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server that asks for keys, and its address."""
    folder = tmp_path_factory.mktemp("scopes")
    GraphWriter(folder / "empty.db", Names(KEY)).close()
    with running(folder, folder / "empty.db") as server:
        server.send(run_event(job="j", inputs=[dataset("a")], outputs=[dataset("b")]))
        app: Any = server.asking_for_keys().app
        web = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None))
        thread = threading.Thread(target=web.run)
        thread.start()
        while not web.started:
            assert thread.is_alive()
        yield server, f"http://127.0.0.1:{web.servers[0].sockets[0].getsockname()[1]}"
        web.should_exit = True
        thread.join()


@pytest.fixture
def command(
    asking: tuple[Server, str], call: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Outcome]:
    """Run a command against the server, with an API key or without one; it has no data folder of this user."""
    monkeypatch.setenv("LINEAGE_BRIDGE_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "events.ndjson").write_bytes(run_event() + b"\n")
    (tmp_path / "aliases.ndjson").write_text('{"a": {"namespace": "ns", "name": "a"}, "b": {"namespace": "ns", "name": "b"}}\n')

    def run(line: list[str], header: dict[str, str]) -> Outcome:
        monkeypatch.setenv("LINEAGE_BRIDGE_API_KEY", header.get("authorization", "").removeprefix("Bearer "))
        return call(*line, "--url", asking[1])

    return run


@pytest.fixture(scope="module")
def keys(asking: tuple[Server, str]) -> dict[str, dict[str, str]]:
    """For each scope a key that has all but this one, and one that has expired."""
    server = asking[0]
    lacking = {scope: server.key(f"no-{scope}", *(other for other in SCOPES if other != scope)) for scope in SCOPES}
    expired = server.key("expired", *SCOPES, expires_us=server.parts.now_us + 1)
    server.parts.now_us += 1
    return {**lacking, "expired": expired}


def test_every_command_is_in_the_table() -> None:
    groups = {line[0] for line in LINES if len(line) == 2} | {"source", "input"}
    asked = {line for line in LINES if line[0] not in ON_THE_DATA_FOLDER} - {(group,) for group in groups} - WITH_SEVERAL_CALLS
    assert asked <= {tuple(line[: 2 if line[0] in groups else 1]) for _, line in ROWS}


@pytest.mark.parametrize(("scope", "line"), ROWS, ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_a_command_says_which_scope_it_lacks(
    command: Callable[..., Outcome], keys: dict[str, dict[str, str]], scope: str, line: list[str]
) -> None:
    done = command(line, keys[scope])
    assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), done
    assert f"'no-{scope}' lacks the scope '{scope}'" in done.err
    assert f"--scope {scope}" in done.err


@pytest.mark.parametrize(("scope", "line"), ROWS[::6], ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_a_command_says_what_is_wrong_with_its_key(
    command: Callable[..., Outcome], keys: dict[str, dict[str, str]], scope: str, line: list[str]
) -> None:
    for header, problem in (
        ({}, "LINEAGE_BRIDGE_API_KEY"),
        (keys["expired"], "'expired' has expired"),
        ({"authorization": "lb_x"}, "mistyped"),
    ):
        done = command(line, header)
        assert (done.code, done.out, done.err.count("\n")) == (1, "", 1), (scope, done)
        assert problem in done.err
