"""A running LineageBridge: `serve` as a user starts it, over a fresh data folder, with its real API and pipeline."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from lineage_bridge.cli.client import Client
from lineage_bridge.config import PREFIX, DataFolder
from tests.servers.quick_spark import quick_java

COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main")
START_S, STOP_S = 180.0, 60.0


@dataclass(frozen=True)
class Served:
    """The server's address, its data folder, a client, and the key that commands send; empty where no key is asked for."""

    url: str
    paths: DataFolder
    client: Client
    key: str = ""

    def catch_up(self) -> None:
        """Wait until answers reflect everything that the server has accepted."""
        self.client.wait_for("")

    def ask(self, path: str, **parameters: Any) -> Any:
        """The JSON of an answer to a GET under /api/v1 that reflects everything that the server has accepted."""
        self.catch_up()
        return self.client.get("/api/v1" + path, **parameters)

    def command(self, name: str, *arguments: str | Path) -> str:
        """The output of a command against this server, which must succeed."""
        return run(name, "--url", self.url, *arguments, key=self.key)

    def export(self, kind: str) -> list[dict[str, Any]]:
        """The lines of one type of the exported graph."""
        self.catch_up()
        return [json.loads(line) for line in run("export", "--data-dir", self.paths.data_dir, "--only", kind).splitlines()]


def run(*arguments: str | Path, key: str = "") -> str:
    """The output of a command line, which must succeed."""
    command = [*COMMAND, *map(str, arguments)]
    variables = {f"{PREFIX}API_KEY": key} if key else {}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**bare_environment(), **variables})
    assert done.returncode == 0, done.stderr
    return done.stdout


def bare_environment() -> dict[str, str]:
    """The environment without settings of LineageBridge or of an OpenLineage producer."""
    return {name: value for name, value in os.environ.items() if not name.startswith((PREFIX, "OPENLINEAGE_"))}


@contextmanager
def serving(folder: Path, key: str = "", *, flags: Sequence[str] = ()) -> Iterator[Served]:
    """A server that is ready; afterwards it stops in order, and none of its processes is left. With a key, it asks everybody for one."""
    paths, output = DataFolder(folder), folder / "output"
    command = [*COMMAND, "serve", "--port", "0", "--data-dir", str(folder), "--spark-master", "local[2]", *flags]
    variables = {f"{PREFIX}AUTH": "required"} if key else {}
    with output.open("wb") as file:
        process = subprocess.Popen(command, stderr=file, env={**bare_environment(), **quick_java(), **variables}, cwd=folder)
    try:
        url = f"http://127.0.0.1:{_port(process, paths)}"
        with Client(url, lambda: key) as client:
            _until_ready(process, client, output)
            yield Served(url, paths, client, key)
        family = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        assert process.wait(STOP_S) == 0, output.read_text()
        _, alive = psutil.wait_procs(family, timeout=10)
        assert alive == []
    finally:
        process.kill()
        process.wait()


def _port(process: "subprocess.Popen[bytes]", paths: DataFolder) -> int:
    deadline = time.monotonic() + START_S
    while not paths.serve_status.exists():
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return int(json.loads(paths.serve_status.read_bytes())["port"])


def _until_ready(process: "subprocess.Popen[bytes]", client: Client, output: Path) -> None:
    deadline = time.monotonic() + START_S
    while not client.answers("/api/v1/ready"):
        assert process.poll() is None, output.read_text()
        assert time.monotonic() < deadline, output.read_text()
        time.sleep(0.2)
