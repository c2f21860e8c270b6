"""A real cluster, its gateway and its broker: jobs from topic to topic, their ends, and OpenLineage's own listener beside us."""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

import pytest
from tests.api.support import NOW, Server
from tests.servers.broker import Kafka
from tests.servers.flink import NAMESPACE, FlinkCluster, kafka_table
from tests.servers.sink import EventSink
from tests.servers.web.faulty import Faulty

from lineage_bridge.errors import UnreachableError
from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, SameJob
from lineage_bridge.sources.common.settings import HttpSettings
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.flink import gateway
from lineage_bridge.sources.flink.observer import FlinkObserver
from lineage_bridge.sources.flink.settings import FlinkSettings
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.whole.export import Export

NUMBERS = "CREATE TABLE numbers (id INT) WITH ('connector' = 'datagen', 'number-of-rows' = '5')"
ENDLESS = "CREATE TABLE numbers (id INT) WITH ('connector' = 'datagen', 'rows-per-second' = '20')"
NOWHERE = "CREATE TABLE nowhere (id INT) WITH ('connector' = 'blackhole')"
BROKEN = "INSERT INTO nowhere SELECT CAST('x' || CAST(id AS STRING) AS INT) FROM numbers"


class Watch:
    """A source over a cluster, polled by hand."""

    def __init__(self, flink: FlinkCluster, around: SharedMetadata, **settings: Any) -> None:
        options = {"url": flink.url, "gateway_url": flink.gateway, "timeout_s": 20, **settings}
        self.observer = FlinkObserver("flink", FlinkSettings(**options))
        self.around = around
        self.before: Any = None
        self.events: list[Any] = []
        self.same: list[Any] = []
        self.requests = 0

    def poll(self) -> Observation:
        asked = self.observer.requests
        seen = self.observer.observe(self.before, self.around, time.time_ns() // 1000)
        self.before = json.loads(json.dumps(seen.snapshot))
        self.events += seen.events
        self.same += seen.aliases
        self.requests = self.observer.requests - asked
        return seen

    def until(self, condition: Callable[[Any], bool], seconds: float = 60.0) -> Any:
        """The event that is wanted, polled for."""
        deadline, met = time.monotonic() + seconds, 0
        while True:
            self.poll()
            for event in self.events[met:]:
                if condition(event):
                    return event
            met = len(self.events)
            assert time.monotonic() < deadline, [(event["eventType"], event["job"]["name"]) for event in self.events]
            time.sleep(0.3)


@pytest.fixture
def watch(flink: FlinkCluster, kafka: Kafka) -> Iterator[Callable[..., Watch]]:
    made: list[Watch] = []
    cluster = ClusterMetadata("the-cluster", f"kafka://{kafka.bootstrap}", frozenset({kafka.bootstrap}))

    def make(**settings: Any) -> Watch:
        made.append(Watch(flink, SharedMetadata((cluster,)), **settings))
        return made[-1]

    yield make
    for watcher in made:
        watcher.observer.close()


def ddl(kafka: Kafka, *tables: tuple[str, str]) -> list[str]:
    return [kafka_table(name, columns, name.replace("_", "-"), kafka.bootstrap) for name, columns in tables]


def statistics(event: Any) -> dict[str, int]:
    facets_found = [(dataset["name"], facet) for dataset in (*event["inputs"], *event["outputs"]) for facet in _access(dataset)]
    return {name: facet["rowCount"] for name, facet in facets_found}


def _access(dataset: Any) -> Sequence[Any]:
    return [*dataset.get("inputFacets", {}).values(), *dataset.get("outputFacets", {}).values()]


def has(kind: str, job: str, **rows: int) -> Callable[[Any], bool]:
    """Whether an event is of this kind and job, and tells these rows, `_` for `-` in the names of topics."""
    expected = {name.replace("_", "-"): count for name, count in rows.items()}
    return lambda event: event["eventType"] == kind and event["job"]["name"] == job and expected.items() <= statistics(event).items()


def test_a_statement_set_from_topic_to_topics_beside_the_listener(
    kafka: Kafka, flink: FlinkCluster, event_sink: EventSink, watch: Callable[..., Watch], server: Server, tmp_path: Any
):
    kafka.create_topics("sold", "big-sales", "per-shop")
    kafka.produce("sold", [json.dumps({"id": number, "shop": "a", "amount": number}) for number in range(10)])
    tables = [
        *ddl(kafka, ("sold", "id INT, shop STRING, amount INT"), ("big_sales", "id INT, twice INT")),
        (
            "CREATE TABLE per_shop (shop STRING, n BIGINT, PRIMARY KEY (shop) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', "
            f"'topic' = 'per-shop', 'properties.bootstrap.servers' = '{kafka.bootstrap}', 'key.format' = 'json', 'value.format' = 'json')"
        ),
    ]
    pipeline = (
        "EXECUTE STATEMENT SET BEGIN INSERT INTO big_sales SELECT id, amount * 2 FROM sold WHERE amount > 4;"
        " INSERT INTO per_shop SELECT shop, COUNT(*) FROM sold GROUP BY shop; END"
    )
    script = tmp_path / "sales.sql"
    script.write_text(";\n".join([*tables, "SET 'pipeline.name' = 'sales'", pipeline]) + ";\n")
    *_, started = flink.sql([*tables, "SET 'pipeline.name' = 'sales'", pipeline])
    seen = watch(statements=(str(script),), jobs=("sales",))
    seen.until(has("RUNNING", "sales", sold=10, big_sales=5, per_shop=10))

    start = seen.events[0]
    assert start["eventType"] == "START"
    assert start["run"]["facets"]["processing_engine"]["version"].startswith("2.")
    seen.poll()
    assert seen.requests == 5
    assert seen.observer.shared_metadata(seen.before).owners == {("the-cluster", "flink-sold"): (seen.observer.namespace, "sales")}

    flink.cancel(started.job)
    aborted = seen.until(has("ABORT", "sales"))
    assert statistics(aborted) == {"sold": 10, "big-sales": 5, "per-shop": 10}
    assert seen.same == [
        SameJob(NAMESPACE, "sales", seen.observer.namespace, "sales", "OpenLineage's listener, by the JobManager's configuration")
    ]

    event_sink.wait_for(lambda event: event["job"]["name"] == "sales" and event["eventType"] == "ABORT")
    others = [event for event in event_sink.events if event["job"]["name"] == "sales"]
    server.send(*(encode(event) for event in (*seen.events, *others)))
    (same,) = seen.same
    alias = {"namespace": same.namespace, "name": same.name}, {"namespace": same.other_namespace, "name": same.other_name}
    alias_statement = {"entity": "job", "a": alias[0], "b": alias[1], "evidence": same.evidence}
    assert server.client.post("/api/v1/operations/alias", json={"aliases": [alias_statement]}).status_code < 300
    server.fold()
    topics = f"kafka://{kafka.bootstrap}"
    walk = server.ask("/graph/neighbourhood", namespace=topics, name="sold", direction="downstream")
    nodes = {node["id"]: node["name"] for node in walk["nodes"]}
    assert {(nodes[edge["source"]], nodes[edge["target"]]) for edge in walk["edges"]} == {("sold", "big-sales"), ("sold", "per-shop")}
    with closing(sqlite3.connect(server.folder / "graph.db")) as graph:
        lines = [json.loads(line) for line in Export(StoreConnection(graph), NOW).lines(frozenset(("job", "flow", "run")))]
    assert [line["name"] for line in lines if line["type"] == "job"] == ["sales"]
    assert len({line["run_id"] for line in lines if line["type"] == "run"}) == 2
    found_flows = {(line["source"]["dataset"]["name"], line["target"]["dataset"]["name"]) for line in lines if line["type"] == "flow"}
    assert found_flows == {("sold", "big-sales"), ("sold", "per-shop")}
    found = server.ask("/graph/trace", namespace=topics, name="big-sales", field="twice", direction="upstream")
    names = {node["id"]: node["name"] for node in found["nodes"]}
    assert [(names[flow["source"]], flow["source_field"], flow["target_field"]) for flow in found["flows"]] == [("sold", "amount", "twice")]


def test_ends_of_every_kind(flink: FlinkCluster, watch: Callable[..., Watch]):
    """Finished and failed before the first poll; cancelled after it."""
    script = [NOWHERE, "SET 'pipeline.name' = 'bounded'", "INSERT INTO nowhere SELECT id FROM numbers"]
    *_, finished, _, failed = flink.sql([NUMBERS, *script, "SET 'pipeline.name' = 'broken'", BROKEN])
    flink.wait_for_state(finished.job, "FINISHED")
    flink.wait_for_state(failed.job, "FAILED")
    *_, endless = flink.sql([ENDLESS, NOWHERE, "SET 'pipeline.name' = 'endless'", "INSERT INTO nowhere SELECT id FROM numbers"])
    seen = watch(init_sql=(ENDLESS, NOWHERE), jobs=("bounded", "broken", "endless"))
    seen.until(has("RUNNING", "endless"))
    flink.cancel(endless.job)
    seen.until(has("ABORT", "endless"))

    ends = {event["job"]["name"]: event for event in seen.events if event["eventType"] in ("COMPLETE", "FAIL", "ABORT")}
    assert {name: event["eventType"] for name, event in ends.items()} == {"bounded": "COMPLETE", "broken": "FAIL", "endless": "ABORT"}
    error = ends["broken"]["run"]["facets"]["errorMessage"]
    assert error["message"].startswith("java.lang.NumberFormatException: For input string: 'x")
    assert "org.apache.flink" in error["stackTrace"]
    starts = [event["job"]["name"] for event in seen.events if event["eventType"] == "START"]
    assert sorted(starts) == ["bounded", "broken", "endless"]
    count = len(seen.events)
    seen.poll()
    assert len(seen.events) == count


def test_a_job_that_restarts_goes_on(kafka: Kafka, flink: FlinkCluster, watch: Callable[..., Watch]):
    """One record breaks its task; each try fails at it again."""
    kafka.create_topics("fragile", "mended")
    kafka.produce("fragile", ['{"id": "x"}'])
    tables = ddl(kafka, ("fragile", "id STRING"), ("mended", "id INT"))
    settings = {"restart-strategy.type": "fixed-delay", "restart-strategy.fixed-delay.attempts": "1000"}
    settings["restart-strategy.fixed-delay.delay"] = "1 s"
    *_, started = flink.sql(
        [*tables, "SET 'pipeline.name' = 'fragile'", "INSERT INTO mended SELECT CAST(id AS INT) FROM fragile"], settings
    )
    seen = watch(init_sql=tuple(tables), jobs=("fragile",))

    def restarted(event: Any) -> bool:
        facet = event["run"]["facets"].get("flink_job", {})
        return event["eventType"] == "RUNNING" and facet.get("restarts", 0) > 0 and "last_error" in facet

    event = seen.until(restarted)
    assert "NumberFormatException" in event["run"]["facets"]["flink_job"]["last_error"]["message"]
    flink.cancel(started.job)
    assert {event["eventType"] for event in seen.events} == {"START", "RUNNING"}
    assert len({event["run"]["runId"] for event in seen.events}) == 1


def test_the_gateway_is_asked_and_its_session_closed(flink: FlinkCluster, faulty: Callable[[str], Faulty]):
    """A table of a session of somebody else is not found; that of a catalog of our own DDL is."""

    proxy = faulty(flink.gateway)
    http = HttpClient(HttpSettings(url=proxy.url))
    catalog = "CREATE CATALOG ours WITH ('type' = 'generic_in_memory');"
    found = gateway.tables(http, catalog, [("ours", "default", "absent"), ("default_catalog", "default_database", "absent")])
    session = gateway.Session(http)
    assert session.rows("SHOW CATALOGS") == [["default_catalog"]]
    assert session.rows(NOWHERE) == [["OK"]]
    assert "'connector' = 'blackhole'" in str(session.rows("SHOW CREATE TABLE nowhere"))
    session.close()
    http.close()

    assert set(found.values()) == {""}
    assert sum(request.startswith("DELETE") for request in proxy.requests) == 2


def test_what_fails_on_the_way_ends_nothing(flink: FlinkCluster, watch: Callable[..., Watch], faulty: Callable[[str], Faulty]):
    proxy = faulty(flink.url)
    *_, started = flink.sql([ENDLESS, NOWHERE, "SET 'pipeline.name' = 'watched'", "INSERT INTO nowhere SELECT id FROM numbers"])
    seen = watch(url=proxy.url, init_sql=(ENDLESS, NOWHERE), jobs=("watched",), timeout_s=2)
    seen.until(has("RUNNING", "watched"))
    known, count = seen.before, len(seen.events)
    proxy.refuse()
    with pytest.raises(UnreachableError):
        seen.poll()
    proxy.mend()
    proxy.cut("/jobs/overview")
    with pytest.raises(UnreachableError):
        seen.poll()
    assert (seen.before, len(seen.events)) == (known, count)
    proxy.mend()
    proxy.answer(500, "/checkpoints")
    assert [unseen.what for unseen in seen.poll().unseen] == ["job watched: checkpoints"]
    proxy.mend()
    flink.cancel(started.job)
    assert seen.until(has("ABORT", "watched"))["run"]["runId"] == seen.events[0]["run"]["runId"]
