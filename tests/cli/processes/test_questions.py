"""`api` with the process that answers its questions: it starts again when it is killed, and ends with the API."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil
import pytest
from tests.cli.conftest import COMMAND
from tests.events import KEY, run_event
from tests.ports import free_port

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

SOON_S = 120.0


def until(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[tuple[psutil.Process, httpx.Client]]:
    GraphWriter(tmp_path / "graph.db", Names(KEY)).close()
    port = free_port()
    with (tmp_path / "output").open("wb") as output:
        process = subprocess.Popen(
            [*COMMAND, "api", "--port", str(port), "--data-dir", str(tmp_path), "--light-questions", "2"], stderr=output, env=os.environ
        )
    with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", timeout=SOON_S) as client:
        yield psutil.Process(process.pid), client
    process.kill()
    process.wait()


def answers(client: httpx.Client) -> bool:
    try:
        return client.get("/lineage/datasets").status_code == 200
    except httpx.TransportError:
        return False


def test_the_process_that_answers_questions_starts_again_and_ends_with_the_api(api: tuple[psutil.Process, httpx.Client]) -> None:
    process, client = api
    until(lambda: answers(client), "an answer")
    (first,) = process.children()
    assert "questions" in first.cmdline()
    assert first.nice() > process.nice()
    first.kill()
    # By a connection of its own: one that the killed process's answers came over may be closed with it.
    with httpx.Client(base_url=client.base_url, timeout=SOON_S, trust_env=False) as sender:
        assert sender.post("/lineage", content=run_event()).status_code == 201
    until(lambda: answers(client), "an answer of the next process")
    (second,) = process.children()
    assert second.pid != first.pid
    process.kill()
    gone, _ = psutil.wait_procs([second], timeout=SOON_S)
    assert gone == [second]
