"""The Metrics API: valid queries, statistics at most hourly, and applications that write as jobs, which stay open when they are silent."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.api.support import Server
from tests.corpora.published import faults
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
SHARED = SharedMetadata(
    names={"sa-1": "order-service"},
    jobs={"lcc-1": (SPACE, "orders-sink"), "clcc-1": (SPACE, "ledger-sink"), "env-1/aws.us-east-1/totals": (SPACE, "flink/totals")},
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
            ids = {"orders-sink": "lcc-1", "ledger-sink": "clcc-1"} if request.parts[5] == "lkc-1" else {}
            return Reply(200, {name: {"id": {"id": id_, "id_type": "ID"}} for name, id_ in ids.items()})
        if request.parts[-2:] == ("descriptors", "metrics"):
            every = [{"name": name, "labels": [{"key": key} for key in keys]} for name, keys in self.labels.items()]
            return self.page(every, request, 7)
        query = request.body
        self.queries.append(query)
        ((metric,),) = [aggregation.values() for aggregation in query["aggregations"]]
        resources = RESOURCES[metric.rpartition("/")[0]]
        fields = query["filter"].get("filters", [query["filter"]])
        allowed = resources | {f"metric.{key}" for key in self.labels[metric]}
        (interval,) = query["intervals"]
        start, end = (parse_time(text) for text in interval.split("/"))
        assert start
        assert end
        rules = [
            all(field["op"] == "EQ" and field["field"] in resources for field in fields),
            set(query["group_by"]) <= allowed,
            start.us % MINUTE == end.us % MINUTE == 0,
            start.us < end.us,
            query["granularity"] == "ALL" or (query["granularity"] == "PT1M" and end.us - start.us <= 6 * HOUR),
            0 < query["limit"] <= 1000,
        ]
        if not all(rules):
            return Reply(400, {"errors": [{"detail": f"a rule is broken: {rules}"}]})
        filters = {(field["field"], field["value"]) for field in fields}
        sums: dict[tuple[str, ...], float] = {}
        for name, labels, value in self.rows:
            if name == metric and filters & set(labels.items()):
                key = tuple(labels.get(label, "") for label in query["group_by"])
                sums[key] = sums.get(key, 0) + value
        data = [{**dict(zip(query["group_by"], key, strict=True)), "value": value, "timestamp": "x"} for key, value in sorted(sums.items())]
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


class Polling:
    """The plane, polled at times; `hour` counts from the first poll."""

    def __init__(self, url: str, api: Telemetry, standin: Standin, **more: Any) -> None:
        self.settings = ConfluentSettings(
            url=url, telemetry_url=url, timeout_s=20, **{"cloud": {"key": "K", "secret": "${env:CLOUD_SECRET}"}, **more}
        )
        self.api, self.standin, self.snapshot = api, standin, None
        self.clients = Clients(self.settings)

    @property
    def plane(self) -> MetricsPlane:
        (plane_,) = planes(PlaneContext(ORGANIZATION, ORGANIZATION, self.clients, self.settings))
        assert isinstance(plane_, MetricsPlane)
        return plane_

    snapshot: Snapshot | None

    def poll(self, hour: float = 0, shared: SharedMetadata = SHARED) -> Observation:
        now = NOW + round(hour * HOUR)
        seen = self.plane.translate(self.plane.fetch(self.snapshot, now), self.snapshot, shared, now)
        self.snapshot = seen.snapshot
        assert not faults(seen.events)
        return seen


@pytest.fixture
def polling(monkeypatch: pytest.MonkeyPatch) -> Iterator[Polling]:
    monkeypatch.setenv("CLOUD_SECRET", "s3cret")
    api = Telemetry()
    with standing(Standin(api.api, "K:s3cret")) as standin:
        yield Polling(standin.url, api, standin)


def facets(seen: Observation, kind: str = "dataset") -> dict[str, Json]:
    """The statistics by name."""
    found = {event[kind]["name"]: event[kind]["facets"].get("confluent_statistics") for event in seen.events if kind in event}
    return {name: {key: value for key, value in facet.items() if key[0] != "_"} for name, facet in found.items() if facet}


def states(seen: Observation) -> list[tuple[str, str]]:
    return [(event["eventType"], event["job"]["name"]) for event in seen.events if "eventType" in event]


def test_one_query_per_metric_covers_all_clusters_and_pages(polling: Polling):
    for at in range(5):
        polling.api.wrote(f"topic-{at}", "app", 1 + at, f"lkc-{1 + at % 2}")
    seen = polling.poll()
    assert not seen.unseen
    assert {name: facet["received_records"] for name, facet in facets(seen).items()} == {f"topic-{at}": 1 + at for at in range(5)}
    pages = [request for request in polling.standin.asked if "page_token" in request]
    assert len(polling.api.queries) == 10 + len([page for page in pages if "query" in page])
    assert len([request for request in polling.standin.asked if "descriptors" in request]) == 2
    first = polling.api.queries[0]
    assert [condition["value"] for condition in first["filter"]["filters"]] == ["lkc-1", "lkc-2"]


def test_statistics_are_emitted_at_most_hourly_and_only_when_they_change(polling: Polling):
    polling.api.wrote("orders", "app", 5)
    assert facets(polling.poll())["orders"] == {
        "since": format_time(END - HOUR),
        "until": format_time(END),
        "received_bytes": 500,
        "sent_bytes": 0,
        "received_records": 5,
        "sent_records": 0,
    }
    polling.api.wrote("orders", "app", 2)
    assert not facets(polling.poll(0.5))
    assert facets(polling.poll(1))["orders"]["received_records"] == 7
    assert not facets(polling.poll(2.5))


def test_connectors_are_listed_once_and_queried_by_id(polling: Polling):
    labels = {"resource.connector.id": "lcc-1"}
    polling.api.rows += [(f"{CONNECT}/received_records", labels, 7), (f"{CONNECT}/dead_letter_queue_records", labels, 2)]
    statistics = facets(polling.poll(shared=NO_METADATA), "job")["orders-sink"]
    assert (statistics["records_in"], statistics["records_out"], statistics["dead_letter_records"]) == (7, 0, 2)
    requests = [request for request in polling.standin.asked if "/connect/" in request]
    assert len(requests) == 2
    polling.poll(0.1)
    assert [request for request in polling.standin.asked if "/connect/" in request] == requests


def test_custom_connectors_have_the_metrics_of_connectors(polling: Polling):
    polling.api.rows += [
        (f"{CONNECT}/received_records", {"resource.connector.id": id_}, count) for id_, count in (("lcc-1", 7), ("clcc-1", 3))
    ]
    found = facets(polling.poll(), "job")
    assert {name: found[name]["records_in"] for name in ("orders-sink", "ledger-sink")} == {"orders-sink": 7, "ledger-sink": 3}


def test_statements_are_found_by_their_region(polling: Polling):
    labels = {"resource.compute_pool.id": "lfcp-1", "resource.flink_statement.name": "totals"}
    polling.api.rows += [(f"{FLINK}/num_records_in", labels, 9), (f"{FLINK}/num_records_out", labels, 4)]
    statistics = facets(polling.poll(), "job")["flink/totals"]
    assert (statistics["records_in"], statistics["records_out"]) == (9, 4)
    polling.snapshot = None
    assert not facets(polling.poll(shared=NO_METADATA), "job")


def test_an_application_that_writes_is_a_job_and_stays_open_when_silent(polling: Polling):
    polling.api.wrote("orders", "app")
    (event,) = [event for event in polling.poll().events if "eventType" in event]
    assert (event["eventType"], event["job"]["namespace"], event["job"]["name"]) == ("START", SPACE, "producer/app")
    assert [dataset["name"] for dataset in event["outputs"]] == ["orders"]
    assert event["job"]["facets"]["jobType"]["jobType"] == "PRODUCER"
    assert event["job"]["facets"]["ownership"]["owners"][0]["name"] == "order-service"
    assert event["job"]["facets"]["confluent_producer"]["principals"] == [{"id": "sa-1", "name": "order-service"}]
    (beat,) = polling.poll(0.1).events
    assert (beat["eventType"], beat["job"]["facets"], beat["outputs"]) == ("RUNNING", {}, [])
    assert beat["run"]["runId"] == event["run"]["runId"]
    written, polling.api.rows = polling.api.rows, []
    assert not polling.poll(0.2).events
    polling.api.rows = written
    polling.api.wrote("bills", "app")
    (again,) = [event for event in polling.poll(0.3).events if "eventType" in event]
    assert again["run"]["runId"] == event["run"]["runId"]
    assert [dataset["name"] for dataset in again["outputs"]] == ["bills", "orders"]
    polling.api.rows = []
    polling.poll(24 * 8)
    assert polling.snapshot
    assert polling.snapshot["producers"] == {"lkc-1": {}}


@pytest.mark.parametrize(
    "client",
    [
        "connector-producer-lcc-1ab2c-0",
        "connector-dlq-producer-lcc-1ab2c-0",
        "connector-producer-clcc-1ab2c-0",
        "orders-clcc-1ab2c",
        "_confluent-ksql-pksqlc-9x_query_CSAS_A_5-1b4e28ba-2fa1-11d2-883f-0016d3cca427-StreamThread-1-producer",
        "confluent-metrics-reporter",
        "flink-statement-7f9c",
        "cluster-link-to-eu",
        "",
    ],
)
def test_clients_of_other_jobs_are_not_producers(polling: Polling, client: str):
    polling.api.wrote("orders", client)
    assert not states(polling.poll())


def test_clients_of_users_are_producers(polling: Polling):
    for client in ("flink-orders", "confluent", "connectors", "rdkafka", "schema-keeper", "app-1b4e28ba-2fa1-11d2-883f-0016d3cca427"):
        polling.api.wrote("orders", client)
    polling.api.wrote("orders", "noise-7")
    polling.settings = polling.settings.model_copy(update={"exclude_clients": ("noise-*",)})
    names = ["app", "confluent", "connectors", "flink-orders", "rdkafka", "schema-keeper"]
    assert states(polling.poll()) == [("START", f"producer/{name}") for name in names]


def test_system_topics_and_deleted_topics_have_no_statistics(polling: Polling):
    for topic in ("__consumer_offsets", "_confluent-metrics", "gone", "confluent-orders"):
        polling.api.wrote(topic, "app")
    shared = SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, topics=frozenset({"confluent-orders"})),))
    seen = polling.poll(shared=shared)
    assert list(facets(seen)) == ["confluent-orders"]
    assert [dataset["name"] for event in seen.events for dataset in event.get("outputs", ())] == ["confluent-orders"]


def test_groups_that_cannot_be_listed_are_found_by_their_lag(polling: Polling):
    polling.api.lags("orders", "billing", 3)
    polling.api.lags("bills", "billing", 4)
    polling.api.lags("orders", "connect-lcc-1", 4)
    (event,) = [event for event in polling.poll().events if "job" in event]
    assert (event["job"]["name"], [dataset["name"] for dataset in event["inputs"]]) == ("consumer-group/billing", ["bills", "orders"])
    assert event["job"]["facets"]["confluent_statistics"]["lag"] == 7
    assert not polling.poll(0.1).events
    listed = SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, groups={"other": frozenset({"orders"})}),))
    polling.snapshot = None
    assert not polling.poll(shared=listed).events


def test_lag_shows_what_a_group_reads_if_its_cluster_only_lists_the_group(polling: Polling):
    polling.api.lags("orders", "billing", 3)
    polling.api.lags("orders", "other", 3)
    polling.api.lags("orders", "deleted", 3)
    groups: dict[str, frozenset[str]] = {"billing": frozenset(), "other": frozenset({"orders"})}
    (event,) = [
        event
        for event in polling.poll(shared=SharedMetadata(clusters=(ClusterMetadata("lkc-1", SPACE, groups=groups),))).events
        if "job" in event
    ]
    assert (event["job"]["name"], [dataset["name"] for dataset in event["inputs"]]) == ("consumer-group/billing", ["orders"])
    assert set(event["job"]["facets"]) == {"confluent_statistics"}


def test_a_metric_that_is_not_offered_is_unseen_and_the_others_are_emitted(polling: Polling):
    polling.api.wrote("orders", "app")
    labels = {"resource.connector.id": "lcc-1"}
    polling.api.rows.append((f"{CONNECT}/received_records", labels, 7))
    del polling.api.labels[f"{SERVER}/sent_bytes"]
    seen = polling.poll()
    assert [unseen.what for unseen in seen.unseen] == [f"{SERVER}/sent_bytes"]
    assert facets(seen)["orders"].keys() == {"since", "until", "received_bytes", "received_records", "sent_records"}
    assert facets(seen, "job")["orders-sink"]["records_in"] == 7
    assert states(seen) == [("START", "producer/app")]


@pytest.mark.parametrize(
    "answer", [Reply(500, {}), Reply(403, {"errors": [{"detail": "no"}]}), Reply(200, b"<html>", "text/html"), Reply(200, {"data": 1})]
)
def test_a_page_that_fails_is_unseen_and_no_partial_sums_are_emitted(polling: Polling, answer: Reply):
    for at in range(3):
        polling.api.wrote(f"topic-{at}", "app")
    polling.standin.failing["/v2/metrics/cloud/query?page_token=2"] = answer
    seen = polling.poll()
    assert [unseen.what for unseen in seen.unseen] == [f"{SERVER}/received_bytes", f"{SERVER}/received_records"]
    assert not seen.events
    polling.standin.failing.clear()
    assert len(facets(polling.poll(0.1))) == 3


def test_endless_pages_are_refused(polling: Polling):
    polling.api.wrote("orders", "app")
    polling.standin.failing["/v2/metrics/cloud/query"] = Reply(200, {"data": [], "meta": {"pagination": {"next_page_token": "same"}}})
    with pytest.raises(SourceError, match="more pages than a query can have"):
        polling.poll()


def test_without_a_key_no_requests_are_sent(polling: Polling):
    without_key = Polling(polling.standin.url, polling.api, polling.standin, cloud=None)
    assert "API key" in without_key.plane.unavailable_reason()
    assert not polling.plane.unavailable_reason()
    assert not polling.plane.translate(polling.plane.empty_answer(), None, NO_METADATA, NOW).events


def test_a_producer_is_upstream_of_its_topic(polling: Polling, graph: Server):
    polling.api.wrote("orders", "app")
    polling.api.lags("orders", "billing", 3)
    graph.send(*map(encode, (*polling.poll().events, *polling.poll(0.1).events)))
    for direction, job in (("upstream", "producer/app"), ("downstream", "consumer-group/billing")):
        answer = graph.ask("/graph/neighbourhood", kind="dataset", namespace=SPACE, name="orders", direction=direction, depth=3)
        assert {node["name"] for node in answer["nodes"]} == {"orders", job}
    (run,) = graph.ask("/graph/runs", namespace=SPACE, name="producer/app")["runs"]
    assert (run["state"], run["streaming"]) == ("RUNNING", True)
