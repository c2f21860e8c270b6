"""OpenMetadata's documented examples start, and read from a real broker and a real stream what each option says."""

import time
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from tests.events import run_event
from tests.inputs.support import Installation, installed, until
from tests.servers.broker import ADMIN, Kafka, password_of
from tests.servers.kinesis import REGION, Kinesis

from lineage_bridge.inputs.openmetadata import translated

NUMBERS = count()


def workflow(broker: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A workflow of OpenMetadata's, as its documentation has it, with these options of the broker and more of the ingestion."""
    connection = {"config": {"type": "OpenLineage", "brokerConfig": broker}}
    ingestion = {"config": {"type": "PipelineMetadata", "includeLineage": True, "includeOwners": True, **more}}
    return {"source": {"type": "openlineage", "serviceName": "ol", "serviceConnection": connection, "sourceConfig": ingestion}}


def bring(installation: Installation, expected: int, broker: dict[str, Any]) -> list[bytes]:
    """Read as the workflow says until the log has so many records."""
    kind, settings = translated("events", {"kind": "openmetadata", **workflow(broker)})
    return installation.bring(expected, kind=kind, **settings)


def event(number: int) -> bytes:
    return run_event(job=f"job-{number}", number=number)


def test_a_topic_behind_tls_and_a_password(kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    topic, group = f"openmetadata-{next(NUMBERS)}", f"openmetadata-{next(NUMBERS)}"
    kafka.create_topics(topic, partitions=2)
    kafka.produce(topic, map(event, range(3)))
    monkeypatch.setenv("OM_PASSWORD", password_of(ADMIN))
    monkeypatch.setenv("OM_KEY", kafka.tls.client_key.read_text())
    broker = {
        "brokersUrl": kafka.address("plain-ssl"),
        "topicName": topic,
        "consumerGroupName": group,
        "consumerOffsets": "earliest",
        "poolTimeout": 0.3,
        "sessionTimeout": 60,
        "securityProtocol": "SASL_SSL",
        "sslConfig": {
            "caCertificate": kafka.tls.authority.read_text(),
            "sslCertificate": kafka.tls.client_certificate.read_text(),
            "sslKey": "${env:OM_KEY}",
        },
        "saslConfig": {"saslMechanism": "PLAIN", "saslUsername": ADMIN, "saslPassword": "${env:OM_PASSWORD}"},
    }
    with installed(tmp_path) as installation:
        assert sorted(bring(installation, 3, broker)) == sorted(map(event, range(3)))
    reader = Consumer({**kafka.client_config(), "group.id": group})
    try:
        committed = reader.committed([TopicPartition(topic, number) for number in range(2)], timeout=30)
    finally:
        reader.close()
    assert sum(max(0, found.offset) for found in committed) == 3


def test_offsets_of_the_latest_leave_out_what_was_there(kafka: Kafka, tmp_path: Path) -> None:
    topic = f"openmetadata-{next(NUMBERS)}"
    kafka.create_topics(topic)
    kafka.produce(topic, [event(0)])
    kind, settings = translated(
        "events", {"kind": "openmetadata", "brokersUrl": kafka.bootstrap, "topicName": topic, "consumerOffsets": "latest"}
    )
    with installed(tmp_path) as installation, installation.reading(kind=kind, **settings) as reader:
        until(lambda: reader.meter.status.lag_records == 0, f"an end of the topic ({reader.meter.status})")
        kafka.produce(topic, [event(1)])
        until(installation.records, "a record")
        assert installation.bodies() == [event(1)]


def left_out(installation: Installation, broker: dict[str, Any]) -> int:
    """Read as a workflow with a pattern for pipelines says until three records are read; the number of events that are left out."""
    given = workflow(broker, pipelineFilterPattern={"includes": ["JOBS-job-[13]$"]}, markDeletedPipelines=True)
    kind, settings = translated("events", {"kind": "openmetadata", **given})
    with installation.reading(kind=kind, **settings) as reader:
        until(lambda: reader.meter.status.read == 3, f"three records ({reader.meter.status})")
    return reader.meter.status.filtered


def test_pipelines_of_a_topic_that_are_not_included_are_left_out(kafka: Kafka, tmp_path: Path) -> None:
    topic = f"openmetadata-{next(NUMBERS)}"
    kafka.create_topics(topic)
    kafka.produce(topic, map(event, range(3)))
    with installed(tmp_path) as installation:
        assert left_out(installation, {"brokersUrl": kafka.bootstrap, "topicName": topic}) == 2
        assert installation.bodies() == [event(1)]
        ((_, position),) = installation.ledger.positions("events").partitions
        assert position.offset == 3


def test_pipelines_of_a_stream_that_are_not_included_are_left_out(
    kinesis_local: Kinesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = f"openmetadata-{next(NUMBERS)}"
    kinesis_local.create(stream, 1)
    kinesis_local.put(stream, [*map(event, range(3))])
    monkeypatch.setenv("OM_SECRET", "secret")
    aws = {"awsRegion": REGION, "awsAccessKeyId": "AKIATEST", "awsSecretAccessKey": "${env:OM_SECRET}", "endPointURL": kinesis_local.url}
    with installed(tmp_path) as installation:
        assert left_out(installation, {"streamName": stream, "awsConfig": aws}) == 2
        assert installation.bodies() == [event(1)]


@pytest.mark.parametrize("offsets", ["TRIM_HORIZON", "LATEST"])
def test_a_stream(kinesis_local: Kinesis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, offsets: str) -> None:
    stream = f"openmetadata-{next(NUMBERS)}"
    kinesis_local.create(stream, 2)
    kinesis_local.put(stream, [event(0)])
    monkeypatch.setenv("OM_SECRET", "secret")
    aws = {"awsRegion": REGION, "awsAccessKeyId": "AKIATEST", "awsSecretAccessKey": "${env:OM_SECRET}", "endPointURL": kinesis_local.url}
    broker = {"streamName": stream, "consumerOffsets": offsets, "poolTimeout": 0.3, "sessionTimeout": 30, "awsConfig": aws}
    with installed(tmp_path) as installation:
        if offsets == "TRIM_HORIZON":
            assert bring(installation, 1, broker) == [event(0)]
            return
        time.sleep(1.1)  # an input that begins with the latest record begins with the service's second
        kind, settings = translated("events", {"kind": "openmetadata", **workflow(broker)})
        with installation.reading(kind=kind, **settings) as reader:
            until(lambda: reader.meter.status.lag_s == 0, f"an end of the stream ({reader.meter.status})")
            kinesis_local.put(stream, [event(1)])
            until(installation.records, "the later record")
        assert installation.bodies() == [event(1)]
