"""A LineageBridge with a small graph, and a second one to publish to over HTTP."""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from tests.api.support import Server, running
from tests.catalogs.places import LOCAL, Edges, Place, make_place
from tests.events import KEY, RUNS, columns, dataset, dataset_event, job_event, run_event, schema

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.write.apply import GraphWriter

OTHER_KEY = b"the key of another installation"
EDGES: Edges = {("clean", "a", "b"), ("load", "b", "c"), ("load", "b", "d"), ("declared", "c", "e")}


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(path, Names(KEY)).close()
    return path


@pytest.fixture
def ours(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    """A graph of two jobs that ran, one of them with other outputs before, a declared job, and a dataset by itself."""
    with running(tmp_path / "ours", empty_store) as server:
        described = dataset("b", schema=schema("x"), columnLineage=columns(x=[("ns", "a", "y")]))
        server.send(
            run_event(job="clean", inputs=[dataset("a", schema=schema("y"))], outputs=[described]),
            run_event(run=RUNS[1], job="load", inputs=[dataset("b")], outputs=[dataset("c")]),
            run_event(run=RUNS[2], job="load", inputs=[dataset("b")], outputs=[dataset("d")]),
            job_event("declared", inputs=[dataset("c")], outputs=[dataset("e")]),
            dataset_event(dataset("alone", schema=schema("z"))),
        )
        yield server


@dataclass
class Other:
    """A second LineageBridge, and where it listens."""

    server: Server
    url: str


@pytest.fixture
def other(tmp_path: Path, empty_store: Path) -> Iterator[Other]:
    with running(tmp_path / "other", empty_store) as server:
        server.key_bytes = OTHER_KEY
        app: Any = server.client_of(key=OTHER_KEY).app
        web = uvicorn.Server(uvicorn.Config(app, port=0, lifespan="off", log_config=None))
        thread = threading.Thread(target=web.run)
        thread.start()
        while not web.started:
            assert thread.is_alive()
        yield Other(server, f"http://127.0.0.1:{web.servers[0].sockets[0].getsockname()[1]}")
        web.should_exit = True
        thread.join()


@pytest.fixture(params=[*LOCAL, *(pytest.param(kind, marks=pytest.mark.servers) for kind in ("kafka", "kinesis"))])
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    """One target of each kind."""
    return make_place(request.param, request, ours)


def added(server: Server, place: Place, **settings: Any) -> None:
    server.targets.add("there", place.kind, {**place.settings, **settings}, replace=True)


def published(server: Server, *, plan_only: bool = False, prune: bool = False, overwrite: bool = False) -> PublicationReport:
    """The report of a plan or publication that has ended."""
    report = server.targets.start("there", plan_only=plan_only, prune=prune, overwrite=overwrite).report
    assert report is not None
    return report
