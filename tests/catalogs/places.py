"""The places that every target is tried with: a real server where one can run here, else a stand-in that refuses what the real one does."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

import httpx
import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.google_login import TOKEN as GOOGLE_TOKEN
from tests.catalogs.standins import atlan
from tests.catalogs.standins.databricks import TOKEN, WAREHOUSE, UnityCatalog
from tests.catalogs.standins.datahub import DataHub
from tests.catalogs.standins.datazone import DOMAIN, REGION, DataZone
from tests.catalogs.standins.google import LOCATION, NUMBER, PROJECT, DataLineage
from tests.catalogs.standins.marquez import Marquez, new_run_event
from tests.catalogs.standins.openmetadata import OpenMetadata
from tests.catalogs.standins.server import answering
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION as KINESIS_REGION
from tests.servers.kinesis import Kinesis
from tests.servers.web.faulty import Faulty

from lineage_bridge.catalogs.kinds.databricks.naming import metadata_name
from lineage_bridge.catalogs.kinds.databricks.settings import DatabricksSettings
from lineage_bridge.sources.common.google.entity_names import process_id

Edges = set[tuple[str, str, str]]


def _nothing(_: str) -> None:
    raise AssertionError("nothing can be planted there")


@dataclass
class Place:
    """A target to try: its kind and settings, how what is there is read as (job, input, output), and what it can do.

    `writes` is in the path of each HTTP call that publishes; `plant` puts somebody else's job there, from `x` to `y`.
    """

    kind: str
    settings: dict[str, Any]
    edges: Callable[[], Edges]
    deletes: bool = False
    reads: bool = False
    has_datasets: bool = True
    writes: str = ""
    plant: Callable[[str], None] = _nothing
    loses: dict[str, int] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def behind(self, proxy: Faulty) -> "Place":
        """The same behind a proxy."""
        return replace(self, settings={**self.settings, "url": proxy.url})


def edges_of(events: list[dict[str, Any]]) -> Edges:
    """The edges that the newest events of jobs state."""
    newest = {event["job"]["name"]: event for event in events if "job" in event}
    return {
        (job, source["name"], target["name"])
        for job, event in newest.items()
        for source in event.get("inputs", ())
        for target in event.get("outputs", ())
    }


def make_place(kind_and_form: str, request: pytest.FixtureRequest, ours: Server) -> Place:
    """The target of a kind, with an empty place to publish to."""
    kind, _, form = kind_and_form.partition("-")
    return _MAKERS[kind](request, ours, form)


def _files(_: pytest.FixtureRequest, ours: Server, form: str) -> Place:
    path = ours.folder / "published" / "lineage.ndjson"

    def in_file() -> Edges:
        return edges_of([msgspec.json.decode(line) for line in path.read_bytes().splitlines()])

    def plant(job: str) -> None:
        path.parent.mkdir(exist_ok=True)
        with path.open("ab") as file:
            file.write(new_run_event(job, ["x"], ["y"]) + b"\n")

    return Place("files", {"events": form or "jobs"}, in_file, deletes=True, reads=True, plant=plant)


def _kafka(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    kafka: Kafka = request.getfixturevalue("kafka")
    topic = f"published-{request.node.name.replace('[', '-').replace(']', '')}"[:200]
    kafka.create_topics(topic)

    def in_topic() -> Edges:
        return edges_of([msgspec.json.decode(value) for value in everything(kafka, topic)])

    return Place("kafka", {"bootstrap_servers": kafka.bootstrap, "topic": topic, "events": "jobs"}, in_topic)


def _kinesis(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    server: Kinesis = request.getfixturevalue("kinesis_local")
    stream = f"published-{uuid4().hex}"
    server.create(stream, 2)
    keys = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}"}
    settings = {"endpoint_url": server.url, "region": KINESIS_REGION, "stream": stream, "events": "jobs", **keys}

    def in_stream() -> Edges:
        return edges_of([msgspec.json.decode(record["Data"]) for record in server.records(stream)])

    return Place("kinesis", settings, in_stream, more={"there": server})


def _openlineage(request: pytest.FixtureRequest, _: Server, form: str) -> Place:
    there: Any = request.getfixturevalue("other")

    def in_graph() -> Edges:
        there.server.fold()
        events = [msgspec.json.decode(record.body) for record in there.server.stored()]
        jobs = {(event["job"]["namespace"], event["job"]["name"]) for event in events if "job" in event}
        found = set()
        for namespace, name in sorted(jobs):
            detail = there.server.client.get("/api/v1/lineage/jobs/detail", params={"namespace": namespace, "name": name}).json()
            found |= {(name, s["name"], t["name"]) for s in detail["latest_inputs"] for t in detail["latest_outputs"]}
        return found

    return Place("openlineage", {"url": there.url, "events": form}, in_graph, has_datasets=form == "jobs", writes="/lineage")


def _marquez(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    there = Marquez()
    url = _serving(request, answering(there.handle))

    def in_graph() -> Edges:
        shown = [key for key in there.jobs if ("job", key) not in there.hidden]
        return {
            (key[1], source[1], target[1])
            for key in shown
            for source in there.current(key, "input")
            for target in there.current(key, "output")
        }

    def plant(job: str) -> None:
        assert httpx.post(f"{url}/api/v1/lineage", content=new_run_event(job, ["x"], ["y"])).status_code == 201

    return Place("marquez", {"url": url}, in_graph, deletes=True, reads=True, writes="/lineage", plant=plant, more={"there": there})


def _openmetadata(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    there = OpenMetadata()
    url = _serving(request, answering(there.handle))

    def in_events() -> Edges:
        return edges_of(there.events)

    more = {"there": there, "answers_in_batches": True}
    return Place(
        "openmetadata", {"url": url}, in_events, has_datasets=False, writes="/batch", loses={"transformations of columns": 1}, more=more
    )


def _datahub(request: pytest.FixtureRequest, _: Server, form: str) -> Place:
    there = DataHub()
    url = _serving(request, answering(there.handle))
    if form:
        lost = {"facets that are not sent to DataHub": 3}
        settings = {"url": url, "form": form}
        return Place("datahub", settings, there.edges, has_datasets=False, writes="/lineage", loses=lost, more={"there": there})

    def plant(job: str) -> None:
        urn = f"urn:li:dataJob:(urn:li:dataFlow:(openlineage,jobs,PROD),{job})"
        named = "urn:li:dataset:(urn:li:dataPlatform:ns,{},PROD)".format
        there.aspects[urn, "dataJobInputOutput"] = {"inputDatasets": [named("x")], "outputDatasets": [named("y")]}

    more = {"there": there, "answers_in_batches": True}
    loses = {"transformations of columns": 1, "facets that are not sent to DataHub": 3}
    return Place("datahub", {"url": url}, there.edges, True, True, False, "ingestProposalBatch", plant, loses, more)


def _datazone(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    there = DataZone()
    url = _serving(request, answering(there.handle))
    keys = {"access_key_id": "AKIATEST", "secret_access_key": "${env:PATH}"}
    settings = {"endpoint_url": url, "region": REGION, "domain": DOMAIN, "poll_s": 0.01, **keys}
    return Place("datazone", settings, lambda: edges_of(there.events), has_datasets=False, more={"there": there})


def _databricks(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    there = UnityCatalog()
    url = _serving(request, answering(there.handle))
    secret = request.getfixturevalue("tmp_path") / "databricks-token"
    secret.write_text(TOKEN)
    settings = {"url": url, "token": f"${{file:{secret}}}", "warehouse_id": WAREHOUSE}

    def plant(job: str) -> None:
        """Somebody else's lineage of a job that has the name of ours."""
        named = DatabricksSettings.model_validate(settings)
        about = {"system_type": "OTHER", "entity_type": "Job"}
        key = ("external_metadata", metadata_name("job", "jobs", job, named))
        there.lineage = {ends: found for ends, found in there.lineage.items() if key not in ends}
        for name, shown in ((key[1], job), ("x", "x"), ("y", "y")):
            there.metadata[name] = {"name": name, **about, "properties": {"lineagebridge.name": shown}}
        for ends in ((("external_metadata", "x"), key), (key, ("external_metadata", "y"))):
            source, target = ({kind: {"name": name}} for kind, name in ends)
            there.lineage[ends] = {"source": source, "target": target, "id": f"{job} {ends}"}

    more = {"there": there}
    return Place("databricks", settings, there.edges, True, True, False, "external-lineage", plant, {"transformations of columns": 1}, more)


def _google(request: pytest.FixtureRequest, _: Server, form: str) -> Place:
    there = DataLineage()
    url = _serving(request, answering(there.handle))
    secret = request.getfixturevalue("tmp_path") / "google-token"
    secret.write_text(GOOGLE_TOKEN)
    settings = {
        "url": url,
        "project": PROJECT,
        "location": LOCATION,
        "token": f"${{file:{secret}}}",
        "poll_s": 0.01,
        "form": form or "native",
    }
    writes, loses = ("RunEvent", 4) if form else ("/runs", 3)
    parent = f"v1/projects/{PROJECT}/locations/{LOCATION}"

    def plant(job: str) -> None:
        """Somebody else's lineage in the process that a job of ours has."""
        process = f"{parent}/processes/{process_id('jobs', job, 'lineagebridge')}"
        inside = process.replace(PROJECT, NUMBER).removeprefix("v1/") + "/"
        there.objects = {name: made for name, made in there.objects.items() if not name.startswith(inside)}
        time = {"startTime": "2026-01-01T00:00:00Z"}
        link = {name: {"fullyQualifiedName": f"custom:ns.{end}"} for name, end in (("source", "x"), ("target", "y"))}
        headers = {"Authorization": f"Bearer {GOOGLE_TOKEN}"}
        with httpx.Client(base_url=url, headers=headers, params={"allowMissing": "true"}) as client:
            made = {"displayName": job, "attributes": {"name": job}, "origin": {"sourceType": "CUSTOM", "name": "theirs"}}
            assert client.patch(process, json=made).status_code == 200
            assert client.patch(f"{process}/runs/theirs", json={"state": "COMPLETED", **time}).status_code == 200
            assert client.post(f"{process}/runs/theirs/lineageEvents", json={"links": [link], **time}).status_code == 200

    lost = {"facets that Google Data Lineage does not hold": loses}
    return Place("google", settings, there.edges, not form, not form, False, writes, plant, lost, {"there": there})


def _atlan(request: pytest.FixtureRequest, _: Server, __: str) -> Place:
    there = atlan.Atlan()
    url = _serving(request, answering(there.handle))
    secret = request.getfixturevalue("tmp_path") / "atlan-token"
    secret.write_text(atlan.TOKEN)

    def plant(job: str) -> None:
        """A run of somebody else's job that has the name of ours."""
        event = msgspec.json.decode(new_run_event(f"jobs#{job}", ["x"], ["y"], atlan.CONNECTION))
        event |= {"schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent"}
        event["job"]["facets"] = {"jobType": {"jobType": "APPLICATION", "processingType": "BATCH", "integration": "SPARK"}}
        for change in ({"eventType": "START", "eventTime": "2026-11-20T08:59:00Z"}, {}):
            path = f"{url}/events/openlineage/{atlan.CONNECTOR}/api/v1/lineage"
            assert httpx.post(path, json={**event, **change}, headers={"Authorization": f"Bearer {atlan.TOKEN}"}).status_code == 202

    settings = {"url": url, "token": f"${{file:{secret}}}", "connection": atlan.CONNECTION, "poll_s": 0.01, "settle_s": 1}
    more = {"there": there, "answers_in_batches": True, "sends_descriptions": False}
    loses = {"transformations of columns": 1, "facets that Atlan does not process": 3, _HIDDEN: 1}
    return Place("atlan", settings, there.edges, True, True, False, "/lineage", plant, loses, more)


_HIDDEN = "columns from or to datasets that Atlan shows without columns"


def _serving(request: pytest.FixtureRequest, server: Any) -> str:
    url: str = server.__enter__()
    request.addfinalizer(lambda: server.__exit__(None, None, None))
    return url


_MAKERS: dict[str, Callable[[pytest.FixtureRequest, Server, str], Place]] = {
    "files": _files,
    "google": _google,
    "kafka": _kafka,
    "kinesis": _kinesis,
    "openlineage": _openlineage,
    "atlan": _atlan,
    "databricks": _databricks,
    "datahub": _datahub,
    "datazone": _datazone,
    "marquez": _marquez,
    "openmetadata": _openmetadata,
}
LOCAL = (
    "openlineage-jobs",
    "openlineage-runs",
    "files",
    "marquez",
    "openmetadata",
    "databricks",
    "datahub",
    "datahub-events",
    "datazone",
    "atlan",
    "google",
    "google-events",
)
"""The places that need no server of the session."""
OVER_HTTP = ("openlineage-jobs", "marquez", "openmetadata", "databricks", "datahub", "datahub-events", "google", "google-events", "atlan")
READABLE = ("files", "marquez", "databricks", "datahub", "google", "atlan")


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
