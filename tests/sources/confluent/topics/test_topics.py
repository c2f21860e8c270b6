"""Topics of a cluster of Confluent Cloud: their facets, which ones are internal, and when they are gone."""

from typing import Any

import pytest
from tests.corpora.published import faults
from tests.sources.confluent.polling import LKC, SPACE, Polling, bare, polling
from tests.sources.http import Reply, Request
from tests.sources.kafka.summaries import summaries

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.topics.plane import planes

SHARED = SharedMetadata(names={"sa-1": "order service"}, tags={(SPACE, "orders"): frozenset(("production", "pii"))})
WHOLE = "confluent_kafka dataSource datasetType kafka_access kafka_topic"


class Api:
    """A cluster's topics; `pages`: whether the list comes in pages of one."""

    def __init__(self) -> None:
        self.topics: dict[str, int] = {"orders": 6, "confluent-moves": 1, "_drafts": 1, "__consumer_offsets": 50, "_confluent-metrics": 1}
        self.configs = {"orders": {"cleanup.policy": "compact"}}
        self.rules: list[tuple[str, ...]]
        self.rules = [("orders", "LITERAL", "User:sa-1", "READ", "ALLOW"), ("ord", "PREFIXED", "User:sa-2", "ALL", "ALLOW")]
        self.hidden: set[str] = set()
        self.pages = False

    def __call__(self, request: Request) -> Reply:
        assert request.parts[:4] == ("kafka", "v3", "clusters", LKC)
        match request.parts[4:]:
            case ("topics",):
                return self._listed(request)
            case ("topics", "-", "configs"):
                return Reply(200, {"data": list(self._configs())})
            case ("topics", name):
                if name in self.hidden:
                    return Reply(403, {"error_code": 40301, "message": "not authorized"})
                return (
                    Reply(200, self._topic(name)) if name in self.topics else Reply(404, {"error_code": 40403, "message": "no such topic"})
                )
            case ("acls",):
                assert request.query == {"resource_type": "TOPIC", "principal": "UserV2:*"}
                names = ("resource_name", "pattern_type", "principal", "operation", "permission", "host")
                rules = [dict(zip(names, (*rule, "*")[: len(names)], strict=True)) for rule in self.rules]
                return Reply(200, {"data": [{"resource_type": "TOPIC", **rule} for rule in rules]})
        return Reply(404, {"message": "no such call"})

    def _listed(self, request: Request) -> Reply:
        every = [self._topic(name) for name in self.topics if name not in self.hidden]
        if not self.pages:
            return Reply(200, {"metadata": {"next": None}, "data": every})
        at = int(request.query.get("page_token", 0))
        following = f"/kafka/v3/clusters/{LKC}/topics?page_token={at + 1}" if at + 1 < len(every) else None
        return Reply(200, {"metadata": {"next": following}, "data": every[at : at + 1]})

    def _topic(self, name: str) -> dict[str, Any]:
        inner = name.startswith("__")
        return {"topic_name": name, "is_internal": inner, "partitions_count": self.topics[name], "replication_factor": 3, "cluster_id": LKC}

    def _configs(self) -> Any:
        for name in self.topics:
            yield {"topic_name": name, "name": "retention.ms", "value": "604800000", "is_default": True, "source": "DEFAULT_CONFIG"}
            for key, value in self.configs.get(name, {}).items():
                yield {"topic_name": name, "name": key, "value": value, "is_default": False, "source": "DYNAMIC_TOPIC_CONFIG"}
            secret = {"name": "confluent.key", "value": None, "is_sensitive": True, "source": "DYNAMIC_TOPIC_CONFIG"}
            yield {"topic_name": name, **secret}


@pytest.fixture
def api() -> Api:
    return Api()


@pytest.fixture
def cluster(api: Api, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("SECRET", "hunter2-in-clear")
    with polling(api, planes, SHARED, kafka={LKC: {"key": "KEY", "secret": "${env:SECRET}"}}) as poller:
        yield poller


def test_topics_of_users_are_reported_with_all_facets(cluster: Polling):
    seen = cluster.poll()
    assert summaries(seen.events) == [
        f"_drafts: {WHOLE}",
        f"confluent-moves: {WHOLE}",
        f"orders: {WHOLE}",
    ]
    assert not faults(seen.events)
    assert not seen.unseen
    dataset = seen.events[2]["dataset"]
    assert (dataset["namespace"], dataset["name"]) == (SPACE, "orders")
    facets = bare(dataset["facets"])
    assert facets["confluent_kafka"] == {
        "cluster_id": LKC,
        "environment_id": "env-a1",
        "partitions": 6,
        "replication_factor": 3,
        "tags": ["pii", "production"],
        "cluster_name": "orders",
        "environment_name": "production",
        "cloud": "aws",
        "region": "eu-west-1",
        "bootstrap_servers": "pkc-1.example.org:9092",
    }
    assert facets["kafka_topic"]["config"] == {"cleanup.policy": "compact"}
    assert facets["kafka_access"] == {
        "confidence": "LOW",
        "rules": 2,
        "mayRead": ["User:sa-1", "User:sa-2"],
        "mayWrite": ["User:sa-2"],
        "names": {"User:sa-1": "order service"},
    }
    assert cluster.shared_metadata.clusters == (
        ClusterMetadata(LKC, SPACE, frozenset(("pkc-1.example.org:9092",)), frozenset(("orders", "confluent-moves", "_drafts"))),
    )
    assert cluster.server.asked == [
        f"GET /kafka/v3/clusters/{LKC}/{path}" for path in ("topics", "topics/-/configs", "acls?resource_type=TOPIC&principal=UserV2%3A%2A")
    ]


def test_who_may_not_read_from_some_hosts_may_read_from_others(cluster: Polling, api: Api):
    api.rules += [("orders", "LITERAL", "User:sa-1", "READ", "DENY", "10.0.0.7"), ("orders", "LITERAL", "User:sa-2", "WRITE", "DENY")]
    facet = bare(cluster.poll().events[2]["dataset"]["facets"])["kafka_access"]
    assert (facet["mayRead"], facet["mayWrite"]) == (["User:sa-1", "User:sa-2"], [])


def test_unchanged_topics_get_no_events_and_a_changed_topic_gets_one(cluster: Polling, api: Api):
    first = cluster.poll()
    again = cluster.poll()
    assert not again.events
    assert again.snapshot == first.snapshot
    api.configs["orders"] = {"cleanup.policy": "delete"}
    api.topics["_drafts"] = 2
    assert [event["dataset"]["name"] for event in cluster.poll().events] == ["_drafts", "orders"]


def test_a_paged_list_gives_the_same_events(cluster: Polling, api: Api):
    first = cluster.poll()
    api.pages = True
    assert cluster.poll().snapshot == first.snapshot


def test_a_topic_is_gone_when_the_cluster_reports_it_missing(cluster: Polling, api: Api):
    cluster.poll()
    api.hidden = {"orders"}
    del api.topics["_drafts"]
    seen = cluster.poll()
    assert summaries(seen.events) == ["_drafts:  [DROP]"]
    ((what, why, _),) = seen.unseen
    assert what == "topics that are no longer listed"
    assert "(1: orders)" in why
    api.hidden = set()
    assert not cluster.poll().events
    assert summaries(cluster.end_scope().events) == ["confluent-moves:  [DROP]", "orders:  [DROP]"]


@pytest.mark.parametrize(
    "answer",
    [
        Reply(500, {"message": "broken"}),
        Reply(403, {}),
        Reply(200, b"<html>", "text/html"),
        Reply(200, {"metadata": {}}),
        Reply(200, {"data": "none"}),
        Reply(200, b'{"data": [{"topic_na'),
    ],
)
def test_a_failed_list_gives_no_events(cluster: Polling, answer: Reply):
    cluster.poll()
    cluster.server.failing[f"/kafka/v3/clusters/{LKC}/topics"] = answer
    with pytest.raises(SourceError):
        cluster.poll()


def test_half_a_list_gives_no_events(cluster: Polling, api: Api):
    cluster.poll()
    api.pages = True
    cluster.server.failing[f"/kafka/v3/clusters/{LKC}/topics?page_token=2"] = Reply(503, {})
    with pytest.raises(SourceError):
        cluster.poll()


@pytest.mark.parametrize(("path", "what"), [("topics/-/configs", "topics: configurations"), ("acls", "rights on topics")])
def test_a_failed_part_is_unseen_and_keeps_its_state(cluster: Polling, path: str, what: str):
    first = cluster.poll()
    cluster.server.failing[f"/kafka/v3/clusters/{LKC}/{path}"] = Reply(403, {})
    second = cluster.poll()
    assert not second.events
    assert [part.what for part in second.unseen] == [what]
    cluster.server.failing.clear()
    assert not cluster.poll().events
    assert {name: state["said"] for name, state in first.snapshot["topics"].items()} == {
        name: state["said"] for name, state in cluster.snapshot["topics"].items()
    }


def test_a_topic_that_changed_while_its_configuration_was_hidden_is_reported_with_it_later(cluster: Polling, api: Api):
    cluster.poll()
    cluster.server.failing[f"/kafka/v3/clusters/{LKC}/topics/-/configs"] = Reply(403, {})
    api.topics["orders"] = 12
    (event,) = cluster.poll().events
    assert "config" not in event["dataset"]["facets"]["kafka_topic"]
    cluster.server.failing.clear()
    (event,) = cluster.poll().events
    assert event["dataset"]["facets"]["kafka_topic"]["config"] == {"cleanup.policy": "compact"}
    assert not cluster.poll().events


def test_a_cluster_without_a_key_is_not_observed(cluster: Polling):
    cluster.settings = cluster.settings.model_copy(update={"kafka": {}})
    assert cluster.plane.unavailable_reason() == f"no API key is set for {LKC}"
