"""Kafka: a record that the topic does not take, brokers that are away, and rights that are missing."""

import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, edges_of, everything
from tests.events import dataset, facet, job_event
from tests.ports import free_ports
from tests.servers.broker import LIMITED, Kafka, password_of

pytestmark = pytest.mark.servers


def _place(kafka: Kafka, topic: str) -> Place:
    settings = {"bootstrap_servers": kafka.bootstrap, "topic": topic, "events": "jobs", "timeout_s": 5}
    return Place("kafka", settings, lambda: edges_of([msgspec.json.decode(value) for value in everything(kafka, topic)]))


def test_a_record_that_the_topic_does_not_take_holds_up_no_other(ours: Server, kafka: Kafka) -> None:
    kafka.create_topics("narrow", max_message_bytes="8000")
    place = _place(kafka, "narrow")
    added(ours, place)
    text = "".join(chr(0x4E00 + (number * 7919) % 20_000) for number in range(12_000))  # hardly smaller when compressed
    ours.send(job_event("large", job_facets={"documentation": facet(description=text)}, outputs=[dataset("a")]))
    report = published(ours)
    assert report.outcomes == {"done": 4, "refused": 1}
    assert [item.name for item in report.operations if item.outcome == "refused"] == ["large"]
    assert place.edges() == EDGES
    assert published(ours).kept == {"refused there before, and unchanged since": 1}


def test_what_brokers_that_are_away_did_not_get_is_sent_when_they_are_back(ours: Server, kafka: Kafka) -> None:
    kafka.create_topics("away")
    place = _place(kafka, "away")
    (port,) = free_ports(1)
    added(ours, place, bootstrap_servers=f"127.0.0.1:{port}", timeout_s=1, tries=1)
    report = published(ours)
    assert (report.state, report.outcomes.get("done"), report.code) == ("failed", None, "unreachable")
    added(ours, place)
    assert published(ours).outcomes == {"done": 4}
    assert place.edges() == EDGES


def test_a_missing_topic_and_a_missing_right_end_the_publication_with_the_reason(ours: Server, kafka: Kafka) -> None:
    place = _place(kafka, "absent")
    added(ours, place, tries=1)
    report = published(ours)
    assert (report.state, report.code) == ("failed", "missing_there")
    kafka.create_topics("guarded-target")
    kafka.allow(LIMITED, "topic", "guarded-target", "describe")
    login = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "username": LIMITED,
        "password": "${env:TEST_PASSWORD}",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TEST_PASSWORD", password_of(LIMITED))
        added(ours, _place(kafka, "guarded-target"), bootstrap_servers=kafka.address("plain"), tries=1, **login)
        report = published(ours)
    assert (report.state, report.code) == ("failed", "forbidden")
