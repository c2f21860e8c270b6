"""Reads a topic continuously, from offsets that the caller keeps. It joins no group and commits nothing. librdkafka decompresses the
records.
"""

import time
from collections.abc import Callable, Mapping
from typing import NamedTuple

import tenacity
from confluent_kafka import OFFSET_END, Consumer, KafkaError, KafkaException, TopicPartition
from kafka.errors import for_code

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError, UnreachableError
from lineage_bridge.sources.common.kafka.protocol.brokers import check_cluster
from lineage_bridge.sources.common.kafka.protocol.login import records_config
from lineage_bridge.sources.common.kafka.settings import KafkaSettings

_AT_ONCE = 500
_FORBIDDEN = frozenset(
    (
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,  # noqa: SLF001  # that is its public name
    )
)
_UNKNOWN = frozenset((KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC))  # noqa: SLF001  # as above
_LOST = frozenset((KafkaError.OFFSET_OUT_OF_RANGE, KafkaError._AUTO_OFFSET_RESET))  # noqa: SLF001  # as above


class TailProgress(NamedTuple):
    """How far a topic has been read.

    `offsets`: the next offset of every partition. `gone`: partitions whose next records were already deleted. `is_whole`: whether the
    end offsets at the start of the call were reached.
    """

    offsets: Mapping[int, int]
    gone: tuple[int, ...] = ()
    is_whole: bool = True


class TopicTail:
    """Reads a topic continuously; for use by one thread. Methods raise SourceError, ConfigError."""

    def __init__(self, settings: KafkaSettings, topic: str) -> None:
        self._settings, self._topic = settings, topic
        self._errors: list[KafkaError] = []
        self._offsets: dict[int, int] = {}
        self._left: set[int] = set()
        self._gone: set[int] = set()
        connection = records_config(settings) | {"error_cb": self._keep_error}
        config = connection | {
            "group.id": "lineage-bridge-tail",
            "enable.auto.commit": False,
            "enable.auto.offset.store": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "log_level": 0,
        }
        try:
            check_cluster(settings, connection)
        except KafkaException as error:
            raise self._source_error(error.args[0]) from error
        except ValueError as error:
            raise SourceError(f"librdkafka rejects the settings: {error}", "check the setting `properties`") from error
        try:
            self._consumer = Consumer(config)
        except (KafkaException, ValueError) as error:
            raise SourceError(f"librdkafka rejects the settings: {_error_of(error)}", "check the setting `properties`") from error

    def close(self) -> None:
        """Close connections."""
        self._consumer.close()

    def begin(self, offsets: Mapping[int, int], since_ms: int | None) -> None:
        """Start reading at these offsets. Partitions without an offset start at a given time or, if none is given, at their end. Raises
        SourceError.
        """
        try:
            for attempt in self._retrying():
                with attempt:
                    self._offsets = self._first_offsets(offsets, since_ms)
        except KafkaException as error:
            raise self._failed(error.args[0]) from error
        self._left = set(self._offsets)
        self._assign()

    @property
    def offsets(self) -> dict[int, int]:
        """The next offset of every partition."""
        return dict(self._offsets)

    def read(self, timeout_s: float) -> tuple[bytes, ...]:
        """Return the values of the records that arrive within `timeout_s` seconds; empty if none do. Raises SourceError."""
        values = []
        lost: set[int] = set()
        for record in self._consumer.consume(_AT_ONCE, timeout_s):
            error, partition = record.error(), record.partition() or 0
            if error is None:
                values.append(record.value() or b"")
                self._offsets[partition] = (record.offset() or 0) + 1
            elif error.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001  # that is its public name
                self._left.discard(partition)
            elif error.code() in _LOST:
                lost.add(partition)
            elif not _is_passing(error):
                raise self._failed(error)
        self._begin_again(lost)
        return tuple(values)

    def read_to_end(self, take: Callable[[bytes], object], most: int) -> TailProgress:
        """Read up to the current end offsets, and pass the records to `take`. After about `most` records, the rest is left to the
        next call.

        Returns earlier if no record arrives within the timeout. Raises SourceError.
        """
        count = 0
        deadline = time.monotonic() + self._settings.timeout_s
        while self._left and count < most:
            values = self.read(min(0.5, self._settings.timeout_s))
            for value in values:
                take(value)
            count += len(values)
            if values:
                deadline = time.monotonic() + self._settings.timeout_s
            elif time.monotonic() >= deadline:
                if not count:
                    raise self._failed("records did not arrive in time")
                break
        return TailProgress(self.offsets, tuple(sorted(self._gone)), not self._left)

    def _begin_again(self, lost: set[int]) -> None:
        """Continue partitions whose next record was deleted at their first existing record."""
        if not lost:
            return
        try:
            for attempt in self._retrying():
                with attempt:
                    self._offsets |= {number: self._bounds(number)[0] for number in lost}
        except KafkaException as error:
            raise self._failed(error.args[0]) from error
        self._gone |= lost
        self._assign()

    def _first_offsets(self, offsets: Mapping[int, int], since_ms: int | None) -> dict[int, int]:
        timeout = self._settings.timeout_s
        metadata = self._consumer.list_topics(self._topic, timeout).topics[self._topic]
        if metadata.error is not None:
            raise KafkaException(metadata.error)
        numbers = sorted(metadata.partitions)
        new = [TopicPartition(self._topic, number, since_ms or 0) for number in numbers if number not in offsets]
        at_time = {found.partition: found.offset for found in self._consumer.offsets_for_times(new, timeout)} if new and since_ms else {}
        first = {number: offsets.get(number, at_time.get(number, OFFSET_END)) for number in numbers}
        return {number: self._bounds(number)[1] if offset == OFFSET_END else offset for number, offset in first.items()}

    def _retrying(self) -> tenacity.Retrying:
        """A context that repeats a call while a partition has no leader, for example just after its topic was created."""
        return tenacity.Retrying(
            retry=tenacity.retry_if_exception(lambda error: isinstance(error, KafkaException) and _is_passing(error.args[0])),
            wait=tenacity.wait_random_exponential(multiplier=0.1, max=1),
            stop=tenacity.stop_after_delay(self._settings.timeout_s),
            reraise=True,
        )

    def _assign(self) -> None:
        self._consumer.assign([TopicPartition(self._topic, number, offset) for number, offset in self._offsets.items()])

    def _bounds(self, partition: int) -> tuple[int, int]:
        """The first offset of a partition, and the offset after its last record."""
        first, end = self._consumer.get_watermark_offsets(TopicPartition(self._topic, partition), self._settings.timeout_s)
        return int(first), int(end)

    def _keep_error(self, error: KafkaError) -> None:
        if not self._errors or self._errors[0].code() not in _FORBIDDEN:
            self._errors[:] = [error]

    def _failed(self, error: object) -> SourceError:
        """Convert an error of librdkafka to a SourceError. The cause of a timeout is reported separately, to `error_cb`, and is
        included.
        """
        self._consumer.poll(0)
        return self._source_error(error)

    def _source_error(self, error: object) -> SourceError:
        causes = [cause for cause in (*self._errors, error) if isinstance(cause, KafkaError)]
        named = f"topic {self._topic}: {causes[0].str() if causes else error}"
        codes = {cause.code() for cause in causes}
        if codes & _FORBIDDEN:
            return ForbiddenError(named, "check the API key and secret, and that the key may read the topic")
        if codes & _UNKNOWN:
            return MissingError(named, "check the name of the topic in the settings")
        return UnreachableError(named, "check that this machine can reach the brokers")


def _is_passing(error: object) -> bool:
    """Whether an error is one that Kafka's protocol defines as retriable. librdkafka does not mark such errors when it returns them to
    a consumer.
    """
    return isinstance(error, KafkaError) and error.code() not in _UNKNOWN and bool(for_code(error.code()).retriable)


def _error_of(error: object) -> str:
    first = error.args[0] if isinstance(error, Exception) and error.args else error
    return first.str() if isinstance(first, KafkaError) else str(first)
