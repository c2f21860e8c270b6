"""Reading topics of a real broker: every record once, whatever happens to the group, the topic and the reader."""

import gzip
import json
import time
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from openlineage.client import OpenLineageClient
from openlineage.client.event_v2 import InputDataset, Job, OutputDataset, Run, RunEvent, RunState
from openlineage.client.transport.kafka import KafkaConfig, KafkaTransport
from tests.events import run_event
from tests.inputs.support import FailingLedger, Installation, installed, places, until
from tests.servers import broker
from tests.servers.broker import ADMIN, ISSUER, LIMITED, Kafka, password_of
from tests.servers.web.openid import PROGRAM_USER, OpenIdProvider, made_key
from tests.servers.web.tls import CLIENT
from tests.sources.kafka import identity

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.graph.record_origin import read_origin
from lineage_bridge.sources.common.settings import SourceContext

NUMBERS = count()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    with installed(tmp_path) as made:
        yield made


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"lineage-{next(NUMBERS)}"
    kafka.create_topics(name, partitions=2)
    return name


def event(number: int, **more: Any) -> bytes:
    return run_event(job=f"job-{number}", number=number, **more)


def write(kafka: Kafka, topic: str, partition: int, *values: bytes | None, minutes_ago: float = 0, **more: Any) -> None:
    producer = Producer({**kafka.client_config(), **more.pop("config", {})})
    for value in values:
        producer.produce(topic, value, partition=partition, timestamp=int(time.time() * 1000 - minutes_ago * 60_000), **more)
    assert producer.flush(30) == 0


def group_of(name: str = "events") -> str:
    return f"lineage-bridge-{name}-01234567"


def committed(kafka: Kafka, topic: str, group: str, partitions: int = 2) -> list[int]:
    consumer = Consumer({**kafka.client_config(), "group.id": group})
    try:
        return [found.offset for found in consumer.committed([TopicPartition(topic, number) for number in range(partitions)], 30)]
    finally:
        consumer.close()


def test_each_record_keeps_where_it_comes_from(kafka: Kafka, installation: Installation, topic: str) -> None:
    write(
        kafka,
        topic,
        0,
        event(1),
        b"no event",
        key=b"run:jobs/job-1",
        headers=[("content-type", b"application/json"), ("token", b"hunter2")],
    )
    write(kafka, topic, 1, event(2))
    installation.bring(3, bootstrap_servers=kafka.bootstrap, topics=[topic])
    records = {
        origin.partition + str(origin.offset): (record, origin) for record in installation.records() if (origin := read_origin(record.note))
    }
    assert sorted(records) == ["00", "01", "10"]
    record, origin = records["00"]
    assert (record.kind, record.channel, record.principal, record.body) == (RecordKind.EVENT, "kafka", "input:events", event(1))
    assert (origin.input, origin.stream, origin.key, origin.headers["content-type"]) == (
        "events",
        topic,
        "run:jobs/job-1",
        "application/json",
    )
    assert "hunter2" not in record.note.decode()
    assert origin.at_ms is not None
    assert abs(origin.at_ms - time.time() * 1000) < 60_000
    rejected = records["01"][0]
    assert (rejected.kind, json.loads(rejected.note)["code"]) == (RecordKind.REJECTED, "not_json")


def test_it_goes_on_where_the_log_ends_and_the_group_is_only_a_copy(kafka: Kafka, installation: Installation, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    write(kafka, topic, 0, *map(event, range(5)))
    with installation.reading(**settings):
        until(lambda: committed(kafka, topic, group_of()) == [5, -1001])
    # Somebody resets the group: the log has the events all the same.
    consumer = Consumer({**kafka.client_config(), "group.id": group_of()})
    consumer.commit(offsets=[TopicPartition(topic, 0, 1)], asynchronous=False)
    consumer.close()
    write(kafka, topic, 0, event(5))
    write(kafka, topic, 1, event(6))
    installation.bring(7, **settings)
    assert places(installation.origins()) == [(topic, "0", offset) for offset in range(6)] + [(topic, "1", 0)]
    assert committed(kafka, topic, group_of()) == [6, 1]


def test_values_are_plain_compressed_behind_a_registrys_header_or_empty(kafka: Kafka, installation: Installation, topic: str) -> None:
    values = [
        event(0),
        gzip.compress(event(1)),
        zlib.compress(event(2)),
        b"\0\0\0\0\x11" + event(3),
        b"[" + event(4) + b"," + event(5) + b"]",
        None,
        b"",
        b"\0\0\0\0\x11" + b"\x02avro",
        b"\x1f\x8bbroken",
        event(6),
    ]
    write(kafka, topic, 0, *values)
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic]) as reader:
        until(lambda: reader.meter.status.read == len(values))
        assert (reader.meter.status.skipped, reader.meter.status.lost) == (1, 0)
    records = installation.records()
    assert [json.loads(record.body)["number"] for record in records if record.kind == RecordKind.EVENT] == list(range(7))
    assert [json.loads(record.note)["code"] for record in records if record.kind == RecordKind.REJECTED] == ["not_json"] * 3
    several = [(origin.offset, origin.index, origin.count) for origin in installation.origins() if origin.count > 1]
    assert several == [(4, 0, 2), (4, 1, 2)]
    assert "schema 17" in str(records[-3].note)


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_kafka_may_compress(kafka: Kafka, installation: Installation, topic: str, codec: str) -> None:
    write(kafka, topic, 0, *map(event, range(3)), config={"compression.type": codec, "linger.ms": 100})
    assert installation.bring(3, bootstrap_servers=kafka.bootstrap, topics=[topic]) == [event(number) for number in range(3)]


def test_only_what_was_committed_counts(kafka: Kafka, installation: Installation, topic: str) -> None:
    producer = Producer({**kafka.client_config(), "transactional.id": topic, "log_level": 0})
    producer.init_transactions(30)
    for number, end in enumerate((producer.commit_transaction, producer.abort_transaction, producer.commit_transaction)):
        producer.begin_transaction()
        producer.produce(topic, event(number), partition=0)
        producer.flush(30)
        end(30)
    assert installation.bring(2, bootstrap_servers=kafka.bootstrap, topics=[topic]) == [event(0), event(2)]
    assert [origin.offset for origin in installation.origins()] == [0, 4]


@pytest.mark.parametrize("refresh_s", [0.5, 8], ids=["looked at", "not looked at"])
def test_a_topic_that_was_created_again_is_read_from_its_beginning(
    kafka: Kafka, installation: Installation, topic: str, refresh_s: float
) -> None:
    write(kafka, topic, 0, *map(event, range(6)))
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic], refresh_s=refresh_s):
        until(lambda: len(installation.records()) == 6)
        admin = kafka.admin()
        admin.delete_topics([topic])[topic].result(30)
        until(lambda: topic not in admin.list_topics(timeout=30).topics)
        kafka.create_topics(topic, partitions=2)
        # More than the topic had before: the next offset exists in both.
        write(kafka, topic, 0, *map(event, range(6, 16)))
        until(lambda: len(installation.records()) == 16)
        write(kafka, topic, 0, event(16))
        until(lambda: len(installation.records()) == 17)
    assert installation.bodies() == [event(number) for number in range(17)]
    assert len({origin.life for origin in installation.origins()}) == 2


def test_a_topic_that_was_created_again_while_nobody_read(kafka: Kafka, installation: Installation, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic]}
    write(kafka, topic, 0, *map(event, range(3)))
    installation.bring(3, **settings)
    admin = kafka.admin()
    admin.delete_topics([topic])[topic].result(30)
    until(lambda: topic not in admin.list_topics(timeout=30).topics)
    kafka.create_topics(topic, partitions=2)
    write(kafka, topic, 0, *map(event, range(3, 8)))
    assert installation.bring(8, **settings) == [event(number) for number in range(8)]


@pytest.mark.parametrize(("expired", "expected"), [("earliest", [0, 3, 4, 9]), ("latest", [0, 9])])
def test_records_that_were_deleted_before_they_were_read(
    kafka: Kafka, installation: Installation, topic: str, expired: str, expected: list[int]
) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "expired": expired}
    write(kafka, topic, 0, event(0))
    installation.bring(1, **settings)
    write(kafka, topic, 0, *map(event, range(1, 5)))
    admin = kafka.admin()
    admin.delete_records([TopicPartition(topic, 0, 3)])[TopicPartition(topic, 0)].result(30)
    with installation.reading(**settings) as reader:
        until(lambda: reader.meter.status.lost == (2 if expired == "earliest" else 4))
        write(kafka, topic, 0, event(9))
        until(lambda: len(installation.records()) == len(expected))
    assert [json.loads(body)["number"] for body in installation.bodies()] == expected


def test_it_stops_before_deleted_records_if_it_is_to(kafka: Kafka, installation: Installation, topic: str) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [topic], "expired": "stop"}
    write(kafka, topic, 0, event(0))
    installation.bring(1, **settings)
    write(kafka, topic, 0, event(1), event(2))
    admin = kafka.admin()
    admin.delete_records([TopicPartition(topic, 0, 2)])[TopicPartition(topic, 0)].result(30)
    with installation.reading(**settings) as reader:
        until(lambda: "deleted before they were read" in reader.meter.status.error)
        assert "expired" in reader.meter.status.hint
    assert len(installation.records()) == 1


def test_a_damaged_partition_does_not_stop_the_other(kafka: Kafka, installation: Installation, topic: str) -> None:
    """Nothing of what the broker's disk has damaged is taken in, and nothing behind it, until the damage is deleted."""
    write(kafka, topic, 0, event(0))
    write(kafka, topic, 1, event(1))
    write(kafka, topic, 0, event(2))
    (segment,) = kafka.folder.rglob(f"{topic}-0/*.log")
    at = segment.read_bytes().index(b"job-0")
    with segment.open("r+b") as file:
        file.seek(at)
        file.write(b"JOB-0")
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic]) as reader:
        until(lambda: any(f"topic {topic}, partition 0, from offset 0: " in problem for problem in reader.meter.status.problems))
        write(kafka, topic, 1, event(3))
        until(lambda: len(installation.records()) == 2)
        assert installation.bodies() == [event(1), event(3)]
        admin = kafka.admin()
        admin.delete_records([TopicPartition(topic, 0, 1)])[TopicPartition(topic, 0)].result(30)
        until(lambda: len(installation.records()) == 3 and not reader.meter.status.problems, f"the rest ({reader.meter.status})")
        assert reader.meter.status.lost == 1
    assert installation.bodies() == [event(1), event(3), event(2)]


def test_a_second_consumer_of_the_group_takes_partitions_and_gives_them_back(kafka: Kafka, installation: Installation, topic: str) -> None:
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic], session_timeout_s=6) as reader:
        until(lambda: reader.meter.status.partitions == 2)
        second = Consumer({**kafka.client_config(), "group.id": group_of(), "auto.offset.reset": "earliest"})
        try:
            second.subscribe([topic])
            until(lambda: second.poll(0.1) is None and len(second.assignment()) == 1 and reader.meter.status.partitions == 1)
            for number in range(10):
                write(kafka, topic, number % 2, event(number))
            until(lambda: len(installation.records()) == 5)
        finally:
            second.close()
        until(lambda: len(installation.records()) == 10)
    assert places(installation.origins()) == [(topic, str(side), offset) for side in range(2) for offset in range(5)]


def test_where_it_begins_counts_once_and_what_comes_later_is_read_from_its_beginning(
    kafka: Kafka, installation: Installation, topic: str
) -> None:
    settings: dict[str, Any] = {"bootstrap_servers": kafka.bootstrap, "topics": [f"{topic}*"], "start": "latest"}
    write(kafka, topic, 0, event(0))
    with installation.reading(**settings) as reader:
        until(lambda: reader.meter.status.partitions == 2)
    # Nobody reads: what comes now is behind the beginning that was stored.
    write(kafka, topic, 0, event(1))
    write(kafka, topic, 1, event(2))
    kafka.create_topics(f"{topic}-more")
    write(kafka, f"{topic}-more", 0, event(3))
    with installation.reading(**settings):
        until(lambda: len(installation.records()) == 3)
        kafka.create_topics(f"{topic}-still-more")
        write(kafka, f"{topic}-still-more", 0, event(4))
        until(lambda: len(installation.records()) == 4)
    expected = [(topic, "0", 1), (topic, "1", 0), (f"{topic}-more", "0", 0), (f"{topic}-still-more", "0", 0)]
    assert places(installation.origins()) == expected


def test_it_begins_at_a_time(kafka: Kafka, installation: Installation, topic: str) -> None:
    write(kafka, topic, 0, event(0), minutes_ago=120)
    write(kafka, topic, 0, event(1))
    write(kafka, topic, 1, event(2), minutes_ago=90)
    since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - 3600))
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic], start=since) as reader:
        until(lambda: len(installation.records()) == 1)
        until(lambda: reader.meter.status.lag_records == 0)
    assert installation.bodies() == [event(1)]


def test_topics_are_chosen_by_name_and_glob_and_left_out(kafka: Kafka, installation: Installation, topic: str) -> None:
    kafka.create_topics(f"{topic}.a", f"{topic}.b", f"{topic}.c")
    for name in "abc":
        write(kafka, f"{topic}.{name}", 0, event(ord(name)))
    write(kafka, topic, 0, event(1))
    settings: dict[str, Any] = {"topics": [topic, f"{topic}.?", "absent-topic"], "exclude_topics": ["*.b"]}
    with installation.reading(bootstrap_servers=kafka.bootstrap, **settings) as reader:
        until(lambda: len(installation.records()) == 3)
        until(lambda: any("absent-topic" in problem for problem in reader.meter.status.problems))
    assert {origin.stream for origin in installation.origins()} == {topic, f"{topic}.a", f"{topic}.c"}


def test_the_rate_and_the_batch_are_capped(kafka: Kafka, installation: Installation, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(30)))
    log = FailingLedger(installation.ledger)
    began = time.monotonic()
    with installation.reading(log, bootstrap_servers=kafka.bootstrap, topics=[topic], max_records_per_s=10, batch_records=4):
        until(lambda: len(installation.records()) == 30)
    assert time.monotonic() - began > 1.9, "30 records at 10 a second, 10 of them at once"
    assert max(len(batch.records) for batch in log.batches) <= 4


def test_the_connection_is_closed_while_nothing_comes(kafka: Kafka, installation: Installation, topic: str) -> None:
    write(kafka, topic, 0, event(0))
    with installation.reading(bootstrap_servers=kafka.bootstrap, topics=[topic], idle_s=0.5, interval_s=1) as reader:
        until(lambda: reader.meter.status.state == "idle")
        write(kafka, topic, 0, event(1))
        until(lambda: len(installation.records()) == 2)


def test_while_the_log_takes_nothing_it_waits_and_loses_and_doubles_nothing(kafka: Kafka, installation: Installation, topic: str) -> None:
    write(kafka, topic, 0, *map(event, range(20)))
    log = FailingLedger(installation.ledger, is_gone=True, is_written=True)
    with installation.reading(log, bootstrap_servers=kafka.bootstrap, topics=[topic], batch_records=7, session_timeout_s=6) as reader:
        until(lambda: reader.meter.status.state == "waiting" and log.calls > 3)
        assert len(installation.records()) <= 7
        log.is_gone = False
        until(lambda: len(installation.records()) == 20)
        assert reader.meter.status.partitions == 2
    assert [origin.offset for origin in installation.origins()] == list(range(20))


WAYS = {
    "ssl": {},
    "mtls": {},
    "plain": {"sasl_mechanism": "PLAIN"},
    "scram": {"sasl_mechanism": "SCRAM-SHA-256"},
    "scram-512": {"sasl_mechanism": "SCRAM-SHA-512"},
    "plain-ssl": {"sasl_mechanism": "PLAIN"},
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_in(kafka: Kafka, installation: Installation, topic: str, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    write(kafka, topic, 0, event(0))
    config = kafka.client_config(way)
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address(way), "security_protocol": config["security.protocol"], **WAYS[way]}
    if "sasl_mechanism" in settings:
        monkeypatch.setenv("INPUT_PASSWORD", password_of(ADMIN))
        settings |= {"username": ADMIN, "password": "${env:INPUT_PASSWORD}"}
    if "ssl.ca.location" in config:
        settings["ssl_ca_pem"] = Path(str(config["ssl.ca.location"])).read_text()
    if way == "mtls":
        monkeypatch.setenv("INPUT_KEY", kafka.tls.client_key.read_text())
        kafka.allow(CLIENT, "topic", topic, "read", "describe")
        kafka.allow(CLIENT, "group", group_of(), "read")
        settings |= {"ssl_cert_pem": kafka.tls.client_certificate.read_text(), "ssl_key_pem": "${env:INPUT_KEY}"}
    assert installation.bring(1, topics=[topic], **settings) == [event(0)]


def test_it_logs_in_with_tokens_of_an_issuer(
    kafka: Kafka, openid: OpenIdProvider, installation: Installation, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    openid.be(ISSUER, [kafka.token_key])
    write(kafka, topic, 0, event(0))
    kafka.allow(PROGRAM_USER, "topic", topic, "read", "describe")
    kafka.allow(PROGRAM_USER, "group", group_of(), "read")
    monkeypatch.setenv("INPUT_SECRET", openid.secret)
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address("plain"), "security_protocol": "SASL_PLAINTEXT"}
    settings |= {"sasl_mechanism": "OAUTHBEARER", "oauth_token_url": f"{openid.url}/token", "oauth_scope": "lineage"}
    settings |= {"oauth_client_id": PROGRAM_USER, "oauth_client_secret": "${env:INPUT_SECRET}"}
    assert installation.bring(1, topics=[topic], **settings) == [event(0)]
    openid.be(ISSUER, [made_key("RS256", "tokens")])
    with installation.reading(topics=[topic], timeout_s=5, **settings) as reader:
        until(lambda: reader.meter.status.state == "failing", "a token that the broker does not believe")
    assert openid.secret not in str(reader.meter.status)


def test_it_logs_in_as_a_managed_identity_of_azure(kafka: Kafka, installation: Installation, topic: str) -> None:
    """The metadata service is one of the tests: it answers as Azure's is documented to, with tokens that the broker checks."""
    write(kafka, topic, 0, event(0))
    settings: dict[str, Any] = {"bootstrap_servers": kafka.address("plain"), "security_protocol": "SASL_PLAINTEXT", "topics": [topic]}
    settings |= {"sasl_mechanism": "OAUTHBEARER", "oauth_identity": "azure", "oauth_scope": "api://lineage", "oauth_client_id": "1234"}
    with identity.provider(kafka.token_key) as azure:
        assert installation.bring(1, oauth_token_url=azure.url, **settings) == [event(0)]
        assert azure.asked[0] == {"api-version": ["2018-02-01"], "resource": ["api://lineage"], "client_id": ["1234"]}
    context = SourceContext(withheld=frozenset({"azure"}))
    with installation.reading(context=context, **settings) as reader:
        until(lambda: "credentials of this machine" in reader.meter.status.error)
        assert "machine_credentials" in reader.meter.status.hint


def test_what_is_not_allowed_is_reported(kafka: Kafka, installation: Installation, topic: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("INPUT_PASSWORD", password_of(LIMITED))
    settings: dict[str, Any] = {
        "bootstrap_servers": kafka.address("plain"),
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "username": LIMITED,
        "password": "${env:INPUT_PASSWORD}",
        "topics": [topic],
        "group": topic,
    }
    with installation.reading(**settings) as reader:
        until(lambda: any("authorization failed" in problem for problem in reader.meter.status.problems))
        kafka.allow(LIMITED, "topic", topic, "read", "describe")
        until(lambda: "Group authorization failed" in reader.meter.status.error)
        assert reader.meter.status.state == "failing"
        kafka.allow(LIMITED, "group", topic, "read")
        write(kafka, topic, 0, event(0))
        until(lambda: len(installation.records()) == 1)
    assert committed(kafka, topic, topic)[0] == 1


def test_addresses_that_are_not_allowed_are_not_called(kafka: Kafka, installation: Installation, topic: str) -> None:
    context = SourceContext(outbound=Outbound.parse("10.0.0.0/8"))
    with installation.reading(
        context=context, bootstrap_servers=kafka.bootstrap.replace("127.0.0.1", "localhost"), topics=[topic]
    ) as reader:
        until(lambda: "may be called" in reader.meter.status.error)
    assert installation.records() == []


def test_a_broker_that_is_gone_for_a_while(installation: Installation, tmp_path: Path) -> None:
    folder = tmp_path / "kafka"
    folder.mkdir()
    with broker.started(folder, "aW5wdXRzLXJlc3RhcnQtMQ") as kafka:
        kafka.create_topics("lineage")
        write(kafka, "lineage", 0, event(0))
        reading = installation.reading(bootstrap_servers=kafka.bootstrap, topics=["lineage"], timeout_s=2, session_timeout_s=6)
        reader = reading.__enter__()
        until(lambda: len(installation.records()) == 1)
    try:
        until(lambda: reader.meter.status.state == "failing")
        with broker.started_again(kafka):
            write(kafka, "lineage", 0, event(1))
            until(lambda: len(installation.records()) == 2 and reader.meter.status.state == "reading")
    finally:
        reading.__exit__(None, None, None)
    assert installation.bodies() == [event(0), event(1)]


def test_the_stock_client_of_openlineage_writes_what_is_read(kafka: Kafka, installation: Installation, topic: str) -> None:
    transport = KafkaTransport(KafkaConfig(config={"bootstrap.servers": kafka.bootstrap}, topic=topic, flush=True))
    client = OpenLineageClient(transport=transport)
    run, time_ = Run(str(UUID(int=7))), "2026-11-20T00:00:00Z"
    for state in (RunState.START, RunState.COMPLETE):
        client.emit(
            RunEvent(
                eventType=state,
                eventTime=time_,
                run=run,
                job=Job("ns", "daily"),
                producer="https://example.org",
                inputs=[InputDataset("ns", "a")],
                outputs=[OutputDataset("ns", "b")],
            )
        )
    assert client.close()
    installation.bring(2, bootstrap_servers=kafka.bootstrap, topics=[topic])
    assert {record.kind for record in installation.records()} == {RecordKind.EVENT}
    assert {origin.key for origin in installation.origins()} == {"run:ns/daily"}
