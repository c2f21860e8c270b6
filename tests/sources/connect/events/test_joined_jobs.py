"""What Debezium and the transform of Factor House tell of connectors, together with what is observed of them: one graph, and one status."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import Server
from tests.sources.connect.worker import entry

from lineage_bridge.openlineage.times import parse_time
from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.client import read_connector
from lineage_bridge.sources.common.connect.events.translate import translate
from lineage_bridge.sources.common.connect.settings import ConnectSettings
from lineage_bridge.sources.common.connect.worker import WorkerState
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.runtime.poller import outbox_messages

SAMPLES = Path(__file__).parents[3] / "samples" / "debezium" / "debezium_events.ndjson"
JOBS, SPACE, DATABASE = "kafka-connect://127.0.0.1:8083", "kafka://127.0.0.1:9092", "postgres://127.0.0.1:5433"
MINUTE_US = 60_000_000
CAPTURE = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "shopcdc",
    "database.hostname": "127.0.0.1",
    "database.port": "5433",
    "database.dbname": "shop",
    "table.include.list": "public.customers,public.orders",
    "openlineage.integration.enabled": "true",
    "openlineage.integration.job.namespace": "cdc-jobs",
    "openlineage.integration.dataset.kafka.bootstrap.servers": "127.0.0.1:9092",
}
SINK = {
    "connector.class": "io.confluent.connect.s3.S3SinkConnector",
    "s3.bucket.name": "lake",
    "topics": "shopcdc.public.orders",
    "transforms": "ol",
    "transforms.ol.type": "io.factorhouse.smt.OpenLineageLifecycleSmt",
    "transforms.ol.connector.name": "orders-to-lake",
    "transforms.ol.dataset.namespace": "s3://orders-lake",
}


def recorded(job: str) -> list[dict[str, Any]]:
    events = [json.loads(line) for line in SAMPLES.read_text().splitlines()]
    return [event for event in events if event["job"]["name"] == job]


def time_of(event: dict[str, Any]) -> int:
    time = parse_time(event["eventTime"])
    assert time is not None
    return time.us


def send_polls(graph: Server, polls: list[tuple[int, str]], config: dict[str, str], direction: str, name: str) -> None:
    """Send what polls at these times see of a connector in these states."""
    settings, snapshot = ConnectSettings(url="http://127.0.0.1:8083", kafka="127.0.0.1:9092"), None
    for now, state in polls:
        answer = entry(name, config, direction, *((state, ()) if state == "STOPPED" else ("RUNNING", (state,))))
        connector = read_connector(name, answer)
        assert connector is not None
        seen = translate(
            WorkerState("4.3.1", "c", {name: connector}, frozenset({name})), snapshot, NO_METADATA, now, settings, JOBS, catalogue()
        )
        snapshot = seen.snapshot
        for path, body in outbox_messages(seen):
            assert graph.client.post(path, content=body, headers={"Content-Type": "application/json"}).is_success
    graph.fold()


def states(graph: Server, *names: tuple[str, str]) -> set[str]:
    return {graph.ask("/lineage/jobs/detail", namespace=space, name=name)["latest_run"]["state"] for space, name in names}


@pytest.mark.parametrize(("state", "expected"), [("RUNNING", "RUNNING"), ("FAILED", "FAIL"), ("STOPPED", "ABORT")])
def test_the_status_of_the_worker_counts_and_not_debeziums_retries_and_ends(graph: Server, state: str, expected: str) -> None:
    events = recorded("shopcdc.0")
    assert [event["eventType"] for event in events].count("FAIL") > 20
    first, last = min(map(time_of, events)), max(map(time_of, events))
    graph.parts.now_us = last
    graph.send(*(json.dumps(event).encode() for event in events))
    send_polls(graph, [(first, "RUNNING"), (last - MINUTE_US // 2, "RUNNING"), (last - 2, state)], CAPTURE, "source", "shop")
    assert states(graph, ("cdc-jobs", "shopcdc.0"), (JOBS, "shop")) == {expected}


def test_debeziums_job_and_ours_are_one_and_each_table_flows_to_its_own_topic(graph: Server) -> None:
    events = recorded("shopcdc.0")
    last = max(map(time_of, events))
    graph.parts.now_us = last
    graph.send(*(json.dumps(event).encode() for event in events))
    send_polls(graph, [(last, "RUNNING")], CAPTURE, "source", "shop")
    walk = graph.ask("/graph/neighbourhood", namespace=DATABASE, name="shop.public.orders", direction="downstream", depth=5)
    names = {node["id"]: node["name"] for node in walk["nodes"]}
    assert {(names[edge["source"]], names[edge["target"]]) for edge in walk["edges"]} == {("shop.public.orders", "shopcdc.public.orders")}
    assert len({(node.get("goes_by") or node)["name"] for node in walk["nodes"] if node["kind"] == "job"}) == 1
    lineage = graph.ask("/lineage/datasets/lineage", namespace=SPACE, name="shopcdc.public.orders")
    assert lineage["jobs_visited"] == 1


def test_the_transforms_job_topics_and_tables_are_ours(graph: Server) -> None:
    base = recorded("shopcdc.0")[0]
    now = time_of(base)
    graph.parts.now_us = now + 3 * MINUTE_US

    def smt(kind: str, **sides: list[dict[str, str]]) -> bytes:
        job = {"namespace": "fh-local", "name": "orders-to-lake"}
        return json.dumps({**base, "eventType": kind, "job": job, "run": {"runId": base["run"]["runId"]}, **sides}).encode()

    read = {"namespace": "kafka://kafka-1:19092", "name": "shopcdc.public.orders"}
    written = {"namespace": "s3://orders-lake", "name": "shopcdc.public.orders"}
    graph.send(smt("RUNNING", inputs=[read], outputs=[written]), smt("COMPLETE"))
    send_polls(graph, [(now, "RUNNING"), (now + 2 * MINUTE_US, "RUNNING")], SINK, "sink", "to-lake")
    assert states(graph, ("fh-local", "orders-to-lake"), (JOBS, "to-lake")) == {"RUNNING"}
    walk = graph.ask("/graph/neighbourhood", namespace=SPACE, name="shopcdc.public.orders", direction="downstream", depth=3)
    datasets = {
        ((node.get("goes_by") or node)["namespace"], (node.get("goes_by") or node)["name"])
        for node in walk["nodes"]
        if node["kind"] == "dataset"
    }
    assert len(datasets) == 2
