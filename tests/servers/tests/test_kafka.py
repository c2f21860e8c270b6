"""The broker: every way in, what a limited user sees, and groups of every kind."""

import time
from typing import Any

import pytest
import tenacity
from confluent_kafka import KafkaException, ShareConsumer
from confluent_kafka.admin import AclBindingFilter, AclOperation, AclPermissionType, ConfigResource, ResourcePatternType, ResourceType
from kafka import KafkaAdminClient
from kafka.errors import CoordinatorLoadInProgressError
from tests.servers.broker import COUNTS, LIMITED, TEXTS, WAYS
from tests.servers.web.tls import CLIENT


@pytest.mark.parametrize("way", sorted(set(WAYS) - {"mtls"}))
def test_each_way_in_leads_to_the_topics(kafka, way):
    topic = f"seen-by-{way}"
    kafka.create_topics(topic)
    assert topic in kafka.admin(way).list_topics(timeout=30).topics


def test_it_reports_its_cluster_id(kafka):
    assert kafka.admin().list_topics(timeout=30).cluster_id == kafka.cluster_id


def test_what_is_read_without_a_group_leaves_none(kafka, groups):
    kafka.create_topics("looked-at")
    kafka.produce("looked-at", ["a"])
    assert kafka.consume("looked-at", 1) == [b"a"]
    assert "none" not in groups()


def test_a_client_is_identified_by_its_certificate(kafka):
    kafka.create_topics("certified", "uncertified")
    kafka.allow(CLIENT, "topic", "certified", "describe")
    listed = kafka.admin("mtls").list_topics(timeout=30).topics
    assert "certified" in listed
    assert "uncertified" not in listed


def test_the_authority_is_checked(kafka):
    config = {**kafka.client_config("ssl")}
    del config["ssl.ca.location"]
    admin = type(kafka.admin())(config)
    with pytest.raises(KafkaException):
        admin.list_topics(timeout=2)


def test_another_client_speaks_to_it_too(kafka):
    kafka.create_topics("python-sees")
    with_scram = {"sasl_mechanism": "SCRAM-SHA-256", "sasl_plain_username": "admin", "sasl_plain_password": "admin-secret"}
    client = KafkaAdminClient(bootstrap_servers=kafka.address("scram"), security_protocol="SASL_PLAINTEXT", **with_scram)
    try:
        assert "python-sees" in client.list_topics()
    finally:
        client.close()


def test_a_limited_user_sees_less_without_an_error(kafka):
    user = kafka.add_user("limited-reader")
    kafka.create_topics("open", "closed")
    kafka.allow(user, "topic", "open", "describe")
    admin = kafka.admin("scram", user)
    assert list(admin.list_topics(timeout=30).topics) == ["open"]
    resource = ConfigResource(ConfigResource.Type.TOPIC, "open")
    described = admin.describe_configs([resource])
    with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        described[resource].result(30)


def test_acls_can_be_read(kafka):
    kafka.create_topics("guarded")
    kafka.allow(LIMITED, "topic", "guarded", "read")
    bindings: tuple[Any, ...] = (
        ResourceType.TOPIC,
        "guarded",
        ResourcePatternType.LITERAL,
        None,
        None,
        AclOperation.ANY,
        AclPermissionType.ANY,
    )
    admin = kafka.admin()
    found = admin.describe_acls(AclBindingFilter(*bindings)).result(30)
    assert [(rule.principal, rule.operation.name) for rule in found] == [("User:limited", "READ")]


@pytest.fixture(scope="module")
def groups(kafka):
    """Asks which groups there are: their type by their name."""
    client = KafkaAdminClient(bootstrap_servers=kafka.bootstrap)
    loading = tenacity.retry_if_exception_type(CoordinatorLoadInProgressError)

    # A new broker answers so until it has read the groups that there were.
    @tenacity.retry(retry=loading, stop=tenacity.stop_after_delay(60), reraise=True)
    def listed() -> dict[str, str]:
        return {group["group_id"]: group["group_type"] for group in client.list_groups()}

    yield listed
    client.close()


def test_groups_of_consumers_in_both_protocols(kafka, groups):
    kafka.create_topics("grouped")
    kafka.produce("grouped", ["a", "b"])
    assert kafka.consume("grouped", 2, "old-group") == [b"a", b"b"]
    assert kafka.consume("grouped", 2, "new-group", **{"group.protocol": "consumer"}) == [b"a", b"b"]
    found = groups()
    assert (found["old-group"], found["new-group"]) == ("classic", "consumer")


def test_a_share_group(kafka, groups):
    kafka.create_topics("shared")
    with ShareConsumer({**kafka.client_config(), "group.id": "sharers"}) as consumer:
        consumer.subscribe(["shared"])
        while "sharers" not in groups():
            consumer.poll(0.2)
        assert groups()["sharers"] == "share"


def test_a_streams_group(kafka, groups):
    with kafka.word_count("counters"):
        kafka.produce(TEXTS, ["a b a"])
        assert len(kafka.consume(COUNTS, 3)) == 3
        while "counters" not in groups():
            time.sleep(0.2)
        assert groups()["counters"] == "streams"
