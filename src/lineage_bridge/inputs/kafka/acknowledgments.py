"""Parts of writing received events to a topic: the acknowledgments of one request's records, the conversion of errors, and the
configuration of the producer.
"""

from concurrent.futures import Future
from typing import Any, Final

from confluent_kafka import KafkaError

from lineage_bridge.errors import LineageBridgeError, RefusedError, UnavailableError
from lineage_bridge.graph.log_record import RecordAddress
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings, client_config
from lineage_bridge.openlineage.wire import MAX_BYTES

LIMIT_BYTES: Final = 1_048_588
"""Kafka's default of max.message.bytes, in bytes. It is assumed for topics whose configuration cannot be read."""
_SIZE: Final = frozenset((KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE))
_HINTS: Final = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED: "allow WRITE on the topic",
    KafkaError.CLUSTER_AUTHORIZATION_FAILED: "allow IDEMPOTENT_WRITE on the cluster, or WRITE on the topic",
    KafkaError._PURGE_QUEUE: "GET /api/v1/ready reports the state of the intake",  # noqa: SLF001  # that is its public name
    KafkaError.INVALID_RECORD: "set cleanup.policy=delete for the topic, because compaction would remove events",
    KafkaError.UNKNOWN_TOPIC_OR_PART: "create the topic, with cleanup.policy=delete",
}


class Submitted:
    """The records of one request that are being written. The future is done when all records are acknowledged, or when one is refused."""

    def __init__(self, count: int) -> None:
        self.future: Future[list[RecordAddress]] = Future()
        self.future.set_running_or_notify_cancel()
        self._left, self._addresses = count, dict[int, RecordAddress]()

    def done(self, index: int, address: RecordAddress) -> None:
        """Record that one of the records is durable."""
        self._addresses[index] = address
        self._left -= 1
        if not self._left and not self.future.done():
            self.future.set_result([self._addresses[at] for at in sorted(self._addresses)])

    def failed(self, error: LineageBridgeError) -> None:
        """Record that one of the records was not acknowledged."""
        if not self.future.done():
            self.future.set_exception(error)


def write_error(topic: str, error: KafkaError | None, text: str) -> LineageBridgeError:
    """Make the error for a record that a topic did not accept."""
    code = error.code() if error else None
    if code in _SIZE:
        hint = "raise the topic's max.message.bytes, or send smaller events"
        return RefusedError(413, "too_large", f"topic {topic} does not accept an event of this size", hint)
    return UnavailableError(f"topic {topic} did not accept the events: {text}", _HINTS.get(code or 0, "send them again later"))


def producer_config(settings: KafkaInputSettings, batch_bytes: int, most_pending: int) -> dict[str, Any]:
    """The configuration of an idempotent producer with `acks=all`. Raises ConfigError, SourceError."""
    return {
        **client_config(settings),
        "acks": "all",
        "enable.idempotence": True,
        "allow.auto.create.topics": False,
        "message.timeout.ms": max(int(settings.timeout_s * 1000), 1000),
        "message.max.bytes": MAX_BYTES + LIMIT_BYTES,
        "batch.size": batch_bytes,
        "linger.ms": 1,
        "compression.type": "zstd",
        "queue.buffering.max.messages": 1_000_000,
        "queue.buffering.max.kbytes": max(1024, most_pending // 512),
    }
