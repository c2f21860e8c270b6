"""Following a topic on a real broker: from a time on, from kept offsets on, over what is gone, and before a broker that does not let in."""

import time
from collections.abc import Mapping
from contextlib import closing
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from tests.servers.broker import Kafka

from lineage_bridge.errors import ForbiddenError, MissingError, UnreachableError
from lineage_bridge.sources.common.kafka.protocol.tail import TailProgress, TopicTail
from lineage_bridge.sources.common.kafka.settings import KafkaSettings

NUMBERS = count()
Read = tuple[list[bytes], TailProgress]
HOUR_MS = 3_600_000


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"tail-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=2)
    return name


def write(kafka: Kafka, topic: str, partition: int, *values: str, minutes_ago: float = 0) -> None:
    producer = Producer(kafka.client_config())
    for value in values:
        producer.produce(topic, value, partition=partition, timestamp=int(time.time() * 1000 - minutes_ago * 60_000))
    producer.flush()


def read(kafka: Kafka, topic: str, offsets: Mapping[int, int], most: int = 1000, since_ms: int | None = None, **more: Any) -> Read:
    settings = KafkaSettings(**{"bootstrap_servers": kafka.bootstrap, "timeout_s": 20, **more})
    with closing(TopicTail(settings, topic)) as tail:
        tail.begin(offsets, since_ms)
        values: list[bytes] = []
        return values, tail.read_to_end(values.append, most)


def test_the_first_time_from_a_time_on_and_then_from_where_it_stopped(kafka: Kafka, topic: str):
    write(kafka, topic, 0, "old", minutes_ago=90)
    write(kafka, topic, 0, "a", "b")
    values, first = read(kafka, topic, {}, since_ms=int(time.time() * 1000) - HOUR_MS)
    assert (values, first) == ([b"a", b"b"], TailProgress({0: 3, 1: 0}))
    write(kafka, topic, 1, "c")
    assert read(kafka, topic, first.offsets) == ([b"c"], TailProgress({0: 3, 1: 1}))
    assert read(kafka, topic, {0: 3, 1: 1}) == ([], TailProgress({0: 3, 1: 1}))


def test_without_a_time_it_starts_at_the_end(kafka: Kafka, topic: str):
    write(kafka, topic, 0, "a")
    assert read(kafka, topic, {}) == ([], TailProgress({0: 1, 1: 0}))


def test_of_many_records_the_rest_comes_the_next_time(kafka: Kafka, topic: str):
    write(kafka, topic, 0, *map(str, range(1200)))
    some, first = read(kafka, topic, {0: 0, 1: 0}, most=100)
    assert not first.is_whole
    assert 100 <= len(some) < 1200
    others, second = read(kafka, topic, first.offsets, most=5000)
    assert second.is_whole
    assert sorted(map(int, some + others)) == list(range(1200))


def test_what_is_gone_is_reported_and_the_rest_is_read(kafka: Kafka, topic: str):
    write(kafka, topic, 0, "a", "b", "c")
    admin = kafka.admin()
    admin.delete_records([TopicPartition(topic, 0, 2)])[TopicPartition(topic, 0)].result(30)
    assert read(kafka, topic, {0: 0, 1: 0}) == ([b"c"], TailProgress({0: 3, 1: 0}, (0,)))


def test_an_open_reader_hears_what_comes(kafka: Kafka, topic: str):
    with closing(TopicTail(KafkaSettings(bootstrap_servers=kafka.bootstrap), topic)) as tail:
        tail.begin({}, None)
        assert tail.read_to_end(print, 10).is_whole
        write(kafka, topic, 1, "a")
        received: tuple[bytes, ...] = ()
        deadline = time.monotonic() + 20
        while not received and time.monotonic() < deadline:
            received = tail.read(0.2)
        assert received == (b"a",)


def test_who_is_not_let_in_is_an_error(kafka: Kafka, topic: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LB_TEST_WRONG", "wrong")
    way: dict[str, Any] = {
        "bootstrap_servers": kafka.address("plain"),
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "username": "admin",
        "password": "${env:LB_TEST_WRONG}",
        "timeout_s": 5,
    }
    with pytest.raises(ForbiddenError, match=topic):
        read(kafka, topic, {}, **way)
    monkeypatch.setenv("LB_TEST_WRONG", "limited-secret")
    with pytest.raises(ForbiddenError, match="authorization failed"):
        read(kafka, topic, {}, **{**way, "username": "limited"})


def test_no_topic_and_no_broker(kafka: Kafka):
    with pytest.raises(MissingError):
        read(kafka, "nowhere", {})
    with pytest.raises(UnreachableError):
        read(kafka, "nowhere", {}, bootstrap_servers="127.0.0.1:9", timeout_s=1)
