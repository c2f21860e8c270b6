"""Sources on the command line, with a real API process and a real polling process. The observed systems do not exist."""

import json
import os
import subprocess
from collections.abc import Iterator

import pytest
from filelock import FileLock
from tests.cli.conftest import COMMAND, Server
from tests.ports import free_port


@pytest.fixture
def observe(server: Server) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {**os.environ, "LINEAGE_BRIDGE_DATA_DIR": str(server.paths.data_dir), "LINEAGE_BRIDGE_URL": server.url}
    process = subprocess.Popen([*COMMAND, "observe"], env=environment)
    yield process
    process.terminate()
    assert process.wait(20) == 0


@pytest.fixture
def gone(call, server: Server) -> Iterator[str]:
    """The name of a source whose system does not exist."""
    added = call("source", "add", "gone", "connect", f"url=http://127.0.0.1:{free_port()}", "timeout_s=1", "--url", server.url)
    assert (added.code, added.err) == (0, "")
    yield "gone"
    call("source", "remove", "gone", "--url", server.url)


@pytest.mark.usefixtures("observe")
def test_a_failing_source_shows_the_reason_and_a_hint(call, server: Server, gone: str) -> None:
    polled = call("source", "poll", gone, "--url", server.url)
    assert polled.code == 1
    assert "failing since" in polled.out
    assert "check the address, and that the server is running" in polled.out
    listed = call("source", "list", "--url", server.url)
    assert "failing" in listed.out
    assert "GET / of 127.0.0.1" in listed.out
    assert json.loads(call("source", "list", gone, "--json", "--url", server.url).out)["polls"] >= 1


def test_testing_a_source_shows_the_failing_step(call, server: Server, gone: str) -> None:
    tested = call("source", "test", gone, "--url", server.url)
    assert tested.code == 1
    assert "FAILS" in tested.out
    assert not json.loads(call("source", "test", gone, "--json", "--url", server.url).out)["works"]


def test_a_source_is_paused_and_resumed(call, server: Server, gone: str) -> None:
    assert call("source", "pause", gone, "--url", server.url).out == "gone is paused\n"
    refused = call("source", "poll", gone, "--url", server.url)
    assert refused.code == 2
    assert "lineage-bridge source resume gone" in refused.err
    assert "paused" in call("source", "list", "--url", server.url).out
    assert call("source", "resume", gone, "--url", server.url).out == "gone is resumed\n"


def test_kinds_list_their_settings(call, server: Server) -> None:
    every = call("source", "kinds", "--url", server.url).out
    assert all(kind in every for kind in ("kafka", "registry", "flink", "ksqldb", "connect"))
    assert "address of its REST API" in call("source", "kinds", "connect", "--url", server.url).out
    assert call("source", "kinds", "unheard", "--url", server.url).code == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("add", "x", "connect"), "url"),
        (("add", "x", "connect", "url=http://c:8083", "password=hunter2"), "${env:NAME}"),
        (("add", "x", "connect", "url=http://c:8083", "intervall_s=3"), "intervall_s"),
        (("add", "x", "unheard"), "unheard"),
        (("add", "x", "connect", "nonsense"), "SETTING=VALUE"),
        (("poll", "nobody"), "nobody"),
    ],
)
def test_invalid_requests_are_one_line_errors(call, server: Server, arguments: tuple[str, ...], expected: str) -> None:
    done = call("source", *arguments, "--url", server.url)
    assert done.code in (1, 2)
    assert expected in done.err
    assert done.err.count("\n") == 1
    assert "hunter2" not in done.err


def test_an_invalid_source_in_the_settings_file_prevents_the_start(tmp_path) -> None:
    settings = tmp_path / "lineage-bridge.toml"
    settings.write_text('[sources.cdc]\nkind = "connect"\nurl = "ftp://connect"\n')
    done = subprocess.run(
        [*COMMAND, "serve", "--config", str(settings), "--data-dir", str(tmp_path / "data"), "--port", "0"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "source cdc (connect): setting url" in done.stderr


def test_only_one_process_polls(server: Server) -> None:
    with FileLock(server.paths.observe_lock):
        command = [*COMMAND, "observe", "--data-dir", str(server.paths.data_dir), "--url", server.url]
        second = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 1
    assert "another process polls the sources" in second.stderr
