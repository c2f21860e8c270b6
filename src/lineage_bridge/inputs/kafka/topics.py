"""Finds the existing topics, and the first and last offsets of their partitions."""

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from confluent_kafka import IsolationLevel, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from lineage_bridge.inputs.kafka.errors import error_text, input_error, is_unavailable_topic
from lineage_bridge.inputs.kafka.settings import EARLIEST, KafkaInputSettings
from lineage_bridge.sources.common.kafka.protocol.brokers import check_brokers

Offsets = Mapping[tuple[str, int], int]
"""Topic and partition to an offset."""
_NO_ID = "AAAAAAAAAAAAAAAAAAAAAA"
"""Stands for the topic id on brokers that have no topic ids."""


class FoundTopic(NamedTuple):
    """A topic with its number of partitions, and the id that distinguishes it from earlier topics of its name.

    If the cluster gives topics no ids, the id is that of the cluster.
    """

    id: str
    partitions: int


class TopicsFound(NamedTuple):
    """The topics that can be read, and for each other topic a sentence about the reason. The brokers gave no answer about the topics in
    `unclear`; whether these can be read is unknown.
    """

    topics: Mapping[str, FoundTopic]
    problems: tuple[str, ...]
    unclear: frozenset[str] = frozenset()


class TopicFinder:
    """Finds the topics of an input. Raises SourceError. `causes` are the errors that the client has reported apart from its calls."""

    def __init__(self, settings: KafkaInputSettings, admin: AdminClient, causes: Sequence[object]) -> None:
        self._settings, self._admin, self._causes = settings, admin, causes

    def find(self) -> TopicsFound:
        """Find the existing topics, after checking that the brokers may be called."""
        self.check_brokers()
        names = sorted({*self._settings.names, *self._matching()})
        names = [name for name in names if not any(fnmatchcase(name, glob) for glob in self._settings.exclude_topics)]
        if not names:
            return TopicsFound({}, (f"no topic matches {', '.join(self._settings.topics)}",))
        return self.look_at(names)

    def look_at(self, names: Sequence[str]) -> TopicsFound:
        """The current state of these topics."""
        topics: dict[str, FoundTopic] = {}
        problems, unclear, cluster = [], set(), ""
        for name, answer in self._answers(names).items():
            try:
                found: Any = answer.result()
            except KafkaException as error:
                problems.append(f"topic {name}: {error_text(error)}")
                if not is_unavailable_topic(error):
                    unclear.add(name)
                continue
            id_ = str(found.topic_id)
            if id_ == _NO_ID:
                cluster = cluster or f"cluster {self.cluster_id()}"
            topics[name] = FoundTopic(cluster if id_ == _NO_ID else id_, len(found.partitions))
        return TopicsFound(topics, tuple(problems), frozenset(unclear))

    def check_brokers(self) -> None:
        """Check that the advertised addresses of the brokers may be called. Raises SourceError."""
        try:
            check_brokers(self._settings, self._admin)
        except KafkaException as error:
            raise input_error(error, f"{self._settings.server} does not answer", *self._causes) from error

    def cluster_id(self) -> str:
        """The id of the cluster."""
        return str(self._metadata().cluster_id)

    def offsets(self, partitions: Sequence[tuple[str, int]], at: str | int) -> Offsets:
        """The offsets at which partitions begin (EARLIEST) or end (LATEST), or those of the first records since a time (UTC milliseconds);
        -1 if there is no such record.
        """
        if not partitions:
            return {}
        points: Any = OffsetSpec  # its functions have no types
        point = points.for_timestamp(at) if isinstance(at, int) else points.earliest() if at == EARLIEST else points.latest()
        asked = {TopicPartition(topic, number): point for topic, number in partitions}
        try:
            answers = self._admin.list_offsets(asked, request_timeout=self._settings.timeout_s)
            return {(found.topic, found.partition): int(answer.result().offset) for found, answer in answers.items()}
        except KafkaException as error:
            raise input_error(error, "offsets cannot be read", *self._causes) from error

    def known_offsets(self, partitions: Sequence[tuple[str, int]], at: str | None) -> tuple[Offsets, Mapping[tuple[str, int], str]]:
        """The first offsets of partitions (EARLIEST), or the ends of their committed records (None). Also returns why offsets of some
        partitions are unknown. Raises SourceError if all are unknown.
        """
        points: Any = OffsetSpec  # its functions have no types
        asked = {TopicPartition(topic, number): points.earliest() if at == EARLIEST else points.latest() for topic, number in partitions}
        known: dict[tuple[str, int], int] = {}
        failures: dict[tuple[str, int], KafkaException] = {}
        if not asked:
            return known, {}
        answers = self._admin.list_offsets(asked, isolation_level=IsolationLevel.READ_COMMITTED, request_timeout=self._settings.timeout_s)
        for found, answer in answers.items():
            try:
                known[found.topic, found.partition] = int(answer.result().offset)
            except KafkaException as error:  # noqa: PERF203 - each by itself
                failures[found.topic, found.partition] = error
        if failures and not known:
            first = next(iter(failures.values()))
            raise input_error(first, "offsets cannot be read", *self._causes) from first
        return known, {pair: error_text(error) for pair, error in failures.items()}

    def _matching(self) -> list[str]:
        if not self._settings.globs:
            return []
        return [name for name in self._metadata().topics if any(fnmatchcase(name, glob) for glob in self._settings.globs)]

    def _metadata(self) -> Any:  # noqa: ANN401  # the client's
        try:
            found = self._admin.list_topics(timeout=self._settings.timeout_s)
        except KafkaException as error:
            raise input_error(error, f"{self._settings.server} does not answer", *self._causes) from error
        self._settings.outbound.check_servers((str(broker.host), broker.port) for broker in found.brokers.values())
        return found

    def _answers(self, names: Sequence[str]) -> Mapping[str, Any]:
        try:
            answers: Mapping[str, Any] = self._admin.describe_topics(TopicCollection(list(names)), request_timeout=self._settings.timeout_s)
            for answer in answers.values():
                if (error := answer.exception()) and not _is_of_topic(error):
                    raise error
        except KafkaException as error:
            raise input_error(error, f"{self._settings.server} does not answer", *self._causes) from error
        return answers


def _is_of_topic(error: BaseException) -> bool:
    """Whether an error concerns one topic instead of the connection. Errors of the client itself have codes below 0."""
    return isinstance(error, KafkaException) and error.args[0].code() > 0
