"""Real processes of the product, started as users start them, each in a data folder of its own."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil

READY_S = 180.0
STOP_S = 30.0


@dataclass(frozen=True)
class Running:
    """A started command; `began` is the monotonic time of its start, in seconds."""

    process: psutil.Process
    port: int
    data_dir: Path
    began: float

    @property
    def url(self) -> str:
        """The address of its API."""
        return f"http://127.0.0.1:{self.port}"

    def wait(self, path: str, pause_s: float = 0.02) -> float:
        """Seconds from the start until `path` answers 200. Raises TimeoutError."""
        with httpx.Client(base_url=self.url, timeout=5.0) as client:
            return self.until(lambda: _answers(client, path), path, pause_s)

    def until(self, holds: Callable[[], bool], what: str, pause_s: float = 0.02) -> float:
        """Seconds from the start until a condition holds. Raises TimeoutError."""
        while time.monotonic() < self.began + READY_S:
            if holds():
                return time.monotonic() - self.began
            if not self.process.is_running() or self.process.status() == psutil.STATUS_ZOMBIE:
                break
            time.sleep(pause_s)
        output = (self.data_dir / "output.log").read_text(errors="replace")[-2000:]
        raise TimeoutError(f"{what} was not reached; the process wrote: {output}")


@contextmanager
def started(command: str, data_dir: Path, port: int | None = None, **settings: str) -> Iterator[Running]:
    """`lineage-bridge COMMAND` in `data_dir` until the block ends; `settings` are by the names of their variables."""
    data_dir.mkdir(parents=True, exist_ok=True)
    port = port or free_port()
    environment = {key: value for key, value in os.environ.items() if not key.startswith("LINEAGE_BRIDGE_")}
    environment |= {"LINEAGE_BRIDGE_DATA_DIR": str(data_dir), "LINEAGE_BRIDGE_PORT": str(port), "LINEAGE_BRIDGE_LOG_LEVEL": "warning"}
    environment |= settings
    with (data_dir / "output.log").open("ab") as output:
        began = time.monotonic()
        child = subprocess.Popen(
            [sys.executable, "-m", "lineage_bridge.cli.main", command],
            env=environment,
            cwd=data_dir,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
        )
        try:
            yield Running(psutil.Process(child.pid), port, data_dir, began)
        finally:
            child.terminate()
            try:
                child.wait(STOP_S)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


def free_port() -> int:
    """A port of this machine that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _answers(client: httpx.Client, path: str) -> bool:
    try:
        return client.get(path).status_code == 200
    except httpx.TransportError:
        return False
