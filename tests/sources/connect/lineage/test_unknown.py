"""What cannot be known of a connector is not claimed: side topics, guesses, routers and policies."""

from typing import Any

import pytest

from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

MYSQL = {
    "connector.class": "io.debezium.connector.mysql.MySqlConnector",
    "database.hostname": "db",
    "topic.prefix": "shop",
    "database.include.list": "inventory",
}
LAST_PART = {
    "transforms": "r",
    "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
    "transforms.r.regex": r"([^.]+)\.([^.]+)\.([^.]+)",
    "transforms.r.replacement": "$3",
}


def flows(config: dict[str, str], *observed: str, **evidence: Any) -> set[tuple[str, str, bool]]:
    """Dataset, topic, and whether the flow is certain."""
    found = resolve(config, ConnectorEvidence(observed_topics=observed, **evidence))
    return {(flow.outside[1] if flow.outside else "", flow.topic, not flow.maybe) for flow in found.flows}


def roles(config: dict[str, str], *observed: str) -> set[tuple[str, str]]:
    found = resolve(config, ConnectorEvidence(observed_topics=observed))
    return {(use.role, use.name) for use in (*found.topics_in, *found.topics_out)}


@pytest.mark.parametrize(
    "settings",
    [
        {"confluent.topic.bootstrap.servers": "broker:9092", "topics": "orders"},
        {"kafka.bootstrap.servers": "broker:9092", "topics": "orders"},
        {"aws.eventbridge.offloading.default.s3.bucket": "offload", "topics": "orders"},
        {"cos.bucket.location": "eu", "topics": "orders"},
        {"http.proxy.host": "proxy", "topics": "orders"},
        {"verify.host": "true", "topics": "orders"},
        {"state.topic.name": "state", "topics": "orders"},
    ],
)
def test_settings_of_the_connectors_own_are_no_datasets(settings: dict[str, str]) -> None:
    assert resolve({"connector.class": "com.example.ThingSinkConnector", **settings}).datasets == ()


@pytest.mark.parametrize(
    ("settings", "topics"),
    [
        ({"connector.class": "org.example.RssSourceConnector", "topic": "bbc-news-uk", "rss.urls": "x y"}, {"bbc-news-uk"}),
        ({"connector.class": "org.example.ThingSource", "topics": "a,b"}, {"a", "b"}),
        ({"connector.class": "org.example.Thing", "output.topic": "a"}, {"a"}),
    ],
)
def test_a_literal_topic_stays_without_an_object(settings: dict[str, str], topics: set[str]) -> None:
    found = resolve(settings, ConnectorEvidence(direction="" if "Source" in settings["connector.class"] else "source"))
    assert found.is_source
    assert {use.name for use in found.topics_out} == topics
    assert found.datasets == ()


def test_side_topics_are_no_data() -> None:
    mongodb = {
        "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
        "connection.uri": "mongodb://db",
        "database": "shop",
        "collection": "orders",
        "heartbeat.interval.ms": "1000",
    }
    assert roles(mongodb) == {("data", "shop.orders"), ("heartbeat", "__mongodb_heartbeats")}
    assert roles(mongodb | {"heartbeat.interval.ms": "0"}, "shop.orders", "__mongodb_heartbeats") == roles(mongodb)
    mq = {"connector.class": "io.confluent.connect.ibm.mq.IbmMQSourceConnector", "kafka.topic": "orders", "state.topic.name": "mq-state"}
    assert roles(mq) == {("data", "orders"), ("state", "mq-state")}
    assert roles(mq | {"confluent.topic": "licence"}, "orders", "licence") == {*roles(mq), ("license", "licence")}


@pytest.mark.parametrize(
    "side",
    [
        "errors.log.topic",
        "dlq.topic",
        "LENGTH_CHECK_DEAD_LETTER_TOPIC",
        "rejected-topic",
        "failed.topic.name",
        "control.topic",
        "offset.topic.name",
        "confluent.license.topic",
        "heartbeat.topic",
        "producer.topic",
    ],
)
def test_side_topics_of_an_unknown_class_are_no_data(side: str) -> None:
    assert roles({"connector.class": "org.example.ThingSource", "output.topic": "orders", side: "aside"}) == {("data", "orders")}


@pytest.mark.parametrize(
    ("named", "key", "role"),
    [
        ("org.example.ThingSource", "heartbeat.topic.name", "heartbeat"),
        ("org.example.ThingSource", "state.topic.name", "state"),
        ("org.example.ThingSink", "errors.deadletterqueue.topic.name", "dead-letter"),
        ("org.example.ThingSink", "reporter.result.topic.name", "report"),
    ],
)
def test_side_topics_of_every_class_are_topics_with_names(named: str, key: str, role: str) -> None:
    config = {"connector.class": named, "output.topic" if "Source" in named else "topics": "orders"}
    assert roles(config | {key: "aside"}) == {("data", "orders"), (role, "aside")}
    for name in ("${aside}", "<aside>", "process.env.ASIDE", "names['aside']", "two words", "a.*"):
        assert roles(config | {key: name}) == {("data", "orders")}


@pytest.mark.parametrize("key", ["schema.history.internal.kafka.topic", "database.history.kafka.topic"])
def test_postgresql_has_no_schema_history(key: str) -> None:
    postgres = {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "database.hostname": "db",
        "database.dbname": "shop",
        "topic.prefix": "cdc",
        "table.include.list": "public.orders",
        key: "history",
    }
    assert roles(postgres) == {("data", "cdc.public.orders")}
    assert roles(MYSQL | {key: "history"}) == {("schema-history", "history"), ("schema-changes", "shop")}
    assert roles(MYSQL | {key: "history"}, "history", "shop") == roles(MYSQL | {key: "history"})


@pytest.mark.parametrize(
    ("config", "signal", "name"),
    [
        (
            {"connector.class": "io.debezium.connector.oracle.OracleConnector", "database.dbname": "ORCLCDB"},
            "ORCLCDB.C##CDC.SIGNALS",
            "ORCLCDB.C##CDC.SIGNALS",
        ),
        (
            {"connector.class": "io.debezium.connector.oracle.OracleConnector", "database.dbname": "ORCLCDB", "database.pdb.name": "PDB1"},
            "PDB1.CDC.SIGNALS",
            "PDB1.CDC.SIGNALS",
        ),
        (
            {"connector.class": "io.debezium.connector.sqlserver.SqlServerConnector", "database.dbname": "shop"},
            "shop.dbo.signals",
            "shop.dbo.signals",
        ),
        (
            {"connector.class": "io.debezium.connector.sqlserver.SqlServerConnector", "database.names": "shop"},
            "shop.dbo.signals",
            "shop.dbo.signals",
        ),
        (
            {"connector.class": "io.debezium.connector.postgresql.PostgresConnector", "database.dbname": "shop"},
            "public.signals",
            "shop.public.signals",
        ),
        ({"connector.class": "io.debezium.connector.mysql.MySqlConnector"}, "inventory.signals", "inventory.signals"),
    ],
)
def test_a_signal_table_is_named_once(config: dict[str, str], signal: str, name: str) -> None:
    found = resolve({**config, "database.hostname": "db", "topic.prefix": "cdc", "signal.data.collection": signal})
    assert [outside.dataset[1] for outside in found.datasets] == [name]


def test_topics_through_a_router_are_solved_from_what_was_observed() -> None:
    assert flows(MYSQL | LAST_PART, "customers") == {("inventory.customers", "customers", True)}
    prefixed = LAST_PART | {"transforms.r.regex": r"(.*)\.(.*)\.(.*)", "transforms.r.replacement": "raw_$3"}
    assert flows(MYSQL | prefixed, "raw_customers") == {("inventory.customers", "raw_customers", True)}


def test_a_topic_of_two_possible_databases_has_no_dataset() -> None:
    several = MYSQL | LAST_PART | {"database.include.list": "inventory,sales"}
    assert flows(MYSQL | LAST_PART | {"database.include.list": "inv.*"}, "customers") == {("", "customers", False)}
    assert flows(several, "customers") == {("", "customers", False)}


def test_a_router_with_one_target_tells_the_topic() -> None:
    constant = MYSQL | LAST_PART | {"transforms.r.regex": "(.*)", "transforms.r.replacement": "binlog"}
    assert flows(constant) == {("", "binlog", True)}
    assert flows(constant, "binlog") == {("", "binlog", True)}
    assert flows(constant | {"table.include.list": "inventory.orders"}) == {("inventory.orders", "binlog", True)}
    assert flows(MYSQL | LAST_PART) == set()


def test_behind_an_unknown_router_topics_are_likely() -> None:
    router = {"transforms": "r", "transforms.r.type": "com.example.TenantRouter"}
    tables = MYSQL | {"table.include.list": "inventory.orders"}
    assert ("inventory.orders", "shop.inventory.orders", False) in flows(tables | router)
    assert ("inventory.orders", "shop.inventory.orders", True) in flows(tables)
    assert flows(tables | router, "orders-of-acme") >= {("inventory.orders", "orders-of-acme", False)}


def test_topics_named_by_a_class_of_the_users_own_are_likely() -> None:
    tables = MYSQL | {"table.include.list": "inventory.orders"}
    own, known = {"topic.naming.strategy": "com.example.Naming"}, {"topic.naming.strategy": "io.debezium.schema.SchemaTopicNamingStrategy"}
    assert ("inventory.orders", "shop.inventory.orders", False) in flows(tables | own)
    assert flows(tables | own, "orders-of-acme") >= {("inventory.orders", "orders-of-acme", False)}
    assert flows(tables | known) == flows(tables)
    mongo = {
        "connector.class": "com.mongodb.kafka.connect.MongoSourceConnector",
        "connection.uri": "mongodb://m",
        "database": "shop",
        "collection": "orders",
    }
    default = {"topic.mapper": "com.mongodb.kafka.connect.source.topic.mapping.DefaultTopicMapper"}
    assert ("shop.orders", "shop.orders", False) in flows(mongo | {"topic.mapper": "com.example.Mapper"})
    assert flows(mongo | default) == flows(mongo) == {("shop.orders", "shop.orders", True)}


def test_a_custom_policy_of_mirrormaker_goes_by_observation() -> None:
    mirror = {
        "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
        "source.cluster.alias": "east",
        "source.cluster.bootstrap.servers": "east:9092",
        "topics": "orders",
        "replication.policy.class": "com.example.CustomPolicy",
    }
    assert flows(mirror) == {("orders", "orders", False)}
    assert flows(mirror, "orders") == {("orders", "orders", True)}
    assert flows(mirror, "east.orders") == {("orders", "east.orders", True)}
    assert flows(mirror | {"topics": "ord.*"}, "orders") == {("orders", "orders", True)}


def test_a_sink_behind_a_timestamp_router_has_its_dataset() -> None:
    elastic = {
        "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
        "connection.url": "http://es:9200",
        "topics": "orders",
        "transforms": "t",
        "transforms.t.type": "org.apache.kafka.connect.transforms.TimestampRouter",
    }
    assert flows(elastic) == {("orders-yyyyMMdd", "orders", True)}
    dated = elastic | {"transforms.t.topic.format": "log.${topic}.${timestamp}", "transforms.t.timestamp.format": "yyyy-MM"}
    assert flows(dated) == {("log.orders.yyyy-MM", "orders", True)}


S3, ELASTIC = "io.confluent.connect.s3.S3SinkConnector", "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector"
JDBC, BLOB = "io.confluent.connect.jdbc.JdbcSinkConnector", "io.confluent.connect.azure.blob.AzureBlobStorageSinkConnector"


@pytest.mark.parametrize(
    "settings",
    [
        {"connector.class": S3, "s3.bucket.name": "${BUCKET}"},
        {"connector.class": S3, "s3.bucket.name": "$BUCKET_NAME"},
        {"connector.class": S3, "s3.bucket.name": "raw-$Stage"},
        {"connector.class": S3, "s3.bucket.name": "%BUCKET%"},
        {"connector.class": ELASTIC, "connection.url": "https://$(terraform output host):9200"},
        {"connector.class": S3, "s3.bucket.name": "{{ bucket }}"},
        {"connector.class": S3, "s3.bucket.name": "<your bucket>"},
        {"connector.class": ELASTIC, "connection.url": "<elasticsearch-URI>"},
        {"connector.class": ELASTIC, "connection.url": "https://{endpoint}:9200"},
        {"connector.class": JDBC, "connection.url": "jdbc:postgresql://db/shop", "table.name.format": "<schema>.orders"},
    ],
)
def test_what_is_still_to_be_filled_in_names_no_dataset(settings: dict[str, str]) -> None:
    found = resolve({"topics": "orders", **settings})
    assert found.datasets == ()
    assert [use.name for use in found.topics_in] == ["orders"]
    assert found.unknown


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"connector.class": JDBC, "connection.url": "jdbc:oracle:thin:@//db:1521/PDB", "table.name.format": "SYS.V$LOG"}, "PDB.SYS.V$LOG"),
        ({"connector.class": S3, "s3.bucket.name": "b", "topics.dir": "a{"}, "a{/orders"),
        ({"connector.class": BLOB, "azblob.account.name": "acme", "azblob.container.name": "$web"}, "topics/orders"),
    ],
)
def test_signs_that_names_may_have_stay(settings: dict[str, str], name: str) -> None:
    assert [dataset.dataset[1] for dataset in resolve({"topics": "orders", **settings}).datasets] == [name]


def test_a_table_of_a_sql_server_needs_its_database() -> None:
    sql_server = {
        "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
        "database.hostname": "db",
        "topic.prefix": "shop",
        "table.include.list": "dbo.orders",
    }
    assert flows(sql_server) == {("", "shop.dbo.orders", True)}
    assert resolve(sql_server).unknown == ("datasets cannot be named without database.dbname",)
    assert {name for name, *_ in flows({**sql_server, "database.dbname": "crm"})} == {"crm.dbo.orders"}
    assert {name for name, *_ in flows({**sql_server, "database.names": "crm"})} == {"crm.dbo.orders"}


@pytest.mark.parametrize(
    ("url", "namespaces"),
    [
        ("wss://stream.example.com/ws/btc@trade", {"wss://stream.example.com"}),
        ("https://video.example.com/@channel/feed", {"https://video.example.com:443"}),
        ("https://jane.doe:12/34@example.com/feed", set()),
        ("https://jane:12/34@example.com/feed", {"https://example.com:443"}),
    ],
)
def test_an_at_sign_in_the_path_of_a_web_address(url: str, namespaces: set[str]) -> None:
    found = resolve({"connector.class": "com.example.FeedSourceConnector", "topic": "feed", "feed.url": url})
    assert {dataset.dataset[0] for dataset in found.datasets} == namespaces
    assert "12" not in str(found.datasets)


@pytest.mark.parametrize(
    "connector",
    [
        "com.datamountaineer.streamreactor.connect.ftp.source.FtpSourceConnector",
        "io.confluent.connect.http.source.GenericHttpSourceConnector",
        "io.confluent.connect.replicator.ReplicatorSourceConnector",
        "io.lenses.streamreactor.connect.mqtt.source.MqttSourceConnector",
        "io.mdrogalis.voluble.VolubleSourceConnector",
        "io.zeebe.kafka.connect.ZeebeSourceConnector",
        "org.apache.kafka.connect.mirror.MirrorCheckpointConnector",
        "org.apache.kafka.connect.mirror.MirrorHeartbeatConnector",
        "org.neo4j.connectors.kafka.source.Neo4jConnector",
    ],
)
def test_a_source_that_does_not_have_the_setting_topics_writes_none_of_them(connector: str) -> None:
    assert flows({"connector.class": connector, "topics": "orders"}) == set()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("jms.CamelJmsSinkConnector", {"camel.sink.path.destinationType": "queue", "camel.sink.path.destinationName": "orders"}),
        ("CamelSinkConnector", {"camel.sink.url": "jms:queue:orders?connectionFactory=#factory"}),
        ("CamelSinkConnector", {"camel.sink.url": "neverseen:orders"}),
    ],
)
def test_a_component_of_camel_that_cannot_be_named_is_unknown(name: str, settings: dict[str, str]) -> None:
    found = resolve({"connector.class": f"org.apache.camel.kafkaconnector.{name}", "topics": "orders", **settings})
    assert (found.datasets, found.unknown) == ((), ("no external object is listed or was observed",))
