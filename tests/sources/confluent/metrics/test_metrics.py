"""Figures of the Metrics API: asked by its rules, told at most hourly; who writes is a job, who is silent stays one."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.published import faults
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json, encode
from lineage_bridge.openlineage.times import format_time, parse_time
from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.metrics.plane import MetricsPlane, planes
from lineage_bridge.sources.confluent.organization import ComputePool, KafkaCluster, Organization
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings

MINUTE, HOUR = 60_000_000, 3_600_000_000
NOW = 1_795_000_000_000_000
END = (NOW - 5 * MINUTE) // MINUTE * MINUTE
SPACE = "confluent://env-1/lkc-1"
ORGANIZATION = Organization(
    kafka_clusters=(KafkaCluster("lkc-1", "env-1", "one"), KafkaCluster("lkc-2", "env-1", "two")),
    compute_pools=(ComputePool("lfcp-1", "env-1", "pool", "aws", "us-east-1"),),
)
KNOWN = SharedMetadata(
    names={"sa-1": "order-service"},
    jobs={"lcc-1": (SPACE, "orders-sink"), "env-1/aws.us-east-1/totals": (SPACE, "flink/totals")},
)
SERVER, CONNECT, FLINK = "io.confluent.kafka.server", "io.confluent.kafka.connect", "io.confluent.flink"
CLIENT = ["topic", "client_id", "principal_id"]
LABELS = {
    f"{SERVER}/received_bytes": CLIENT,
    f"{SERVER}/sent_bytes": CLIENT,
    f"{SERVER}/received_records": ["topic"],
    f"{SERVER}/sent_records": ["topic"],
    f"{SERVER}/consumer_lag_offsets": ["topic", "consumer_group_id"],
    f"{CONNECT}/received_records": [],
    f"{CONNECT}/sent_records": [],
    f"{CONNECT}/dead_letter_queue_records": [],
    f"{FLINK}/num_records_in": [],
    f"{FLINK}/num_records_out": ["topic"],
}
RESOURCES = {
    SERVER: {"resource.kafka.id"},
    CONNECT: {"resource.connector.id"},
    FLINK: {"resource.compute_pool.id", "resource.flink_statement.name"},
}


class Telemetry:
    """The Metrics API by its rules; `rows` are metric, labels and value. Two rows a page."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, dict[str, str], float]] = []
        self.labels = dict(LABELS)
        self.queries: list[Json] = []

    def api(self, request: Request) -> Reply:
        if request.parts[0] == "connect":
            named = {"orders-sink": {"id": {"id": "lcc-1", "id_type": "ID"}}} if request.parts[5] == "lkc-1" else {}
            return Reply(200, named)
        if request.parts[-2:] == ("descriptors", "metrics"):
            every = [{"name": name, "labels": [{"key": key} for key in keys]} for name, keys in self.labels.items()]
            return self.page(every, request, 7)
        asked = request.body
        self.queries.append(asked)
        ((metric,),) = [one.values() for one in asked["aggregations"]]
        resources = RESOURCES[metric.rpartition("/")[0]]
        fields = asked["filter"].get("filters", [asked["filter"]])
        known = resources | {f"metric.{key}" for key in self.labels[metric]}
        (interval,) = asked["intervals"]
        start, end = (parse_time(text) for text in interval.split("/"))
        assert start
        assert end
        rules = [
            all(field["op"] == "EQ" and field["field"] in resources for field in fields),
            set(asked["group_by"]) <= known,
            start.us % MINUTE == end.us % MINUTE == 0,
            start.us < end.us,
            asked["granularity"] == "ALL" or (asked["granularity"] == "PT1M" and end.us - start.us <= 6 * HOUR),
            0 < asked["limit"] <= 1000,
        ]
        if not all(rules):
            return Reply(400, {"errors": [{"detail": f"a rule is broken: {rules}"}]})
        wanted = {(field["field"], field["value"]) for field in fields}
        sums: dict[tuple[str, ...], float] = {}
        for name, labels, value in self.rows:
            if name == metric and wanted & set(labels.items()):
                key = tuple(labels.get(label, "") for label in asked["group_by"])
                sums[key] = sums.get(key, 0) + value
        data = [{**dict(zip(asked["group_by"], key, strict=True)), "value": value, "timestamp": "x"} for key, value in sorted(sums.items())]
        return self.page(data, request, 2)

    @staticmethod
    def page(data: list[Any], request: Request, size: int) -> Reply:
        at = int(request.query.get("page_token", 0))
        token = {"next_page_token": str(at + size)} if at + size < len(data) else {}
        return Reply(200, {"data": data[at : at + size], "meta": {"pagination": {"page_size": size, **token}}})

    def wrote(self, topic: str, client: str, amount: float = 5, cluster: str = "lkc-1", principal: str = "sa-1") -> None:
        labels = {"resource.kafka.id": cluster, "metric.topic": topic, "metric.client_id": client, "metric.principal_id": principal}
        self.rows += [(f"{SERVER}/received_bytes", labels, amount * 100), (f"{SERVER}/received_records", labels, amount)]

    def lags(self, topic: str, group: str, amount: float) -> None:
        labels = {"resource.kafka.id": "lkc-1", "metric.topic": topic, "metric.consumer_group_id": group}
        self.rows.append((f"{SERVER}/consumer_lag_offsets", labels, amount))


class World:
    """The plane, polled at times; `hour` counts from the first poll."""

    def __init__(self, url: str, api: Telemetry, standin: Standin, **more: Any) -> None:
        self.settings = ConfluentSettings(
            url=url, telemetry_url=url, timeout_s=0.5, **{"cloud": {"key": "K", "secret": "${env:CLOUD_SECRET}"}, **more}
        )
        self.api, self.standin, self.snapshot = api, standin, None
        self.clients = Clients(self.settings)

    @property
    def plane(self) -> MetricsPlane:
        (made,) = planes(PlaneContext(ORGANIZATION, ORGANIZATION, self.clients, self.settings))
        assert isinstance(made, MetricsPlane)
        return made

    snapshot: Snapshot | None

    def poll(self, hour: float = 0, known: SharedMetadata = KNOWN) -> Observation:
        now = NOW + round(hour * HOUR)
        seen = self.plane.translate(self.plane.fetch(self.snapshot, now), self.snapshot, known, now)
        self.snapshot = seen.snapshot
        assert not faults(seen.events)
        return seen


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setenv("CLOUD_SECRET", "s3cret")
    api = Telemetry()
    with standing(Standin(api.api, "K:s3cret")) as standin:
        yield World(standin.url, api, standin)


def facets(seen: Observation, kind: str = "dataset") -> dict[str, Json]:
    """The statistics by name."""
    told = {event[kind]["name"]: event[kind]["facets"].get("confluent_statistics") for event in seen.events if kind in event}
    return {name: {key: value for key, value in facet.items() if key[0] != "_"} for name, facet in told.items() if facet}


def heard(seen: Observation) -> list[tuple[str, str]]:
    return [(event["eventType"], event["job"]["name"]) for event in seen.events if "eventType" in event]


def test_one_query_a_metric_tells_all_clusters_over_all_pages(world: World):
    for at in range(5):
        world.api.wrote(f"topic-{at}", "app", 1 + at, f"lkc-{1 + at % 2}")
    seen = world.poll()
    assert not seen.unseen
    assert {name: facet["received_records"] for name, facet in facets(seen).items()} == {f"topic-{at}": 1 + at for at in range(5)}
    pages = [asked for asked in world.standin.asked if "page_token" in asked]
    assert len(world.api.queries) == 10 + len([one for one in pages if "query" in one])
    assert len([asked for asked in world.standin.asked if "descriptors" in asked]) == 2
    first = world.api.queries[0]
    assert [one["value"] for one in first["filter"]["filters"]] == ["lkc-1", "lkc-2"]


def test_statistics_are_emitted_at_most_hourly_and_only_when_they_change(world: World):
    world.api.wrote("orders", "app", 5)
    assert facets(world.poll())["orders"] == {
        "since": format_time(END - HOUR),
        "until": format_time(END),
        "received_bytes": 500,
        "sent_bytes": 0,
        "received_records": 5,
        "sent_records": 0,
    }
    world.api.wrote("orders", "app", 2)
    assert not facets(world.poll(0.5))
    assert facets(world.poll(1))["orders"]["received_records"] == 7
    assert not facets(world.poll(2.5))


def test_connectors_are_listed_once_and_asked_for_by_their_own_ids(world: World):
    labels = {"resource.connector.id": "lcc-1"}
    world.api.rows += [(f"{CONNECT}/received_records", labels, 7), (f"{CONNECT}/dead_letter_queue_records", labels, 2)]
    told = facets(world.poll(known=NO_METADATA), "job")["orders-sink"]
    assert (told["records_in"], told["records_out"], told["dead_letter_records"]) == (7, 0, 2)
    asked = [one for one in world.standin.asked if "/connect/" in one]
    assert len(asked) == 2
    world.poll(0.1)
    assert [one for one in world.standin.asked if "/connect/" in one] == asked


def test_statements_are_found_by_their_region(world: World):
    labels = {"resource.compute_pool.id": "lfcp-1", "resource.flink_statement.name": "totals"}
    world.api.rows += [(f"{FLINK}/num_records_in", labels, 9), (f"{FLINK}/num_records_out", labels, 4)]
    told = facets(world.poll(), "job")["flink/totals"]
    assert (told["records_in"], told["records_out"]) == (9, 4)
    world.snapshot = None
    assert not facets(world.poll(known=NO_METADATA), "job")


def test_an_application_that_writes_is_a_job_and_silence_is_no_end(world: World):
    world.api.wrote("orders", "app")
    (event,) = [one for one in world.poll().events if "eventType" in one]
    assert (event["eventType"], event["job"]["namespace"], event["job"]["name"]) == ("START", SPACE, "producer/app")
    assert [one["name"] for one in event["outputs"]] == ["orders"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "PRODUCER"
    assert event["job"]["facets"]["ownership"]["owners"][0]["name"] == "order-service"
    assert event["job"]["facets"]["confluent_producer"]["principals"] == [{"id": "sa-1", "name": "order-service"}]
    (beat,) = world.poll(0.1).events
    assert (beat["eventType"], beat["job"]["facets"], beat["outputs"]) == ("RUNNING", {}, [])
    assert beat["run"]["runId"] == event["run"]["runId"]
    written, world.api.rows = world.api.rows, []
    assert not world.poll(0.2).events
    world.api.rows = written
    world.api.wrote("bills", "app")
    (again,) = [one for one in world.poll(0.3).events if "eventType" in one]
    assert again["run"]["runId"] == event["run"]["runId"]
    assert [one["name"] for one in again["outputs"]] == ["bills", "orders"]
    world.api.rows = []
    world.poll(24 * 8)
    assert world.snapshot
    assert world.snapshot["producers"] == {"lkc-1": {}}


@pytest.mark.parametrize(
    "client",
    [
        "connector-producer-lcc-1ab2c-0",
        "connector-dlq-producer-lcc-1ab2c-0",
        "_confluent-ksql-pksqlc-9x_query_CSAS_A_5-1b4e28ba-2fa1-11d2-883f-0016d3cca427-StreamThread-1-producer",
        "confluent-metrics-reporter",
        "flink-statement-7f9c",
        "cluster-link-to-eu",
        "",
    ],
)
def test_clients_of_other_jobs_are_not_producers(world: World, client: str):
    world.api.wrote("orders", client)
    assert not heard(world.poll())


def test_users_clients_are_producers_whatever_they_are_like(world: World):
    for client in ("flink-orders", "confluent", "connectors", "rdkafka", "schema-keeper", "app-1b4e28ba-2fa1-11d2-883f-0016d3cca427"):
        world.api.wrote("orders", client)
    world.api.wrote("orders", "noise-7")
    world.settings = world.settings.model_copy(update={"exclude_clients": ("noise-*",)})
    names = ["app", "confluent", "connectors", "flink-orders", "rdkafka", "schema-keeper"]
    assert heard(world.poll()) == [("START", f"producer/{name}") for name in names]


def test_system_topics_and_deleted_topics_have_no_statistics(world: World):
    for topic in ("__consumer_offsets", "_confluent-metrics", "gone", "confluent-orders"):
        world.api.wrote(topic, "app")
    known = SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, topics=frozenset({"confluent-orders"})),))
    seen = world.poll(known=known)
    assert list(facets(seen)) == ["confluent-orders"]
    assert [one["name"] for event in seen.events for one in event.get("outputs", ())] == ["confluent-orders"]


def test_groups_that_cannot_be_listed_are_found_by_their_lag(world: World):
    world.api.lags("orders", "billing", 3)
    world.api.lags("bills", "billing", 4)
    world.api.lags("orders", "connect-lcc-1", 4)
    (event,) = [one for one in world.poll().events if "job" in one]
    assert (event["job"]["name"], [one["name"] for one in event["inputs"]]) == ("consumer-group/billing", ["bills", "orders"])
    assert event["job"]["facets"]["confluent_statistics"]["lag"] == 7
    assert not world.poll(0.1).events
    listed = SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, groups={"other": frozenset({"orders"})}),))
    world.snapshot = None
    assert not world.poll(known=listed).events


def test_they_tell_what_a_group_reads_of_which_its_cluster_tells_no_more_than_that_it_is_there(world: World):
    world.api.lags("orders", "billing", 3)
    world.api.lags("orders", "other", 3)
    world.api.lags("orders", "deleted", 3)
    groups: dict[str, frozenset[str]] = {"billing": frozenset(), "other": frozenset({"orders"})}
    (event,) = [
        one for one in world.poll(known=SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, groups=groups),))).events if "job" in one
    ]
    assert (event["job"]["name"], [one["name"] for one in event["inputs"]]) == ("consumer-group/billing", ["orders"])
    assert set(event["job"]["facets"]) == {"confluent_statistics"}


def test_a_metric_that_is_not_offered_is_unseen_and_the_others_are_emitted(world: World):
    world.api.wrote("orders", "app")
    labels = {"resource.connector.id": "lcc-1"}
    world.api.rows.append((f"{CONNECT}/received_records", labels, 7))
    del world.api.labels[f"{SERVER}/sent_bytes"]
    seen = world.poll()
    assert [unseen.what for unseen in seen.unseen] == [f"{SERVER}/sent_bytes"]
    assert facets(seen)["orders"].keys() == {"since", "until", "received_bytes", "received_records", "sent_records"}
    assert facets(seen, "job")["orders-sink"]["records_in"] == 7
    assert heard(seen) == [("START", "producer/app")]


@pytest.mark.parametrize(
    "answer", [Reply(500, {}), Reply(403, {"errors": [{"detail": "no"}]}), Reply(200, b"<html>", "text/html"), Reply(200, {"data": 1})]
)
def test_a_page_that_fails_is_unseen_and_no_partial_sums_are_emitted(world: World, answer: Reply):
    for at in range(3):
        world.api.wrote(f"topic-{at}", "app")
    world.standin.failing["/v2/metrics/cloud/query?page_token=2"] = answer
    seen = world.poll()
    assert [unseen.what for unseen in seen.unseen] == [f"{SERVER}/received_bytes", f"{SERVER}/received_records"]
    assert not seen.events
    world.standin.failing.clear()
    assert len(facets(world.poll(0.1))) == 3


def test_pages_without_an_end_are_refused(world: World):
    world.api.wrote("orders", "app")
    world.standin.failing["/v2/metrics/cloud/query"] = Reply(200, {"data": [], "meta": {"pagination": {"next_page_token": "same"}}})
    with pytest.raises(SourceError, match="pages without end"):
        world.poll()


def test_without_a_key_nothing_is_asked(world: World):
    lacking = World(world.standin.url, world.api, world.standin, cloud=None)
    assert "API key" in lacking.plane.unavailable_reason()
    assert not world.plane.unavailable_reason()
    assert not world.plane.translate(world.plane.empty_answer(), None, NO_METADATA, NOW).events


def test_a_producer_is_upstream_of_its_topic(world: World, graph: Server):
    world.api.wrote("orders", "app")
    world.api.lags("orders", "billing", 3)
    graph.send(*map(encode, (*world.poll().events, *world.poll(0.1).events)))
    for direction, job in (("upstream", "producer/app"), ("downstream", "consumer-group/billing")):
        answer = graph.ask("/graph/neighbourhood", kind="dataset", namespace=SPACE, name="orders", direction=direction, depth=3)
        assert {node["name"] for node in answer["nodes"]} == {"orders", job}
    (run,) = graph.ask("/graph/runs", namespace=SPACE, name="producer/app")["runs"]
    assert (run["state"], run["streaming"]) == ("RUNNING", True)
