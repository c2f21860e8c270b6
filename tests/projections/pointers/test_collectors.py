"""What would measure a side of a job that nobody measures."""

import pytest

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.projections.pointers.collectors import Side, collector, lag_collector

TOPIC = Node(1, NodeKind.DATASET, "kafka://broker:9092", "orders")
CLOUD = Node(1, NodeKind.DATASET, "confluent://env-1/lkc-1", "orders")
TABLE = Node(1, NodeKind.DATASET, "postgres://db:5432", "shop.public.orders")
GROUP = '{"processingType": "STREAMING", "integration": "KAFKA", "jobType": "CONSUMER_GROUP"}'
SPARK = '{"processingType": "BATCH", "integration": "SPARK", "jobType": "JOB"}'
DEBEZIUM = '{"processingType": "STREAMING", "integration": "DEBEZIUM", "jobType": "TASK"}'
FLINK = '{"processingType": "STREAMING", "integration": "FLINK", "jobType": "JOB"}'


@pytest.mark.parametrize(
    ("namespace", "facet", "dataset", "side", "kind"),
    [
        ("kafka://broker:9092", GROUP, TOPIC, "input", "kafka"),
        ("kafka://broker:9092", GROUP, TOPIC, "output", "producer"),
        ("confluent://env-1/lkc-1", GROUP, CLOUD, "input", "confluent"),
        ("kafka-connect://worker:8083", None, TOPIC, "output", "connect"),
        ("kafka-connect://worker:8083", None, TABLE, "input", "producer"),
        ("msk-connect://eu-west-1", None, TOPIC, "output", "msk-connect"),
        ("debezium", DEBEZIUM, TOPIC, "output", "connect"),
        ("debezium", DEBEZIUM, CLOUD, "output", "confluent"),
        ("flink://cluster", FLINK, TABLE, "output", "flink"),
        ("confluent://env-1", FLINK, CLOUD, "output", "confluent"),
        ("ksqldb://server:8088", None, TOPIC, "input", "ksqldb"),
        ("spark", SPARK, TOPIC, "input", "producer"),
        ("cron", None, TABLE, "output", "producer"),
    ],
)
def test_the_collector_of_a_side(namespace: str, facet: str | None, dataset: Node, side: Side, kind: str) -> None:
    assert collector(Node(2, NodeKind.JOB, namespace, "job"), dataset, side, facet) == kind


@pytest.mark.parametrize(
    ("namespace", "facet", "dataset", "kind"),
    [
        ("kafka://broker:9092", GROUP, TOPIC, "kafka"),
        ("confluent://env-1/lkc-1", GROUP, CLOUD, "confluent"),
        ("kafka-connect://worker:8083", None, TOPIC, "kafka"),
        ("kafka-connect://worker:8083", None, TABLE, ""),
        ("debezium", DEBEZIUM, CLOUD, ""),
        ("flink://cluster", FLINK, TOPIC, "flink"),
        ("confluent://env-1", FLINK, CLOUD, ""),
        ("spark", SPARK, TOPIC, ""),
    ],
)
def test_the_collector_of_a_lag(namespace: str, facet: str | None, dataset: Node, kind: str) -> None:
    assert lag_collector(Node(2, NodeKind.JOB, namespace, "job"), dataset, facet) == kind
