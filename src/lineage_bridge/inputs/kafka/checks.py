"""Tests each step of reading topics, without joining the group or committing offsets."""

import socket
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, KafkaError, KafkaException, TopicPartition
from confluent_kafka.admin import AclOperation, AdminClient

from lineage_bridge.errors import LineageBridgeError, RequestError, SourceError, UnauthenticatedError
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.kafka.errors import as_bytes, error_text, input_error
from lineage_bridge.inputs.kafka.java_client import java_options
from lineage_bridge.inputs.kafka.settings import EARLIEST, LATEST, KafkaInputSettings, client_config, consumer_config
from lineage_bridge.inputs.kafka.topics import FoundTopic, TopicFinder
from lineage_bridge.inputs.settings import STREAM
from lineage_bridge.model.sources import SourceCheck
from lineage_bridge.pipeline.streams.jars import KAFKA, cached, default_cache

RESOLVE, CONNECT, LOGIN, TOPICS, GROUP, RECORD, SPARK = "resolve", "connect", "authenticate", "topics", "group", "record", "spark"
_NO_LOGIN: Final = "the connection uses no login, so the brokers do not authenticate the input"


def checks(settings: KafkaInputSettings, group: str, judge: Callable[[IncomingRecord], str]) -> Iterator[SourceCheck]:
    """Test the steps of reading topics, and return a check for each. Stops at a failed step on which the following ones depend."""
    resolved = _resolved(settings)
    yield resolved
    if not resolved.works:
        return
    causes: list[KafkaError] = []
    try:
        admin = AdminClient(client_config(settings) | {"error_cb": causes.append})
    except (KafkaException, ValueError) as error:
        raise SourceError(f"librdkafka rejects the settings: {error_text(error)}", "check the setting `properties`") from error
    finder = TopicFinder(settings, admin, causes)
    connected = [*_connected(settings, finder)]
    yield from connected
    if not all(check.works for check in connected):
        return
    found = finder.find()
    for problem in found.problems:
        yield SourceCheck(TOPICS, False, problem, "create the topic, or allow READ and DESCRIBE on it")
    for name, topic in found.topics.items():
        yield SourceCheck(f"{TOPICS} {name}", True, f"{topic.partitions} partition{'' if topic.partitions == 1 else 's'}")
    if settings.form == STREAM:
        yield _for_spark(settings)
    yield _allowed_group(settings, admin, group)
    if found.topics:
        yield _record(settings, finder, dict(found.topics), group, judge)


def _for_spark(settings: KafkaInputSettings) -> SourceCheck:
    """Check whether Spark has what it needs to read, and whether its client understands the settings."""
    if not cached(KAFKA, default_cache()):
        return SourceCheck(
            SPARK, False, "the Java archives that Spark needs to read Kafka are missing", "fetch them with: lineage-bridge jars"
        )
    options = java_options(settings)
    return SourceCheck(SPARK, True, f"the Java archives are there; {len(options)} settings of the connection are translated")


def _resolved(settings: KafkaInputSettings) -> SourceCheck:
    unknown, addresses = [], set()
    for server in settings.bootstrap_servers.split(","):
        host, _, port = server.rpartition(":")
        try:
            addresses |= {str(found[4][0]) for found in socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)}
        except OSError:
            unknown.append(host)
    if addresses:
        return SourceCheck(RESOLVE, True, ", ".join(sorted(addresses)))
    return SourceCheck(RESOLVE, False, f"unknown host: {', '.join(unknown)}", "check the setting `bootstrap_servers`")


def _connected(settings: KafkaInputSettings, finder: TopicFinder) -> Iterator[SourceCheck]:
    user = f" as {settings.username}" if settings.username else ""
    login = f"{settings.sasl_mechanism}{user}" if settings.sasl_mechanism else _NO_LOGIN
    try:
        cluster = finder.cluster_id()
    except UnauthenticatedError as error:
        yield SourceCheck(CONNECT, True, f"{settings.server} answers")
        yield SourceCheck(LOGIN, False, str(error), error.hint)
        return
    except LineageBridgeError as error:
        yield SourceCheck(CONNECT, False, str(error), error.hint)
        return
    yield SourceCheck(CONNECT, True, f"{settings.server} answers, cluster {cluster}")
    yield SourceCheck(LOGIN, True, login)


def _allowed_group(settings: KafkaInputSettings, admin: AdminClient, group: str) -> SourceCheck:
    """Check whether the group may be joined, as far as this can be found out without joining it."""
    hint = f"allow READ on the group {group}, or choose another group with the setting `group`"
    try:
        asked = [ConsumerGroupTopicPartitions(group)]
        admin.list_consumer_group_offsets(asked, request_timeout=settings.timeout_s)[group].result()
        answers: Any = admin.describe_consumer_groups([group], include_authorized_operations=True, request_timeout=settings.timeout_s)
        operations = answers[group].result().authorized_operations
    except KafkaException as error:
        return SourceCheck(GROUP, False, str(input_error(error, f"group {group}")), hint)
    if operations and AclOperation.READ not in operations:
        return SourceCheck(GROUP, False, f"the input may not READ the group {group}", hint)
    return SourceCheck(GROUP, True, f"the input may READ the group {group}")


def _record(
    settings: KafkaInputSettings, finder: TopicFinder, topics: dict[str, FoundTopic], group: str, judge: Callable[[IncomingRecord], str]
) -> SourceCheck:
    """Read the newest record of a partition that has one, and validate it."""
    partitions = [(name, number) for name, topic in topics.items() for number in range(topic.partitions)]
    firsts, ends = finder.offsets(partitions, EARLIEST), finder.offsets(partitions, LATEST)
    filled = [pair for pair in partitions if ends[pair] > firsts[pair]]
    if not filled:
        return SourceCheck(RECORD, True, "there are no records yet")
    causes: list[KafkaError] = []
    consumer = Consumer(consumer_config(settings, group) | {"error_cb": causes.append})
    try:
        consumer.assign([TopicPartition(*pair, max(firsts[pair], ends[pair] - 10)) for pair in filled[:4]])
        incoming = _newest(consumer, topics, time.monotonic() + settings.timeout_s, causes)
    finally:
        consumer.close()
    if incoming is None:
        return SourceCheck(RECORD, False, "no record arrived in time", "raise the setting `timeout_s`")
    where = f"{incoming.where.stream}, partition {incoming.where.partition}, offset {incoming.offset}"
    try:
        return SourceCheck(RECORD, True, f"{where}: {judge(incoming)}")
    except RequestError as error:
        return SourceCheck(RECORD, False, f"{where}: {error}", "such records are stored in quarantine, and the input continues after them")


def _newest(consumer: Consumer, topics: dict[str, FoundTopic], deadline: float, causes: list[KafkaError]) -> IncomingRecord | None:
    """The last record that arrives; None if none arrives in time."""
    found: IncomingRecord | None = None
    while time.monotonic() < deadline:
        message = consumer.poll(0.3)
        if message is None:
            if found is not None:
                break
            continue
        if error := message.error():
            raise input_error(error, "records cannot be read", *causes)
        value, topic = as_bytes(message.value()), message.topic() or ""
        if value is not None:
            where = StreamPartition(topic, topics[topic].id, str(message.partition()))
            found = IncomingRecord(where, message.offset() or 0, value)
    return found
