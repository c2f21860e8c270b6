"""One record in three is damaged: no good one is lost by any way in, and each damaged one is named with its position."""

import json
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession
from tests.corpora.poison import LINES, VALUES, Poisoned, poisoned
from tests.events import KEY
from tests.inputs.streamed import Streamed
from tests.inputs.support import installed, until
from tests.servers.broker import Kafka
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.graph.facts.fold import fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import LogRecord, RecordKind, StoredRecord
from lineage_bridge.graph.record_origin import read_origin
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.sources.common.settings import SourceContext

PARTITIONS = 2
NUMBERS = count()


def check(records: Sequence[LogRecord], sent: Poisoned, offset_of: Callable[[int], tuple[str, int]]) -> None:
    """All good events are there once; what is in quarantine are the damaged ones, each at the partition and offset of its index."""
    good = [json.loads(record.body)["number"] for record in records if record.kind == RecordKind.EVENT]
    assert sorted(good) == sent.good
    rejected = [record for record in records if record.kind == RecordKind.REJECTED]
    origins = [origin for record in rejected if (origin := read_origin(record.note))]
    assert sorted((origin.partition, origin.offset) for origin in origins) == sorted(map(offset_of, sent.bad))
    stored = [StoredRecord(LOG_SOURCE, 0, at, record) for at, record in enumerate(records)]
    messages = [str(row[2]) for row in fold_records(stored, Names(KEY))["quarantine"].values()]
    for origin in origins:
        place = f"partition {origin.partition}, offset {origin.offset})" if origin.partition else f"offset {origin.offset})"
        assert any(place in message for message in messages)


def topic_of(kafka: Kafka, values: Sequence[bytes]) -> str:
    name = f"poisoned-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=PARTITIONS)
    producer = Producer(kafka.client_config())
    for at, value in enumerate(values):
        producer.produce(name, value, partition=at % PARTITIONS)
    assert producer.flush(30) == 0
    return name


def in_topic(at: int) -> tuple[str, int]:
    return str(at % PARTITIONS), at // PARTITIONS


def test_a_topic(kafka: Kafka, tmp_path: Path) -> None:
    sent = poisoned()
    with installed(tmp_path) as installation:
        installation.bring(len(sent.values), bootstrap_servers=kafka.bootstrap, topics=[topic_of(kafka, sent.values)], batch_records=7)
        check(installation.records(), sent, in_topic)


def test_a_topic_that_spark_reads(kafka: Kafka, spark: SparkSession, tmp_path: Path) -> None:
    sent, streamed = poisoned(), Streamed(tmp_path, spark)
    streamed.stream(len(sent.values), bootstrap_servers=kafka.bootstrap, topics=[topic_of(kafka, sent.values)])
    check([stored.record for stored in streamed.archived()], sent, in_topic)
    streamed.check()
    streamed.close()


def test_a_stream(kinesis_local: Kinesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIATEST")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    sent, stream = poisoned(), f"poisoned-{next(NUMBERS)}"
    kinesis_local.create(stream)
    client = kinesis_local.client()
    put = [client.put_record(StreamName=stream, PartitionKey="key", Data=value) for value in sent.values]
    settings: dict[str, Any] = {"stream": stream, "region": REGION, "endpoint_url": kinesis_local.url, "reads_per_s": 5, "batch_records": 7}
    with installed(tmp_path) as installation:
        installation.bring(len(sent.values), kind="kinesis", **settings)
        check(installation.records(), sent, lambda at: (put[at]["ShardId"], int(put[at]["SequenceNumber"])))


def test_files(tmp_path: Path) -> None:
    sent, folder = poisoned(LINES), tmp_path / "files"
    folder.mkdir()
    (folder / "events.ndjson").write_bytes(b"".join(value + b"\n" for value in sent.values))
    with installed(tmp_path) as installation:
        context = SourceContext(input_folders=(tmp_path,))
        with installation.reading(kind="folder", context=context, folder=str(folder), batch_records=7):
            until(lambda: len(installation.records()) >= len(sent.values))
        records = installation.records()
    starts = [sum(len(value) + 1 for value in sent.values[:at]) for at in range(len(sent.values))]
    places = {origin.offset: origin.partition for record in records if (origin := read_origin(record.note))}
    check(records, sent, lambda at: (places[starts[at]], starts[at]))


def test_every_kind_is_damaged_in_its_own_way() -> None:
    assert len(set(VALUES.values())) == len(VALUES)
