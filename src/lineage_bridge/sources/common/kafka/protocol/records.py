"""Reads the newest records of some topics, without joining a group or committing offsets. librdkafka decompresses them."""

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from lineage_bridge.sources.common.kafka.look.cluster import RecordSample
from lineage_bridge.sources.common.kafka.look.sampling import sample
from lineage_bridge.sources.common.kafka.protocol.brokers import check_cluster
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.kafka.protocol.login import records_config
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE

_RECORDS, _PARTITIONS = 5, 4
_WHAT = "topics: records"


def newest(
    settings: KafkaSettings, ends: Mapping[str, tuple[int, ...]], starts: Mapping[str, tuple[int, ...]], failures: Failures
) -> dict[str, dict[str, RecordSample]]:
    """Read the newest records of topics, directly before the offsets `ends`, and sample them. Returns no later than at the timeout."""
    partitions = [partition for topic, offsets in ends.items() for partition in _partitions(topic, offsets, starts.get(topic, ()))]
    if not partitions:
        return {}
    errors: list[str] = []
    connection = records_config(settings) | {"error_cb": lambda error: errors.append(error.str())}
    config = connection | {
        "group.id": "lineage-bridge-samples",
        "enable.auto.commit": False,
        "enable.auto.offset.store": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "error",
        "log_level": 0,
    }
    held: dict[str, list[Any]] = {topic: [] for topic in ends}
    try:
        check_cluster(settings, connection)
    except KafkaException as error:
        failures.add_listing(_WHAT, errors[-1] if errors else _reason(error))
        return {}
    except ValueError as error:
        failures.add_listing(_WHAT, f"librdkafka rejects the settings: {error}")
        return {}
    try:
        consumer = Consumer(config)
    except (KafkaException, ValueError) as error:
        failures.add_listing(_WHAT, f"librdkafka rejects the settings: {_reason(error)}")
        return {}
    try:
        consumer.assign(partitions)
        left = _read(consumer, partitions, held, time.monotonic() + settings.timeout_s, failures)
    finally:
        consumer.close()
    for topic in sorted({topic for topic, _ in left}):
        failures.add_name(_WHAT, errors[-1] if errors else "the records did not arrive in time", topic)
    return {
        topic: {KEY: sample(record.key() for record in records), VALUE: sample(record.value() for record in records)}
        for topic, records in held.items()
        if records
    }


def _partitions(topic: str, ends: tuple[int, ...], starts: tuple[int, ...]) -> list[TopicPartition]:
    begins = starts or (0,) * len(ends)
    filled = [(end - begin, partition) for partition, (begin, end) in enumerate(zip(begins, ends, strict=False)) if end > begin]
    chosen = [partition for _, partition in sorted(filled, reverse=True)[:_PARTITIONS]]
    return [TopicPartition(topic, partition, max(begins[partition], ends[partition] - _RECORDS)) for partition in chosen]


def _read(
    consumer: Consumer, partitions: list[TopicPartition], held: dict[str, list[Any]], deadline: float, failures: Failures
) -> set[tuple[str, int]]:
    """Read until all partitions are at their ends, or until the deadline. Returns the partitions that are not at their ends."""
    left = {(partition.topic, partition.partition) for partition in partitions}
    while left and time.monotonic() < deadline:
        for record in consumer.consume(500, timeout=0.5):
            error, partition = record.error(), (record.topic() or "", record.partition() or 0)
            if error is None:
                held[partition[0]].append(record)
            elif partition in left:
                left.discard(partition)
                if error.code() != KafkaError._PARTITION_EOF:  # noqa: SLF001  # that is its public name
                    failures.add_name(_WHAT, error.str(), partition[0])
    return left


def _reason(error: Exception) -> str:
    first = error.args[0] if error.args else error
    return first.str() if isinstance(first, KafkaError) else str(first)
