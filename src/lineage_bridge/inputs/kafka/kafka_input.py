"""Reads events from topics of Kafka, as a member of a consumer group whose positions are kept in the log."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from lineage_bridge.errors import LineageBridgeError, SourceError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Input, InputKind, Positions, ReadingState
from lineage_bridge.inputs.kafka.assignment import Assignment
from lineage_bridge.inputs.kafka.checks import checks
from lineage_bridge.inputs.kafka.errors import LOST, UNKNOWN, as_bytes, error_text, input_error
from lineage_bridge.inputs.kafka.settings import LATEST, KafkaInputSettings, client_config, consumer_config, group_of
from lineage_bridge.inputs.kafka.stream import KafkaStream
from lineage_bridge.inputs.kafka.topics import FoundTopic, TopicFinder
from lineage_bridge.model.sources import SourceCheck

COMMIT_S: Final = 1.0
LINGER_S, STEADY_LINGER_S = 0.05, 0.2
"""How long a read waits for further records once it has one: shortly for a record that comes alone, longer if the records before it came
less than `STEADY_S` seconds ago, so that a steady flow makes few batches.
"""
STEADY_S: Final = 0.3
READ_BYTES: Final = 16 << 20
"""The maximum bytes of values that one read returns, unless it returns a single value."""


class KafkaInput(Input[KafkaInputSettings]):
    """Reads topics. Offsets committed to the group are a copy, for tools that show how far the group lags."""

    def __init__(self, name: str, settings: KafkaInputSettings, installation: str = "") -> None:
        super().__init__(name, settings, installation)
        self.group = group_of(name, settings, installation)
        self._consumer: Consumer | None = None
        self._causes: list[KafkaError] = []
        self._problems: tuple[str, ...] = ()
        self._commits: dict[tuple[str, int], int] = {}
        self._commit_at, self._lost = 0.0, 0
        self._last_read = float("-inf")

    def test(self, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
        """Try to resolve the address, connect, log in, find the topics and the group, and read and validate a record."""
        return checks(self.settings, self.group, judge)

    def open(self, positions: Positions) -> None:
        """Connect, and join the group as soon as there is a topic."""
        self._causes, self._problems, self._topics = [], (), dict[str, FoundTopic]()
        self._commits, self._commit_at, self._refresh_at = {}, 0.0, 0.0
        self._kept: list[Message] = []
        self._is_held, self._raised = False, list[LineageBridgeError]()
        self._behind: list[tuple[str, int]] = []
        self._stuck: dict[tuple[str, int], str] = {}
        try:
            self._admin = AdminClient(client_config(self.settings) | {"error_cb": self._note_cause})
            self._finder = TopicFinder(self.settings, self._admin, self._causes)
            self._finder.check_brokers()  # a member of a group connects to its coordinator by itself
            callbacks = {"error_cb": self._note_cause, "on_commit": self._note_commit}
            self._consumer = Consumer(consumer_config(self.settings, self.group) | callbacks)
        except (KafkaException, ValueError) as error:
            raise SourceError(f"librdkafka rejects the settings: {error_text(error)}", "check the setting `properties`") from error
        self._assignment = Assignment(self.settings, self._finder, positions)
        self._refresh()

    def read(self, most: int) -> Sequence[IncomingRecord]:
        """Read the next records of the topics."""
        consumer = self._open_consumer()
        if self._is_held:
            consumer.resume(self._assignment.partitions())
            self._is_held = False
        if self._behind:
            self._recover()
        if time.monotonic() >= self._refresh_at:
            self._refresh()
        kept, self._kept = self._kept, []
        try:
            messages = kept or self._messages(consumer, most)
        except KafkaException as error:
            raise input_error(error, "records cannot be read", *self._causes) from error
        if self._raised:
            raise self._raised.pop(0)
        records, failures = [], list[Message]()
        for message in messages:
            if message.error():
                failures.append(message)
            elif (record := self._record(message)) is not None:
                records.append(record)
        self._handle(failures)
        self._commit_if_due()
        return self._of_known_topics(records)

    def _messages(self, consumer: Consumer, most: int) -> list[Message]:
        """The messages that are available now, or else the first ones that arrive within `poll_s`; at most the given number of messages,
        and about READ_BYTES bytes.
        """
        found: list[Message] = []
        size, until = 0, time.monotonic() + self.settings.poll_s
        while len(found) < most and size < READ_BYTES:
            message = consumer.poll(max(0.0, until - time.monotonic()))
            if message is None:
                break
            if not found:
                now = time.monotonic()
                until = min(until, now + (STEADY_LINGER_S if now - self._last_read < STEADY_S else LINGER_S))
            found.append(message)
            size += len(message)
        if found:
            self._last_read = time.monotonic()
        return found

    def _of_known_topics(self, records: Sequence[IncomingRecord]) -> Sequence[IncomingRecord]:
        """The records whose topics still have the ids that they had when they were assigned."""
        names = sorted({record.where.stream for record in records})
        now = self._finder.look_at(names).topics if names else {}
        new = {name for name, topic in now.items() if name in self._topics and self._topics[name].id != topic.id}
        if not new:
            return records
        pairs = sorted({(record.where.stream, int(record.where.partition)) for record in records if record.where.stream in new})
        ends = self._finder.offsets([pair for pair in pairs if pair[1] < now[pair[0]].partitions], LATEST)
        self._refresh()
        return [record for record in records if record.offset >= ends.get((record.where.stream, int(record.where.partition)), 0)]

    def acknowledge(self, ends: Mapping[StreamPartition, int]) -> None:
        """Record the offsets to commit."""
        for where, offset in self._assignment.advance(ends).items():
            self._commits[where.stream, int(where.partition)] = offset
        self._commit_if_due()

    def keep_alive(self) -> None:
        """Stay in the group, without fetching more records."""
        consumer = self._open_consumer()
        if not self._is_held:
            consumer.pause(self._assignment.partitions())
            self._is_held = True
        message = consumer.poll(0)
        if message is not None:
            self._kept.append(message)

    def reading_state(self) -> ReadingState:
        """The partitions that are read, and the number of records between the last acknowledged ones and the partitions' ends."""
        consumer, lag, known = self._open_consumer(), 0, True
        for partition in self._assignment.partitions():
            low, high = consumer.get_watermark_offsets(partition, cached=True)
            at = self._assignment.done(partition.topic, partition.partition)
            known = known and high >= 0
            lag += max(0, high - max(at, low))
            if 0 <= high <= at:
                self._stuck.pop((partition.topic, partition.partition), None)
        count = len(self._assignment.partitions())
        causes = tuple(sorted({error_text(cause) for cause in self._causes[-1:]})) if not count else ()
        problems = (*self._problems, *self._stuck.values(), *causes)
        return ReadingState(count, lag if known and count else None, self._lost + self._assignment.lost, problems)

    def close(self) -> None:
        """Commit the offsets, and leave the group."""
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            self._lost += self._assignment.lost
            self._commit(consumer, asynchronous=False)
            consumer.close()

    def _open_consumer(self) -> Consumer:
        if self._consumer is None:
            raise SourceError(f"internal error: input {self.name} was read before it was opened", "please report this")
        return self._consumer

    # topics

    def _refresh(self) -> None:
        """Look for topics that are new or were created again, and read those too."""
        self._refresh_at = time.monotonic() + self.settings.refresh_s
        found = self._finder.find()
        consumer, before = self._open_consumer(), self._topics
        kept = {name: topic for name, topic in before.items() if name in found.unclear}
        self._topics, self._problems = {**kept, **found.topics}, found.problems
        self._assignment.update(self._topics)
        if self._topics.keys() != before.keys():
            if self._topics:
                consumer.subscribe(sorted(self._topics), on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_revoke)
            else:
                consumer.unsubscribe()
        elif any(self._topics[name].id != topic.id for name, topic in before.items()):
            self._assign_again()

    def _on_assign(self, consumer: Consumer, partitions: list[TopicPartition]) -> None:
        """Read the partitions that the group assigns, from the log's positions. Errors are raised by `read`, which calls this."""
        try:
            consumer.assign(self._assignment.assigned([(found.topic, found.partition) for found in partitions]))
            self._is_held = False
        except LineageBridgeError as error:
            self._raised.append(error)

    def _on_revoke(self, consumer: Consumer, _: list[TopicPartition]) -> None:
        self._commit(consumer, asynchronous=False)
        self._assignment.clear()
        self._kept.clear()
        self._stuck.clear()
        consumer.unassign()

    def _assign_again(self) -> None:
        """Read all partitions again from the log's positions."""
        self._kept.clear()
        current = [(found.topic, found.partition) for found in self._assignment.partitions()]
        self._open_consumer().assign(self._assignment.assigned(current))

    # records

    def _record(self, message: Message) -> IncomingRecord | None:
        """Convert a message to a record; None if the message belongs to an earlier topic of the same name."""
        topic, number, offset = message.topic() or "", message.partition() or 0, message.offset() or 0
        where = self._assignment.take(topic, number, offset)
        if where is None:
            return None
        self._stuck.pop((topic, number), None)
        return IncomingRecord(where, offset, as_bytes(message.value()), _time(message), as_bytes(message.key()), _headers(message))

    def _handle(self, failures: Sequence[Message]) -> None:
        """Handle errors of single partitions; all other partitions continue."""
        for message in failures:
            error = message.error()
            if error is None:
                continue
            if error.code() in LOST and message.topic() is not None:
                self._behind.append((str(message.topic()), message.partition() or 0))
            elif error.code() in UNKNOWN:
                self._refresh_at = 0.0
            elif error.fatal() or error.code() in _ENDING:
                raise input_error(error, "records cannot be read", *self._causes)
            else:
                self._note_cause(error)
                topic, number = message.topic() or "", message.partition() or 0
                offset = self._assignment.next_offset(topic, number)
                if offset is not None:
                    self._stuck[topic, number] = f"topic {topic}, partition {number}, from offset {offset}: {error.str()}"

    def _recover(self) -> None:
        """Continue in partitions whose next offset does not exist. Records that were read before this was noticed are in the log by now."""
        behind, self._behind = self._behind, []
        for pair in behind:
            self._stuck.pop(pair, None)
        self._refresh()
        self._assignment.recover(behind)
        self._assign_again()

    # commits

    def _commit_if_due(self) -> None:
        if self._commits and time.monotonic() >= self._commit_at:
            self._commit(self._open_consumer(), asynchronous=True)

    def _commit(self, consumer: Consumer, *, asynchronous: bool) -> None:
        """Commit positions to the group. If this fails, nothing is lost, because they are in the log."""
        commits, self._commits = self._commits, {}
        self._commit_at = time.monotonic() + COMMIT_S
        if commits:
            offsets = [TopicPartition(topic, number, offset) for (topic, number), offset in sorted(commits.items())]
            try:
                if asynchronous:
                    consumer.commit(offsets=offsets)
                else:
                    consumer.commit(offsets=offsets, asynchronous=False)
            except KafkaException as error:
                self._note_commit(error.args[0], offsets)

    def _note_commit(self, error: KafkaError | None, _: list[TopicPartition]) -> None:
        mark = "offsets cannot be committed to the group"
        others = tuple(problem for problem in self._problems if not problem.startswith(mark))
        self._problems = (*others, f"{mark}: {error.str()}") if error else others

    def _note_cause(self, error: KafkaError) -> None:
        self._causes[:] = [*self._causes[-9:], error]


_FIRST_MS, _LAST_MS = -62_135_596_800_000, 253_402_300_799_999
"""Timestamps of the years 1 to 9999, in milliseconds."""
_ENDING: Final = frozenset((KafkaError.GROUP_AUTHORIZATION_FAILED, KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError._AUTHENTICATION))  # noqa: SLF001  # that is its public name
"""Errors after which the connection is closed and opened again later."""


def _time(message: Message) -> int | None:
    """The time at which a record was written. None without a timestamp, or with one outside the years 1 to 9999, because producers may
    state any.
    """
    kind, at_ms = message.timestamp()
    return at_ms if kind and _FIRST_MS <= at_ms <= _LAST_MS else None


def _headers(message: Message) -> tuple[tuple[str, bytes | None], ...]:
    """The headers of a record; empty if the name of any header is not valid text, because the client then cannot return them."""
    try:
        headers: Any = message.headers() or ()
    except (SystemError, UnicodeDecodeError):
        return ()
    return tuple((str(name), as_bytes(value)) for name, value in headers)


KIND = InputKind(KafkaInputSettings, KafkaInput, "events in topics of Kafka", "kafka", KafkaStream)
