"""Cluster links: which topic is whose mirror, and a run for the time that a link copies."""

from typing import Any

import pytest
from tests.corpora.published import faults
from tests.sources.confluent.polling import ENV, LKC, SPACE, Polling, bare, edges, polling
from tests.sources.http import Reply, Request

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.cluster_links.plane import planes
from lineage_bridge.sources.confluent.organization import KafkaCluster, Organization

OTHER = KafkaCluster("lkc-source", "env-z9", "elsewhere")
START, RUNNING = "START cluster-link/east", "RUNNING cluster-link/east"


class Api:
    """A link `east` from a cluster of the organization, and `partner` from one outside."""

    def __init__(self) -> None:
        self.mirrors = {("east", "orders", "east.orders"): "ACTIVE", ("east", "bills", "east.bills"): "ACTIVE"}
        self.sources = {"east": OTHER.id, "idle": "lkc-any"}

    def __call__(self, request: Request) -> Reply:
        match request.parts[4:]:
            case ("links",):
                return Reply(200, {"data": [self._link(name, source) for name, source in self.sources.items()]})
            case ("links", "-", "mirrors"):
                return Reply(200, {"data": [self._mirror(*mirror, status) for mirror, status in self.mirrors.items()]})
        return Reply(404, {"message": "no such call"})

    @staticmethod
    def _link(name: str, source: str) -> Any:
        return {
            "link_name": name,
            "link_id": f"id-{name}",
            "source_cluster_id": source,
            "destination_cluster_id": None,
            "link_state": "ACTIVE",
        }

    @staticmethod
    def _mirror(link: str, source: str, topic: str, status: str) -> Any:
        lags = {"items": [{"partition": 0, "lag": 3}, {"partition": 1, "lag": 4}]}
        names = {"link_name": link, "source_topic_name": source, "mirror_topic_name": topic, "mirror_status": status}
        return {**names, "mirror_lags": lags, "state_time_ms": 1767000000000, "num_partitions": 2}


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def cluster(api: Api, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    with polling(api, planes, NO_METADATA, kafka={"*": {"key": "KEY", "secret": "${env:SECRET}"}}) as poller:
        poller.organization = Organization(kafka_clusters=(*poller.observed.kafka_clusters, OTHER))
        yield poller


def event_lines(seen: Any) -> list[str]:
    assert not faults(seen.events)
    return [f"{event['eventType']} {event['job']['name']}" for event in seen.events]


def runs(seen: Any) -> set[str]:
    return {event["run"]["runId"] for event in seen.events}


def test_each_topic_flows_only_to_its_mirror(cluster: Polling):
    seen = cluster.poll()
    assert event_lines(seen) == [START]
    assert edges(seen) == [
        f"confluent://env-z9/lkc-source bills > {SPACE} east.bills",
        f"confluent://env-z9/lkc-source orders > {SPACE} east.orders",
    ]
    (event,) = seen.events
    assert event["job"]["namespace"] == SPACE
    facets = bare(event["job"]["facets"])
    assert facets["confluent_cluster_link"] == {
        "link_name": "east",
        "link_id": "id-east",
        "source_cluster_id": "lkc-source",
        "destination_cluster_id": LKC,
        "environment_id": ENV,
        "state": "ACTIVE",
    }
    assert facets["jobType"]["jobType"] == "CLUSTER_LINK"
    assert bare(event["run"]["facets"])["confluent_mirror_lag"] == {"rows": 14, "topics": {"east.bills": 7, "east.orders": 7}}
    assert [(dataset["name"], bare(dataset["facets"])["confluent_mirror"]) for dataset in event["outputs"]][1] == (
        "east.orders",
        {
            "link_name": "east",
            "source_cluster_id": "lkc-source",
            "source_topic": "orders",
            "status": "ACTIVE",
            "since": "2025-12-29T09:20:00.000000Z",
        },
    )
    assert [request.rpartition(LKC)[2] for request in cluster.server.asked] == ["/links", "/links/-/mirrors"]


def test_an_unchanged_link_sends_a_heartbeat(cluster: Polling):
    first, second = cluster.poll(), cluster.poll()
    assert event_lines(second) == [RUNNING]
    assert runs(second) == runs(first)
    (event,) = second.events
    assert not event["inputs"]
    assert not event["outputs"]
    assert not event["job"]["facets"]
    assert set(event["run"]["facets"]) == {"confluent_mirror_lag"}
    assert cluster.poll().snapshot == first.snapshot


def test_the_source_of_a_mirror_has_the_namespace_in_the_shared_metadata(cluster: Polling, api: Api):
    api.sources["east"] = "lkc-foreign"
    assert edges(cluster.poll())[0].startswith("kafka://lkc-foreign bills")
    cluster.shared = SharedMetadata((ClusterMetadata("lkc-foreign", "kafka://broker.example.org:9092"),))
    assert edges(cluster.poll())[0].startswith("kafka://broker.example.org:9092 bills")


@pytest.mark.parametrize(
    ("statuses", "end"),
    [
        (("STOPPED", "STOPPED"), "COMPLETE"),
        (("STOPPED", "PAUSED"), "ABORT"),
        (("LINK_PAUSED", "LINK_PAUSED"), "ABORT"),
        (("PAUSED", "FAILED"), "FAIL"),
        (("SOURCE_UNAVAILABLE", "STOPPED"), "FAIL"),
    ],
)
def test_a_run_ends_when_no_mirror_copies(cluster: Polling, api: Api, statuses: tuple[str, ...], end: str):
    first = cluster.poll()
    api.mirrors = dict(zip(api.mirrors, ("ACTIVE", statuses[1]), strict=True))
    assert event_lines(cluster.poll()) == [RUNNING]
    api.mirrors = dict(zip(api.mirrors, statuses, strict=True))
    seen = cluster.poll()
    assert event_lines(seen) == [f"{end} cluster-link/east"]
    assert runs(seen) == runs(first)
    assert ("errorMessage" in seen.events[0]["run"]["facets"]) == (end == "FAIL")
    assert not cluster.poll().events
    api.mirrors = dict.fromkeys(api.mirrors, "ACTIVE")
    again = cluster.poll()
    assert event_lines(again) == [START]
    assert len(edges(again)) == 2
    assert runs(again) != runs(first)


def test_a_link_that_copied_before_it_was_seen_is_reported_once(cluster: Polling, api: Api):
    api.mirrors = dict.fromkeys(api.mirrors, "STOPPED")
    seen = cluster.poll()
    assert event_lines(seen) == ["COMPLETE cluster-link/east"]
    assert len(edges(seen)) == 2
    assert not cluster.poll().events


def test_a_new_mirror_joins_the_run_and_a_removed_mirror_ends_it(cluster: Polling, api: Api):
    first = cluster.poll()
    api.mirrors["east", "refunds", "east.refunds"] = "PENDING_MIRROR"
    second = cluster.poll()
    assert event_lines(second) == [RUNNING]
    assert runs(second) == runs(first)
    assert len(edges(second)) == 3
    del api.mirrors["east", "orders", "east.orders"]
    third = cluster.poll()
    assert event_lines(third) == ["COMPLETE cluster-link/east", START]
    assert len(edges(third)) == 2
    assert event_lines(cluster.poll()) == [RUNNING]


def test_a_deleted_link_is_aborted(cluster: Polling, api: Api):
    first = cluster.poll()
    api.mirrors, api.sources = {}, {}
    seen = cluster.poll()
    assert event_lines(seen) == ["ABORT cluster-link/east"]
    assert runs(seen) == runs(first)
    assert not cluster.poll().events


def test_links_end_with_their_cluster(cluster: Polling):
    cluster.poll()
    assert event_lines(cluster.end_scope()) == ["ABORT cluster-link/east"]


def test_a_cluster_that_does_not_support_links_has_none(cluster: Polling):
    cluster.server.failing["/kafka"] = Reply(404, {})
    assert not cluster.poll().events


@pytest.mark.parametrize("path", ["links", "links/-/mirrors"])
@pytest.mark.parametrize("answer", [Reply(404, {}), Reply(403, {}), Reply(500, {}), Reply(200, b"<html>"), Reply(200, {"data": 3})])
def test_a_failed_list_ends_no_runs(cluster: Polling, path: str, answer: Reply):
    cluster.poll()
    cluster.server.failing[f"/kafka/v3/clusters/{LKC}/{path}"] = answer
    with pytest.raises(SourceError):
        cluster.poll()
    cluster.server.failing.clear()
    assert event_lines(cluster.poll()) == [RUNNING]
