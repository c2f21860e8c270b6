"""Groups by REST, where the brokers cannot be reached: what each kind of cluster reports."""

from typing import Any

import pytest
from msgspec.structs import replace
from tests.corpora.published import faults
from tests.sources.confluent.polling import LKC, SPACE, Polling, bare, edges, polling, topic_metadata
from tests.sources.http import Reply, Request
from tests.sources.kafka.summaries import summaries

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.observer import SameJob
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, SharedMetadata
from lineage_bridge.sources.confluent.groups.plane import planes

KEY = {"kafka": {"*": {"key": "KEY", "secret": "${env:SECRET}"}}}
MISSING = Reply(404, {"error_code": 40403, "message": "no such call"})
ROOT = f"/kafka/v3/clusters/{LKC}"


class Api:
    """Groups: `read` is what a group has read of each partition (topic to offsets), of 100 records each; `states` has the listed groups."""

    def __init__(self) -> None:
        self.read = {
            "billing": {"orders": [90, 80], "refunds": [100]},
            "idle": {"orders": [5, 5]},
            "connect-lcc-1a2b": {"orders": [1, 1]},
            "_confluent-ksql-pksqlc-1query_CSAS_1": {"orders": [1, 1]},
        }
        self.states = {"billing": "STABLE", "idle": "EMPTY", "connect-lcc-1a2b": "STABLE", "_confluent-ksql-pksqlc-1query_CSAS_1": "STABLE"}
        self.share = {"picking": ("STABLE", ["orders"]), "resting": ("EMPTY", ["bills"])}
        self.streams = {"totals": [["orders"], []]}
        self.has_lags = self.has_more = True
        self.hidden: set[str] = set()

    def __call__(self, request: Request) -> Reply:
        folder, *rest = request.parts[4:]
        if folder == "consumer-groups":
            return self._consumer_groups(tuple(rest))
        return self._newer_groups(folder, tuple(rest)) if self.has_more and folder in ("share-groups", "streams-groups") else MISSING

    def _consumer_groups(self, parts: tuple[str, ...]) -> Reply:
        match parts:
            case ():
                return _list({"consumer_group_id": name, **_group(state)} for name, state in self.states.items() if name not in self.hidden)
            case (name,) if name in self.hidden:
                return Reply(403, {"message": "not authorized"})
            case (name,) if name in self.states:
                return Reply(200, {"consumer_group_id": name, **_group(self.states[name])})
            case (name, "lags") if self.has_lags and name in self.states:
                return _list(self._lags(name))
            case (name, "consumers"):
                return _list([{"consumer_id": f"{name}-0-x", "client_id": f"{name}-0", "instance_id": None}])
        return MISSING

    def _newer_groups(self, folder: str, parts: tuple[str, ...]) -> Reply:
        share: dict[str, Any] = {
            name: {
                "share_group_id": name,
                "state": state,
                "assigned_topic_partitions": [{"topic_name": topic, "partition_id": 0} for topic in read],
            }
            for name, (state, read) in self.share.items()
        }
        streams: dict[str, Any] = {name: {"group_id": name, "state": "STABLE"} for name in self.streams}
        group = share if folder == "share-groups" else streams
        match parts:
            case ():
                return _list(group.values())
            case (name,) if name in group:
                return Reply(200, group[name])
            case (name, "subtopologies") if name in self.streams:
                return _list({"subtopology_id": str(at), "source_topics": read} for at, read in enumerate(self.streams[name]))
        return MISSING

    def _lags(self, name: str) -> Any:
        awake = self.states[name] != "EMPTY"
        for topic, offsets in self.read[name].items():
            for at, offset in enumerate(offsets):
                identity = {
                    "consumer_id": f"{name}-{at}-x" if awake else "",
                    "client_id": f"{name}-{at}" if awake else "",
                    "instance_id": None,
                }
                yield {
                    "topic_name": topic,
                    "partition_id": at,
                    "current_offset": offset,
                    "log_end_offset": 100,
                    "lag": 100 - offset,
                    **identity,
                }


def _list(entries: Any) -> Reply:
    return Reply(200, {"metadata": {"next": None}, "data": list(entries)})


def _group(state: str) -> dict[str, Any]:
    return {"state": state, "is_simple": False, "partition_assignor": "range", "type": "CLASSIC"}


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def cluster(api: Api, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    shared = topic_metadata("orders", "refunds", "bills", "totals-by-id-repartition", "totals-sums-changelog")
    with polling(api, planes, shared, groups_by="rest", **KEY) as poller:
        yield poller


def event_of(seen: Any, group: str) -> Any:
    (event,) = [event for event in seen.events if event["job"]["name"] == f"consumer-group/{group}"]
    return event


def test_a_dedicated_cluster_reports_what_groups_read_and_their_offsets(cluster: Polling):
    seen = cluster.poll()
    assert summaries(seen.events) == [
        "START consumer-group/billing: orders=0 refunds=0",
        "COMPLETE consumer-group/idle: orders",
        "START consumer-group/picking: orders",
        "COMPLETE consumer-group/resting: bills",
        "START consumer-group/totals: orders totals-by-id-repartition -> totals-by-id-repartition totals-sums-changelog",
    ]
    assert not faults(seen.events)
    assert not seen.unseen
    billing = event_of(seen, "billing")
    assert billing["job"]["namespace"] == SPACE
    facets = bare(billing["run"]["facets"])
    assert facets["kafka_lag"]["topics"] == {"orders": 30, "refunds": 0}
    assert facets["kafka_group"] == {
        "clusterId": LKC,
        "groupType": "classic",
        "state": "Stable",
        "assignor": "range",
        "memberCount": 2,
        "members": [{"clientId": "billing-0", "partitions": 2}, {"clientId": "billing-1", "partitions": 1}],
    }
    assert bare(event_of(seen, "picking")["run"]["facets"]["kafka_group"]) == {
        "clusterId": LKC,
        "groupType": "share",
        "state": "Stable",
        "membersUnknown": True,
    }
    assert edges(seen) == [
        f"{SPACE} orders > {SPACE} totals-by-id-repartition",
        f"{SPACE} totals-by-id-repartition > {SPACE} totals-sums-changelog",
    ]
    (metadata,) = cluster.shared_metadata.clusters
    assert metadata.groups["billing"] == {"orders", "refunds"}
    assert metadata.read["billing", "orders"] == 170
    assert metadata.ends == {"orders": 200, "refunds": 100}


def test_new_information_about_a_group_is_emitted(cluster: Polling, api: Api):
    topics, cluster.shared = cluster.shared, NO_METADATA
    assert summaries([event_of(cluster.poll(), "totals")]) == ["START consumer-group/totals: orders"]
    cluster.shared = topics
    api.share["picking"] = ("STABLE", ["orders", "refunds"])
    seen = cluster.poll()
    assert summaries([event_of(seen, "totals")]) == [
        "RUNNING consumer-group/totals: orders totals-by-id-repartition -> totals-by-id-repartition totals-sums-changelog"
    ]
    assert summaries([event_of(seen, "picking")]) == ["RUNNING consumer-group/picking: orders refunds"]
    assert "kafka_group" in event_of(seen, "picking")["run"]["facets"]
    assert not event_of(cluster.poll(), "totals")["job"]["facets"]


def test_details_of_groups_of_connectors_and_queries_are_not_fetched(cluster: Polling):
    cluster.poll()
    paths = [request.partition(LKC)[2] for request in cluster.server.asked]
    assert paths[:3] == ["/consumer-groups", "/share-groups", "/streams-groups"]
    assert sorted(paths[3:5]) == ["/consumer-groups/billing/lags", "/consumer-groups/idle/lags"], "asked for side by side"
    assert paths[5:] == ["/streams-groups/totals/subtopologies"]


def test_heartbeats_count_records_read(cluster: Polling, api: Api):
    first = cluster.poll()
    api.read["billing"]["orders"] = [95, 80]
    second = cluster.poll()
    assert summaries(second.events) == [
        "RUNNING consumer-group/billing: orders=5 refunds=0",
        "RUNNING consumer-group/picking: orders",
        "RUNNING consumer-group/totals: orders totals-by-id-repartition",
    ]
    for event in second.events:
        assert not event["job"]["facets"]
        assert event["run"]["runId"] == event_of(first, event["job"]["name"].partition("/")[2])["run"]["runId"]
    before = cluster.snapshot
    assert len(cluster.poll().events) == 3
    assert cluster.snapshot["producers"] == before["producers"]


@pytest.mark.parametrize("kind", ["Basic", "Standard", "Enterprise", "Freight"])
def test_other_clusters_report_members_but_not_what_they_read(cluster: Polling, api: Api, kind: str):
    api.has_lags = False
    (here,) = cluster.observed.kafka_clusters
    cluster.observed = replace(cluster.observed, kafka_clusters=(replace(here, kind=kind),))
    seen = cluster.poll()
    assert not faults(seen.events)
    assert [part.what for part in seen.unseen] == ["groups: offsets"]
    assert summaries([event_of(seen, "billing")]) == ["START consumer-group/billing: "]
    assert bare(event_of(seen, "billing")["run"]["facets"]["kafka_group"])["members"] == [{"clientId": "billing-0"}]
    assert summaries([event_of(seen, "picking")]) == ["START consumer-group/picking: orders"]
    assert not [request for request in cluster.server.asked if "/lags" in request or "idle" in request]
    assert [event["eventType"] for event in cluster.poll().events] == ["RUNNING"] * 3


def test_a_cluster_without_lists_of_newer_groups_has_none(cluster: Polling, api: Api):
    api.has_more = False
    seen = cluster.poll()
    assert [event["job"]["name"] for event in seen.events] == ["consumer-group/billing", "consumer-group/idle"]
    assert not seen.unseen


def test_a_group_is_gone_when_the_cluster_reports_it_missing(cluster: Polling, api: Api):
    cluster.poll()
    api.hidden = {"billing"}
    del api.share["picking"]
    seen = cluster.poll()
    assert summaries(seen.events)[0] == "ABORT consumer-group/picking: orders"
    assert [event["job"]["name"] for event in seen.events] == ["consumer-group/picking", "consumer-group/totals"]
    assert [part.what for part in seen.unseen] == ["groups that are no longer listed"]
    api.hidden = set()
    assert summaries(cluster.poll().events)[0].startswith("RUNNING consumer-group/billing")
    assert [event["eventType"] for event in cluster.end_scope().events] == ["ABORT", "ABORT"]


@pytest.mark.parametrize("folder", ["consumer-groups", "share-groups", "streams-groups"])
@pytest.mark.parametrize("answer", [Reply(403, {}), Reply(500, {}), Reply(200, b"<html>"), Reply(200, {"data": 3})])
def test_a_failed_list_ends_no_runs(cluster: Polling, folder: str, answer: Reply):
    cluster.poll()
    cluster.server.failing[f"{ROOT}/{folder}"] = answer
    with pytest.raises(SourceError):
        cluster.poll()
    cluster.server.failing.clear()
    assert {event["eventType"] for event in cluster.poll().events} == {"RUNNING"}


def test_lag_that_is_refused_for_one_group_is_unseen(cluster: Polling):
    first = cluster.poll()
    cluster.server.failing[f"{ROOT}/consumer-groups/billing/lags"] = Reply(403, {"message": "no"})
    seen = cluster.poll()
    (part,) = seen.unseen
    assert part.what == "groups: offsets"
    assert "(1: billing)" in part.why
    assert summaries([event_of(seen, "billing")]) == ["RUNNING consumer-group/billing: orders=0 refunds=0"]
    assert not event_of(seen, "billing")["job"]["facets"]
    assert cluster.snapshot["groups"]["billing"]["at"] == first.snapshot["groups"]["billing"]["at"]


def test_a_group_with_a_known_owner_is_that_job(cluster: Polling):
    cluster.poll()
    cluster.shared = SharedMetadata(cluster.shared.clusters, owners={(LKC, "billing"): (SPACE, "orders-sink")})
    seen = cluster.poll()
    assert summaries([event_of(seen, "billing")])[0].startswith("COMPLETE consumer-group/billing")
    assert seen.aliases == (
        SameJob(SPACE, "orders-sink", SPACE, "consumer-group/billing", f"group billing of cluster {LKC} is that job's"),
    )
    assert not cluster.poll().aliases


def test_brokers_that_cannot_be_reached_are_tried_again_after_an_hour(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    with polling(api, planes, NO_METADATA, timeout_s=1, **KEY) as cluster:
        (here,) = cluster.observed.kafka_clusters
        cluster.observed = replace(cluster.observed, kafka_clusters=(replace(here, bootstrap="127.0.0.1:1"),))
        first = cluster.poll()
        assert [part.what for part in first.unseen] == ["brokers"]
        assert "127.0.0.1:1" in first.unseen[0].why
        assert event_of(first, "billing")["eventType"] == "START"
        tried = first.snapshot["blocked"][1]
        assert cluster.poll(50).snapshot["blocked"][1] == tried
        assert cluster.poll(5).snapshot["blocked"][1] == tried
        assert cluster.poll(5).snapshot["blocked"][1] > tried


def test_with_protocol_only_unreachable_brokers_are_an_error(api: Api, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    with polling(api, planes, NO_METADATA, groups_by="protocol", timeout_s=1, **KEY) as cluster:
        (here,) = cluster.observed.kafka_clusters
        cluster.observed = replace(cluster.observed, kafka_clusters=(replace(here, bootstrap="127.0.0.1:1"),))
        with pytest.raises(SourceError):
            cluster.poll()
        assert not cluster.server.asked
