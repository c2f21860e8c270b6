"""A connector's configuration without its secrets."""

import pytest

from lineage_bridge.sources.common.connect.secrets import has_placeholder, is_placeholder, mask_config

MASKED = "********"


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("database.password", "postgres", MASKED),
        ("connection.password", "p", MASKED),
        ("aws.secret.access.key", "abc", MASKED),
        ("value.converter.basic.auth.user.info", "me:secret", MASKED),
        ("sasl.jaas.config", 'PlainLoginModule required username="u" password="p";', MASKED),
        ("snowflake.private.key", "MIIE", MASKED),
        ("splunk.hec.token", "abc-def", MASKED),
        ("database.password", "${file:/opt/secrets.properties:password}", "${file:/opt/secrets.properties:password}"),
        ("connection.password", "${env:PASSWORD}", "${env:PASSWORD}"),
        ("database.password", "", ""),
        ("connection.uri", "mongodb+srv://me:pw@shop.example.net/db", "mongodb+srv://shop.example.net/db"),
        ("connection.uri", "mongodb://me:p@ss@shop.example.net/db", "mongodb://shop.example.net/db"),
        ("redis.uri", "redis://:pw@cache:6379", "redis://cache:6379"),
        ("http.api.url", "https://me@api.example.com/orders", "https://api.example.com/orders"),
        ("connection.url", "jdbc:mysql://db:3306/shop?user=me&password=pw", f"jdbc:mysql://db:3306/shop?user=me&password={MASKED}"),
        ("topics", "orders,payments", "orders,payments"),
        ("primary.key.mode", "record_key", "record_key"),
        ("key.converter", "org.apache.kafka.connect.storage.StringConverter", "org.apache.kafka.connect.storage.StringConverter"),
        ("table.name.format", "kafka_${topic}", "kafka_${topic}"),
        ("notify", "ops@example.com", "ops@example.com"),
    ],
)
def test_a_setting_is_masked_by_its_name_and_by_its_shape(key, value, expected):
    assert mask_config({key: value}) == {key: expected}


def test_the_plugins_own_passwords_are_masked():
    assert mask_config({"kcql.thing": "x", "topics": "t"}, passwords={"kcql.thing"}) == {"kcql.thing": MASKED, "topics": "t"}
    assert mask_config({"kcql.thing": "${vault:a:b}"}, passwords={"kcql.thing"}) == {"kcql.thing": "${vault:a:b}"}


def test_masking_again_changes_nothing():
    once = mask_config({"database.password": "x", "connection.uri": "mongodb://u:p@h", "a": "b"})
    assert mask_config(once) == once


@pytest.mark.parametrize(
    ("value", "whole", "partly"),
    [
        ("${file:/a/b:c}", True, True),
        ("${env:HOST}", True, True),
        ("jdbc:postgresql://${env:HOST}/shop", False, True),
        ("${topic}", False, False),
        ("outbox.event.${routedByValue}", False, False),
    ],
)
def test_placeholders_of_config_providers(value, whole, partly):
    assert (is_placeholder(value), has_placeholder(value)) == (whole, partly)
