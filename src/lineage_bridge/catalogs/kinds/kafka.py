"""The target Kafka: a topic with one OpenLineage event in each record, which other catalogs read."""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, Producer
from pydantic import Field

from lineage_bridge.catalogs.events import digest, in_form, record_key
from lineage_bridge.catalogs.settings import EventSettings
from lineage_bridge.catalogs.target import DONE, Expressed, Json, Operation, Outcome, Target, TargetKind
from lineage_bridge.errors import ForbiddenError, MissingError, SourceError, UnauthenticatedError, UnreachableError
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.sources.common.kafka.protocol.brokers import check_cluster
from lineage_bridge.sources.common.kafka.protocol.login import records_config
from lineage_bridge.sources.common.kafka.settings import KafkaConnection

_LOGIN: Final = frozenset((KafkaError.SASL_AUTHENTICATION_FAILED, KafkaError._AUTHENTICATION))  # noqa: SLF001  # that is its public name
_FORBIDDEN: Final = frozenset((KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.CLUSTER_AUTHORIZATION_FAILED))
_UNKNOWN: Final = frozenset((KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_TOPIC))  # noqa: SLF001  # as above
_REFUSED: Final = frozenset((KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG, KafkaError.INVALID_RECORD))


class KafkaTargetSettings(KafkaConnection, EventSettings):
    """Settings of a target: a cluster, and the topic on it."""

    topic: str = Field(min_length=1, max_length=249, pattern=r"^[a-zA-Z0-9._-]+$", description="topic, which must exist")
    max_bytes: int = Field(default=1_000_000, ge=1024, le=16 << 20, description="largest record; at most the topic's max.message.bytes")

    @property
    def destination(self) -> str:
        """The text that identifies the target: the cluster and the topic."""
        return f"{self.bootstrap_servers} {self.topic}"


class KafkaTarget(Target[KafkaTargetSettings]):
    """Publishes to a topic: produces records in order, each once. Keys are those of OpenLineage's own clients, so events of one job
    stay in order.
    """

    batch = 500

    def __init__(self, name: str, settings: KafkaTargetSettings, _: Path) -> None:
        super().__init__(name, settings)
        self._opening = threading.Lock()
        self._producer: Producer | None = None

    def express(self, event: Json) -> Expressed:
        """Convert an event to the form in records: unchanged or, depending on the settings, as a completed run."""
        return in_form(event, self.settings.events)

    def visible(self, event: Json) -> str:
        """The digest of the whole event, because nothing can be read back."""
        return digest(event)

    def write(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Produce records, and wait until the brokers have confirmed them.

        If records are too large together, or one of them is, brokers refuse all records that were sent together. Each is then sent alone.
        """
        found = self._sent(operations)
        if len(operations) > 1:
            found = [
                self._sent([operation])[0] if isinstance(outcome, KafkaError) and outcome.code() in _REFUSED else outcome
                for operation, outcome in zip(operations, found, strict=True)
            ]
        return [self._outcome(outcome) for outcome in found]

    def _sent(self, operations: Sequence[Operation]) -> list[Outcome | KafkaError | None]:
        """What became of each record; None for one that was not confirmed in time."""
        producer = self._opened()
        outcomes: list[Outcome | KafkaError | None] = [None] * len(operations)

        def noted(at: int) -> Any:  # noqa: ANN401  # a callback of the client
            def callback(error: KafkaError | None, _: object) -> None:
                outcomes[at] = DONE if error is None else error

            return callback

        for at, operation in enumerate(operations):
            key = record_key(operation).encode()
            headers: list[tuple[str, str | bytes | None]] = [("idempotency-key", operation.idempotency_key.encode())]
            try:
                producer.produce(self.settings.topic, operation.body, key, headers=headers, on_delivery=noted(at))
            except KafkaException as error:
                outcomes[at] = error.args[0]
            except BufferError as error:
                raise UnreachableError(
                    f"records for topic {self.settings.topic} wait to be sent, and the queue for them is full",
                    "check that the brokers are reachable, and publish again",
                ) from error
        try:
            producer.flush(self.settings.timeout_s + 5)
        except KafkaException as error:  # nothing can be sent any more
            raise self._error(error.args[0]) from error
        return outcomes

    def _outcome(self, found: Outcome | KafkaError | None) -> Outcome:
        if isinstance(found, Outcome):
            return found
        if found is not None and found.code() in _REFUSED:
            return Outcome(False, found.str())
        raise self._error(found)

    def _error(self, error: KafkaError | None) -> SourceError:
        text = f"topic {self.settings.topic}: {error.str() if error else 'the brokers did not confirm a record in time'}"
        code = error.code() if error else None
        if code in _LOGIN:
            return UnauthenticatedError(text, "check security_protocol, sasl_mechanism and the credentials")
        if code in _FORBIDDEN:
            return ForbiddenError(text, "allow WRITE on the topic")
        if code in _UNKNOWN:
            return MissingError(text, "create it, with cleanup.policy=delete")
        return UnreachableError(text, "check bootstrap_servers, security_protocol, and that the brokers run")

    def test(self) -> list[SourceCheck]:
        """Check whether the brokers answer and have the topic. Whether it can be written only shows when a record is sent."""
        producer = self._opened()
        try:
            found = producer.list_topics(self.settings.topic, timeout=self.settings.timeout_s).topics[self.settings.topic]
        except KafkaException as error:
            failed = self._error(error.args[0])
            return [SourceCheck("connect", works=False, message=str(failed), hint=failed.hint)]
        connected = SourceCheck("connect", works=True, message=f"{self.settings.server} answers")
        if found.error is not None:
            failed = self._error(found.error)
            return [connected, SourceCheck("topic", works=False, message=str(failed), hint=failed.hint)]
        count = len(found.partitions)
        return [connected, SourceCheck("topic", works=True, message=f"{self.settings.topic} has {count} partition{'s' * (count != 1)}")]

    def _opened(self) -> Producer:
        with self._opening:
            if self._producer is None:
                timeout_ms = int(self.settings.timeout_s * 1000)
                connection = records_config(self.settings)
                try:
                    check_cluster(self.settings, connection)
                except KafkaException as error:
                    raise self._error(error.args[0]) from error
                self._producer = Producer(
                    {
                        "compression.type": "gzip",
                        "message.timeout.ms": timeout_ms,
                        "topic.metadata.propagation.max.ms": min(30_000, timeout_ms // 2),  # when a missing topic is taken for one
                        "message.max.bytes": self.settings.max_bytes + 100_000,
                        "socket.timeout.ms": max(timeout_ms, 1000),
                        **connection,
                        "enable.idempotence": True,
                        "acks": "all",
                        "allow.auto.create.topics": False,
                        "log_level": 0,
                    }
                )
            return self._producer


KIND = TargetKind(KafkaTargetSettings, KafkaTarget, "a topic of Kafka with OpenLineage events")
