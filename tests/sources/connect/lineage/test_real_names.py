"""Names that look like expressions, patterns or values of programs, and that systems have: each is named."""

import pytest

from lineage_bridge.sources.common.connect.lineage.names import is_dataset
from lineage_bridge.sources.common.connect.lineage.programs import without_code
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

JDBC_SOURCE = {"connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector", "topic.prefix": "x-", "mode": "bulk"}
JDBC_SINK = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSinkConnector",
    "connection.url": "jdbc:postgresql://h/db",
    "topics": "orders",
}
POSTGRES = {
    "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
    "topic.prefix": "p",
    "database.hostname": "db",
    "database.dbname": "shop",
    "table.include.list": "public.orders",
}
S3 = {"connector.class": "io.confluent.connect.s3.S3SinkConnector", "s3.bucket.name": "b", "topics": "orders"}
RAC = (
    "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS_LIST=(ADDRESS=(PROTOCOL=TCP)(HOST=h1)(PORT=1521))(ADDRESS=(PROTOCOL=TCP)(HOST=h2)(PORT=1521)))"
    "(CONNECT_DATA=(SERVICE_NAME=svc)))"
)


def datasets(config: dict[str, str]) -> list[tuple[str, str]]:
    return [outside.dataset for outside in resolve(config).datasets]


def topics(config: dict[str, str]) -> list[str]:
    found = resolve(config)
    return [use.name for use in (*found.topics_in, *found.topics_out)]


@pytest.mark.parametrize(
    ("url", "dataset"),
    [
        ("jdbc:postgresql://h1:5432,h2:5432/db?targetServerType=primary", ("postgres://h1:5432,h2:5432", "db.public.orders")),
        ("jdbc:mysql://h1:3306,h2:3306/db", ("mysql://h1:3306,h2:3306", "db.orders")),
        ("jdbc:mysql:replication://h1,h2/db", ("mysql://h1:3306,h2:3306", "db.orders")),
        ("jdbc:hive2://zk1:2181,zk2:2181/db;serviceDiscoveryMode=zooKeeper", ("hive://zk1:2181,zk2:2181", "db.orders")),
        ("jdbc:ignite:thin://h1,h2", ("ignite://h1,h2", "orders")),
        ("jdbc:sqlite:/data/local.db", ("sqlite:///data/local.db", "orders")),
        ("jdbc:sqlite:/data/this.sqlite_db", ("sqlite:///data/this.sqlite_db", "orders")),
        ("jdbc:duckdb:/data/local.duckdb", ("duckdb:///data/local.duckdb", "orders")),
        ("jdbc:sqlite:/var/my data/app.db", ("sqlite:///var/my data/app.db", "orders")),
        ("jdbc:sqlite:C:\\data\\app.db", ("sqlite://C:\\data\\app.db", "orders")),
    ],
)
def test_several_hosts_and_files_are_addresses(url: str, dataset: tuple[str, str]) -> None:
    assert datasets(JDBC_SOURCE | {"connection.url": url, "table.whitelist": "orders"}) == [dataset]


def test_a_cluster_of_oracle_is_an_address() -> None:
    config = JDBC_SOURCE | {"connection.url": RAC, "table.whitelist": "A.ORDERS"}
    assert datasets(config) == [("oracle://h1:1521,h2:1521", "svc.A.ORDERS")]


def test_a_sink_writes_to_a_database_of_several_hosts() -> None:
    config = JDBC_SINK | {
        "connector.class": "io.debezium.connector.jdbc.JdbcSinkConnector",
        "connection.url": "jdbc:postgresql://h1:5432,h2:5432/db",
    }
    assert datasets(config) == [("postgres://h1:5432,h2:5432", "db.public.orders")]


@pytest.mark.parametrize(
    ("config", "names"),
    [
        (
            S3 | {"name": "input.orders", "topics": "input.orders", "errors.deadletterqueue.topic.name": "input.orders.dlq"},
            ["input.orders", "input.orders.dlq"],
        ),
        (
            JDBC_SINK
            | {
                "name": "input.orders",
                "topics": "input.orders",
                "errors.deadletterqueue.topic.name": "input.orders.dlq",
                "table.name.format": "o",
            },
            ["input.orders", "input.orders.dlq"],
        ),
        (JDBC_SINK | {"name": "config.events", "topics": "config.events", "table.name.format": "config.events"}, ["config.events"]),
        (S3 | {"name": "env.sensors.s3", "topics": "env.sensors", "topics.dir": "env.raw"}, ["env.sensors"]),
        (
            POSTGRES
            | {
                "topic.prefix": "env.shop",
                "name": "env.shop",
                "schema.history.internal.kafka.topic": "env.shop.history",
                "heartbeat.topics.prefix": "env.hb",
            },
            ["env.shop.public.orders"],
        ),
        (
            POSTGRES | {"topic.prefix": "local.shop", "database.server.name": "local.shop", "name": "local.shop"},
            ["local.shop.public.orders"],
        ),
        (
            JDBC_SOURCE
            | {
                "connection.url": "jdbc:postgresql://h/db",
                "query": "select * from orders",
                "topic.prefix": "local.orders",
                "name": "local.jdbc",
                "connection.user": "local.app",
            },
            ["local.orders"],
        ),
        (S3 | {"topics": "self.service_events"}, ["self.service_events"]),
        (S3 | {"topics": "this.is.a_topic"}, ["this.is.a_topic"]),
    ],
)
def test_topics_may_be_called_like_objects_of_programs(config: dict[str, str], names: list[str]) -> None:
    assert topics(config) == names
    assert len(datasets(config)) == 1


def test_several_members_that_only_programs_have_are_no_names() -> None:
    config = {"connection.url": "options.url", "connection.user": "options.user", "table.whitelist": "options.table"}
    assert without_code(config) == {key: f"${{{value}}}" for key, value in config.items()}
    for key in config:
        rest = {other: value for other, value in config.items() if other != key}
        assert without_code(rest) == rest


@pytest.mark.parametrize(
    "host",
    [
        "prod.source.host",
        "source.server",
        "sftp.source.host",
        "source.kafka.server",
        "mongo.config.server",
        "local.dev",
        "local.test",
        "local.host",
        "local.kafka",
        "local.db",
        "local.docker",
        "local.minikube",
        "local.k8s",
        "self.hosted",
        "module.dev",
        "env.example.host",
        "aws_db.internal",
        "kubernetes_docker.internal",
        "google_cloud.example.com",
    ],
)
def test_a_host_may_be_called_like_a_programs_member(host: str) -> None:
    assert datasets(POSTGRES | {"database.hostname": host}) == [(f"postgres://{host}:5432", "shop.public.orders")]


@pytest.mark.parametrize(
    "bucket",
    ["acme.kafka.sink.bucket", "data.source.bucket", "com.acme.config.bucket", "acme.prod.env.name", "local.bucket", "source.bucket"],
)
def test_a_bucket_may_be_called_like_a_programs_member(bucket: str) -> None:
    assert datasets(S3 | {"s3.bucket.name": bucket}) == [(f"s3://{bucket}", "topics/orders")]


@pytest.mark.parametrize(
    ("config", "dataset"),
    [
        (
            {
                "connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector",
                "source.cluster.bootstrap.servers": "source.kafka.server:9092",
                "source.cluster.alias": "source",
                "topics": "orders",
            },
            ("kafka://source.kafka.server:9092", "orders"),
        ),
        (
            {
                "connector.class": "com.mongodb.kafka.connect.MongoSinkConnector",
                "connection.uri": "mongodb://mongo.config.server:27017",
                "database": "config",
                "collection": "settings.name",
                "topics": "t",
            },
            ("mongodb://mongo.config.server:27017", "config.settings.name"),
        ),
        (
            {
                "connector.class": "io.confluent.connect.sftp.SftpCsvSourceConnector",
                "sftp.host": "sftp.source.host",
                "input.path": "/in",
                "kafka.topic": "t",
                "input.file.pattern": ".*",
            },
            ("sftp://sftp.source.host:22", "/in"),
        ),
        (
            {
                "connector.class": "io.confluent.connect.activemq.ActiveMQSourceConnector",
                "activemq.url": "failover:(tcp://a:61616,tcp://b:61616)",
                "jms.destination.name": "VirtualTopic.*.x",
                "kafka.topic": "t",
            },
            ("activemq://a:61616", "queue/VirtualTopic.*.x"),
        ),
        (
            {
                "connector.class": "io.confluent.connect.solace.SolaceSourceConnector",
                "solace.host": "smf://h:55555",
                "jms.destination.name": "a/*/b",
                "jms.destination.type": "topic",
                "kafka.topic": "t",
            },
            ("solace://h:55555", "topic/a/*/b"),
        ),
        (
            {
                "connector.class": "org.apache.camel.kafkaconnector.nats.CamelNatsSourceConnector",
                "camel.source.path.topic": "orders.*",
                "camel.source.endpoint.servers": "h:4222",
                "topics": "t",
            },
            ("nats://h:4222", "orders.*"),
        ),
        (
            JDBC_SOURCE
            | {
                "connection.url": "jdbc:bigquery://https://www.googleapis.com/bigquery/v2:443;ProjectId=p",
                "query": "SELECT * FROM `p.d.events_*` WHERE x>1",
            },
            ("bigquery", "p.d.events_*"),
        ),
        (
            {
                "connector.class": "com.snowflake.kafka.connector.SnowflakeSinkConnector",
                "snowflake.url.name": "a.snowflakecomputing.com:443",
                "snowflake.database.name": "D",
                "snowflake.schema.name": "S",
                "topics": "t",
                "snowflake.topic2table.map": 't:"MyTable"',
            },
            ("snowflake://a", 'D.S."MyTable"'),
        ),
        (JDBC_SINK | {"table.name.format": "o'brien"}, ("postgres://h:5432", "db.public.o'brien")),
        (JDBC_SINK | {"table.name.format": "sales(EUR)"}, ("postgres://h:5432", "db.public.sales(EUR)")),
        (S3 | {"topics.dir": "in(1)/x"}, ("s3://b", "in(1)/x/orders")),
        (S3 | {"topics.dir": "a(1)"}, ("s3://b", "a(1)/orders")),
    ],
)
def test_systems_have_names_with_signs_of_patterns_and_calls(config: dict[str, str], dataset: tuple[str, str]) -> None:
    assert datasets(config) == [dataset]


@pytest.mark.parametrize(
    ("name", "named"),
    [
        (("https://api.example.com/v1/config.name", "x"), True),
        (("file", "report(1).csv"), True),
        (("adl://a.azuredatalakestore.net", "in[1].csv"), True),
        (("ibmcos://b", "in(1)/x"), True),
        (("smb://h", "share/o'brien [1]"), True),
        (("jms://h:1", "topic/a.*.b"), True),
        (("tibco://h:7222", "queue/orders.*"), True),
        (("rabbitmq://h:5672", "queue/orders.*"), True),
        (("nats://h:4222", "f('x')"), False),
        (("mysql://h:3306", "shop.table_of('x')"), False),
        (("mysql://h:3306", "shop.getTable(x)"), False),
        (("mysql://h:3306", "shop.get_table(x)"), False),
        (("s3://b", "options['dir']/orders"), False),
        (("s3://b", "getDir(x)"), False),
        (("sqlite:///data/*.db", "orders"), False),
        (("mongodb://h:27017", "d." + "a" * 1998), True),
        (("mongodb://h:27017", "d." + "a" * 1999), False),
    ],
)
def test_what_can_be_a_name_of_a_system(name: tuple[str, str], named: bool) -> None:
    assert is_dataset(name) is named


@pytest.mark.parametrize(
    ("url", "query", "name"),
    [
        ("jdbc:db2://h:50000/D", "SELECT * FROM S.ORDERS WHERE D > CURRENT TIMESTAMP - 7 DAYS", "D.S.ORDERS"),
        ("jdbc:db2://h:50000/D", "SELECT CURRENT TIMESTAMP - 1 DAY, O.* FROM S.ORDERS O", "D.S.ORDERS"),
        ("jdbc:as400://h/LIB", "SELECT * FROM LIB.ORDERS WITH UR", "LIB.LIB.ORDERS"),
        ("jdbc:sap://h:30015/?databaseName=X", "SELECT TOP 10 * FROM S.ORDERS", "S.ORDERS"),
        ("jdbc:sybase:Tds:h:5000/db", "SELECT TOP 5 * FROM dbo.orders", "db.dbo.orders"),
        ("jdbc:IRIS://h:1972/NS", "SELECT TOP 100 * FROM SQLUser.Orders", "NS.SQLUser.Orders"),
        ("jdbc:informix-sqli://h:9088/db:INFORMIXSERVER=srv", "SELECT FIRST 10 * FROM orders", "db.orders"),
        ("jdbc:firebirdsql://h:3050/data/x.fdb", "SELECT FIRST 10 * FROM ORDERS", "data.ORDERS"),
        ("jdbc:teradata://h/DATABASE=db", "SEL * FROM db.orders", "db.orders"),
        ("jdbc:teradata://h/DATABASE=db", "LOCKING ROW FOR ACCESS SELECT * FROM db.orders", "db.orders"),
        ("jdbc:teradata://h/DATABASE=db", "SELECT TOP 10 * FROM db.orders", "db.orders"),
        ("jdbc:vertica://h:5433/db", "SELECT * FROM s.orders LIMIT 1 OVER(PARTITION BY a ORDER BY f(b))", "s.orders"),
        ("jdbc:sqlserver://h:1433;databaseName=db", "SELECT JSON_VALUE(x, '$.a' RETURNING NUMBER) FROM dbo.orders", "db.dbo.orders"),
        ("jdbc:postgresql://h/db", "SELECT * FROM orders WHERE d > {d '2020-01-01'}", "db.public.orders"),
        ("jdbc:postgresql://h/db", "SELECT * FROM orders WHERE d > {ts '2020-01-01 00:00:00'}", "db.public.orders"),
    ],
)
def test_a_query_in_a_dialect_of_its_own_reads_its_tables(url: str, query: str, name: str) -> None:
    assert [text for _, text in datasets(JDBC_SOURCE | {"connection.url": url, "query": query})] == [name]


AIVEN = {"connector.class": "io.aiven.kafka.connect.s3.source.S3SourceConnector", "aws.s3.bucket.name": "b", "topic": "t"}
AZURE = {
    "connector.class": "io.aiven.kafka.connect.azure.source.AzureBlobSourceConnector",
    "azure.storage.container.name": "c",
    "azure.storage.connection.string": "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=x",
    "topic": "t",
}
NEO4J = {
    "connector.class": "org.neo4j.connectors.kafka.sink.Neo4jConnector",
    "neo4j.uri": "neo4j://a:7687",
    "topics": "t",
    "neo4j.cypher.topic.t": "MERGE (p:Person{n: event.n})",
}
COUCHBASE = {
    "connector.class": "com.couchbase.connect.kafka.CouchbaseSourceConnector",
    "couchbase.seed.nodes": "h",
    "couchbase.bucket": "b",
    "couchbase.collections": "",
    "couchbase.topic": "t",
}
RABBIT = {
    "connector.class": "io.confluent.connect.rabbitmq.RabbitMQSourceConnector",
    "rabbitmq.host": "h",
    "rabbitmq.queue": "q",
    "kafka.topic": "t",
}
JMS = {
    "connector.class": "io.confluent.connect.activemq.ActiveMQSourceConnector",
    "activemq.url": "tcp://a:61616",
    "jms.destination.name": "q",
    "kafka.topic": "t",
}
DELTA = {
    "connector.class": "io.confluent.connect.databricks.deltalake.DatabricksDeltaLakeSinkConnector",
    "delta.lake.host.name": "h",
    "topics": "t",
}
ELASTIC = {
    "connector.class": "io.confluent.connect.elasticsearch.ElasticsearchSinkConnector",
    "connection.url": "http://e:9200",
    "topics": "t",
    "data.stream.type": "LOGS",
    "data.stream.dataset": "d",
}


@pytest.mark.parametrize(
    ("config", "empty", "dataset"),
    [
        (AIVEN, "aws.s3.prefix", ("s3://b", "/")),
        (AZURE, "azure.blob.prefix", ("wasbs://c@acct.dfs.core.windows.net", "/")),
        ({"connector.class": "com.acme.S3SinkConnector", "s3.bucket": "b", "topics": "t"}, "s3.prefix", ("s3://b", "/")),
        (NEO4J, "neo4j.database", ("neo4j://a:7687", "neo4j")),
        (COUCHBASE, "couchbase.scope", ("couchbase://h", "b._default._default")),
        (RABBIT, "rabbitmq.port", ("rabbitmq://h:5672", "queue/q")),
        (JMS, "jms.destination.type", ("activemq://a:61616", "queue/q")),
        (DELTA, "delta.lake.database", ("unitycatalog://h", "default.t")),
        (ELASTIC, "data.stream.namespace", ("elasticsearch://e:9200", "logs-d-t")),
    ],
)
def test_a_setting_whose_default_is_meant_may_be_empty(config: dict[str, str], empty: str, dataset: tuple[str, str]) -> None:
    assert datasets({**config, empty: ""}) == datasets(config) == [dataset]


def test_what_a_transform_puts_in_place_of_a_topic_is_no_value_of_a_program() -> None:
    route = {
        "transforms": "r",
        "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.r.regex": ".*",
        "transforms.r.replacement": "process.env.TOPIC",
    }
    config = JDBC_SOURCE | {"connection.url": "jdbc:postgresql://h/db", "table.whitelist": "orders"} | route
    assert topics(config) == [".+"]
    assert [use.is_pattern for use in resolve(config).topics_out] == [True]
