"""The audit log: its events in the vendor's shapes, what comes of them, and polls that come early because of it, with a real broker."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from hypothesis import given
from hypothesis import strategies as st
from tests.confluent.organization.build import build
from tests.corpora.published import faults
from tests.servers.broker import Kafka
from tests.sources.http import Reply, Request, Standin, standing

from lineage_bridge.model.sources import SourceRecord
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.observer import Observation
from lineage_bridge.sources.common.shared_metadata import NO_METADATA, VALUE, ClusterMetadata, SharedMetadata, TopicSchema
from lineage_bridge.sources.confluent.audit.parse import ACCESS, CHANGES, Resource, parse_request
from lineage_bridge.sources.confluent.audit.plane import AuditLogRead, AuditPlane, planes
from lineage_bridge.sources.confluent.audit.requests import RecentRequests
from lineage_bridge.sources.confluent.clients import Clients
from lineage_bridge.sources.confluent.observer import ConfluentObserver
from lineage_bridge.sources.confluent.organization import KafkaCluster, Organization, SchemaRegistry
from lineage_bridge.sources.confluent.plane import PlaneContext
from lineage_bridge.sources.confluent.settings import ConfluentSettings
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import SourceRepository

Json = dict[str, Any]
HOUR = 3_600_000_000
NOW = 1_795_000_000_000_000
ROOT = "crn://confluent.cloud/organization=o-1/environment=env-1"
SPACE = "confluent://env-1/lkc-1"
ORGANIZATION = Organization(kafka_clusters=(KafkaCluster("lkc-1", "env-1", "one"),), registries=(SchemaRegistry("lsrc-1", "env-1", ""),))
SHARED = SharedMetadata(
    clusters=(ClusterMetadata("lkc-1", SPACE, topics=frozenset({"orders", "bills"})),),
    schemas={((SPACE, "orders"), VALUE): TopicSchema((), "orders-value version 3, id 17")},
    names={"u-1": "Anna Kovacs", "sa-1": "order-service"},
    jobs={"lcc-1": (SPACE, "orders-sink"), "clcc-1": (SPACE, "ledger-sink"), "env-1/aws.us-east-1/totals": (SPACE, "flink/totals")},
)
TOPIC = f"{ROOT}/cloud-cluster=lkc-1/kafka=lkc-1/topic=orders"
CONNECTOR = f"{ROOT}/cloud-cluster=lkc-1/connector=lcc-1"
NUMBERS = count()


def event(
    method: str, subject: str, minute: float = 0, sender: str = "u-1", kind: str = "io.confluent.cloud/request", **data: Any
) -> bytes:
    """An event as the vendor documents it: the resource in `subject`, the principal an object."""
    principal = {"confluentUser" if sender.startswith("u-") else "confluentServiceAccount": {"resourceId": sender}}
    members = {
        "specversion": "1.0",
        "id": f"{method} {subject} {minute}",
        "source": "crn://confluent.cloud/",
        "type": kind,
        "subject": subject,
        "time": format_time(NOW + round(minute * 60_000_000)),
        "data": {"methodName": method, "authenticationInfo": {"principal": principal, "email": "anna@acme.example"}, **data},
    }
    return json.dumps(members).encode()


def produced(client: str, minute: float = 0, *, granted: bool = True) -> bytes:
    kind, allowed = "io.confluent.kafka.server/authorization", {"granted": granted, "operation": "Write"}
    return event("kafka.Produce", TOPIC, minute, "sa-1", kind, request={"clientId": client}, authorizationInfo=allowed)


def plane(**more: Any) -> AuditPlane:
    settings = ConfluentSettings(cloud={"key": "K", "secret": "${env:CLOUD_SECRET}"}, timeout_s=20, **more)  # type: ignore[arg-type]
    (plane_,) = planes(PlaneContext(ORGANIZATION, ORGANIZATION, Clients(settings), settings))
    assert isinstance(plane_, AuditPlane)
    return plane_


def translated(*values: bytes, before: Any = None, shared: SharedMetadata = SHARED, now: int = NOW) -> Observation:
    changes = RecentRequests((before or {}).get("resources", {}))
    for value in values:
        request = parse_request(value)
        if request is not None:
            changes.add(request)
    seen = plane().translate(AuditLogRead(changes, {"0": len(values)}), before, shared, now)
    assert not faults(seen.events)
    return Observation(json.loads(json.dumps(seen.snapshot)), seen.events, seen.aliases, seen.unseen)


def facets(seen: Observation) -> dict[str, Json]:
    found = {}
    for event in seen.events:
        about = event.get("dataset") or event["job"]
        found[about["name"]] = {key: value for key, value in about["facets"]["confluent_changes"].items() if key[0] != "_"}
    return found


@pytest.mark.parametrize(
    ("subject", "resource"),
    [
        (TOPIC, Resource("topic", "lkc-1", "orders", "env-1", "lkc-1")),
        (CONNECTOR, Resource("connector", "lkc-1", "lcc-1", "env-1", "lkc-1")),
        (f"{ROOT}/flink-region=AWS.us-east-1/statement=totals", Resource("statement", "env-1/aws.us-east-1", "totals", "env-1")),
        (f"{ROOT}/schema-registry=lsrc-1/subject=orders-value", Resource("subject", "lsrc-1", "orders-value", "env-1")),
        ("crn:///kafka=lkc-1/topic=a%2Fb", Resource("topic", "lkc-1", "a/b", "", "lkc-1")),
        (f"{ROOT}/cloud-cluster=lkc-9", Resource("other", "", "", "env-1", "lkc-9")),
    ],
)
def test_resources_are_named_by_their_crn(subject: str, resource: Resource):
    request = parse_request(event("CreateSomething", subject))
    assert request is not None
    assert request.resource == resource


@pytest.mark.parametrize(
    ("method", "kind", "data", "part"),
    [
        ("CreateConnector", "io.confluent.cloud/request", {}, CHANGES),
        ("CreateOrUpdateConnector", "io.confluent.cloud/request", {"result": {"status": "SUCCESS"}}, CHANGES),
        ("DeleteConnector", "io.confluent.cloud/request", {"result": {"status": "FAILURE"}}, ACCESS),
        ("TableflowCreateTable", "io.confluent.cloud/request", {}, CHANGES),
        ("kafka.IncrementalAlterConfigs", "io.confluent.kafka.server/request", {}, CHANGES),
        ("kafka.CreateTopics", "io.confluent.kafka.server/authorization", {"authorizationInfo": {"granted": False}}, ACCESS),
        ("schema-registry.RegisterSchema", "io.confluent.sg.server/request", {}, CHANGES),
        ("EvolveSomething", "io.confluent.cloud/request", {"request": {"accessType": "MODIFICATION"}}, CHANGES),
        ("kafka.Produce", "io.confluent.kafka.server/authorization", {"request": {"accessType": "MODIFICATION"}}, ACCESS),
        ("kafka.AddPartitionsToTxn", "io.confluent.kafka.server/authorization", {}, ""),
        ("GetConnector", "io.confluent.cloud/request", {"request": {"accessType": "READ_ONLY"}}, ""),
        ("flink.Authenticate", "io.confluent.flink.server/authentication", {}, ""),
    ],
)
def test_the_method_determines_whether_a_request_is_a_change(method: str, kind: str, data: Json, part: str):
    request = parse_request(event(method, TOPIC, kind=kind, **data))
    assert request is not None
    assert request.category == part


@pytest.mark.parametrize(
    ("principal", "ident"),
    [
        ("User:sa-1", "sa-1"),
        ("User:123456", "123456"),
        ("anna@acme.example", ""),
        ({"confluentUser": {"resourceId": "u-1"}}, "u-1"),
        ({"externalAccount": {"subject": "x"}, "resourceId": "pool-1"}, "pool-1"),
        (None, ""),
    ],
)
def test_principals_are_ids_and_never_email_addresses(principal: object, ident: str):
    request = parse_request(event("CreateConnector", CONNECTOR, authenticationInfo={"principal": principal}))
    assert request is not None
    assert request.principal == ident


def test_records_in_the_prototypes_format_are_read():
    record = {
        "id": "1",
        "source": "crn://confluent.cloud/kafka=lkc-1",
        "type": "io.confluent.kafka.server/authorization",
        "time": "2026-11-18T10:00:00Z",
        "data": {
            "serviceName": "crn://confluent.cloud/kafka=lkc-1",
            "methodName": "kafka.CreateTopics",
            "resourceName": "crn://confluent.cloud/kafka=lkc-1/topic=orders",
            "authenticationInfo": {"principal": "User:sa-1"},
            "authorizationInfo": {"granted": True, "resourceType": "Topic", "resourceName": "orders"},
            "request": {"correlation_id": "1", "client_id": "adminclient-1"},
        },
    }
    request = parse_request(json.dumps(record).encode())
    assert request is not None
    assert (request.resource.key, request.principal, request.client, request.category) == (
        "topic lkc-1 orders",
        "sa-1",
        "adminclient-1",
        CHANGES,
    )


WORDS = st.sampled_from(
    [
        "data",
        "time",
        "subject",
        "methodName",
        "resourceName",
        "authorizationInfo",
        "2026-01-01T00:00:00Z",
        "crn://x/topic=a",
        "principal",
        "CreateX",
    ]
)
TREES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS, lambda entry: st.lists(entry) | st.dictionaries(WORDS, entry), max_leaves=12
)


@given(TREES | st.binary())
def test_any_record_in_the_topic_can_be_read(value: Any):
    parse_request(value if isinstance(value, bytes) else json.dumps(value).encode())


def test_changes_are_attached_to_the_changed_resources():
    seen = translated(
        event("CreateConnector", CONNECTOR, 1),
        event("PauseConnector", CONNECTOR, 2, "sa-1"),
        event("kafka.CreateTopics", TOPIC, 3, "u-9"),
        event("CreateStatement", f"{ROOT}/flink-region=AWS.us-east-1/statement=totals", 4),
        event("schema-registry.RegisterSchema", f"{ROOT}/schema-registry=lsrc-1/subject=orders-value", 5),
        event("DeleteConnector", f"{ROOT}/cloud-cluster=lkc-1/connector=lcc-9", 6),
        event("CreateConnector", f"{ROOT}/cloud-cluster=lkc-1/connector=clcc-1", 7),
    )
    found = facets(seen)
    assert {name: [change["method"] for change in facet["changes"]] for name, facet in found.items()} == {
        "orders-sink": ["PauseConnector", "CreateConnector"],
        "flink/totals": ["CreateStatement"],
        "ledger-sink": ["CreateConnector"],
        "orders": ["schema-registry.RegisterSchema", "kafka.CreateTopics"],
    }
    first = found["orders-sink"]["changes"][1]
    assert first == {
        "time": format_time(NOW + 60_000_000),
        "resource": "connector lcc-1",
        "method": "CreateConnector",
        "principal": "u-1",
        "name": "Anna Kovacs",
        "granted": True,
    }
    assert [change["resource"] for change in found["orders"]["changes"]] == ["subject orders-value", "topic orders"]
    assert "@" not in json.dumps([seen.snapshot, seen.events])
    assert not any("inputs" in event and (event["inputs"] or event["outputs"]) for event in seen.events)
    assert not translated(before=seen.snapshot).events
    assert not translated(event("CreateConnector", CONNECTOR, 1), before=seen.snapshot).events


def test_access_checks_are_emitted_at_most_hourly():
    first = translated(produced("app"), produced("app", 1), produced("intruder", 2, granted=False))
    assert [(check["client"], check["granted"]) for check in facets(first)["orders"]["access"]] == [("intruder", False), ("app", True)]
    again = translated(produced("app", 5), before=first.snapshot, now=NOW + 2 * HOUR)
    assert not again.events
    new = translated(produced("other", 6), before=again.snapshot, now=NOW + HOUR // 2)
    assert not new.events
    late = translated(before=new.snapshot, now=NOW + 2 * HOUR)
    assert [check["client"] for check in facets(late)["orders"]["access"]] == ["other", "app", "intruder"]


def test_requests_are_emitted_once_their_resource_is_known():
    first = translated(event("CreateConnector", CONNECTOR), shared=NO_METADATA)
    assert not first.events
    assert list(facets(translated(before=first.snapshot))) == ["orders-sink"]


def test_lists_are_bounded():
    seen = translated(*(event("PauseConnector", CONNECTOR, at) for at in range(30)))
    times = [change["time"] for change in facets(seen)["orders-sink"]["changes"]]
    assert times == [format_time(NOW + at * 60_000_000) for at in range(29, 19, -1)]
    many = translated(*(event("kafka.CreateTopics", f"{TOPIC}-{at}", at) for at in range(1500)))
    assert len(many.snapshot["resources"]) == 1000


@given(st.permutations([event("PauseConnector", CONNECTOR, at) for at in range(12)] + [produced("a", at) for at in range(3)]))
def test_the_order_of_events_does_not_matter(values: list[bytes]):
    assert translated(*values, *values[:3]).snapshot["resources"] == translated(*sorted(values)).snapshot["resources"]


def test_without_a_key_the_audit_log_is_not_observed():
    assert "audit_log" in plane().unavailable_reason()
    assert not plane().translate(plane().empty_answer(), None, NO_METADATA, NOW).events


# with a real broker as the audit log's cluster


@pytest.fixture
def log(kafka: Kafka) -> Callable[..., None]:
    """Writes events to an audit log of the test's own."""
    topic = f"audit-{next(NUMBERS)}"
    kafka.create_topics(topic, partitions=3)

    def write(*values: bytes) -> None:
        producer = Producer(kafka.client_config())
        for at, value in enumerate(values):
            producer.produce(topic, value, partition=at % 3)
        producer.flush()

    write.topic = topic  # type: ignore[attr-defined]
    return write


def settings(kafka: Kafka, log: Any, **more: Any) -> Json:
    connection = {"bootstrap_servers": kafka.bootstrap, "security_protocol": "PLAINTEXT", "topic": log.topic}
    return {"audit_log": {"key": "AUDIT", "secret": "${env:AUDIT_SECRET}", **connection, **more}}


def test_the_log_is_read_from_where_the_last_poll_stopped(kafka: Kafka, log: Callable[..., None]):
    log(*(json.dumps(event).encode() for event in build()["audit_events"]), b"no json")
    audit = plane(**settings(kafka, log))
    now = time.time_ns() // 1000
    first = audit.fetch(None, now)
    assert not first.unseen
    assert sum(first.offsets.values()) == len(build()["audit_events"]) + 1
    seen = audit.translate(first, None, SHARED, now)
    assert [unseen.what for unseen in seen.unseen] == ["older events"]
    kept = json.loads(json.dumps(seen.snapshot))
    assert not audit.translate(first, kept, SHARED, now).unseen
    assert not audit.fetch(kept, now).unseen
    assert audit.fetch(kept, now).requests.by_resource == first.requests.by_resource
    log(event("PauseConnector", CONNECTOR))
    after = audit.fetch(kept, now)
    assert after.requests.by_resource.keys() - first.requests.by_resource.keys() == {"connector lkc-1 lcc-1"}
    assert sum(after.offsets.values()) == sum(first.offsets.values()) + 1


def cloud(request: Request) -> Reply:
    path = "/".join(request.parts)
    if path == "org/v2/environments":
        return Reply(200, {"data": [{"id": "env-1", "display_name": "one"}]})
    return Reply(200, {"data": []})


class RunningPoller:
    """A poller of one source, with an interval of an hour. Its clock moves only when the test advances it."""

    def __init__(self, folder: Path, url: str, settings_: Json) -> None:
        self.repository = SourceRepository(StateDatabase(folder / "state.db"))
        self.service = SourceService({}, self.repository)
        quiet = [
            "topics",
            "metrics",
            "names",
            "connect",
            "flink",
            "ksqldb",
            "groups",
            "links",
            "registry",
            "catalog",
            "schema-links",
            "tableflow",
        ]
        here = {"url": url, "cloud": {"key": "K", "secret": "${env:CLOUD_SECRET}"}, "interval_s": 3600, "timeout_s": 20, "off": quiet}
        self.service.add("cloud", "confluent", {**here, **settings_}, replace=False)
        self.stop = threading.Event()
        self.now, self.listings = time.time_ns() // 1000, 0

    def start(self) -> threading.Thread:
        self.stop.clear()
        self.poller = Poller(self.records, self.repository, lambda _: None, lambda: self.now, tick_s=0.05)
        thread = threading.Thread(target=self.poller.run, args=(self.stop,))
        thread.start()
        return thread

    def records(self) -> list[SourceRecord]:
        self.listings += 1
        return self.service.records()

    def advance(self, seconds: float) -> None:
        """Advance the clock once the poller has handled everything so far; return when it has listed the sources again."""
        for passing in (seconds, 0):
            self.wait_until(partial(self.has_listed, self.listings + 4))
            self.now += round(passing * 1_000_000)

    def has_listed(self, times: int) -> bool:
        return self.listings >= times

    def wait_for_events(self, events: int) -> None:
        """Return when the poller has read this many events, which is all that the log has."""

        def read_events() -> int:
            _, observer = self.poller._observers.get("cloud", (None, None))
            watch = observer._watch if isinstance(observer, ConfluentObserver) else None
            return sum(watch._offsets.values()) if watch else 0

        self.wait_until(lambda: read_events() == events)

    @property
    def state(self) -> Any:
        return self.service.record("cloud").state

    def wait_for_polls(self, polls: int) -> None:
        self.wait_until(lambda: self.state.polls >= polls)

    def wait_until(self, holds: Callable[[], bool], seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while not holds():
            assert time.monotonic() < deadline, self.state
            time.sleep(0.02)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Standin]:
    monkeypatch.setenv("CLOUD_SECRET", "s3cret")
    monkeypatch.setenv("AUDIT_SECRET", "s3cret")
    with standing(Standin(cloud, "K:s3cret")) as standin:
        yield standin


def test_a_change_in_the_log_causes_an_early_poll_and_a_burst_causes_one(
    kafka: Kafka, log: Callable[..., None], served: Standin, tmp_path: Path
):
    poller = RunningPoller(tmp_path, served.url, {**settings(kafka, log), "environments": ["env-1"]})
    thread = poller.start()
    try:
        poller.wait_for_polls(1)
        log(
            event("CreateConnector", f"{ROOT.replace('env-1', 'env-2')}/cloud-cluster=lkc-7/connector=lcc-7"),
            event("GetConnector", CONNECTOR),
        )
        poller.wait_for_events(2)
        poller.advance(7)
        assert poller.state.polls == 1
        for at in range(4):
            log(event("PauseConnector", CONNECTOR, at), event("ResumeConnector", CONNECTOR, at))
            poller.wait_for_events(4 + 2 * at)
            poller.advance(4)
            assert poller.state.polls == 1
        poller.advance(1)
        poller.wait_for_polls(2)
        poller.advance(7)
        assert (poller.state.polls, poller.state.failures) == (2, 0)
    finally:
        poller.stop.set()
        thread.join()
    log(event("DeleteConnector", CONNECTOR, 9))
    thread = poller.start()
    try:
        poller.wait_for_events(11)
        poller.advance(5)
        poller.wait_for_polls(3)
        snapshot = json.loads(poller.repository.snapshot("cloud") or b"")
        assert sum(snapshot["planes"]["audit-log organization"]["offsets"].values()) == 11
    finally:
        poller.stop.set()
        thread.join()


def test_an_unreadable_log_is_unseen_and_does_not_affect_polls(kafka: Kafka, log: Callable[..., None], served: Standin, tmp_path: Path):
    poller = RunningPoller(tmp_path, served.url, {**settings(kafka, log, bootstrap_servers="127.0.0.1:9"), "timeout_s": 3})
    thread = poller.start()
    try:
        poller.wait_for_polls(1)
        poller.advance(7)
        assert (poller.state.polls, poller.state.failures) == (1, 0)
        assert [(unseen.what, "127.0.0.1:9" in unseen.why) for unseen in poller.state.unseen] == [("audit-log organization", True)]
    finally:
        poller.stop.set()
        thread.join()
