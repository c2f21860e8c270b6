"""Connectors of a real worker, made to do what connectors do in their lives, and observed meanwhile."""

import json
import time
from functools import partial
from typing import Any

import pytest
from tests.servers.connect import FILE_SINK, FILE_SOURCE, JDBC_SINK, NEW_TOPICS, capture_config, mirror_config
from tests.servers.web import faulty

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.connect.observer import ConnectObserver
from lineage_bridge.sources.kafka.observer import KafkaObserver
from lineage_bridge.sources.runtime.poller import outbox_messages

T0, MINUTE_US = 1_795_000_000_000_000, 60_000_000
TEXT = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
WITH_SCHEMAS = {f"{part}.converter": "org.apache.kafka.connect.json.JsonConverter" for part in ("key", "value")}


class Watch:
    """Polls the connectors of some names, a minute of its own clock each time."""

    def __init__(self, connect, kafka, *names, around=NO_METADATA, url="", timeout_s=15.0):
        asked = {"url": url or connect.url, "kafka": kafka.bootstrap, "include": names, "namespace": "watched", "timeout_s": timeout_s}
        self.observer = ConnectObserver("watched", ConnectSettings(**asked))
        self.around, self.snapshot, self.now_us = around, None, T0
        self.seen: list[Observation] = []

    def look(self):
        """The events of a poll, as type and job."""
        self.now_us += MINUTE_US
        self.seen.append(self.observer.observe(self.snapshot, self.around, self.now_us))
        self.snapshot = self.seen[-1].snapshot
        return [(event.get("eventType"), event["job"]["name"]) for event in self.events()]

    def events(self) -> list[Any]:
        """The events of the last poll, as JSON."""
        return list(self.seen[-1].events)

    def until(self, *expected, seconds=60.0):
        """An event of each of these types and jobs, in this order, once polls have given them; none gives any other but heartbeats."""
        found: dict[tuple[str, str], Any] = {}
        deadline = time.monotonic() + seconds
        while not found.keys() >= set(expected):
            assert time.monotonic() < deadline, f"{list(found)}, not {expected}: {self.observer.worker.connectors()}"
            if self.seen:
                time.sleep(0.2)
            for key, event in zip(self.look(), self.events(), strict=True):
                assert key[0] == "RUNNING" or (key in expected and key not in found), f"{key} after {list(found)}, not {expected}"
                found[key] = event
        return [found[key] for key in expected]

    def until_state(self, name, state, seconds=60.0):
        """The heartbeat that first tells of a state; no poll before ends anything."""
        deadline = time.monotonic() + seconds
        while True:
            assert {kind for kind, _ in self.look()} <= {"RUNNING"}
            for event in self.events():
                health = event["run"]["facets"].get("kafka_connect_health", {})
                if event["job"]["name"] == name and (health.get("state"), health.get("running")) == state:
                    return event
            assert time.monotonic() < deadline, f"not {state}"
            time.sleep(0.2)

    def until_counted(self, *jobs, seconds=60.0):
        """Job to the first topic and number of rows that heartbeats tell of it."""
        counted: dict[str, tuple[str, int]] = {}
        deadline = time.monotonic() + seconds
        while not counted.keys() >= set(jobs):
            assert {kind for kind, _ in self.look()} <= {"RUNNING"}
            for event in self.events():
                for dataset in (*event["inputs"], *event["outputs"]):
                    for access in (*dataset.get("inputFacets", {}).values(), *dataset.get("outputFacets", {}).values()):
                        counted.setdefault(event["job"]["name"], (dataset["name"], access["rowCount"]))
            assert time.monotonic() < deadline, f"of {jobs} only {counted}"
            time.sleep(0.2)
        return counted


def lines(connect, name, **more):
    """A connector that reads a file of its own."""
    file = connect.folder / f"{name}.txt"
    file.write_text("one\ntwo\n")
    return {"connector.class": FILE_SOURCE, "tasks.max": "1", "file": str(file), "topic": f"{name}-lines", **TEXT, **NEW_TOPICS, **more}


def run_of(event):
    return event["run"]["runId"]


def test_a_connector_from_its_making_to_its_end(connect, kafka):
    watch = Watch(connect, kafka, "life")
    assert watch.look() == []
    connect.put("life", lines(connect, "life"))
    start, _ = watch.until(("START", "life"), ("RUNNING", "life"))
    assert [(dataset["namespace"], dataset["name"]) for dataset in start["outputs"]] == [
        (f"kafka://{kafka.bootstrap.split(',')[0]}", "life-lines")
    ]
    assert start["inputs"][0]["name"] == str(connect.folder / "life.txt")
    connect.wait_for_state("life", "RUNNING")
    connect.ask("PUT", "/connectors/life/pause")
    paused = watch.until_state("life", ("PAUSED", 0))
    connect.ask("PUT", "/connectors/life/resume")
    resumed = watch.until_state("life", ("RUNNING", 1))
    connect.ask("POST", "/connectors/life/restart?includeTasks=true")
    time.sleep(1)
    assert {kind for kind, _ in watch.look()} == {"RUNNING"}
    assert run_of(start) == run_of(paused) == run_of(resumed)
    connect.ask("PUT", "/connectors/life/stop")
    (stopped,) = watch.until(("ABORT", "life"))
    assert run_of(stopped) == run_of(start)
    assert watch.look() == []
    connect.ask("PUT", "/connectors/life/resume")
    again, _ = watch.until(("START", "life"), ("RUNNING", "life"))
    assert run_of(again) != run_of(start)
    connect.put("life", lines(connect, "life", topic="life-renamed"))
    changed = watch.until(("COMPLETE", "life"), ("START", "life"))
    assert [run_of(event) == run_of(again) for event in changed] == [True, False]
    assert "life-renamed" in [dataset["name"] for dataset in changed[1]["outputs"]]
    connect.delete("life")
    (gone,) = watch.until(("ABORT", "life"))
    assert run_of(gone) == run_of(changed[1])
    assert not watch.seen[-1].unseen


def test_failures_are_reported_with_their_traces(connect, kafka):
    watch = Watch(connect, kafka, "fed", "broken-*")
    connect.put("fed", lines(connect, "fed"))
    kafka.consume("fed-lines", 2)
    watch.until(("START", "fed"))
    out = {"connector.class": FILE_SINK, "tasks.max": "1", "topics": "fed-lines", "file": str(connect.folder / "broken.txt")}
    connect.put("broken-task", {**out, "value.converter": WITH_SCHEMAS["value.converter"], "value.converter.schemas.enable": "true"})
    connect.wait_for_state("broken-task", "FAILED")
    begun, failed = watch.until(("START", "broken-task"), ("FAIL", "broken-task"))
    error = failed["run"]["facets"]["errorMessage"]
    assert error["message"].startswith("org.apache.kafka.connect.errors.ConnectException")
    assert "JsonConverter" in error["stackTrace"]
    assert begun["run"]["facets"]["kafka_connect_health"]["failed"] == 1
    connect.put("broken-start", mirror_config(kafka, "["))
    failed = watch.until(("START", "broken-start"), ("FAIL", "broken-start"))[-1]
    assert "PatternSyntaxException" in failed["run"]["facets"]["errorMessage"]["stackTrace"]
    assert watch.look() == [("RUNNING", "fed")]
    connect.put("broken-task", {**out, **TEXT})
    connect.wait_for_state("broken-task", "RUNNING")
    (begun,) = watch.until(("START", "broken-task"))
    assert run_of(begun) != run_of(failed)
    for name in ("fed", "broken-task", "broken-start"):
        connect.delete(name)
    assert sorted(watch.look()) == [("ABORT", "broken-task"), ("ABORT", "fed")]


def test_a_mirror_has_a_run_for_each_of_its_tasks(connect, kafka):
    kafka.create_topics("mirrored", partitions=2)
    watch = Watch(connect, kafka, "mirror")
    connect.put("mirror", {**mirror_config(kafka, "mirrored", alias="south"), "tasks.max": "2"})
    connect.wait_for_state("mirror", "RUNNING", tasks=2)
    events = watch.until(("START", "mirror"), ("START", "mirror.0"), ("START", "mirror.1"))
    assert [dataset["name"] for dataset in events[0]["outputs"]] == ["south.mirrored"]
    assert {event["run"]["facets"]["parent"]["run"]["runId"] for event in events[1:]} == {run_of(events[0])}
    connect.delete("mirror")
    assert sorted(watch.look()) == [("ABORT", "mirror"), ("ABORT", "mirror.0"), ("ABORT", "mirror.1")]


def test_debezium_and_we_report_one_jobs_graph(connect, kafka, postgres, event_sink, graph):
    postgres.execute("CREATE TABLE pets (id INT PRIMARY KEY, name TEXT); INSERT INTO pets VALUES (1, 'Rex')")
    postgres.execute("CREATE TABLE toys (id INT PRIMARY KEY, pet INT); INSERT INTO toys VALUES (7, 1)")
    own = {
        "openlineage.integration.enabled": "true",
        "openlineage.integration.job.namespace": "zoo",
        "openlineage.integration.config.file.path": str(event_sink.settings_in(connect.folder)),
        "openlineage.integration.dataset.kafka.bootstrap.servers": kafka.bootstrap,
    }
    route = {"transforms": "openlineage", "transforms.openlineage.type": "io.debezium.transforms.openlineage.OpenLineage"}
    connect.put("zoo-cdc", {**capture_config(postgres, "zoo", "public.pets,public.toys"), **WITH_SCHEMAS, **own, **route})
    sink = {
        "connector.class": JDBC_SINK,
        "tasks.max": "1",
        "topics": "zoo.public.pets",
        "connection.url": f"jdbc:postgresql://{postgres.host}:{postgres.port}/{postgres.database}",
        "connection.username": postgres.user,
        "connection.password": postgres.password,
        "insert.mode": "upsert",
        "primary.key.mode": "record_key",
        "schema.evolution": "basic",
        "collection.name.format": "copied_${source.table}",
    }
    connect.put("zoo-copy", {**sink, **WITH_SCHEMAS, **own})
    assert postgres.wait_for_rows("SELECT name FROM copied_pets") == [["Rex"]]
    event_sink.wait_for(lambda event: event["job"]["name"] == "zoo.0" and "zoo.public.toys" in str(event.get("outputs")))
    brokers = KafkaObserver("brokers", KafkaSettings(bootstrap_servers=kafka.bootstrap, topics=("zoo.*",), sample=("zoo.*",)))
    looked = brokers.observe(None, NO_METADATA, time.time_ns() // 1000)
    watch = Watch(connect, kafka, "zoo-*", around=brokers.shared_metadata(looked.snapshot))
    watch.now_us = time.time_ns() // 1000
    watch.until(("START", "zoo-cdc"), ("START", "zoo-copy"))
    postgres.execute("INSERT INTO pets VALUES (2, 'Tom')")
    postgres.wait_for_rows("SELECT name FROM copied_pets WHERE id = 2")
    watch.around = brokers.shared_metadata(brokers.observe(looked.snapshot, NO_METADATA, time.time_ns() // 1000).snapshot)
    brokers.close()
    assert watch.until_counted("zoo-cdc", "zoo-copy") == {"zoo-cdc": ("zoo.public.pets", 1), "zoo-copy": ("zoo.public.pets", 1)}
    connect.delete("zoo-cdc")
    event_sink.wait_for(lambda event: event["job"]["name"] == "zoo.0" and event["eventType"] == "COMPLETE")
    watch.until(("ABORT", "zoo-cdc"))
    connect.delete("zoo-copy")
    graph.parts.now_us = watch.now_us
    graph.send(*(json.dumps(event).encode() for event in event_sink.events if event["job"]["namespace"] == "zoo"))
    for path, body in (message for seen in watch.seen for message in outbox_messages(seen)):
        assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()
    database = f"postgres://{postgres.host}:{postgres.port}"
    walk = graph.ask("/graph/neighbourhood", namespace=database, name="shop.public.pets", direction="downstream", depth=9, columns="true")
    names = {node["id"]: node["name"] for node in walk["nodes"]}
    pairs = {(names[edge["source"]], names[edge["target"]]) for edge in walk["edges"]}
    assert pairs == {("shop.public.pets", "zoo.public.pets"), ("zoo.public.pets", "shop.public.copied_pets")}
    columns = {
        (names[column["source"]], column["source_field"], names[column["target"]], column["target_field"]) for column in walk["columns"]
    }
    assert ("shop.public.pets", "name", "zoo.public.pets", "after.name") in columns
    assert ("zoo.public.pets", "after.name", "shop.public.copied_pets", "name") in columns
    jobs = {node.get("goes_by", node)["name"] for node in walk["nodes"] if node["kind"] == "job"}
    assert len(jobs) == 2
    for namespace, name in (("zoo", "zoo.0"), ("watched", "zoo-cdc")):
        detail = graph.ask("/lineage/jobs/detail", namespace=namespace, name=name)
        assert detail["latest_run"]["state"] == "ABORT", f"the worker says that it was deleted, whatever Debezium says: {name}"
    watch.observer.close()


def test_a_worker_that_fails_to_answer_ends_nothing(connect, kafka):
    connect.put("steady", lines(connect, "steady"))
    kafka.consume("steady-lines", 2)
    connect.wait_for_state("steady", "RUNNING")
    with faulty.before(connect.url) as proxy:
        watch = Watch(connect, kafka, "steady", url=proxy.url, timeout_s=2)
        (begun, _) = watch.until(("START", "steady"), ("RUNNING", "steady"))
        now = {"Retry-After": "0"}
        busy = partial(proxy.answer, 409, "expand", headers=now)
        for fail in (proxy.refuse, partial(proxy.hang, "expand"), busy, partial(proxy.cut, "expand")):
            fail()
            with pytest.raises(SourceError):
                watch.look()
            proxy.mend()
        partly = {
            "connector steady": lambda: proxy.answer(200, "expand", body=b"{}"),
            "connector steady: topics": lambda: proxy.cut("/topics"),
            "connector steady: offsets": lambda: proxy.answer(409, "/offsets", headers=now),
        }
        for what, fail in partly.items():
            fail()
            assert {kind for kind, _ in watch.look()} <= {"RUNNING"}
            assert [unseen.what for unseen in watch.seen[-1].unseen] == [what]
            proxy.mend()
        assert watch.look() == [("RUNNING", "steady")]
        assert run_of(watch.events()[0]) == run_of(begun)
        assert not watch.seen[-1].unseen
    connect.delete("steady")
