"""Topics as datasets: what is told of them, when, and when they are gone."""

from typing import Any

import pytest
from tests.sources.kafka.summaries import MINUTE_US, T0, poll, summaries

from lineage_bridge.sources.common.kafka.events.translate import recorded_names
from lineage_bridge.sources.common.kafka.look.cluster import AclRule, ClusterState, KafkaTopic, Producer
from lineage_bridge.sources.common.kafka.look.purposes import mirror_of, mirrors, purpose
from lineage_bridge.sources.common.observer import SameNamespace, Unseen

WHOLE = "dataSource datasetType kafka_statistics kafka_topic"


def topics(**more: Any) -> ClusterState:
    here = {"orders": KafkaTopic("id-1", leaders=(1, 2), replication=3)}
    stand = {"starts": {"orders": (10, 0)}, "ends": {"orders": (110, 50)}, "configs": {"orders": {"cleanup.policy": "compact"}}}
    return ClusterState(**{"cluster": "c1", "brokers": ("b1:9092",), "topics": here, **stand, **more})


def test_a_topic_is_reported_whole_at_first() -> None:
    got = poll(topics(producers={"orders": (Producer(7, 1_700_000_000_000),)}))
    assert summaries(got.events) == [f"orders: {WHOLE}"]
    (event,) = got.events
    dataset: Any = event["dataset"]
    assert (dataset["namespace"], dataset["name"]) == ("kafka://broker:9092", "orders")
    facets = dataset["facets"]
    facts = {key: value for key, value in facets["kafka_topic"].items() if not key.startswith("_")}
    assert facts == {
        "clusterId": "c1",
        "topicId": "id-1",
        "partitions": 2,
        "replicationFactor": 3,
        "purpose": "DATA",
        "config": {"cleanup.policy": "compact"},
    }
    counted = {key: value for key, value in facets["kafka_statistics"].items() if not key.startswith("_")}
    assert counted == {"retainedRows": 150, "endOffsets": 160, "producers": 1, "lastWritten": "2023-11-14T22:13:20.000000Z"}


def test_the_namespaces_of_a_cluster_are_one_and_that_is_reported_once() -> None:
    got = poll(topics())
    assert got.aliases == (
        SameNamespace("kafka://broker:9092", "kafka://b1:9092", "cluster id c1 answered by b1:9092"),
        SameNamespace("kafka://broker:9092", "kafka://c1", "cluster id c1 answered by c1"),
    )
    assert not poll(topics(), got.snapshot).aliases


def test_nothing_new_reports_nothing() -> None:
    first = poll(topics())
    again = poll(topics(), first.snapshot, minutes=600)
    assert not again.events
    assert {**again.snapshot, "configured": T0} == first.snapshot


def test_a_change_reports_the_topic_again() -> None:
    first = poll(topics()).snapshot
    assert summaries(poll(topics(configs={"orders": {"cleanup.policy": "delete"}}), first, 1).events) == [
        "orders: dataSource datasetType kafka_topic"
    ]
    grown = {"orders": KafkaTopic("id-1", leaders=(1, 2, 3), replication=3)}
    assert summaries(poll(topics(topics=grown), first, 1).events) == ["orders: dataSource datasetType kafka_topic"]
    moved = {"orders": KafkaTopic("id-1", leaders=(3, 3), replication=3)}
    assert not poll(topics(topics=moved), first, 1).events


def test_what_could_not_be_had_is_no_change() -> None:
    first = poll(topics(rules=(AclRule("orders", "LITERAL", "User:a", "READ"),)))
    blind = topics(configs={}, rules=None, starts={}, ends={}, unseen=(Unseen("topics: configurations", "no"),))
    second = poll(blind, first.snapshot, 1)
    assert not second.events
    assert second.unseen == (Unseen("topics: configurations", "no"),)
    assert second.snapshot["topics"] == {"orders": {**first.snapshot["topics"]["orders"], "blind": True}}


def test_configurations_are_read_every_ten_minutes_and_when_a_topic_changes() -> None:
    first = poll(topics()).snapshot
    assert recorded_names(first, T0 + 9 * MINUTE_US).settled == {"orders"}
    assert recorded_names(first, T0 + 10 * MINUTE_US).settled == frozenset()
    settled = {"settled": frozenset({"orders"}), "configs": {}}
    assert not poll(topics(**settled), first, 1).events
    grown = {"topics": {"orders": KafkaTopic("id-1", leaders=(1, 2, 3), replication=3)}}
    noticed = poll(topics(**grown, **settled), first, 1)
    assert not noticed.events
    assert recorded_names(noticed.snapshot, T0 + 2 * MINUTE_US).settled == frozenset()
    assert summaries(poll(topics(**grown), noticed.snapshot, 2).events) == ["orders: dataSource datasetType kafka_topic"]


def test_a_configuration_that_could_not_be_had_is_asked_for_at_each_poll() -> None:
    blind = poll(topics(configs={}), poll(topics()).snapshot, 10)
    assert not blind.events
    assert recorded_names(blind.snapshot, T0 + 11 * MINUTE_US).settled == frozenset()
    back = poll(topics(), blind.snapshot, 11)
    assert not back.events
    assert recorded_names(back.snapshot, T0 + 12 * MINUTE_US).settled == {"orders"}


def test_rows_are_counted_once_an_hour_and_only_if_there_are_new_ones() -> None:
    first = poll(topics()).snapshot
    later = topics(ends={"orders": (210, 50)})
    assert not poll(later, first, 59).events
    counted = poll(later, first, 61)
    assert summaries(counted.events) == ["orders: kafka_statistics"]
    facet: Any = counted.events[0]["dataset"]["facets"]["kafka_statistics"]
    assert (facet["writtenRows"], facet["retainedRows"], facet["since"]) == (100, 250, "2026-11-18T11:06:40.000000Z")


def test_only_a_topic_that_is_known_not_to_exist_is_gone() -> None:
    first = poll(topics()).snapshot
    hidden = poll(topics(topics={}), first, 1)
    assert not hidden.events
    assert "orders" in hidden.snapshot["topics"]
    gone = poll(topics(topics={}, topics_gone=frozenset({"orders"})), first, 1)
    assert summaries(gone.events) == ["orders:  [DROP]"]
    assert not gone.snapshot["topics"]


def test_a_topic_made_again_under_its_name_is_reported() -> None:
    first = poll(topics()).snapshot
    made = topics(topics={"orders": KafkaTopic("id-2", leaders=(1, 2), replication=3)}, starts={"orders": (0, 0)}, ends={"orders": (1, 0)})
    again = poll(made, first, 1)
    assert summaries(again.events) == [f"orders: {WHOLE} [OVERWRITE]"]
    assert "writtenRows" not in again.events[0]["dataset"]["facets"]["kafka_statistics"]


def test_who_may_use_a_topic_is_a_hint() -> None:
    rules = (
        AclRule("*", "LITERAL", "User:admin", "ALL"),
        AclRule("ord", "PREFIXED", "User:reader", "READ"),
        AclRule("ord", "PREFIXED", "User:fired", "READ"),
        AclRule("orders", "LITERAL", "User:fired", "READ", allows=False),
        AclRule("orders", "LITERAL", "User:writer", "WRITE"),
        AclRule("bills", "LITERAL", "User:other", "READ"),
    )
    (event,) = poll(topics(rules=rules)).events
    facet: Any = event["dataset"]["facets"]["kafka_access"]
    assert facet["mayRead"] == ["User:admin", "User:reader"]
    assert facet["mayWrite"] == ["User:admin", "User:writer"]
    assert facet["confidence"] == "LOW"
    assert "exceptRead" not in facet


def test_where_everybody_may_it_is_listed_who_may_not() -> None:
    rules = (
        AclRule("*", "LITERAL", "User:*", "READ"),
        AclRule("*", "PREFIXED", "User:starred", "WRITE"),
        AclRule("ord", "PREFIXED", "User:fired", "ALL", allows=False),
        AclRule("bills", "LITERAL", "User:*", "ALL", allows=False),
    )
    kinds = {"orders": KafkaTopic("id-1", leaders=(1, 2), replication=3)}
    kinds |= {"bills": kinds["orders"], "*stars": kinds["orders"]}
    events = poll(topics(topics=kinds, rules=rules)).events
    found: Any = {event["dataset"]["name"]: event["dataset"]["facets"].get("kafka_access", {}) for event in events}
    of_orders = {key: found["orders"].get(key) for key in ("mayRead", "exceptRead", "mayWrite", "exceptWrite")}
    assert of_orders == {"mayRead": ["User:*"], "exceptRead": ["User:fired"], "mayWrite": [], "exceptWrite": None}
    assert found["*stars"]["mayWrite"] == ["User:starred"], "a prefix of one star is no wildcard"
    assert (found["bills"]["mayRead"], found["bills"]["rules"]) == ([], 2), "the rule for everybody, and that against everybody"


def test_a_topic_without_rules_is_nobodys_only_if_the_rules_are_known() -> None:
    (event,) = poll(topics(rules=(AclRule("other", "LITERAL", "User:a", "READ"),))).events
    facet: Any = event["dataset"]["facets"]["kafka_access"]
    assert (facet["rules"], facet["mayRead"], facet["mayWrite"]) == (0, [], [])
    (event,) = poll(topics(rules=None)).events
    assert "kafka_access" not in event["dataset"]["facets"]


def test_a_change_of_rights_alone_leaves_the_configuration_as_it_is_known() -> None:
    first = poll(topics(rules=()))
    changed = topics(rules=(AclRule("orders", "LITERAL", "User:a", "READ"),), settled=frozenset({"orders"}), configs={})
    second = poll(changed, first.snapshot, 1)
    assert summaries(second.events) == ["orders: kafka_access"]
    assert not poll(topics(rules=changed.rules), second.snapshot, 2).events


@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("__consumer_offsets", "KAFKA"),
        ("__transaction_state", "KAFKA"),
        ("__share_group_state", "KAFKA"),
        ("_schemas", "REGISTRY"),
        ("_confluent-command", "CONFLUENT"),
        ("connect-configs", "CONNECT"),
        ("docker-connect-offsets", "CONNECT"),
        ("connect-cluster-status", "CONNECT"),
        ("connect-clicks", "DATA"),
        ("app-counts-changelog", "CHANGELOG"),
        ("app-KSTREAM-KEY-SELECT-0000000003-repartition", "REPARTITION"),
        ("dlq-orders", "DEAD_LETTERS"),
        ("orders.DLQ", "DEAD_LETTERS"),
        ("orders-dlt", "DEAD_LETTERS"),
        ("heartbeats", "MIRROR_MAKER"),
        ("east.heartbeats", "MIRROR_MAKER"),
        ("east.checkpoints.internal", "MIRROR_MAKER"),
        ("mm2-offset-syncs.west.internal", "MIRROR_MAKER"),
        ("orders", "DATA"),
        ("idlq", "DATA"),
    ],
)
def test_topics_are_known_by_their_names(name: str, what: str) -> None:
    assert purpose(name) == what


def test_copies_are_known_where_mirror_maker_leaves_traces() -> None:
    aliases = mirrors(["east.heartbeats", "far.west.checkpoints.internal", "orders", "north.orders"])
    assert aliases == {"east", "far.west"}
    assert mirror_of("east.orders.v1", aliases) == ("east", "orders.v1")
    assert mirror_of("north.orders", aliases) is None
