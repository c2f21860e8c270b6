"""The observer before a real broker: every way in, every kind of group, what a limited user sees, and what is gone."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, ShareConsumer, TopicPartition
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ResourcePatternType, ResourceType
from tests.servers.broker import ADMIN, COUNTS, TEXTS, WAYS, Kafka, password_of
from tests.sources.kafka.identity import CLIENT, SECRET, Provider, provider
from tests.sources.kafka.summaries import HOUR_US, MINUTE_US, T0, summaries

from lineage_bridge.errors import ForbiddenError, UnreachableError
from lineage_bridge.sources.common.kafka.events.translate import recorded_names, translate
from lineage_bridge.sources.common.kafka.look.look import poll_cluster
from lineage_bridge.sources.common.kafka.look.scope import RecordedNames
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, SameNamespace, Unseen
from lineage_bridge.sources.common.shared_metadata import NO_METADATA
from lineage_bridge.sources.kafka.observer import KIND, KafkaObserver

CLUSTER = "bGluZWFnZS1icmlkZ2UtMQ"


@pytest.fixture
def observed(kafka: Kafka, monkeypatch: pytest.MonkeyPatch) -> Callable[..., KafkaObserver]:
    """Makes an observer: `observed("scram", "limited", topics=("a*",))`."""

    def make(way: str = "plaintext", user: str = ADMIN, password: str | None = None, **more: Any) -> KafkaObserver:
        protocol, mechanism = WAYS[way]
        members: dict[str, Any] = {"bootstrap_servers": kafka.address(way), "security_protocol": protocol, "timeout_s": 30}
        if protocol.endswith("SSL"):
            members["ssl_ca_file"] = str(kafka.tls.authority)
        if way == "mtls":
            members |= {"ssl_cert_file": str(kafka.tls.client_certificate), "ssl_key_file": str(kafka.tls.client_key)}
        if mechanism:
            monkeypatch.setenv(f"LB_TEST_{user}", password_of(user) if password is None else password)
            members |= {"sasl_mechanism": mechanism, "username": user, "password": f"${{env:LB_TEST_{user}}}"}
        return KafkaObserver("kafka", KafkaSettings(**{**members, **more}))

    return make


def poll(observer: KafkaObserver, before: Observation | None = None, minutes: float = 0) -> Observation:
    snapshot = json.loads(json.dumps(before.snapshot)) if before else None
    return observer.observe(snapshot, NO_METADATA, T0 + round(minutes * MINUTE_US))


def facet(event: Any, name: str) -> dict[str, Any]:
    where = event["run"]["facets"] if "run" in event else event["dataset"]["facets"]
    return {key: value for key, value in where[name].items() if not key.startswith("_")}


def about(observation: Observation, name: str) -> Any:
    """The event about a job or dataset of this name."""
    (event,) = [event for event in observation.events if name in json.dumps([event.get("job", {}), event.get("dataset", {})])]
    return event


def datasets(observation: Observation) -> list[str]:
    events: Any = observation.events
    return sorted(event["dataset"]["name"] for event in events)


@pytest.mark.parametrize("way", sorted(WAYS))
def test_each_way_in_shows_the_topics(kafka, observed, way):
    topic = f"observed-by-{way}"
    kafka.create_topics(topic, partitions=2, retention_ms="86400000")
    if way == "mtls":
        kafka.allow("tls-client", "topic", topic, "describe", "describe_configs", "read")
    got = poll(observed(way, topics=(topic,)))
    event: Any = got.events[0]
    found = facet(event, "kafka_topic")
    assert (event["dataset"]["namespace"], event["dataset"]["name"]) == (f"kafka://{kafka.address(way)}", topic)
    assert len(found.pop("topicId")) == 36
    assert found == {
        "clusterId": CLUSTER,
        "partitions": 2,
        "replicationFactor": 1,
        "purpose": "DATA",
        "config": {"retention.ms": "86400000"},
    }
    other = SameNamespace(f"kafka://{kafka.address(way)}", f"kafka://{CLUSTER}", f"cluster id {CLUSTER} answered by {CLUSTER}")
    assert other in got.aliases


@pytest.mark.parametrize("way", ["plain", "scram", "scram-512", "scram-ssl"])
def test_a_wrong_password_is_reported_as_such_and_at_once(observed, way):
    started = time.monotonic()
    with pytest.raises(ForbiddenError, match="refuses the login"):
        poll(observed(way, password="not-it"))
    assert time.monotonic() - started < 10
    (check,) = observed(way, password="not-it").test()
    assert (check.step, check.works) == ("reach", False)
    assert "not-it" not in str(check)


def oauth(kafka: Kafka, identity: Provider, **more: Any) -> dict[str, Any]:
    settings = {"bootstrap_servers": kafka.address("plain"), "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "OAUTHBEARER"}
    client = {"oauth_token_url": identity.url, "oauth_client_id": CLIENT, "oauth_client_secret": "${env:LB_TEST_CLIENT}"}
    return {**settings, **client, **more}


def test_a_token_of_an_identity_provider_leads_in(kafka, observed, monkeypatch):
    kafka.create_topics("by-token")
    kafka.produce("by-token", ['{"id": 1}'])
    monkeypatch.setenv("LB_TEST_CLIENT", SECRET)
    with provider(kafka.token_key) as identity:
        got = poll(observed(**oauth(kafka, identity, topics=("by-token",), sample=("by-token",))))
        assert not got.unseen
        assert [field["name"] for field in about(got, "by-token")["dataset"]["facets"]["schema"]["fields"]] == ["id"]
        monkeypatch.setenv("LB_TEST_CLIENT", "wrong-secret")
        with pytest.raises(ForbiddenError, match="token endpoint returned no token"):
            poll(observed(**oauth(kafka, identity)))
        monkeypatch.setenv("LB_TEST_CLIENT", SECRET)
        identity.answer = b'{"access_token": "not.a.token", "expires_in": 3600}'
        with pytest.raises(ForbiddenError, match="refuses the login"):
            poll(observed(**oauth(kafka, identity)))


def test_what_does_not_answer_is_reported_by_name(kafka, observed):
    with pytest.raises(UnreachableError, match=r"127\.0\.0\.1:1: no answer"):
        poll(observed(bootstrap_servers="127.0.0.1:1"))
    with pytest.raises(UnreachableError, match="does not answer"):
        poll(observed(security_protocol="SSL"))
    with pytest.raises(UnreachableError, match="CERTIFICATE_VERIFY_FAILED"):
        poll(observed("ssl", ssl_ca_file=""))
    assert poll(observed(bootstrap_servers=f"127.0.0.1:1,{kafka.bootstrap}", topics=("none",))).snapshot["cluster"] == CLUSTER


def test_a_test_tries_each_listing(kafka, observed):
    kafka.create_topics("tested")
    checks = {check.step: check for check in observed(topics=("tested",)).test()}
    assert all(check.works for check in checks.values())
    assert list(checks) == ["reach", "cluster", "topics", "configurations", "offsets", "groups", "transactions", "producers", "rights"]
    user = kafka.add_user("tester")
    kafka.allow(user, "topic", "tested", "describe")
    limited = {check.step: check for check in observed("scram", user, topics=("tested",)).test()}
    assert [step for step, check in limited.items() if not check.works] == ["configurations", "producers", "rights"]
    assert limited["configurations"].hint == "allow DESCRIBE_CONFIGS on topics"


def deny(kafka: Kafka, user: str, kind: ResourceType, name: str) -> None:
    admin = kafka.admin()
    any_host: Any = None
    rule = AclBindingFilter(kind, name, ResourcePatternType.LITERAL, f"User:{user}", any_host, AclOperation.ANY, AclPermissionType.ANY)
    for done in admin.delete_acls([rule]).values():
        done.result(30)
    while admin.describe_acls(rule).result(30):
        time.sleep(0.02)


def test_a_topic_that_is_hidden_is_not_gone(kafka, observed):
    user = kafka.add_user("half-blind")
    kafka.create_topics("half-kept", "half-hidden", "half-gone")
    for topic in ("half-kept", "half-hidden", "half-gone"):
        kafka.allow(user, "topic", topic, "describe", "describe_configs")
    observer = observed("scram", user, topics=("half-*",))
    first = poll(observer)
    assert datasets(first) == ["half-gone", "half-hidden", "half-kept"]
    deny(kafka, user, ResourceType.TOPIC, "half-hidden")
    for done in (admin := kafka.admin()).delete_topics(["half-gone"]).values():
        done.result(30)
    while "half-gone" in admin.list_topics(timeout=30).topics:
        time.sleep(0.02)
    second = poll(observer, first, 1)
    assert summaries(second.events) == ["half-gone:  [DROP]"]
    assert sorted(second.snapshot["topics"]) == ["half-hidden", "half-kept"]
    assert Unseen("topics that are no longer listed", "TopicAuthorizationFailedError (1: half-hidden)") in second.unseen
    kafka.create_topics("half-gone")
    kafka.create_topics("half-more", partitions=2)
    kafka.allow(user, "topic", "half-hidden", "describe", "describe_configs")
    third = poll(observer, second, 2)
    assert datasets(third) == ["half-gone"]


def test_a_group_that_is_hidden_is_not_gone(kafka, observed):
    user = kafka.add_user("group-watcher")
    kafka.create_topics("watched")
    kafka.allow(user, "topic", "watched", "describe")
    kafka.produce("watched", ["a"])
    for group in ("watch-hidden", "watch-gone"):
        kafka.consume("watched", 1, group)
        kafka.allow(user, "group", group, "describe")
    observer = observed("scram", user, topics=("none",), groups=("watch-*",))
    first = poll(observer)
    assert sorted(first.snapshot["groups"]) == ["watch-gone", "watch-hidden"]
    deny(kafka, user, ResourceType.GROUP, "watch-hidden")
    admin = kafka.admin()
    for done in admin.delete_consumer_groups(["watch-gone"]).values():
        done.result(30)
    second = poll(observer, first, 1)
    assert not second.events
    assert list(second.snapshot["groups"]) == ["watch-hidden"]
    assert Unseen("groups that are no longer listed", "GroupAuthorizationFailedError (1: watch-hidden)") in second.unseen


def test_a_topic_made_again_is_reported(kafka, observed):
    kafka.create_topics("phoenix")
    observer = observed(topics=("phoenix",))
    first = poll(observer)
    admin = kafka.admin()
    for done in admin.delete_topics(["phoenix"]).values():
        done.result(30)
    while "phoenix" in admin.list_topics(timeout=30).topics:
        time.sleep(0.02)
    kafka.create_topics("phoenix")
    noticed = poll(observer, first, 1)
    assert not noticed.events
    assert summaries(poll(observer, noticed, 2).events)[0].endswith("[OVERWRITE]")


@contextmanager
def reading(kafka: Kafka, topic: str, group: str, kind: Any = Consumer, **more: Any) -> Iterator[Callable[[Any], Any]]:
    """A consumer that goes on polling; what it gives has the consumer do something between two polls."""
    stop, orders = threading.Event(), ThreadPoolExecutor(1)
    start = {"auto.offset.reset": "earliest", "enable.auto.commit": False} if kind is Consumer else {}
    consumer = kind({**kafka.client_config(), **start, "group.id": group, "client.id": f"client-of-{group}", **more})
    consumer.subscribe([topic])

    def go_on() -> None:
        consumer.poll(0.1)
        if not stop.is_set():
            orders.submit(go_on)

    orders.submit(go_on)
    try:
        yield lambda do: orders.submit(do, consumer).result(30)
    finally:
        stop.set()
        orders.shutdown()
        consumer.close()


def until(
    observer: KafkaObserver, seen: Callable[[Observation], bool], before: Observation | None = None, minutes: float = 0
) -> Observation:
    """Polls until something is seen."""
    deadline = time.monotonic() + 60
    while not seen(got := poll(observer, before, minutes)):
        assert time.monotonic() < deadline, summaries(got.events)
        time.sleep(0.2)
    return got


def has_members(name: str) -> Callable[[Observation], bool]:
    def look(got: Observation) -> bool:
        group_events = [event for event in got.events if event.get("job", {}).get("name") == name]
        return (
            bool(group_events)
            and all(member["partitions"] for member in facet(group_events[0], "kafka_group").get("members", ()))
            and (facet(group_events[0], "kafka_group").get("memberCount", 0) > 0)
        )

    return look


def committing(topic: str, *places: int) -> Callable[[Consumer], Any]:
    offsets = [TopicPartition(topic, partition, index) for partition, index in enumerate(places)]
    return lambda consumer: consumer.commit(offsets=offsets, asynchronous=False)


@pytest.mark.parametrize(("kind", "protocol"), [("classic", "classic"), ("consumer", "consumer")])
def test_a_consumer_is_seen_with_its_members_rows_and_lag(kafka, observed, kind, protocol):
    topic, group = f"read-{kind}", f"readers-{kind}"
    kafka.create_topics(topic, partitions=2)
    observer = observed(topics=(topic,), groups=(group,))
    with reading(kafka, topic, group, **{"group.protocol": protocol}) as run:
        first = until(observer, has_members(group))
        event = about(first, f'"{group}"')
        found = facet(event, "kafka_group")
        assert (event["eventType"], found["groupType"], found["state"], found["memberCount"]) == ("START", kind, "Stable", 1)
        (member,) = found["members"]
        assert (member["clientId"], member["partitions"]) == (f"client-of-{group}", 2)
        assert [dataset["name"] for dataset in event["inputs"]] == [topic]
        kafka.produce(topic, ["x"] * 7)
        run(committing(topic, 0, 0))
        base = poll(observer, first, 1)
        ends = base.snapshot["topics"][topic]["end"]
        assert ends == 7
        spread = [
            run(lambda consumer, partition=partition: consumer.get_watermark_offsets(TopicPartition(topic, partition)))[1]
            for partition in (0, 1)
        ]
        run(committing(topic, *(min(2, end) for end in spread)))
        read = sum(min(2, end) for end in spread)
        second = poll(observer, base, 2)
    assert f"RUNNING {group}: {topic}={read}" in summaries(second.events)
    assert facet(about(second, f'"{group}"'), "kafka_lag")["topics"] == {topic: 7 - read}
    cluster = observer.shared_metadata(second.snapshot).clusters[0]
    assert (cluster.id, cluster.groups[group], cluster.read[group, topic], cluster.ends[topic]) == (CLUSTER, {topic}, read, 7)
    third = poll(observer, second, 3)
    assert summaries(third.events)[-1] == f"RUNNING {group}: {topic}={read}"
    assert summaries(poll(observer, third, 4).events)[-1] == f"COMPLETE {group}: {topic}={read}"


def test_a_subscription_by_pattern_of_the_new_protocol(kafka, observed):
    kafka.create_topics("patterned-a", "patterned-b")
    with reading(kafka, "^patterned-.*", "by-pattern", **{"group.protocol": "consumer"}):
        got = until(observed(topics=("patterned-*",), groups=("by-pattern",)), has_members("by-pattern"))
    event = about(got, '"by-pattern"')
    assert facet(event, "kafka_group")["subscribedPatterns"] == ["(^patterned-.*)"]
    assert sorted(dataset["name"] for dataset in event["inputs"]) == ["patterned-a", "patterned-b"]


def test_a_share_group_is_seen_with_its_members(kafka, observed):
    kafka.create_topics("shared-out")
    with reading(kafka, "shared-out", "share-readers", ShareConsumer):
        got = until(observed(topics=("shared-out",), groups=("share-readers",)), has_members("share-readers"))
    event = about(got, '"share-readers"')
    found = facet(event, "kafka_group")
    assert (event["eventType"], found["groupType"], found["memberCount"]) == ("START", "share", 1)
    assert found["members"][0]["clientId"] == "client-of-share-readers"
    assert [dataset["name"] for dataset in event["inputs"]] == ["shared-out"]


def test_a_streams_application_states_its_topology(kafka, observed):
    observer = observed(topics=(TEXTS, "word-app-*"), groups=("word-app",))
    with kafka.word_count("word-app"):
        kafka.produce(TEXTS, ["a b a"])
        kafka.consume(COUNTS, 1)
        got = until(observer, has_members("word-app"))
    event = about(got, '"word-app"')
    job = event["job"]["facets"]
    assert (job["jobType"]["jobType"], facet(event, "kafka_group")["groupType"]) == ("STREAMS_APPLICATION", "streams")
    flows = {entry["name"]: [dataset["name"] for dataset in entry["inputs"]] for entry in job["lineage"]["entries"]}
    (between,) = [name for name in flows if name.endswith("-repartition")]
    (store,) = [name for name in flows if name.endswith("-changelog")]
    assert flows == {between: [TEXTS], store: [between]}
    assert sorted(dataset["name"] for dataset in event["outputs"]) == sorted(flows)


def test_a_transactional_producer_is_a_job(kafka, observed):
    kafka.create_topics("paid", "booked")
    observer = observed(topics=("paid", "booked"), groups=("payer*",))
    producer = Producer({**kafka.client_config(), "transactional.id": "payer-0"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("paid", "1")
    producer.flush(30)
    first = poll(observer)
    assert "START payer:  -> paid" in summaries(first.events)
    producer.commit_transaction(30)
    producer.begin_transaction()
    producer.produce("booked", "2")
    producer.commit_transaction(30)
    second = poll(observer, first, 1)
    assert "RUNNING payer:  -> booked paid" in summaries(second.events)
    quiet = poll(observer, second, 2)
    assert summaries(quiet.events) == ["RUNNING payer: "]
    over = observer.observe(json.loads(json.dumps(quiet.snapshot)), NO_METADATA, T0 + 2 * HOUR_US)
    assert "COMPLETE payer: " in summaries(over.events)


def test_rights_are_reported_as_hints(kafka, observed):
    kafka.create_topics("rightful")
    kafka.allow("limited", "topic", "rightful", "read")
    kafka.allow("limited", "topic", "rightful", "read", denied_from="10.0.0.7")
    found = facet(poll(observed(topics=("rightful",))).events[0], "kafka_access")
    assert found == {"confidence": "LOW", "rules": 1, "mayRead": ["User:limited"], "mayWrite": []}


def test_an_unchanged_cluster_takes_few_requests_and_reports_nothing(kafka, observed):
    names = [f"many-{number:02}" for number in range(60)]
    kafka.create_topics(*names, partitions=3)
    kafka.produce(names[0], ["x"])
    for number in range(5):
        kafka.consume(names[0], 1, f"crowd-{number}")
    observer = observed(topics=("many-*",), groups=("crowd-*",))
    first = until(observer, lambda got: len(got.events) == 65 and not got.unseen)
    assert not poll(observer, first, 1).events
    with KafkaProtocol(observer.settings) as wire:
        poll_cluster(wire, observer.settings, recorded_names(first.snapshot, T0))
        assert wire.requests < 15


def test_records_report_names_and_types_and_nothing_else(kafka, observed):
    kafka.create_topics("sampled-json", "sampled-avro", "sampled-not", "sampled-none", partitions=2)
    kafka.produce("sampled-json", [json.dumps({"id": 7, "note": "very secret", "to": {"city": "Rome"}})], key=json.dumps({"id": 7}))
    producer = Producer({**kafka.client_config(), "compression.type": "zstd"})
    producer.produce("sampled-avro", bytes([0, 0, 0, 1, 2]) + b"very secret")
    producer.produce("sampled-not", b'{"unwanted": 1}')
    assert producer.flush(30) == 0
    observer = observed(topics=("sampled-*",), groups=(), sample=("sampled-json", "sampled-avro", "sampled-none"))
    first = poll(observer)
    assert not first.unseen
    fields = about(first, "sampled-json")["dataset"]["facets"]["schema"]["fields"]
    assert [(field["name"], field.get("type")) for field in fields] == [
        ("id", "long"),
        ("note", "string"),
        ("to", "record"),
        ("_key", "record"),
    ]
    metadata = observer.shared_metadata(first.snapshot)
    topic = (f"kafka://{kafka.bootstrap}", "sampled-json")
    assert [(field.name, field.type) for field in metadata.fields(topic, "key")] == [("id", "long")]
    assert metadata.schemas[topic, "value"].rank == 2
    assert metadata.clusters[0].sampled == {("sampled-avro", "value"): {258}}
    assert "very secret" not in repr(first)
    assert "Rome" not in repr(first)
    assert "unwanted" not in repr(first)
    assert not poll(observer, first, 1).events
    assert "lineage-bridge-samples" not in observed(groups=("*",), topics=()).observe(None, NO_METADATA, T0).snapshot["groups"]


@pytest.mark.parametrize("version", [(2, 4), (2, 8), (3, 0), (4, 0)])
def test_older_brokers_are_asked_in_their_own_way(kafka, observed, version):
    name = "aged-" + ".".join(map(str, version))
    kafka.create_topics(name, partitions=2, retention_ms="1000000")
    kafka.produce(name, ["1"])
    kafka.consume(name, 1, name)
    settings = observed(topics=(f"{name}*",), groups=(f"{name}*",)).settings
    before = RecordedNames(topics=frozenset({f"{name}-gone"}), groups={f"{name}-gone": "classic"})
    with KafkaProtocol(settings) as newest:
        expected = poll_cluster(newest, settings, before)
    with KafkaProtocol(settings, version) as older:
        seen = poll_cluster(older, settings, before)
    assert seen.topics_gone == seen.groups_gone == {f"{name}-gone"}
    assert (seen.groups, seen.committed, seen.ends, seen.starts, seen.configs) == (
        expected.groups,
        expected.committed,
        expected.ends,
        expected.starts,
        expected.configs,
    )
    assert seen.topics is not None
    assert expected.topics is not None
    assert seen.topics[name]._replace(id="") == expected.topics[name]._replace(id="")
    unseen_parts = {unseen.what for unseen in seen.unseen}
    assert unseen_parts == ({"transactions", "topics: producers"} if version < (2, 8) else {"transactions"} if version < (3, 0) else set())


class Failing(KafkaProtocol):
    """A connection on which one request is not answered."""

    def __init__(self, settings: KafkaSettings, which: int) -> None:
        super().__init__(settings)
        self.which = which

    def request_all(self, requests: Iterable[tuple[int, Any]]) -> list[Any]:
        asked = list(requests)
        before, answers = self.requests, super().request_all(asked)
        if before <= self.which < before + len(asked):
            answers[self.which - before] = UnreachableError("no answer: cut off")
        return answers


def test_whichever_answer_is_missing_nothing_is_reported_as_gone_or_ended(kafka, observed):
    kafka.create_topics("cut-a", "cut-b", "cut-gone")
    producer = Producer({**kafka.client_config(), "transactional.id": "cut-writer"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("cut-a", "1")
    producer.commit_transaction(30)
    kafka.consume("cut-a", 1, "cut-group")
    observer = observed(topics=("cut-*",), groups=("cut-*",))
    with reading(kafka, "cut-a", "cut-group"):
        whole = until(observer, has_members("cut-group"))
        admin = kafka.admin()
        for done in admin.delete_topics(["cut-gone"]).values():
            done.result(30)
        while "cut-gone" in admin.list_topics(timeout=30).topics:
            time.sleep(0.02)
        snapshot = json.loads(json.dumps(whole.snapshot))
        event_lists = []
        for which in range(30):
            with Failing(observer.settings, which) as wire:
                try:
                    seen = poll_cluster(wire, observer.settings, recorded_names(snapshot, T0 + HOUR_US))
                except UnreachableError:
                    continue
                total = wire.requests
            got = translate(observer.settings, seen, snapshot, NO_METADATA, T0 + MINUTE_US)
            assert bool(got.unseen) == (which < total), which
            event_lists.append(summaries(got.events))
            assert set(got.snapshot["topics"]) | {"cut-gone"} == {"cut-a", "cut-b", "cut-gone"}
            assert list(got.snapshot["groups"]) == ["cut-group"]
            assert list(got.snapshot["producers"]) == ["cut-writer"]
            if which >= total:
                break
    drop = "cut-gone:  [DROP]"
    running = ["RUNNING cut-writer: ", "RUNNING cut-group: cut-a=0"]
    assert {event for events in event_lists for event in events} == {drop, *running}
    assert event_lists[-1] == [drop, *running]
    assert len(event_lists) > 8


def test_the_kind_is_registered():
    from lineage_bridge.sources.runtime.kinds import KINDS

    assert KINDS.load("kafka") is KIND
