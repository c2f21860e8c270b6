"""One server for all attacks: a real process that asks for keys."""

import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from tests.events import run_event
from tests.ports import free_port
from tests.serving import COMMAND, bare_environment

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.model.access import AccessScope, KeyOptions
from lineage_bridge.wiring.access import key_service

MIB = 1 << 20
LIMITS = ("--head-timeout-s", "5", "--body-timeout-s", "6", "--body-bytes-per-s", "65536")
"""Less patience than by default: the tests wait for its end."""


@dataclass(frozen=True)
class Attacked:
    """The server, and the key of an ordinary client that may send, ask and operate."""

    port: int
    data: DataFolder
    key: str
    process: psutil.Process

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def head(self, path: str, *lines: str, method: str = "POST") -> bytes:
        """A request's line and headers, with the key; all but the empty line."""
        return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {self.key}", *lines, ""]).encode()

    def jobs(self) -> set[str]:
        """The jobs of all events in the log."""
        reader = LogReader(self.data.log)
        found = (record.body for _, record in reader.read(0, reader.durable_end()))
        return {body.split(b'"job":', 1)[-1].split(b'"name":', 1)[-1].split(b'"')[1].decode() for body in found if b'"job":' in body}

    @contextmanager
    def serving_others(self) -> Iterator[None]:
        """While it is entered, and after it, another client is served; and the memory of the server stays within bounds."""
        self.check_served()
        before = self.process.memory_info().rss
        yield
        self.check_served()
        assert self.process.memory_info().rss - before < 300 * MIB

    def check_served(self) -> None:
        """Another client sends an event and asks a question."""
        with httpx.Client(
            base_url=self.url, headers={"authorization": f"Bearer {self.key}"}, trust_env=False, timeout=60, verify=False
        ) as client:
            assert client.post("/api/v1/lineage", content=run_event(job="served")).status_code == 201
            assert client.get("/api/v1/sources").status_code == 200


@pytest.fixture(scope="session")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    folder: Path = tmp_path_factory.mktemp("attacked")
    settings = Settings(data_dir=folder / "data", port=free_port())
    scopes = frozenset({AccessScope.INGEST, AccessScope.READ, AccessScope.OPERATE})
    _, key = key_service(settings).create(KeyOptions("ordinary", scopes), "")
    line = [*COMMAND, "api", "--data-dir", str(settings.data_dir), "--port", str(settings.port), "--auth", "required", *LIMITS]
    with subprocess.Popen(line, env=bare_environment(), cwd=folder, stderr=subprocess.DEVNULL) as process:
        try:
            found = Attacked(settings.port, settings.paths, key, psutil.Process(process.pid))
            deadline = time.monotonic() + 120
            while not is_healthy(found.url):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            yield found
        finally:
            process.terminate()
            code = process.wait()
    assert code == 0


def is_healthy(url: str) -> bool:
    try:
        return httpx.get(f"{url}/api/v1/health", trust_env=False, verify=False).is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="session", autouse=True)
def many_files() -> Iterator[None]:
    """Let this process open as many connections as it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 4096 if hard == resource.RLIM_INFINITY else min(hard, 4096)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def code_of(answer: Any) -> tuple[int, str]:
    """Status and code of an error."""
    return answer.status_code, answer.json()["error"]["code"]
