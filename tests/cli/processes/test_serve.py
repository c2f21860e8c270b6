"""`serve` as a user starts it: it starts, answers, survives killed processes, and stops in order."""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.cli.conftest import COMMAND
from tests.ports import free_port
from tests.servers.quick_spark import quick_java

from lineage_bridge.cli.banner import StartupBanner
from lineage_bridge.cli.client import Client
from lineage_bridge.cli.demo import send_heartbeats
from lineage_bridge.config import Settings
from lineage_bridge.wiring.shared import state_database

pytestmark = pytest.mark.spark
START_S = 180


@dataclass(frozen=True)
class Serving:
    """A supervisor with its parts."""

    process: "subprocess.Popen[str]"
    url: str
    folder: Path

    def pipeline(self) -> dict[str, Any]:
        status: dict[str, Any] = json.loads((self.folder / "pipeline.json").read_bytes())
        return status

    def child(self, program: str) -> psutil.Process:
        (found,) = (child for child in psutil.Process(self.process.pid).children() if program in child.cmdline())
        return found


def until(holds: Callable[[], bool], within_s: float) -> None:
    deadline = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < deadline, f"did not hold within {within_s} s"
        time.sleep(0.1)


def lines(*arguments: str, code: int = 0) -> list[str]:
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == code, done.stderr
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder, port = tmp_path_factory.mktemp("served"), free_port()
    command = [*COMMAND, "serve", "--demo", "--port", str(port), "--data-dir", str(folder), "--spark-master", "local[2]"]
    with (folder / "output").open("w+") as output:
        process = subprocess.Popen(command, stderr=output, text=True, env={**os.environ, **quick_java()})
        found = Serving(process, f"http://127.0.0.1:{port}", folder)
        with Client(found.url) as client:
            until(lambda: client.answers("/api/v1/ready"), START_S)
        yield found
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.fixture
def client(serving: Serving) -> Iterator[Client]:
    with Client(serving.url) as client:
        yield client


def test_the_demo_is_loaded_and_answered(serving: Serving):
    lines("demo", "load", "--url", serving.url, "--data-dir", str(serving.folder))
    tree = lines("lineage", "Executive Revenue Dashboard", "--url", serving.url)
    assert "looker" in tree[0]
    assert any("postgres" in line for line in tree)


def test_the_demos_streams_report_as_long_as_the_demo_is_loaded(serving: Serving, client: Client):
    settings = Settings(data_dir=serving.folder, url=serving.url)
    stop = threading.Event()
    banner = StartupBanner(settings, "lineage-bridge", stop)
    editions = state_database(settings).editions()
    assert send_heartbeats(settings, client) == 4 * len(editions) > 0
    beating = threading.Thread(target=banner._send_heartbeats, args=(client, 0.0))
    beating.start()
    stop.set()
    beating.join(30)
    assert not beating.is_alive()


def test_an_event_that_is_sent_is_answered(serving: Serving, tmp_path):
    event = {
        "eventType": "COMPLETE",
        "eventTime": "2026-01-01T00:00:00Z",
        "producer": "https://example.org/test",
        "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
        "run": {"runId": "0198c0de-0000-7000-8000-000000000001"},
        "job": {"namespace": "jobs", "name": "served"},
        "inputs": [{"namespace": "db", "name": "raw"}],
        "outputs": [{"namespace": "db", "name": "cooked"}],
    }
    path = tmp_path / "event.json"
    path.write_text(json.dumps(event))
    lines("send", str(path), "--wait", "--url", serving.url)
    tree = lines("lineage", "db", "cooked", "--url", serving.url)
    assert [name in line for name, line in zip(("cooked", "served", "raw"), tree, strict=True)] == [True] * 3


@pytest.mark.parametrize("victim", ["pipeline", "spark"])
def test_a_killed_pipeline_is_restarted_while_events_are_accepted(serving: Serving, client: Client, victim: str, tmp_path):
    before = serving.pipeline()
    os.kill(before["pid"] if victim == "pipeline" else before["spark_pid"], signal.SIGKILL)
    until(lambda: not client.answers("/api/v1/ready"), 5)
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"eventTime": "2026-01-01T00:00:00Z"}))
    lines("send", str(path), "--url", serving.url, code=1)
    until(lambda: client.answers("/api/v1/ready"), START_S)
    after = serving.pipeline()
    assert after["pid"] != before["pid"]
    assert after["spark_pid"] != before["spark_pid"]
    until(lambda: not psutil.pid_exists(before["spark_pid"]), 30)


def test_a_killed_api_is_restarted_without_refused_connections(serving: Serving, client: Client):
    serving.child("api").kill()
    assert client.get("/api/v1/health")["status"] == "ok"


def test_a_second_server_is_refused_with_the_address_of_the_first(serving: Serving):
    done = subprocess.run([*COMMAND, "serve", "--data-dir", str(serving.folder)], capture_output=True, text=True, check=False, timeout=180)
    assert done.returncode == 1
    first = f"LineageBridge is already running at {serving.url} (process {serving.process.pid})"
    assert done.stderr == f"error: {first} (stop it, or give this one its own data folder)\n"


def test_removing_the_demo_leaves_nothing_of_it(serving: Serving, client: Client):
    lines("demo", "remove", "--url", serving.url, "--data-dir", str(serving.folder))
    assert lines("search", "Executive", "--url", serving.url) == []
    assert not [line for line in lines("export", "--data-dir", str(serving.folder)) if "acme" in line]
    assert lines("demo", "remove", "--url", serving.url, "--data-dir", str(serving.folder)) == ["the demo is not loaded"]
    assert send_heartbeats(Settings(data_dir=serving.folder, url=serving.url), client) == 0


def test_ctrl_c_stops_all_processes(serving: Serving):
    family = psutil.Process(serving.process.pid).children(recursive=True)
    serving.process.send_signal(signal.SIGINT)
    assert serving.process.wait(60) == 0
    _, alive = psutil.wait_procs(family, timeout=10)
    assert alive == []
    assert not (serving.folder / "serve.json").exists()
    assert not (serving.folder / "pipeline.json").exists()
    assert list((serving.folder / "spark").iterdir()) == []
    output = (serving.folder / "output").read_text()
    assert "Traceback" not in output
    assert "Ready: the graph is complete" in output
