"""No dataset is named by a guess: each of these values, wherever it stands, leaves the dataset unknown, which is told."""

import pytest
from tests.sources.connect.public.test_public import CASES, configuration

from lineage_bridge.sources.common.connect.catalogue.catalogue import catalogue
from lineage_bridge.sources.common.connect.catalogue.family import ConnectorClass
from lineage_bridge.sources.common.connect.lineage.connection import Connection, ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.names import is_dataset
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

JDBC, S3 = "io.confluent.connect.jdbc.JdbcSinkConnector", "io.confluent.connect.s3.S3SinkConnector"
POSTGRES = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "p",
    "database.dbname": "shop",
    "table.include.list": "public.orders",
}
CODE = (
    "var.db_host",
    "module.db.address",
    "data.aws_db_instance.main.address",
    "aws_db_instance.main.address",
    "source.hostName",
    "cfg.database.host",
    "this.config.uri",
    "process.env.DB_HOST",
    "os.getenv('DB_HOST')",
    'os.environ["DB_HOST"]',
    "options['host']",
    "hosts[0]",
    "[host]",
    "{host}",
    "db|replica",
    "db*",
)
"""Hosts as programs and templates write them."""


def spaces(found: Connection) -> set[str]:
    return {outside.dataset[0] for outside in found.datasets}


@pytest.mark.parametrize("host", CODE)
def test_a_value_of_a_program_is_no_server(host: str) -> None:
    found = resolve({**POSTGRES, "database.hostname": host})
    assert found.datasets == ()
    assert [use.name for use in found.topics_out] == ["p.public.orders"]
    assert any("database.hostname" in reason or "no external object" in reason for reason in found.unknown)


@pytest.mark.parametrize(
    "host", ["db", "local.example.com", "config.example.com", "data.example.com", "aws-db.example.com", "[fd00::1]", "source.shop.svc"]
)
def test_a_server_that_resembles_one_is_a_server(host: str) -> None:
    assert spaces(resolve({**POSTGRES, "database.hostname": host})) == {f"postgres://{host}:5432"}


@pytest.mark.parametrize(
    "bucket",
    ["var.bucket", "options['bucket']", "aws_s3_bucket.lake.bucket", "lake-*", "settings.bucket_name", "YOUR_LAKE", "YOUR-LAKE"],
)
def test_a_value_of_a_program_is_no_bucket(bucket: str) -> None:
    assert resolve({"connector.class": S3, "topics": "orders", "s3.bucket.name": bucket}).datasets == ()


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (("postgres://h:5432", "shop.public.orders"), True),
        (("postgres://h:5432", "shop.public.orders$1"), True),
        (("oracle://h:1521", "X.C##ANN.ORDERS"), True),
        (("https://h:443", "/odata/Orders(1)"), True),
        (("file", "/data/orders (copy).csv"), True),
        (("redis://h:6379", "orders:*"), True),
        (("mqtt://h:1883", "site/+/orders/#"), True),
        (("wasbs://$web@acc.dfs.core.windows.net", "topics/orders"), True),
        (("file", "/data/orders*.csv"), False),
        (("mysql://h:3306", "shop.orders|bills"), False),
        (("mysql://h:3306", "shop.options['table']"), False),
        (("mysql://h:3306", "shop.tables[0]"), False),
        (("mysql://h:3306", "shop.orders\n"), False),
        (("mysql://h:3306;x", "shop.orders"), False),
        (("mysql://f('x'):3306", "shop.orders"), False),
    ],
)
def test_what_can_be_a_name(name: tuple[str, str], named: bool) -> None:  # a case
    assert is_dataset(name) is named


@pytest.mark.parametrize("number", range(4))
def test_no_setting_whose_value_is_of_a_program_names_a_server(number: int) -> None:
    tried = 0
    for case in CASES[number::4]:
        config = configuration(case)
        for key in sorted(config):
            if key.split(".")[0] not in ("transforms", "predicates") and key.endswith(("hostname", ".host", ".url", "uri", "bucket.name")):
                made = spaces(resolve({**config, key: "var.value_of_a_program"}))
                assert (case["class"], key, [space for space in made if "value_of_a_program" in space]) == (case["class"], key, [])
                tried += 1
    assert tried >= 200


def test_a_setting_that_is_there_but_empty_has_no_default() -> None:
    lake = {"connector.class": S3, "topics": "orders", "s3.bucket.name": "lake"}
    assert [outside.dataset for outside in resolve(lake).datasets] == [("s3://lake", "topics/orders")]
    assert [outside.dataset for outside in resolve({**lake, "topics.dir": ""}).datasets] == [("s3://lake", "orders")]
    redis = {"connector.class": "com.github.jcustenborder.kafka.connect.redis.RedisSinkConnector", "topics": "t", "redis.hosts": "r:6379"}
    assert [outside.dataset for outside in resolve(redis).datasets] == [("redis://r:6379", "1")]
    assert resolve({**redis, "redis.database": ""}).datasets == ()


DEFAULTS = {
    "$topic",
    "$topic-index",
    "*",
    "-",
    ".",
    "/",
    "0",
    "1",
    "1414",
    "5439",
    "5552",
    "5672",
    "8443",
    "KEYS",
    "UPSERT",
    "_",
    "__debezium-heartbeat",
    "__mongodb_heartbeats",
    "_cosmos.metadata.topic",
    "_default",
    "_system",
    "commons",
    "connect_fitbit_activity_log",
    "connect_fitbit_intraday_calories",
    "connect_fitbit_intraday_heart_rate",
    "connect_fitbit_intraday_steps",
    "connect_fitbit_sleep_classic",
    "connect_fitbit_sleep_stages",
    "connect_fitbit_time_zone",
    "control-iceberg",
    "datagen",
    "default",
    "dynamic_table",
    "dynamodb-",
    "eu-west-1",
    "ftp",
    "https://api.github.com",
    "localhost",
    "main",
    "mongodb://localhost:27017/kafkaconnect",
    "mqtt",
    "neo4j",
    "output",
    "queue",
    "syslog",
    "topics",
    "transaction",
    "true",
    "tweets",
    "us-east-1",
    "us-west-2",
}
"""The constants that entries may have instead of a setting: what the documentation of the vendors has as defaults."""


def constants(connector: ConnectorClass) -> set[str]:
    texts = [connector.namespace, connector.name, connector.path, connector.jdbc, connector.object, connector.topic]
    texts += [text for link in connector.symlinks for text in (link.namespace, link.name)]
    holes = [hole for text in texts for hole in text.split("{")[1:]]
    names = [name for hole in holes for name in hole.partition("}")[0].split("!")[0].split("|")]
    return {name.lstrip("=") for name in names if name.startswith("=") and name != "="}


def test_only_documented_defaults_stand_for_settings() -> None:
    used = {text for connector in catalogue().connectors for text in constants(connector)}
    assert used <= DEFAULTS


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"acme.url": "https://a/x"}, ("https://a:443", "/x")),
        ({"acme.url": "https://a/x", "acme.callback.url": "https://b/y"}, None),
        ({"acme.bucket": "one", "acme.s3.prefix": "p"}, ("s3://one", "/")),
        ({"acme.s3.bucket.name": "one", "acme.s3.prefix": "p", "prefix": "q"}, ("s3://one", "p")),
        ({"from.s3.bucket": "one", "to.s3.bucket": "two"}, None),
        ({"acme.url": "jdbc:postgresql://h/d", "acme.table": "t", "lookup.table": "u"}, None),
    ],
)
def test_a_class_that_is_not_known_names_what_one_setting_names(more: dict[str, str], name: tuple[str, str] | None) -> None:
    found = resolve({"connector.class": "com.acme.S3SinkConnector", "topics": "orders", **more})
    assert [outside.dataset for outside in found.datasets] == ([name] if name else [])


@pytest.mark.parametrize("query", ["select * from", "select a from orders where (", "select $columns from orders join", "call orders()"])
def test_a_query_that_cannot_be_parsed_reads_nothing(query: str) -> None:
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": "jdbc:postgresql://h/d",
        "topic.prefix": "t",
        "query": query,
    }
    assert resolve(config).datasets == ()


def test_a_part_of_a_name_that_two_settings_could_be_is_unknown() -> None:
    config = {"connector.class": JDBC, "topics": "t", "connection.url": "jdbc:postgresql://h/d", "table.name.format": "${area}_${topic}"}
    assert [outside.dataset[1] for outside in resolve({**config, "shop.area": "eu"}).datasets] == ["d.public.eu_t"]
    assert resolve({**config, "shop.area": "eu", "other.area": "us"}).datasets == ()


def test_the_table_of_a_record_is_not_the_topic_without_a_dot() -> None:
    config = {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "connection.url": "jdbc:postgresql://h/d",
        "collection.name.format": "copy_${source.table}",
    }
    assert [outside.dataset[1] for outside in resolve({**config, "topics": "p.public.orders"}).datasets] == ["d.public.copy_orders"]
    assert resolve({**config, "topics": "orders"}).datasets == ()


JDBC_SOURCE = {"connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector", "mode": "bulk"}


@pytest.mark.parametrize(
    "settings",
    [
        {"connection.url": "process.env.URL", "table.whitelist": "process.env.TABLES", "topic.prefix": "pg-"},
        {"connection.url": "jdbc:postgresql://db/shop", "table.whitelist": "orders", "topic.prefix": "var.topic_prefix"},
        {"connection.url": "jdbc:postgresql://db/shop", "table.whitelist": "this.tableName", "topic.prefix": "pg-"},
        {"connection.url": "options.url", "connection.user": "options.user", "table.whitelist": "options.table", "topic.prefix": "pg-"},
        {"connection.url": "jdbc:postgresql://db/shop", "table.include.list": "local.cdc_table_include_list", "topic.prefix": "pg-"},
    ],
)
def test_a_value_of_a_program_is_no_part_of_a_topic(settings: dict[str, str]) -> None:
    assert resolve(JDBC_SOURCE | settings).topics_out == ()


@pytest.mark.parametrize("table", ["options.orders", "config.user_events", "local.orders", "public.var_orders"])
def test_a_table_of_a_schema_that_is_called_like_a_programs_object_is_one(table: str) -> None:
    found = resolve(JDBC_SOURCE | {"connection.url": "jdbc:postgresql://db/shop", "table.whitelist": table, "topic.prefix": "pg-"})
    assert [dataset.dataset for dataset in found.datasets] == [("postgres://db:5432", f"shop.{table}")]
    assert [use.name for use in found.topics_out] == [f"pg-{table.partition('.')[2]}"]


DATAGEN = {"connector.class": "DatagenSource", "quickstart": "ORDERS"}
SINK = {"connector.class": S3, "s3.bucket.name": "lake"}


@pytest.mark.parametrize(
    "value",
    [
        "confluent_kafka_topic.orders.topic_name",
        "data.confluent_kafka_topic.orders.topic_name",
        "confluent_kafka_topic.orders[0].topic_name",
        'aiven_kafka_topic.all["orders"].topic_name',
        "google_pubsub_topic.orders.name",
        "module.topics.orders_topic",
    ],
)
def test_an_attribute_of_a_resource_is_no_topic(value: str) -> None:
    assert resolve(DATAGEN | {"kafka.topic": value}).topics_out == ()
    found = resolve(SINK | {"topics": value})
    assert (found.topics_in, found.datasets) == ((), ())


@pytest.mark.parametrize(
    "topic", ["confluent_orders.v1", "aws_events.eu.orders", "google_ads.clicks.daily", "module.orders", "snowflake.a.b_c"]
)
def test_a_topic_that_resembles_an_attribute_is_one(topic: str) -> None:
    assert [use.name for use in resolve(DATAGEN | {"kafka.topic": topic}).topics_out] == [topic]
    assert [use.name for use in resolve(SINK | {"topics": topic}).topics_in] == [topic]


def test_generated_records_are_not_named_without_a_kind() -> None:
    made = {"connector.class": "DatagenSource", "kafka.topic": "made"}
    assert resolve(made | {"schema.string": '{"type":"record","name":"made","fields":[]}'}).datasets == ()
    assert [use.name for use in resolve(made).topics_out] == ["made"]
    assert [outside.dataset[1] for outside in resolve(made | {"quickstart": "ORDERS"}).datasets] == ["datagen/orders"]


@pytest.mark.parametrize(
    "bucket",
    [
        '" + bucket + "',
        "lake-XXXX",
        "TODO",
        "TBD",
        "[[bucket]]",
        "your-bucket",
        "your_bucket",
        "YOUR-S3-BUCKET-NAME",
        "yourbucket",
        "your-data-lake-bucket",
        "your-company-raw",
        "your-source-or-sink",
        "your-key-name",
    ],
)
def test_a_bucket_that_is_still_to_be_filled_in_is_none(bucket: str) -> None:
    assert resolve({"connector.class": S3, "topics": "orders", "s3.bucket.name": bucket}).datasets == ()


@pytest.mark.parametrize(
    "bucket", ["my-bucket", "test-bucket", "example-data", "yourstory-prod", "your-choice", "four-buckets", "colour-table", "lake.xxx"]
)
def test_a_bucket_with_an_everyday_name_is_one(bucket: str) -> None:
    found = resolve({"connector.class": S3, "topics": "orders", "s3.bucket.name": bucket})
    assert [outside.dataset for outside in found.datasets] == [(f"s3://{bucket}", "topics/orders")]


@pytest.mark.parametrize(
    "host", ["192.168.xxx.xxx", "10.0.0.xxx", "db.xxxx.rds.amazonaws.com", "your-server", "your-db.internal", "yourservice.com"]
)
def test_a_server_that_is_still_to_be_filled_in_is_none(host: str) -> None:
    settings = {"connector.class": JDBC, "topics": "orders", "connection.url": f"jdbc:postgresql://{host}:5432/shop"}
    assert resolve(settings).datasets == ()
    assert "connection.url" in " ".join(resolve(settings).unknown)


@pytest.mark.parametrize("host", ["shop.xxx", "yours.internal", "yourstory.com", "yourapple.com"])
def test_a_server_with_an_everyday_name_is_one(host: str) -> None:
    settings = {"connector.class": JDBC, "topics": "orders", "connection.url": f"jdbc:postgresql://{host}:5432/shop"}
    assert [outside.dataset[0] for outside in resolve(settings).datasets] == [f"postgres://{host}:5432"]


@pytest.mark.parametrize("table", ["TODO", "XXX", "your_table"])
def test_a_table_that_resembles_a_placeholder_is_one_if_its_topic_exists(table: str) -> None:
    oracle = {
        "connector.class": "io.debezium.connector.oracle.OracleConnector",
        "database.hostname": "db",
        "database.dbname": "SHOP",
        "topic.prefix": "shop",
        "table.include.list": f"APP.{table}",
    }
    assert resolve(oracle).datasets == ()
    assert resolve(oracle, ConnectorEvidence(observed_topics=("shop.APP.NOTES",))).datasets == ()
    found = resolve(oracle, ConnectorEvidence(observed_topics=(f"shop.APP.{table}",)))
    assert [outside.dataset[1] for outside in found.datasets] == [f"SHOP.APP.{table}"]


def test_a_table_named_after_a_topic_in_small_letters_is_one() -> None:
    snowflake = {
        "connector.class": "com.snowflake.kafka.connector.SnowflakeSinkConnector",
        "snowflake.url.name": "acme.snowflakecomputing.com",
        "snowflake.database.name": "DB",
        "snowflake.schema.name": "RAW",
    }
    assert [outside.dataset[1] for outside in resolve({**snowflake, "topics": "todo"}).datasets] == ["DB.RAW.TODO"]
    assert resolve({**snowflake, "topics": "TODO"}).datasets == ()
    known = ConnectorEvidence(known_topics=frozenset(("TODO",)))
    assert [outside.dataset[1] for outside in resolve({**snowflake, "topics": "TODO"}, known).datasets] == ["DB.RAW.TODO"]


@pytest.mark.parametrize("folder", ["{a}", "{bucket}/raw", "/path/to/data", "path/to/data", "your-folder"])
def test_a_folder_that_is_still_to_be_filled_in_is_none(folder: str) -> None:
    assert resolve({"connector.class": S3, "topics": "orders", "s3.bucket.name": "lake", "topics.dir": folder}).datasets == ()
