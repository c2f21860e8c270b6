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
        ("connection.url", "jdbc:mysql://db:3306/shop?user=me&password=pw", f"jdbc:mysql://db:3306/shop?{MASKED}"),
        ("connection.url", "jdbc:postgresql://db/shop", "jdbc:postgresql://db/shop"),
        ("connection.url", "jdbc:sqlserver://h:1433;databaseName=db", "jdbc:sqlserver://h:1433;databaseName=db"),
        ("connection.url", "jdbc:oracle:thin:@h:1521:XE", "jdbc:oracle:thin:@h:1521:XE"),
        ("connection.url", "jdbc:oracle:thin:scott/PW@//h:1521/svc", f"jdbc:oracle:thin:@//h:1521/svc?{MASKED}"),
        ("connection.url", "jdbc:oracle:thin:@shop_high?TNS_ADMIN=/w", f"jdbc:oracle:thin:{MASKED}"),
        (
            "connection.url",
            "jdbc:postgresql://${env:HOST}:5432/shop?user=a&password=${env:P}",
            f"jdbc:postgresql://${{env:HOST}}:5432/shop?{MASKED}",
        ),
        (
            "connection.url",
            "jdbc:awsathena://AwsRegion=eu-west-1;UID=u;PWD=p",
            f"jdbc:awsathena://athena.eu-west-1.amazonaws.com/AwsDataCatalog?{MASKED}",
        ),
        (
            "connection.url",
            "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p1;OAuthPvtKey=x",
            f"jdbc:bigquery://ProjectId=p1;{MASKED}",
        ),
        ("connection.url", "jdbc:sqlserver://h;databaseName=db;user=a;password={x;y}", f"jdbc:sqlserver://h:1433/db?{MASKED}"),
        ("connection.string", "Server=h;Uid=a;Pwd=x;", f"Server=h;Uid=a;Pwd={MASKED};"),
        ("http.api.url", "https://hooks.slack.com/services/T0/B0/x", f"https://hooks.slack.com/{MASKED}"),
        ("http.api.url", "https://discord.com/api/webhooks/1/x", f"https://discord.com/api/webhooks/{MASKED}"),
        ("function.url", "https://f.azurewebsites.net/api/f?code=x==", f"https://f.azurewebsites.net/api/f?code={MASKED}"),
        ("connection.uri", "mongodb://me:pw@h/db?replicaSet=r&w=majority", "mongodb://h/db?replicaSet=r&w=majority"),
        ("salesforce.jwt.keystore.file", "data:text/plain;base64,x", f"data:{MASKED}"),
        ("tls.pemfile", "MII", MASKED),
        ("s3.sse.customer.key", "x", MASKED),
        ("OAuthPvtKey", "x", MASKED),
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


@pytest.mark.parametrize(
    "value",
    [
        "mongodb://u:p@h",
        "jdbc:mysql://u:p@h1,u:p@h2/db?x=1",
        "jdbc:oracle:thin:u/p@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1))(CONNECT_DATA=(SID=x)))",
        "jdbc:sqlserver://h\\east;databaseName=db;user=a",
        "jdbc:bigquery://https://x:443;ProjectId=p1;OAuthPvtKey=x",
        "jdbc:athena://Region=eu-west-1;PWD=p",
        "jdbc:sqlite:/x.db?password=x",
        "jdbc:thing",
        "https://f/api?code=x",
    ],
)
def test_masking_again_changes_nothing(value: str):
    once = mask_config({"database.password": "x", "connection.url": value, "a": "b"})
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
