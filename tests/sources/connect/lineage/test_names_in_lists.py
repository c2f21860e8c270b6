"""Names in lists of tables, some of which are regular expressions, with signs that a regular expression takes for its own."""

import pytest

from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence
from lineage_bridge.sources.common.connect.lineage.resolve import resolve

JDBC = {
    "connector.class": "io.confluent.connect.jdbc.JdbcSourceConnector",
    "connection.url": "jdbc:oracle:thin:@//h:1521/svc",
    "connection.user": "app",
    "topic.prefix": "p-",
}
ORACLE = {
    "connector.class": "io.debezium.connector.oracle.OracleConnector",
    "database.hostname": "h",
    "database.dbname": "ORCL",
    "topic.prefix": "o",
}
CONFLUENT = {
    "connector.class": "io.confluent.connect.oracle.cdc.OracleCdcSourceConnector",
    "oracle.server": "h",
    "oracle.port": "1521",
    "oracle.sid": "ORCL",
    "table.topic.name.template": "${fullyQualifiedTableName}",
}


def named(config, **evidence):
    found = resolve(config, ConnectorEvidence(**evidence))
    return [outside.dataset[1] for outside in found.datasets], [flow.topic for flow in found.flows]


@pytest.mark.parametrize(
    ("tables", "datasets"),
    [
        ("ORDERS$V2", ["svc.APP.ORDERS$V2"]),
        ("ORDERS$", ["svc.APP.ORDERS$"]),
        ("ORDERS$V2,SYS.V$SESSION", ["svc.APP.ORDERS$V2", "svc.SYS.V$SESSION"]),
        ("$ORDERS", []),
        ("ORDERS.*", []),
    ],
)
def test_a_list_of_names_may_have_dollar_signs(tables, datasets):
    """Kafka has no such topic, unless a transform gives the records another one."""
    assert named({**JDBC, "table.whitelist": tables}) == (datasets, [])
    router = {
        "transforms": "r",
        "transforms.r.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.r.regex": r"p-([A-Z.]+)\$?(.*)",
        "transforms.r.replacement": "$1-$2",
    }
    assert named({**JDBC, **router, "table.whitelist": "ORDERS$V2"}) == (["svc.APP.ORDERS$V2"], ["ORDERS-V2"])


@pytest.mark.parametrize(
    "pattern", [r"APP.ORDERS\$V2", r"APP\.ORDERS\$V2", r"^APP\.ORDERS[$]V2$", r"APP.\QORDERS$V2\E", r"APP\.(?:ORDERS\$V2)"]
)
def test_an_expression_names_a_table_with_a_dollar_sign(pattern):
    assert named({**ORACLE, "table.include.list": pattern}) == (["ORCL.APP.ORDERS$V2"], ["o.APP.ORDERS_V2"])
    assert named({**CONFLUENT, "table.inclusion.regex": pattern.replace("APP", "ORCL[.]APP")})[1] == ["ORCL.APP.ORDERS_V2"]


@pytest.mark.parametrize(
    ("pattern", "datasets"),
    [
        ("APP.ORDERS$V2", []),
        ("APP.ORDERS$", ["ORCL.APP.ORDERS"]),
        (r"APP.ORDERS\$", ["ORCL.APP.ORDERS$"]),
        (r"APP.ORDERS\d", []),
        ("APP.ORDERS[0-9]", []),
        ("APP.ORDERS[^X]", []),
    ],
)
def test_a_sign_of_an_expression_is_no_part_of_a_name(pattern, datasets):
    assert named({**ORACLE, "table.include.list": pattern})[0] == datasets


def test_a_topic_of_a_table_that_is_no_longer_listed_is_not_another_tables():
    listed = {"table.include.list": "APP.ORDERS"}
    found = resolve({**ORACLE, **listed}, ConnectorEvidence(observed_topics=("o.APP.ORDERS", "o.APP.OLD", "elsewhere")))
    assert {flow.topic: flow.outside and flow.outside[1] for flow in found.flows} == {
        "o.APP.ORDERS": "ORCL.APP.ORDERS",
        "o.APP.OLD": None,
        "elsewhere": "ORCL.APP.ORDERS",
    }
    assert [flow.topic for flow in found.flows if flow.maybe] == ["o.APP.OLD", "elsewhere"]
