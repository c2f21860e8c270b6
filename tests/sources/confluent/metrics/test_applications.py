"""The applications and accounts of the stand-in's organization, as metrics and the audit log report them; and each way to fail."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from confluent_kafka import Producer
from tests.confluent.cloud import Cloud, running
from tests.confluent.expected_edges import expected
from tests.corpora.published import faults
from tests.servers.broker import Kafka
from tests.sources.confluent.graph import Graph, differences, exported

from lineage_bridge.sources.common.observer import Observation, Snapshot
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.common.stepwise import FAILED, OBSERVED, PlaneStep
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.settings import PLANES, ConfluentSettings

T0 = 1_795_000_000_000_000
MINUTE = 60_000_000
MINE = {"discovery", "names", "topics", "connect", "metrics"}
NUMBERS = count()


@pytest.fixture
def cloud(monkeypatch: pytest.MonkeyPatch) -> Iterator[Cloud]:
    with running() as standin:
        standin.limits.scale = 1000.0
        for name, secret in standin.environment().items():
            monkeypatch.setenv(name, secret)
        yield standin


class Polling:
    """An observer of the organization, with some planes; `steps` are those of the last poll."""

    def __init__(self, cloud: Cloud, planes: set[str], **more: Any) -> None:
        off = [name for name in PLANES if name not in planes]
        settings = ConfluentSettings.model_validate({**cloud.settings(), "timeout_s": 20, "off": off, **more})
        self.observer = ConfluentObserver("cloud", settings)
        self.snapshot: Snapshot | None = None
        self.steps: dict[str, PlaneStep] = {}

    def poll(self, minutes: int = 0) -> Observation:
        shared = self.observer.shared_metadata(self.snapshot) if self.snapshot else NO_METADATA
        steps = list(self.observer.steps(self.snapshot, shared, T0 + minutes * MINUTE))
        self.steps = {step.plane.key: step for step in steps}
        events = tuple(event for step in steps for event in step.observation.events)
        assert not faults(events)
        self.snapshot = json.loads(json.dumps(steps[-1].observation.snapshot))
        return Observation(self.snapshot or {}, events)

    def events(self, key: str) -> list[dict[str, Any]]:
        return list(self.steps[key].observation.events)


def test_exactly_the_applications_that_write_are_found(cloud: Cloud):
    polling = Polling(cloud, MINE)
    first = polling.poll()
    assert {step.plane.state for step in polling.steps.values()} == {OBSERVED}
    assert differences(Graph(exported(first)), expected(cloud.organization), ["producers"]) == {"missing": [], "extra": []}
    owners = {
        event["job"]["name"]: event["job"]["facets"]["ownership"]["owners"][0]["name"]
        for event in polling.events("metrics organization")
        if "ownership" in event.get("job", {}).get("facets", {})
    }
    assert owners["producer/order-service"] == "order-service"
    assert owners["producer/console-producer"] == "Boris Lund"
    counted = {
        name for event in polling.events("metrics organization") if (name := event.get("job", {}).get("name", "")) and "/" not in name
    }
    running_ = {connector["name"] for connector in cloud.organization["connectors"] if connector["state"] == "RUNNING"}
    assert running_ <= counted | {"ledger-writer"}
    again = polling.poll(5)
    assert {event.get("eventType") for event in again.events} == {"RUNNING"}
    text = json.dumps([first.snapshot, first.events, again.snapshot])
    assert not [secret for secret in cloud.secrets if secret in text]
    assert not [user["email"] for user in cloud.organization["users"] if user["email"] in text]


@pytest.mark.parametrize("how", ["broken", "slow", "refused", "half", "truncated", "gone"])
def test_failed_planes_end_no_runs(cloud: Cloud, how: str):
    polling = Polling(cloud, {"names", "metrics"})
    polling.poll()
    before = polling.snapshot or {}
    if how == "slow":
        polling = Polling(cloud, {"names", "metrics"}, timeout_s=1)
        polling.snapshot = before
    for path in ("/v2/metrics", "/iam"):
        cloud.fail(path, how, 2.0)
    failed = polling.poll(5)
    assert {event.get("eventType") for event in failed.events} <= {"RUNNING"}
    for key in ("metrics organization", "names organization"):
        outcome = polling.steps[key].plane
        if how != "half":  # there is only one page, so no second one can fail
            assert outcome.state == FAILED
            assert outcome.why
            assert (failed.snapshot["planes"][key], bool(failed.snapshot["unseen"][key])) == (before["planes"][key], True)
    cloud.heal()
    assert {event.get("eventType") for event in polling.poll(10).events} == {"RUNNING"}
    assert {step.plane.state for step in polling.steps.values()} == {OBSERVED}


def test_changes_in_the_audit_log_are_attached_to_their_resources(cloud: Cloud, kafka: Kafka, monkeypatch: pytest.MonkeyPatch):
    topic = f"organization-audit-{next(NUMBERS)}"
    kafka.create_topics(topic, partitions=2)
    producer = Producer(kafka.client_config())
    for at, event in enumerate(cloud.organization["audit_events"]):
        producer.produce(topic, json.dumps(event), partition=at % 2, timestamp=T0 // 1000)
    producer.flush()
    monkeypatch.setenv("AUDIT", "secret")
    log = {"bootstrap_servers": kafka.bootstrap, "security_protocol": "PLAINTEXT", "topic": topic, "key": "K", "secret": "${env:AUDIT}"}
    checked = [(check.step, check.works) for check in Polling(cloud, {"names", "metrics", "audit-log"}, audit_log=log).observer.test()]
    assert checked[1:] == [("names organization", True), ("audit-log organization", True), ("metrics organization", True)]
    polling = Polling(cloud, {"names", "topics", "connect", "flink", "audit-log"}, audit_log=log)
    polling.poll()
    requests = {}
    for event in polling.events("audit-log organization"):
        about = event.get("dataset") or event["job"]
        facet = about["facets"]["confluent_changes"]
        requests[about["name"]] = [[(entry["method"], entry.get("name", "")) for entry in facet[part]] for part in ("changes", "access")]
    connectors = [connector["name"] for connector in cloud.organization["connectors"][:3]]
    assert requests[connectors[0]][0] == [
        ("ResumeConnector", "Boris Lund"),
        ("PauseConnector", "Boris Lund"),
        ("CreateConnector", "Anna Kovacs"),
    ]
    assert requests[connectors[1]] == [[("CreateConnector", "Anna Kovacs")], []]
    assert requests["cards"] == [[], [("kafka.Produce", "nobody")]]
    assert requests["order_audit"] == [[], [("kafka.Fetch", "lineage-admin")]]
    assert {name for name in requests if name.startswith("flink/")} == {
        f"flink/{statement['name']}" for statement in cloud.organization["statements"][:2]
    }
    assert {event.get("eventType") for event in polling.poll(5).events} == {"RUNNING"}
    assert not polling.events("audit-log organization")
