"""What is told to be missing, and what names no table, server or bucket."""

import pytest

from lineage_bridge.sources.common.connect.lineage.connection import DATA, ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

JDBC, S3 = "io.confluent.connect.jdbc.JdbcSinkConnector", "io.confluent.connect.s3.S3SinkConnector"
SQL_SERVER = {
    "connector.class": "io.debezium.connector.sqlserver.SqlServerConnector",
    "topic.prefix": "shop",
    "table.include.list": "dbo.orders",
}
HDFS = {"connector.class": "io.confluent.connect.hdfs.HdfsSinkConnector", "topics": "orders"}


@pytest.mark.parametrize(
    ("config", "missing"),
    [
        ({**SQL_SERVER, "database.hostname": "db", "database.names": "crm"}, ""),
        ({**SQL_SERVER, "database.hostname": "${HOST}", "database.names": "crm"}, "database.hostname"),
        ({**SQL_SERVER, "database.hostname": "DB_HOST", "database.names": "crm"}, "database.hostname"),
        ({**SQL_SERVER, "database.hostname": "db"}, "database.dbname"),
        ({**HDFS, "hdfs.url": "${HDFS}"}, "hdfs.url"),
        ({**HDFS, "hdfs.url": "hdfs://nn:8020/${folder}"}, "hdfs.url"),
        ({"connector.class": S3, "topics": "orders", "s3.bucket.name": "${BUCKET}"}, "s3.bucket.name"),
        ({"connector.class": S3, "topics": "orders", "s3.bucket.name": "S3_BUCKET_NAME"}, "s3.bucket.name"),
    ],
)
def test_what_is_told_to_be_missing_is_what_the_name_lacks(config: dict[str, str], missing: str) -> None:
    found = resolve(config)
    assert [text for text in found.unknown if "named" in text] == ([f"datasets cannot be named without {missing}"] if missing else [])
    assert bool(found.datasets) is not bool(missing)


@pytest.mark.parametrize(
    "name",
    [
        *("DB_HOST", "NEO4J_URI", "YOUR-SERVER", "SQL_SERVER:1433", "XXXXXXXX", "xxx:3306", "xx-xxxx", "xxx.xxx.xxx.xxx"),
        *(
            "IP",
            "HOST:5432",
            "host:5432",
            "hostname",
            "ip-address",
            "databaseUrl",
            "dbHost:5432",
            "your-server",
            "your_db:5432",
            "your-db.shop.svc",
        ),
        *("db.xxxx.eu-central-1.rds.amazonaws.com", "db.cluster-xxx.eu-central-1.rds.amazonaws.com", "db.EXAMPLE_FIXME.example.com"),
    ],
)
def test_a_server_that_is_only_called_what_belongs_there_is_none(name: str) -> None:
    url = f"jdbc:postgresql://{name}/shop"
    assert resolve({"connector.class": JDBC, "topics": "orders", "connection.url": url}).datasets == ()


@pytest.mark.parametrize(
    "name",
    [
        *("your-server.de", "www.your-server.de", "yours", "SERVER", "dbHost.shop.svc", "localHost", "shop.xxx", "xx.example.com", "ip"),
        *("host.docker.internal", "host1", "hostname.example.com", "endpoint-db", "server"),
    ],
)
def test_a_server_that_resembles_what_belongs_there_is_one(name: str) -> None:
    url = f"jdbc:postgresql://{name}/shop"
    found = resolve({"connector.class": JDBC, "topics": "orders", "connection.url": url})
    assert [outside.dataset[0] for outside in found.datasets] == [f"postgres://{name.lower()}:5432"]


@pytest.mark.parametrize(
    ("account", "named"), [("account", False), ("orgname-accountname", False), ("org-account", False), ("acme-account", True)]
)
def test_an_account_that_is_called_so_is_none(account: str, named: bool) -> None:
    config = {
        "connector.class": "com.snowflake.kafka.connector.SnowflakeSinkConnector",
        "topics": "orders",
        "snowflake.url.name": f"{account}.snowflakecomputing.com",
        "snowflake.database.name": "SHOP",
        "snowflake.schema.name": "RAW",
    }
    assert bool(resolve(config).datasets) is named


@pytest.mark.parametrize("regex", ["<prefix>.*", "$PREFIX.*", "$prefix[.].*", "${each.key}[.].*", "{{ prefix }}.*"])
def test_a_pattern_of_topics_that_is_still_to_be_filled_in_is_none(regex: str) -> None:
    found = resolve({"connector.class": S3, "s3.bucket.name": "lake", "topics.regex": regex})
    assert (found.topics_in, found.flows) == ((), ())


@pytest.mark.parametrize("regex", ["(?<shop>[a-z]+)[.]orders", "orders$", "(?<shop>a|b)-\\k<shop>", "orders|bills$|lines"])
def test_a_pattern_with_groups_and_ends_is_one(regex: str) -> None:
    found = resolve({"connector.class": S3, "s3.bucket.name": "lake", "topics.regex": regex})
    assert [(use.name, use.is_pattern) for use in found.topics_in] == [(regex, True)]


def test_collections_of_a_bucket_that_is_still_to_be_filled_in_have_no_topics() -> None:
    config = {"connector.class": "com.couchbase.connect.kafka.CouchbaseSourceConnector", "couchbase.seed.nodes": "cb"}
    assert [use.name for use in resolve(config | {"couchbase.bucket": "shop", "couchbase.collections": "s.c"}).topics_out] == ["shop.s.c"]
    assert resolve(config | {"couchbase.bucket": "COUCHBASE_BUCKET", "couchbase.collections": "s.c"}).topics_out == ()


@pytest.mark.parametrize(
    ("url", "query", "tables"),
    [
        ("jdbc:oracle:thin:@//h/XE", "select hr.total() from dual", []),
        ("jdbc:oracle:thin:@//h/XE", "select total() from sys.dual, hr.orders", ["XE.HR.ORDERS"]),
        ("jdbc:db2://h/S", "select 1 from sysibm.sysdummy1", []),
        ("jdbc:postgresql://h/s", "select 1 from dual", ["s.public.dual"]),
        ("jdbc:postgresql://h/s", 'select 1 from Orders join "Bills" on true', ["s.public.Bills", "s.public.orders"]),
    ],
)
def test_tables_that_a_query_reads_are_those_that_the_database_has(url: str, query: str, tables: list[str]) -> None:
    config = {
        "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
        "connection.url": url,
        "query": query,
        "topic.prefix": "t",
    }
    found = resolve({**config, "connection.user": "ann"})
    assert sorted(dataset.dataset[1] for dataset in found.datasets) == tables
    assert {use.name for use in found.topics_out} == {"t"}


@pytest.mark.parametrize(
    ("tables", "topics"),
    [("orders", []), ("orders,shop.bills", ["p.shop.bills"]), ("<the tables>", ["p.shop.refunds"]), ("<a>,shop.bills", ["p.shop.bills"])],
)
def test_a_list_of_tables_is_read_as_far_as_it_names_tables(tables: str, topics: list[str]) -> None:
    config = {"connector.class": "io.debezium.connector.mysql.MySqlConnector", "topic.prefix": "p", "table.include.list": tables}
    observed = ConnectorEvidence(observed_topics=("p.shop.refunds",) if tables == "<the tables>" else ())
    found = resolve({**config, "database.hostname": "db"}, observed)
    assert [use.name for use in found.topics_out if use.role == DATA] == topics
    assert [dataset.dataset for dataset in found.datasets] == [("mysql://db:3306", topic.removeprefix("p.")) for topic in topics]


def test_the_older_name_of_the_transform_that_unwraps_documents_is_known() -> None:
    kind = "io.debezium.connector.mongodb.transforms.UnwrapFromMongoDbEnvelope"
    config = {**SQL_SERVER, "database.hostname": "h", "database.dbname": "d", "transforms": "unwrap", "transforms.unwrap.type": kind}
    assert resolve(config).unknown == ()


@pytest.mark.parametrize("pattern", ["${each.key}[.]dbo[.].*", "{{ prefix }}-.*"])
def test_topics_of_a_pattern_that_is_still_to_be_filled_in_are_unknown(pattern: str) -> None:
    config = {"connector.class": S3, "s3.bucket.name": "lake", "topics.regex": pattern}
    assert resolve(config).topics_in == ()
    assert [use.name for use in resolve({**config, "topics.regex": "(?:[a-z]{2}){2}.*"}).topics_in] == ["(?:[a-z]{2}){2}.*"]


@pytest.mark.parametrize(("form", "named"), [("yyyy-MM", True), ("$FORMAT", False), ("<format>", False), ("${env:FORMAT}", False)])
def test_a_sink_behind_a_router_by_time_needs_the_format_of_the_time(form: str, named: bool) -> None:
    config = {
        "connector.class": JDBC,
        "connection.url": "jdbc:postgresql://db/shop",
        "topics": "orders",
        "transforms": "t",
        "transforms.t.type": "org.apache.kafka.connect.transforms.TimestampRouter",
        "transforms.t.topic.format": "${topic}_${timestamp}",
        "transforms.t.timestamp.format": form,
    }
    assert [outside.dataset[1] for outside in resolve(config).datasets] == (["shop.public.orders_yyyy-MM"] if named else [])


@pytest.mark.parametrize("template", ["__TEMPLATE__", "logs/{{topic}}-__TEMPLATE__"])
def test_a_template_of_file_names_that_is_to_be_filled_in_names_no_files(template: str) -> None:
    sink = {"connector.class": "io.aiven.kafka.connect.gcs.GcsSinkConnector", "topics": "orders", "gcs.bucket.name": "lake"}
    assert resolve(sink | {"file.name.template": "logs/{{topic}}-{{partition}}.gz"}).datasets[0].dataset == ("gs://lake", "logs/orders")
    assert resolve(sink | {"file.name.template": template}).datasets == ()
