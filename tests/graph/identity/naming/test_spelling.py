"""What the rules make of names: each row of the specification, the deviations from it, and what must stay apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lineage_bridge.graph.identity.naming.rules import NAME_RULES, SPACE_RULES
from lineage_bridge.graph.identity.naming.spelling import Spelling, all_space_links, closure, form_rank, identifies, space_links


def spellings(namespace: str, name: str) -> set[Spelling]:
    """Every spelling that the rules lead to, the first included."""
    found = {(namespace, name)} | {to for _, to, _ in closure(namespace, name)}
    while True:
        more = {to for space, n in found for link in space_links(space) if (to := link.forth(n))}
        more |= {to for here in found | more for _, to, _ in closure(*here)}
        if more <= found:
            return found
        found |= more


def canonical(namespace: str, name: str) -> Spelling:
    return min(spellings(namespace, name), key=lambda s: (form_rank(*s), s))


SPECIFIED = [
    ("kafka://broker:9092", "orders"),
    ("pubsub", "topic:p:t"),
    ("postgres://h:5432", "db.public.t"),
    ("mysql://h:3306", "db.t"),
    ("mssql://h:1433", "db.dbo.t"),
    ("oracle://h:1521", "XE.HR.T"),
    ("db2://h:50000", "db.s.t"),
    ("crate://h:5432", "db.s.t"),
    ("oceanbase://h:2881", "db.t"),
    ("teradata://h:1025", "db.t"),
    ("redshift://cluster.eu-west-1:5439", "db.s.t"),
    ("snowflake://org-account", "DB.S.T"),
    ("bigquery", "p.d.t"),
    ("spanner://p:i", "db.s.t"),
    ("cassandra://h:9042", "k.t"),
    ("milvus://h:19530", "db.c"),
    ("trino://h:8080", "c.s.t"),
    ("hive://h:9083", "db.t"),
    ("awsathena://athena.eu-west-1.amazonaws.com", "c.d.t"),
    ("arn:aws:glue:eu-west-1:123456789012", "table/db/t"),
    ("unitycatalog://host.cloud.databricks.com", "c.s.t"),
    ("azurecosmos://h/dbs/db", "colls/t"),
    ("azurekusto://c.kusto.windows.net", "db/t"),
    ("sqlserver://h:1433", "s.t"),
    ("fabric-warehouse://endpoint", "db.s.t"),
    ("s3://bucket", "warehouse/t"),
    ("gs://bucket", "warehouse/t"),
    ("hdfs://nn:8020", "/warehouse/t"),
    ("abfss://c@a.dfs.core.windows.net", "warehouse/t"),
    ("wasbs://c@a.dfs.core.windows.net", "warehouse/t"),
    ("dbfs://workspace", "/t"),
    ("file", "/tmp/t"),
    ("file://host", "/tmp/t"),
    ("inmemory://", "t"),
]


@pytest.mark.parametrize("spelling", SPECIFIED, ids=lambda s: s[0])
def test_a_name_of_the_specification_is_canonical(spelling: Spelling) -> None:
    assert form_rank(*spelling) == 0
    assert spellings(*spelling) == {spelling}


DEVIATIONS = [
    (("postgresql://H:5432", "db.s.t"), ("postgres://h:5432", "db.s.t")),
    (("postgres://h", "db.s.t"), ("postgres://h:5432", "db.s.t")),
    (("postgres://h:None", "db.s.t"), ("postgres://h:5432", "db.s.t")),
    (("jdbc:postgresql://h:5432/db?ssl=true", "s.t"), ("postgres://h:5432", "db.s.t")),
    (("jdbc:postgresql://h/db", "db.s.t"), ("postgres://h:5432", "db.s.t")),
    (("jdbc:mysql://h:3306/db", "t"), ("mysql://h:3306", "db.t")),
    (("jdbc:sqlserver://h:1433;encrypt=true;databaseName=db", "dbo.t"), ("mssql://h:1433", "db.dbo.t")),
    (("jdbc:oracle:thin:@//h:1521/XE", "HR.T"), ("oracle://h:1521", "XE.HR.T")),
    (("jdbc:oracle:thin:u/p@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1522))(CONNECT_DATA=(SID=XE)))", "HR.T"), ("oracle://h:1522", "XE.HR.T")),
    (("oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1521))(CONNECT_DATA=(SID=XE)))", "HR.T"), ("oracle://h:1521", "XE.HR.T")),
    (("sqlserver://h;databaseName=db;encrypt=true", "dbo.t"), ("mssql://h:1433", "db.dbo.t")),
    (("jdbc:db2://h:50000/sample:currentSchema=APP;", "APP.T"), ("db2://h:50000", "sample.APP.T")),
    (("jdbc:snowflake://acc.snowflakecomputing.com:443/?db=DB", "S.T"), ("snowflake://acc", "DB.S.T")),
    (("jdbc:postgresql://b:5432,a/db", "s.t"), ("postgres://a:5432", "db.s.t")),
    (("mysql://a:3306,b:3306", "db.t"), ("mysql://a:3306", "db.t")),
    (("kafka://SASL_SSL://broker:9092", "t"), ("kafka://broker:9092", "t")),
    (("kafka://b:9092,a:9092", "t"), ("kafka://a:9092", "t")),
    (("s3a://bucket", "/warehouse/t/"), ("s3://bucket", "warehouse/t")),
    (("s3n://bucket", "t"), ("s3://bucket", "t")),
    (("gcs://bucket", "t"), ("gs://bucket", "t")),
    (("abfs://c@a.dfs.core.windows.net", "t"), ("abfss://c@a.dfs.core.windows.net", "t")),
    (("wasb://c@a.dfs.core.windows.net", "/t"), ("wasbs://c@a.dfs.core.windows.net", "t")),
    (("hdfs://nn:8020", "warehouse/t"), ("hdfs://nn:8020", "/warehouse/t")),
    (("file:///", "/tmp/t/"), ("file", "/tmp/t")),
    (("snowflake://acc.snowflakecomputing.com", '"DB".s.t'), ("snowflake://acc", "DB.S.T")),
    (("snowflake://acc", 'db."Mixed".t'), ("snowflake://acc", 'DB."Mixed".T')),
    (("databricks://https://h.cloud.databricks.com", "c.s.t"), ("unitycatalog://h.cloud.databricks.com", "c.s.t")),
    (("unity-catalog://h.cloud.databricks.com:443", "c.s.t"), ("unitycatalog://h.cloud.databricks.com", "c.s.t")),
    (("google://p/d", "t"), ("bigquery", "p.d.t")),
    (("bigquery", "`p.d.t`"), ("bigquery", "p.d.t")),
    (("redshift://c.abc123.eu-west-1.redshift.amazonaws.com:5439", "d.s.t"), ("redshift://c.eu-west-1:5439", "d.s.t")),
    (("thrift://metastore:9083", "db.t"), ("hive://metastore:9083", "db.t")),
    (("s3://b", "t/dt=2026-01-01/hour=03/part-00000-ab.snappy.parquet"), ("s3://b", "t")),
    (("s3://b", "t/2026/01/31"), ("s3://b", "t")),
    (("s3://b", "t/2026/01"), ("s3://b", "t")),
    (("s3://b", "t/2026-01-31"), ("s3://b", "t")),
    (("s3://b", "t/20260131T235959Z"), ("s3://b", "t")),
    (("s3://b", "t/202601"), ("s3://b", "t")),
    (("file", "/lake/t/1767225600000"), ("file", "/lake/t")),
    (("file://localhost", "/tmp/t"), ("file", "/tmp/t")),
    (("file://127.0.0.1", "/tmp/t"), ("file", "/tmp/t")),
    (("file://localhost/", "/tmp/t"), ("file", "/tmp/t")),
    (("postgres://127.0.0.1", "db.s.t"), ("postgres://localhost:5432", "db.s.t")),
    (("kafka://[::1]:9092", "t"), ("kafka://localhost:9092", "t")),
    (("mysql://LOCALHOST:3306/", "db.t"), ("mysql://localhost:3306", "db.t")),
    (("arn:aws:glue:eu-west-1:1234/", "table/db/t"), ("arn:aws:glue:eu-west-1:1234", "table/db/t")),
    (("aws:glue:eu-west-1:1234", "db.t"), ("arn:aws:glue:eu-west-1:1234", "table/db/t")),
    (("aws:glue:eu-west-1:1234/", "db.t"), ("arn:aws:glue:eu-west-1:1234", "table/db/t")),
    (("arn:aws:glue:eu-west-1:1234", "db.t"), ("arn:aws:glue:eu-west-1:1234", "table/db/t")),
    (("hdfs://nn:8020/", "warehouse/t"), ("hdfs://nn:8020", "/warehouse/t")),
]


@pytest.mark.parametrize(("spelling", "expected"), DEVIATIONS, ids=[f"{s[0]} {s[1]}" for s, _ in DEVIATIONS])
def test_a_deviation_is_led_back(spelling: Spelling, expected: Spelling) -> None:
    assert canonical(*spelling) == expected
    assert form_rank(*expected) == 0


APART = [
    ("s3://b", "t/2026"),
    ("s3://b", "t/prefix_20260131"),
    ("s3://b", "dt=2026-01-01"),
    ("s3://b", "20260131"),
    ("s3://b", "t/20261331"),
    ("kafka://broker:9092", "orders/2026-01-01"),
    ("kafka://null:-1", "t"),
    ("kafka", "t"),
    ("databricks://workspace-1", "c.s.t"),
    ("databricks://h.cloud.databricks.com", "db.t"),
    ("jdbc://db.example.com:5432", "orders"),
    ("jdbc:postgresql://h:5432/db", "t"),
    ("jdbc:unknown://h/db", "s.t"),
    ("jdbc:oracle:thin:@shop_high?TNS_ADMIN=/w", "HR.T"),
    ("file", "data.csv"),
    ("hdfs://h/user/hive/warehouse", "default.t1"),
    ("s3://b/warehouse", "default.t1"),
    ("kafka://10.0.0.1:9092", "t"),
    ("unity-catalog", "c.s.t"),
]


@pytest.mark.parametrize("spelling", APART, ids=lambda s: f"{s[0]} {s[1]}")
def test_what_a_name_does_not_contain_is_not_guessed(spelling: Spelling) -> None:
    assert spellings(*spelling) == {spelling}


def test_a_slash_behind_a_path_is_ignored() -> None:
    with_slash, without = (spellings(f"hdfs://h/user/hive/warehouse{slash}", "default.t1") for slash in ("/", ""))
    assert without < with_slash
    assert {name for _, name in with_slash} == {"default.t1"}


def test_two_databases_of_one_server_stay_apart() -> None:
    first, second = (spellings(f"jdbc:postgresql://h:5432/{db}", "public.t") for db in ("sales", "stock"))
    assert not first & second


def test_a_list_of_servers_is_each_of_those_that_others_could_reach() -> None:
    links = space_links("kafka://a:9092,b:9092,localhost:9092,null:-1")
    assert [link.other for link in links] == ["kafka://a:9092", "kafka://b:9092"]


def test_a_cluster_of_confluent_cloud_is_known_by_its_id() -> None:
    forms = ("confluent://env-1/lkc-abc12", "kafka://lkc-abc12-x9.eu-west-1.aws.glb.confluent.cloud:9092", "kafka://lkc-abc12")
    assert all(("kafka://lkc-abc12", "t") in spellings(form, "t") for form in forms)
    # One server may serve the clusters of many: its name is no evidence.
    assert space_links("kafka://pkc-xyz.eu-west-1.aws.confluent.cloud:9092") == ()


def test_what_names_no_system_identifies_nothing() -> None:
    assert not any(map(identifies, ("", "kafka", "kafka://null:-1", "kafka://", "unity-catalog", "None")))
    assert all(map(identifies, ("kafka://broker:9092", "bigquery", "file", "food_delivery")))


def test_each_rule_says_why() -> None:
    assert all(rule.id and rule.note for rule in SPACE_RULES)
    assert all(rule.id and rule.note for rule in NAME_RULES)


@given(st.sampled_from([*SPECIFIED, *(s for s, _ in DEVIATIONS), *APART]), st.text('abcz/=.-_0129 "`', max_size=12))
def test_the_canonical_spelling_is_where_the_rules_end(name: Spelling, tail: str) -> None:
    spelling = name[0], name[1] + tail
    found = canonical(*spelling)
    assert canonical(*found) == found or form_rank(*found) > 0
    assert all(canonical(*second) >= found or form_rank(*canonical(*second)) >= form_rank(*found) for second in spellings(*spelling))


@given(st.sampled_from([*SPECIFIED, *(s for s, _ in DEVIATIONS)]))
def test_a_link_leads_there_and_back(name: Spelling) -> None:
    for link in all_space_links(name[0]):
        if (to := link.forth(name[1])) is not None:
            assert link.back(to[1]) == (link.space, name[1])
