"""A LineageBridge with a small graph, a second one to publish to over HTTP, and the places that every target is tried with."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
import uvicorn
from tests.api.support import Server, running
from tests.events import KEY, RUNS, columns, dataset, dataset_event, job_event, run_event, schema
from tests.servers.broker import Kafka

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.write.apply import GraphWriter

OTHER_KEY = b"the key of another installation"
EDGES = {("clean", "a", "b"), ("load", "b", "c"), ("load", "b", "d"), ("declared", "c", "e")}
Edges = set[tuple[str, str, str]]


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


@dataclass
class Place:
    """A target to try: its kind and settings, how what is there is read as (job, input, output), and what it can do."""

    kind: str
    settings: dict[str, Any]
    edges: Callable[[], Edges]
    deletes: bool = False
    reads: bool = False
    has_datasets: bool = True
    more: dict[str, Any] = field(default_factory=dict)


def edges_of(events: list[dict[str, Any]]) -> Edges:
    """The edges that the newest events of jobs state."""
    newest = {event["job"]["name"]: event for event in events if "job" in event}
    return {
        (job, source["name"], target["name"])
        for job, event in newest.items()
        for source in event.get("inputs", ())
        for target in event.get("outputs", ())
    }


@pytest.fixture(params=["openlineage-jobs", "openlineage-runs", "files", pytest.param("kafka", marks=pytest.mark.servers)])
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    """One target of each kind."""
    return make_place(request.param, request, ours)


def make_place(kind_and_form: str, request: pytest.FixtureRequest, ours: Server) -> Place:
    """The target of a kind, with an empty place to publish to."""
    kind, _, form = kind_and_form.partition("-")
    if kind == "files":
        path = ours.folder / "published" / "lineage.ndjson"

        def in_file() -> Edges:
            return edges_of([msgspec.json.decode(line) for line in path.read_bytes().splitlines()])

        return Place("files", {"events": "jobs"}, in_file, deletes=True, reads=True)
    if kind == "kafka":
        kafka: Kafka = request.getfixturevalue("kafka")
        topic = f"published-{request.node.name.replace('[', '-').replace(']', '')}"[:200]
        kafka.create_topics(topic)

        def in_topic() -> Edges:
            return edges_of([msgspec.json.decode(value) for value in everything(kafka, topic)])

        settings = {"bootstrap_servers": kafka.bootstrap, "topic": topic, "events": "jobs"}
        return Place("kafka", settings, in_topic)
    there: Other = request.getfixturevalue("other")

    def in_graph() -> Edges:
        there.server.fold()
        events = [msgspec.json.decode(record.body) for record in there.server.stored()]
        jobs = {(event["job"]["namespace"], event["job"]["name"]) for event in events if "job" in event}
        found = set()
        for namespace, name in sorted(jobs):
            detail = there.server.client.get("/api/v1/lineage/jobs/detail", params={"namespace": namespace, "name": name}).json()
            found |= {(name, s["name"], t["name"]) for s in detail["latest_inputs"] for t in detail["latest_outputs"]}
        return found

    return Place("openlineage", {"url": there.url, "events": form}, in_graph, has_datasets=form == "jobs")


def everything(kafka: Kafka, topic: str) -> list[bytes]:
    """All records of a topic with one partition."""
    from confluent_kafka import Consumer, TopicPartition

    consumer = Consumer({**kafka.client_config(), "group.id": "reading", "enable.auto.commit": False})
    try:
        first, end = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=30)
        if first == end:
            return []
        consumer.assign([TopicPartition(topic, 0, first)])
        values: list[bytes] = []
        while len(values) < end - first:
            values += [message.value() or b"" for message in consumer.consume(100, 1.0)]
        return values
    finally:
        consumer.close()


def added(server: Server, place: Place, **settings: Any) -> None:
    server.targets.add("there", place.kind, {**place.settings, **settings}, replace=True)


def published(server: Server, *, plan_only: bool = False, prune: bool = False, overwrite: bool = False) -> PublicationReport:
    """The report of a plan or publication that has ended."""
    report = server.targets.start("there", plan_only=plan_only, prune=prune, overwrite=overwrite).report
    assert report is not None
    return report
