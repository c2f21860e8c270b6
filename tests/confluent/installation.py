"""LineageBridge with the stand-in of Confluent Cloud: real API and observe processes; events are folded in the test's process."""

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from lineage_bridge.config import DataFolder
from tests.cli.conftest import COMMAND, Server
from tests.confluent.cloud import Cloud, running
from tests.confluent.organization.resources import STAGING
from tests.ports import free_port

TASKS = "/api/v1/tasks"


@dataclass
class Installation:
    """An API process and an observe process on one data folder, with a stand-in. Events are folded in this process."""

    cloud: Cloud
    folder: Path
    server: Server
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    def start(self, *subcommands: str) -> None:
        port = self.server.url.rpartition(":")[2]
        environment = {
            **os.environ,
            **self.cloud.environment(),
            "LINEAGE_BRIDGE_DATA_DIR": str(self.server.paths.data_dir),
            "LINEAGE_BRIDGE_PORT": port,
            "LINEAGE_BRIDGE_URL": self.server.url,
        }
        with (self.folder / "output").open("ab") as output:
            self.processes += [
                subprocess.Popen([*COMMAND, subcommand], env=environment, stdout=output, stderr=subprocess.STDOUT)
                for subcommand in subcommands
            ]
        self.wait(lambda: httpx.get(f"{self.server.url}/api/v1/health", verify=False).is_success)

    def wait(self, what: Any, patience_s: float = 60.0) -> Any:
        until = time.monotonic() + patience_s
        while True:
            with contextlib.suppress(httpx.HTTPError):
                if found := what():
                    return found
            assert time.monotonic() < until, what
            time.sleep(0.1)

    def get(self, path: str) -> Any:
        return httpx.get(f"{self.server.url}/api/v1{path}", timeout=30, verify=False).raise_for_status().json()

    def command(self, *arguments: str, url: str = "") -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*COMMAND, *arguments, "--url", url or self.server.url],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("LINEAGE_BRIDGE_")},
        )

    def running_task(self) -> str:
        """The task that has reported the topics and waits for a slow plane."""

        def find_running_task() -> str:
            found = httpx.get(f"{self.server.url}{TASKS}", params={"status": "running"}, verify=False).json()
            states_by_task = {
                task_["task_id"]: [plane["state"] for plane in task_["planes"] if plane["plane"] == "topics"] for task_ in found
            }
            return next((task for task, states in states_by_task.items() if states and set(states) == {"observed"}), "")

        return str(self.wait(find_running_task))


@contextlib.contextmanager
def installed(folder: Path, **settings: Any) -> Iterator[Installation]:
    with running() as cloud:
        found = Installation(cloud, folder, Server(f"http://127.0.0.1:{free_port()}", DataFolder(folder / "data")))
        ending = threading.Event()

        def fold() -> None:
            while not ending.wait(0.5):
                found.server.fold()

        try:
            found.start("api")
            source_settings = {**cloud.settings(), "groups_by": "rest", "environments": [STAGING], **settings}
            order = {"name": "cloud", "kind": "confluent", "settings": source_settings}
            httpx.post(f"{found.server.url}/api/v1/sources", json=order, timeout=60).raise_for_status()
            httpx.post(f"{found.server.url}/api/v1/sources/cloud/pause", timeout=60).raise_for_status()
            found.start("observe")
            folding = threading.Thread(target=fold)
            folding.start()
            yield found
            ending.set()
            folding.join()
        finally:
            ending.set()
            for process in found.processes:
                process.terminate()
            for process in found.processes:
                process.wait(40)
