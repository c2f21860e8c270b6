"""A cluster in the graph: what was told of it is one walk, its rows are counted, and what is gone has ended."""

from typing import Any

from tests.api.support import Server
from tests.sources.kafka.summaries import poll

from lineage_bridge.openlineage.event_builder import encode
from lineage_bridge.sources.common.kafka.look.cluster import (
    STREAMS,
    ClusterState,
    GroupMember,
    KafkaGroup,
    KafkaTopic,
    Subtopology,
    Transaction,
)

NAMESPACE = "kafka://broker:9092"
TOPICS = ("orders", "bills", "totals-by-day-repartition", "totals-sums-changelog")
APP = KafkaGroup(state="Stable", members=(GroupMember("app-1", "/h", frozenset({"orders"}), "", 1),))
TOTALS = KafkaGroup(
    STREAMS,
    "Stable",
    "streams",
    members=(GroupMember("totals-1", "/h", frozenset({"bills", "totals-by-day-repartition"}), "", 2),),
    topology=(
        Subtopology(("bills",), ("totals-by-day-repartition",)),
        Subtopology(("totals-by-day-repartition",), ("totals-sums-changelog",)),
    ),
)


def cluster(at: int, **more: Any) -> ClusterState:
    stand: dict[str, Any] = {
        "topics": {name: KafkaTopic(name, leaders=(1,), replication=1) for name in TOPICS},
        "starts": dict.fromkeys(TOPICS, (0,)),
        "ends": dict.fromkeys(TOPICS, (100,)),
        "groups": {"app": APP, "totals": TOTALS},
        "committed": {"app": {"orders": (at,)}, "totals": {"bills": (at,)}},
        "transactions": {"app-0": Transaction(7, "Ongoing", frozenset({"bills", "__consumer_offsets"}))},
    }
    return ClusterState(**{"cluster": "c1", **stand, **more})


def walked(graph: Server, name: str, direction: str) -> set[str]:
    answer = graph.ask("/graph/neighbourhood", kind="dataset", namespace=NAMESPACE, name=name, direction=direction, depth=20)
    return {node["name"] for node in answer["nodes"]}


def test_a_topic_flows_through_an_application_into_a_topology(graph: Server) -> None:
    first = poll(cluster(10))
    second = poll(cluster(35), first.snapshot, 1)
    graph.send(*map(encode, (*first.events, *second.events)))
    assert walked(graph, "totals-sums-changelog", "upstream") == {*TOPICS, "app", "totals"}
    assert walked(graph, "totals-by-day-repartition", "upstream") == {"orders", "bills", "totals-by-day-repartition", "app", "totals"}
    assert walked(graph, "orders", "downstream") == {*TOPICS, "app", "totals"}
    (series,) = graph.ask("/graph/statistics", namespace=NAMESPACE, name="orders", since="2026-11-18", until="2026-11-19")["series"]
    assert (series["job"]["name"], series["rows"], series["counting"]) == ("app", 25, ["cumulative"])
    (run,) = graph.ask("/graph/runs", namespace=NAMESPACE, name="app")["runs"]
    assert (run["state"], run["streaming"]) == ("RUNNING", True)


def test_the_same_events_again_count_once(graph: Server) -> None:
    first = poll(cluster(10))
    second = poll(cluster(35), first.snapshot, 1)
    encoded = [encode(event) for event in (*first.events, *second.events)]
    graph.send(*encoded)
    graph.send(*encoded)
    (series,) = graph.ask("/graph/statistics", namespace=NAMESPACE, name="orders", since="2026-11-18", until="2026-11-19")["series"]
    assert series["rows"] == 25


def test_what_is_gone_has_ended(graph: Server) -> None:
    first = poll(cluster(10))
    gone = cluster(10, topics={}, topics_gone=frozenset(TOPICS), groups={}, groups_gone=frozenset({"app", "totals"}), committed={})
    second = poll(gone, first.snapshot, 1)
    graph.send(*map(encode, (*first.events, *second.events)))
    assert {run["state"] for run in graph.ask("/graph/runs", namespace=NAMESPACE, name="app")["runs"]} == {"ABORT"}
    assert walked(graph, "orders", "downstream") == {"orders"}
