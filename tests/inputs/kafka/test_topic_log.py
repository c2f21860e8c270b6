"""Received events are written to a topic of a real broker: what the graph is made from is what the embedded log would hold."""

import json
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from tests.crash.running.support import SPARK_S
from tests.crash.running.support import until as hold_until
from tests.events import KEY, run_event
from tests.inputs.streamed import Streamed
from tests.inputs.support import until
from tests.servers.broker import Kafka, password_of

from lineage_bridge.api.position_tokens import covers, decode, encode_behind
from lineage_bridge.errors import UnavailableError
from lineage_bridge.graph.log_record import LogRecord, RecordAddress, RecordKind, read_note
from lineage_bridge.ingest.ingest import Ingested, RecordLimits, Sender, ingest, ingest_operation
from lineage_bridge.ingest.payload import Payload
from lineage_bridge.inputs.judging import CollectingLog
from lineage_bridge.inputs.kafka.settings import KafkaInputSettings
from lineage_bridge.inputs.kafka.topic_log import TopicLog
from lineage_bridge.inputs.topic_record import size_of
from lineage_bridge.model.access import AccessScope, Principal
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.pipeline.streams.feed import SparkFeed
from lineage_bridge.ports.log import EventLog

NUMBERS = count()
AT = 1_700_000_000_000_000
TEAM = Sender("http", Principal("key:team", frozenset({AccessScope.INGEST}), ("team-*",)))
ANYBODY = Sender("http", Principal("key:ci", frozenset({AccessScope.INGEST})))


class NoLog:
    """The end of a log without records."""

    def end(self) -> int:
        return 0


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"intake-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=3)
    return name


@contextmanager
def writing(kafka: Kafka, topic: str, most_pending: int = 64 << 20, **more: Any) -> Iterator[TopicLog]:
    given: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "form": "stream", "refresh_s": 0.5, "timeout_s": 5}
    log = TopicLog(KafkaInputSettings.model_validate({**given, **more}), NoLog(), most_pending=most_pending, request=lambda: "r-1")
    try:
        yield log
    finally:
        log.close()


def payload(*events: bytes) -> Payload:
    return Payload(b"[" + b",".join(events) + b"]" if len(events) != 1 else events[0])


def bring(log: EventLog) -> list[Any]:
    """What several senders send, and the futures of where it is."""
    good = [run_event(job=f"job-{number}", number=number) for number in range(20)]
    return [
        ingest(payload(*good), ANYBODY, log, AT, key=KEY).offsets,
        ingest(payload(run_event(namespace="team-a"), run_event(namespace="other")), TEAM, log, AT, key=KEY).offsets,
        ingest(payload(b"no event"), ANYBODY, log, AT, key=KEY).offsets,
        ingest_operation(b'{"operation": "veto"}', ANYBODY, log, AT),
    ]


def in_any_order(records: Sequence[LogRecord]) -> list[tuple[Any, ...]]:
    found = [(record, read_note(record.note)) for record in records]
    return sorted(
        (
            *(getattr(record, name) for name in ("event_id", "kind", "arrival_us", "channel", "principal", "body")),
            note.code,
            note.namespaces,
        )
        for record, note in found
    )


@pytest.mark.spark
def test_a_topic_holds_what_the_log_would_and_positions_are_reached_once_it_was_folded(
    kafka: Kafka, topic: str, tmp_path: Path, spark: SparkSession
) -> None:
    embedded, made = CollectingLog(), Streamed(tmp_path, spark)
    bring(embedded)
    with writing(kafka, topic) as log:
        until(lambda: not log.problem, f"the topic ({log.problem})")
        addresses: list[RecordAddress] = [address for future in bring(log) for address in future.result(30)]
        token = encode_behind(addresses)
        assert topic not in token
        position = decode(token)
        assert dict(log.ends()) == position | {at: 0 for at in log.ends() if at not in position}
    assert len(set(addresses)) == len(embedded.records) == 24
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    assert not covers({}, position)
    with made.feeding() as feed, made.streaming(feed, restores=True, **settings):
        hold_until(lambda: covers(applied(made, feed), position), SPARK_S, "the position")
        assert feed.progress("events").accepted == 22
    found = [stored.record for stored in made.archived()]
    assert in_any_order(found) == in_any_order(embedded.records)
    assert {read_note(record.note).origin.headers["lineagebridge-request"] for record in found} == {"r-1"}  # type: ignore[union-attr]  # all have one
    made.check()
    made.close()


def applied(made: Streamed, feed: SparkFeed) -> dict[tuple[str, int], int]:
    sources = sorted({of.source for of in made.archive.partitions()})
    return {(source, partition): offset for source in sources for partition, offset in feed.serve.position(source).items()}


def judged(log: TopicLog, event: bytes) -> Ingested:
    return ingest(payload(event), ANYBODY, log, AT, key=KEY, limits=RecordLimits(log.most_bytes, size_of))


def test_an_event_that_the_topic_does_not_take_is_rejected_and_smaller_ones_pass(kafka: Kafka) -> None:
    name = f"intake-{next(NUMBERS)}"
    kafka.create_topics(name, max_message_bytes="30000")
    with writing(kafka, name) as log:
        until(lambda: not log.problem, "the topic")
        assert log.most_bytes == 30_000
        large = judged(log, run_event(number=1, text="x" * 40_000))
        fitting = judged(log, run_event(number=2, text="".join(map(str, range(5_000)))))
        many = [judged(log, run_event(number=number, text="".join(map(str, range(4_000))))) for number in range(3, 30)]
        (event,) = large.events
        assert isinstance(event.verdict, Rejected)
        assert (event.verdict.code, event.record.kind) == ("too_large", RecordKind.REJECTED)
        assert read_note(event.record.note).code == "too_large"
        for sent in (large, fitting, *many):
            assert len(sent.offsets.result(30)) == 1
    values = kafka.consume(name, 29)
    assert sorted(json.loads(value)["number"] for value in values if value and value.endswith(b"}")) == list(range(2, 30))


def test_until_there_is_a_topic_nothing_is_taken_and_then_it_is(kafka: Kafka) -> None:
    name = f"intake-{next(NUMBERS)}"
    with writing(kafka, name) as log:
        until(lambda: "yet" not in log.problem, "a first look")
        with pytest.raises(UnavailableError, match=name):
            judged(log, run_event())
        kafka.create_topics(name)
        until(lambda: not log.problem, "the topic")
        assert judged(log, run_event()).offsets.result(30)


def test_what_waits_for_the_brokers_is_bounded(kafka: Kafka, topic: str) -> None:
    with writing(kafka, topic, most_pending=2_000) as log:
        until(lambda: not log.problem, "the topic")
        with pytest.raises(UnavailableError, match="limit 2000"):
            judged(log, run_event(text="x" * 2_000))
        assert judged(log, run_event()).offsets.result(30)
        until(lambda: log.pending_bytes == 0, "the acknowledgment to be counted")


def test_a_compacted_topic_takes_no_events(kafka: Kafka) -> None:
    name = f"intake-{next(NUMBERS)}"
    kafka.create_topics(name, cleanup_policy="compact")
    with writing(kafka, name) as log:
        until(lambda: not log.problem, "the topic")
        with pytest.raises(UnavailableError) as caught:
            judged(log, run_event()).offsets.result(30)
        assert "cleanup.policy=delete" in caught.value.hint


def test_the_connection_is_secured_as_that_of_the_input_and_needs_the_right_to_write(kafka: Kafka, topic: str, monkeypatch: Any) -> None:
    user = kafka.add_user(f"writer-{next(NUMBERS)}")
    kafka.allow(user, "topic", topic, "describe", "describe_configs")
    monkeypatch.setenv("INTAKE_PASSWORD", password_of(user))
    secured: dict[str, Any] = {
        "bootstrap_servers": kafka.address("scram-ssl"),
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "username": user,
        "password": "${env:INTAKE_PASSWORD}",
        "ssl_ca_file": str(kafka.tls.authority),
    }
    with writing(kafka, topic, **secured) as log:
        until(lambda: not log.problem, f"the topic ({log.problem})")
        with pytest.raises(UnavailableError):
            judged(log, run_event()).offsets.result(30)
        until(lambda: "authorization" in log.problem.lower(), f"the reason ({log.problem})")
        kafka.allow(user, "topic", topic, "write")
        deadline = time.monotonic() + 30
        while True:
            try:
                assert judged(log, run_event()).offsets.result(30)
                break
            except UnavailableError:
                assert time.monotonic() < deadline
