"""The same events through every way in, each into an installation of its own; what is exported of each graph. A further way is an entry."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from pathlib import Path
from types import MappingProxyType

import httpx
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.crash.support import LINEAGE, SOON_S, Asking, Process, nothing_left, settings_in
from tests.crash.support import until as hold_until
from tests.events import KEY, T0
from tests.inputs.streamed import Streamed
from tests.inputs.support import installed
from tests.servers.broker import Kafka
from tests.store.reading import reader_of

from lineage_bridge.config import DataFolder
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.pipeline.replay import Chunk, replay
from lineage_bridge.ports.graph_store import Budget
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.shared import state_database

Bring = Callable[[Path, Sequence[bytes], Kafka, SparkSession], bytes]
PARTITIONS = 4
NUMBERS = count()


def by_http(folder: Path, events: Sequence[bytes], _: Kafka, spark: SparkSession) -> bytes:
    """Posted to a server in arrays of 100."""
    settings = settings_in(folder)
    with nothing_left(folder), Asking(settings) as asking:
        api = Process("api", settings)
        hold_until(asking.answers, SOON_S, "the API")
        for at in range(0, len(events), 100):
            body = b"[" + b",".join(events[at : at + 100]) + b"]"
            answer = httpx.post(settings.address + LINEAGE, content=body, headers={"Content-Type": "application/json"}, trust_env=False)
            assert answer.status_code == 201, answer.text
        api.stop()
    return _folded(folder, spark, state_database(settings).key())


def by_kafka(folder: Path, events: Sequence[bytes], kafka: Kafka, spark: SparkSession) -> bytes:
    """From a topic into the log."""
    with installed(folder) as installation:
        settings = {"bootstrap_servers": kafka.bootstrap, "topics": [_topic(kafka, events)], "batch_records": 5_000}
        with installation.reading(**settings) as reader:  # type: ignore[arg-type]  # settings of several types
            _wait(lambda: reader.meter.status.read >= len(events))
    return _folded(folder, spark, KEY)


def by_kafka_in_the_stream(folder: Path, events: Sequence[bytes], kafka: Kafka, spark: SparkSession) -> bytes:
    """From a topic, read by Spark."""
    made = Streamed(folder, spark)
    with made.feeding() as feed, made.streaming(feed, bootstrap_servers=kafka.bootstrap, topics=[_topic(kafka, events)]) as reader:
        _wait(lambda: reader.meter.status.read >= len(events))
    made.close()
    store = GraphWriter(folder / "graph.db", Names(KEY))
    while store.settle(Budget(10**9)):
        pass
    return _exported(store)


WAYS: Mapping[str, Bring] = MappingProxyType({"http": by_http, "kafka embedded": by_kafka, "kafka in the stream": by_kafka_in_the_stream})


def _topic(kafka: Kafka, events: Sequence[bytes]) -> str:
    """A new topic with these events, in several partitions."""
    name = f"exported-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=PARTITIONS)
    producer = Producer({**kafka.client_config(), "linger.ms": 5, "queue.buffering.max.messages": 1_000_000})
    for number, event in enumerate(events):
        producer.produce(name, event, partition=number % PARTITIONS)
        producer.poll(0)
    assert producer.flush(120) == 0
    return name


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 900
    while not holds():
        assert time.monotonic() < deadline, "not all events came"
        time.sleep(0.05)


def _folded(folder: Path, spark: SparkSession, key: bytes) -> bytes:
    """The export of what Spark folds from the log."""
    store = GraphWriter(folder / "folded.db", Names(key), feed=False)
    replay(spark, DataFolder(folder), store, key, Chunk(), lambda _: None)
    return _exported(store)


def _exported(store: GraphWriter) -> bytes:
    lines = b"\n".join(reader_of(store).whole.lines(frozenset(), now_us=T0))
    store.close()
    return lines


def compared(folder: Path, events: Sequence[bytes], kafka: Kafka, spark: SparkSession, report: Callable[[str], None]) -> None:
    """The exports of all ways are equal byte for byte."""
    exports: dict[str, bytes] = {}
    for name, bring in WAYS.items():
        began, own = time.monotonic(), folder / name.replace(" ", "-")
        own.mkdir()
        exports[name] = bring(own, events, kafka, spark)
        report(f"{name}: {len(events)} events, an export of {len(exports[name])} bytes, {time.monotonic() - began:.0f} s")
    first, *others = exports
    for other in others:
        pairs = zip(exports[first].splitlines(), exports[other].splitlines(), strict=False)
        line = next((pair for pair in pairs if pair[0] != pair[1]), None)
        assert exports[first] == exports[other], f"{first} and {other}: {line}"
