"""Uses a topic as the log of received events. A record counts as durable when all in-sync replicas have acknowledged it."""

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, Final, Protocol

from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from lineage_bridge.errors import LineageBridgeError, RefusedError, UnavailableError
from lineage_bridge.eventlog.archive.files import topic_source
from lineage_bridge.graph.log_record import LogRecord, RecordAddress
from lineage_bridge.inputs.kafka.acknowledgments import LIMIT_BYTES, Submitted, producer_config, write_error
from lineage_bridge.inputs.kafka.errors import error_text, is_unavailable_topic, kafka_error
from lineage_bridge.inputs.kafka.settings import LATEST, KafkaInputSettings, client_config
from lineage_bridge.inputs.kafka.topics import TopicFinder
from lineage_bridge.inputs.topic_record import headers_of, size_of
from lineage_bridge.openlineage.wire import MAX_BYTES

BATCH_BYTES: Final = 1_000_000
POLL_S: Final = 0.1
TRY_AGAIN_S: Final = 1.0
CLOSE_S: Final = 10.0
GIVEN_UP_S: Final = 30.0
"""After a fatal error of the producer, events are refused with this error for this many seconds, or until a write succeeds. Then events are
accepted again, as a new attempt.
"""
log = logging.getLogger(__name__)


class LogBeside(Protocol):
    """The embedded log, which is used beside the topic: the other inputs append their events to it."""

    def end(self) -> int:
        """The end of the last durable record."""


class TopicLog:
    """Implements `ports.EventLog` by writing to the one topic of an input of Kafka; thread-safe.

    A record is acknowledged when all in-sync replicas have it. If that fails for the input's `timeout_s`, in which the producer retries,
    the record is refused. The producer is idempotent. `beside` is the embedded log, `request` returns the id of the current request.
    `submit` raises UnavailableError until the topic was found, and while more than `most_pending` bytes wait for the brokers.
    """

    def __init__(
        self,
        settings: KafkaInputSettings,
        beside: LogBeside,
        *,
        most_pending: int,
        request: Callable[[], str] = str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._settings, self._beside, self._most_pending = settings, beside, most_pending
        self._request, self._clock = request, clock
        (self.topic,) = settings.names
        self._lock, self._stop, self._wake = threading.Lock(), threading.Event(), threading.Event()
        self._producer: Producer | None = None
        self._retiring: list[Producer] = []
        self._admin: AdminClient | None = None
        self._source, self._limit, self._batch = "", LIMIT_BYTES, BATCH_BYTES
        self._ends: dict[tuple[str, int], int] = {}
        self._causes: list[KafkaError] = []
        self._pending = 0
        self._problem, self._given_up, self._given_up_at = f"the server has not found topic {self.topic} yet", "", 0.0
        self._threads = [threading.Thread(target=run, name=name, daemon=True) for run, name in self._loops()]
        for thread in self._threads:
            thread.start()

    def _loops(self) -> Sequence[tuple[Callable[[], None], str]]:
        return (self._deliver, "topic-log"), (self._look, "topic-log-watch")

    # for the API

    @property
    def problem(self) -> str:
        """The reason why the topic accepts no events at the moment; empty if it does."""
        return self._problem or self._given_up

    @property
    def pending_bytes(self) -> int:
        """The size in bytes of records that the brokers have not acknowledged yet."""
        return self._pending

    @property
    def most_bytes(self) -> int:
        """The maximum size of a record in bytes, as `topic_record.size_of` measures it."""
        return min(self._limit, MAX_BYTES)

    def end(self) -> int:
        """The durable end of the embedded log, to which the other inputs append."""
        return self._beside.end()

    def ends(self) -> Mapping[tuple[str, int], int]:
        """The offset after the last record that is known to be in the topic, by source and partition, whichever process wrote it."""
        with self._lock:
            return dict(self._ends)

    def submit(self, records: Sequence[LogRecord]) -> Future[list[RecordAddress]]:
        """Write records. The future returns their addresses, in the same order, once all are durable, or fails with UnavailableError. Some
        records of a failed request may be in the topic nevertheless. Raises UnavailableError.
        """
        submitted = Submitted(len(records))
        if not records:
            submitted.future.set_result([])
            return submitted.future
        size = sum(map(size_of, records))
        with self._lock:
            producer, source = self._producer, self._source
            if producer is None or not source:
                raise UnavailableError(f"events cannot be written to the topic of `intake`: {self.problem}", "send them again later")
            if self._pending + size > self._most_pending:
                text = f"the write queue of topic {self.topic} is full: {self._pending} bytes queued, limit {self._most_pending}"
                raise UnavailableError(text, "send again later")
            self._pending += size
        left = size
        try:
            for index, record in enumerate(records):
                own = size_of(record)
                noted = self._noted(submitted, index, own, source, producer)
                producer.produce(self.topic, record.body, headers=list(headers_of(record, self._request())), on_delivery=noted)
                left -= own
        except (KafkaException, BufferError) as error:
            self._release(left)
            self._give_up(producer, error)
            raise write_error(self.topic, kafka_error(error), error_text(error)) from error
        return submitted.future

    def close(self) -> None:
        """Wait for acknowledgments that are under way, and disconnect. May be called again."""
        self._stop.set()
        self._wake.set()
        for thread in self._threads:
            thread.join()

    # acknowledgments

    def _noted(self, submitted: Submitted, index: int, size: int, source: str, producer: Producer) -> Any:  # noqa: ANN401  # a callback of the client
        def callback(error: KafkaError | None, message: Any) -> None:  # noqa: ANN401  # as above
            self._release(size)
            if error is not None:
                self._give_up(producer, error)
                failure = write_error(self.topic, error, error.str())
                if not isinstance(failure, RefusedError):
                    self._problem = str(failure)
                self._wake.set()
                submitted.failed(failure)
                return
            partition = int(message.partition())
            try:
                offset = self._offset(message)
            except LineageBridgeError as failed:
                submitted.failed(UnavailableError(f"topic {self.topic}: no offsets were returned: {failed}", "send them again later"))
                return
            with self._lock:
                at = source, partition
                self._ends[at] = max(self._ends.get(at, 0), offset + 1)
            self._problem = self._given_up = ""
            submitted.done(index, RecordAddress(source, partition, offset))

        return callback

    def _offset(self, message: Any) -> int:  # noqa: ANN401  # the client's
        """The offset of an acknowledged record. If the broker acknowledges it without an offset, the last offset of the partition is
        returned.
        """
        offset = message.offset()
        if offset is not None and offset >= 0:
            return int(offset)
        pair = self.topic, int(message.partition())
        return self._finder().offsets([pair], LATEST)[pair] - 1

    def _release(self, size: int) -> None:
        with self._lock:
            self._pending -= size

    def _deliver(self) -> None:
        """Let the producer report acknowledgments until `close`; then wait for the records that are still being written."""
        while not self._stop.is_set():
            self._poll(POLL_S)
        until = self._clock() + CLOSE_S
        while self._pending > 0 and self._clock() < until:
            self._poll(POLL_S)

    def _poll(self, seconds: float) -> None:
        with self._lock:
            producer, retiring = self._producer, list(self._retiring)
        for old in retiring:
            self._poll_one(old, 0)
        with self._lock:
            # A request may still hand records to the last producer, because it chose the producer just before.
            self._retiring = [*(old for old in self._retiring[:-1] if len(old)), *self._retiring[-1:]]
        if producer is None:
            self._stop.wait(seconds)
        else:
            self._poll_one(producer, seconds)

    def _poll_one(self, producer: Producer, seconds: float) -> None:
        try:
            producer.poll(seconds)
        except KafkaException as error:
            self._give_up(producer, error)

    def _give_up(self, producer: Producer, error: object) -> None:
        """If a producer has a fatal error, fail its records. The next check creates another producer."""
        found = kafka_error(error)
        if found is None or not found.fatal():
            return
        with self._lock:
            is_current = producer is self._producer
            if is_current:
                self._producer = None
                self._retiring.append(producer)
        if is_current:
            self._given_up, self._given_up_at = f"topic {self.topic}: {found.str()}", self._clock()
            log.warning("%s", self._given_up)
            producer.purge()
            self._wake.set()

    # the topic

    def _look(self) -> None:
        """Check periodically that the topic still exists and what its limits are."""
        while not self._stop.is_set():
            self._wake.clear()
            works = False
            try:
                works = self._look_once()
            except LineageBridgeError as error:
                self._note(str(error))
            except (KafkaException, ValueError) as error:
                self._note(error_text(error))
            self._wake.wait(self._settings.refresh_s if works else TRY_AGAIN_S)
            if self._wake.is_set():
                self._stop.wait(TRY_AGAIN_S)

    def _look_once(self) -> bool:
        finder = self._finder()
        finder.check_brokers()
        found = finder.look_at([self.topic])
        topic = found.topics.get(self.topic)
        if topic is None:
            self._note("; ".join(found.problems))
            return False
        source = topic_source(self.topic, topic.id)
        pairs = [(self.topic, number) for number in range(topic.partitions)]
        ends, _ = finder.known_offsets(pairs, None)
        self._limit = self._read_limit()
        batch = min(BATCH_BYTES, self._limit)
        with self._lock:
            known = {at: end for at, end in self._ends.items() if at[0] == source}
            current = {(source, number): offset for (_, number), offset in ends.items()}
            self._ends = {at: max(known.get(at, 0), current.get(at, 0)) for at in {*known, *current}}
            is_new = self._producer is None or source != self._source or batch < self._batch
            self._source = source
        if is_new:
            self._batch = batch
            self._replace()
        self._problem = ""
        if self._clock() - self._given_up_at > GIVEN_UP_S:
            self._given_up = ""
        return True

    def _finder(self) -> TopicFinder:
        if self._admin is None:
            self._admin = AdminClient(client_config(self._settings) | {"error_cb": self._note_cause})
        return TopicFinder(self._settings, self._admin, self._causes)

    def _read_limit(self) -> int:
        """The topic's max.message.bytes; Kafka's default if it may not be read, or the broker has no such setting."""
        resource, name = ConfigResource(ResourceType.TOPIC, self.topic), "max.message.bytes"
        try:
            answers: Any = self._admin.describe_configs([resource], request_timeout=self._settings.timeout_s)  # type: ignore[union-attr]  # _finder has made it
            found = answers[resource].result().get(name)
            return int(found.value) if found and found.value else LIMIT_BYTES
        except KafkaException as error:
            if not is_unavailable_topic(error):
                raise
            return LIMIT_BYTES

    def _replace(self) -> None:
        """Create a producer, if there is none, or if the present one has a fatal error or makes too large batches."""
        fresh = Producer(producer_config(self._settings, self._batch, self._most_pending) | {"error_cb": self._note_cause})
        with self._lock:
            if self._producer is not None:
                self._retiring.append(self._producer)
            self._producer = fresh

    def _note(self, problem: str) -> None:
        if problem != self._problem:
            log.warning("topic %s does not accept events: %s", self.topic, problem)
        self._problem = problem

    def _note_cause(self, error: KafkaError) -> None:
        self._causes[:] = [*self._causes[-9:], error]
