"""A server with one scripted source, and a client of its tasks."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.routes.operations.tasks.task_client import CLOUD, CONNECT, TOPICS, TaskClient
from tests.api.support import Server, running
from tests.sources import stepwise
from tests.sources.stepwise import Plane


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store, stepwise.KINDS) as started:
        yield started


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[stepwise.Script]:
    monkeypatch.setenv("CLOUD_SECRET", "cloud-hush")
    made = stepwise.Script([Plane(TOPICS, ("t",)), Plane(CONNECT, ("a", "b"))])
    monkeypatch.setattr(stepwise, "SCRIPT", made)
    yield made
    for plane in made.planes:
        if plane.hold:
            plane.hold.set()


@pytest.fixture
def tasks(server: Server, script: stepwise.Script) -> TaskClient:
    server.sources.add("cloud", "confluent", {"cloud": CLOUD}, replace=False)
    assert not script.polls
    return TaskClient(server)
