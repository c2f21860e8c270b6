"""The answer book holds together: what it says is well formed, agrees with itself and covers the statements we answer for."""

import re
from collections import Counter

import pytest
from tests.sql.cases import Case, cases

OWN_DIALECTS = ("flink", "confluent-flink", "ksqldb")
SQLGLOT_DIALECTS = (
    "snowflake",
    "bigquery",
    "spark",
    "postgres",
    "trino",
    "mysql",
    "duckdb",
    "redshift",
    "databricks",
    "hive",
    "tsql",
    "oracle",
)

# Statement classes of the three streaming dialects, by what their text shows.
CLASSES = {
    "flink": {
        "CREATE TABLE": r"CREATE TABLE \S+ \(",
        "row types": r"ROW<",
        "metadata columns": r"METADATA FROM",
        "virtual columns": r"METADATA VIRTUAL|METADATA FROM '\S+' VIRTUAL",
        "watermark": r"WATERMARK FOR",
        "LIKE": r"\) LIKE |\bLIKE \w+ \(",
        "INSERT INTO": r"INSERT INTO",
        "INSERT OVERWRITE": r"INSERT OVERWRITE",
        "static partition": r"PARTITION \(\w+ *=",
        "statement set": r"EXECUTE STATEMENT SET",
        "begin statement set": r"BEGIN STATEMENT SET",
        "CTAS": r"CREATE TABLE \w+[^;(]*\sAS\s+SELECT",
        "RTAS": r"REPLACE TABLE",
        "materialized table": r"CREATE MATERIALIZED TABLE",
        "view": r"CREATE VIEW",
        "temporary view": r"CREATE TEMPORARY VIEW",
        "TUMBLE": r"TABLE\(\s*TUMBLE\(",
        "HOP": r"TABLE\(\s*HOP\(",
        "CUMULATE": r"TABLE\(\s*CUMULATE\(",
        "SESSION": r"TABLE\(\s*SESSION\(",
        "named arguments": r"DATA => TABLE",
        "group window": r"GROUP BY[^;]*TUMBLE\(",
        "temporal join": r"FOR SYSTEM_TIME AS OF",
        "MATCH_RECOGNIZE": r"MATCH_RECOGNIZE",
        "UNNEST": r"UNNEST\(",
        "lateral function": r"LATERAL TABLE",
        "grouping sets": r"GROUPING SETS",
        "set operators": r"\b(?:EXCEPT|INTERSECT)\b",
        "hints": r"/\*\+",
        "catalogs": r"USE CATALOG",
        "ALTER": r"ALTER TABLE",
        "DROP": r"DROP ",
        "DELETE": r"DELETE FROM",
        "UPDATE": r"UPDATE \w+ SET",
        "EXPLAIN": r"EXPLAIN",
        "CALL": r"CALL ",
    },
    "confluent-flink": {
        "$rowtime": r"\$rowtime",
        "topic of a catalog": r"`\.`[^`]+`\.`",
        "CREATE MODEL": r"CREATE MODEL",
        "ML_PREDICT": r"ML_PREDICT\(",
        "changelog mode": r"changelog\.mode",
        "buckets": r"DISTRIBUTED (?:BY [^;]*)?INTO \d+ BUCKETS",
        "CTAS": r"CREATE TABLE [^;]*\sAS\s+SELECT",
        "statement set": r"EXECUTE STATEMENT SET",
    },
    "ksqldb": {
        "CREATE STREAM": r"CREATE STREAM \w+ \(",
        "CREATE TABLE": r"CREATE TABLE \w+ \(",
        "headers": r"HEADERS?\b",
        "CSAS": r"CREATE STREAM [^;]*\sAS\s+SELECT",
        "CTAS": r"CREATE TABLE [^;]*\sAS\s+SELECT",
        "INSERT SELECT": r"INSERT INTO \w+\s+SELECT",
        "INSERT VALUES": r"INSERT INTO [^;]*VALUES",
        "EMIT FINAL": r"EMIT FINAL",
        "tumbling": r"WINDOW TUMBLING",
        "hopping": r"WINDOW HOPPING",
        "session": r"WINDOW SESSION",
        "within": r"WITHIN",
        "partition by": r"PARTITION BY",
        "arrow": r"->",
        "explode": r"EXPLODE",
        "lambda": r"=>",
        "variables": r"\$\{",
        "pull query": r"^SELECT ",
        "CREATE TYPE": r"CREATE TYPE",
        "connectors": r"CREATE (?:SOURCE|SINK) CONNECTOR",
        "administration": r"(?:TERMINATE|PAUSE|ASSERT)",
    },
}


def named(case: Case) -> str:
    return f"{case.group}/{case.name}"


def test_there_are_many_cases_with_names_of_their_own():
    assert len(cases()) >= 150
    assert [name for name, times in Counter(case.name for case in cases()).items() if times > 1] == []


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_case_agrees_with_itself(case: Case):
    assert case.dialect in OWN_DIALECTS + SQLGLOT_DIALECTS
    assert case.sql.strip()
    read = case.inputs | case.optional_inputs
    assert not case.inputs & case.optional_inputs
    assert {edge.in_table for edge in case.columns} <= case.inputs
    assert {edge.out_table for edge in case.columns} <= case.outputs
    assert {edge.in_table for edge in case.indirect if not edge.optional} <= case.inputs
    assert {edge.in_table for edge in case.indirect} <= read
    assert {edge.out_table for edge in case.indirect} <= case.outputs
    assert set(case.datasets) <= case.declares | case.outputs | case.inputs
    assert len(case.positions) <= case.errors


@pytest.mark.parametrize("case", cases(), ids=named)
def test_a_flow_is_listed_once(case: Case):
    direct = Counter((edge.in_table, edge.in_column, edge.out_table, edge.out_column) for edge in case.columns)
    assert [edge for edge, times in direct.items() if times > 1] == []
    indirect = Counter((edge.in_table, edge.in_column, edge.out_table, kind) for edge in case.indirect for kind in edge.kinds)
    assert [edge for edge, times in indirect.items() if times > 1] == []


@pytest.mark.parametrize("case", cases(), ids=named)
def test_columns_of_a_known_table_exist(case: Case):
    read = [(edge.in_table, edge.in_column) for edge in case.columns] + [(edge.in_table, edge.in_column) for edge in case.indirect]
    for table, column in read:
        if table in case.schema and column != "$rowtime":
            assert column in case.schema[table]
    for edge in case.columns:
        if edge.out_table in case.schema:
            assert edge.out_column in case.schema[edge.out_table]


@pytest.mark.parametrize("case", cases(), ids=named)
def test_every_name_of_an_answer_is_in_its_script(case: Case):
    """Names of tables, parts apart, are words of the SQL, whatever their case in ksqlDB."""
    text = case.sql.upper() if case.dialect == "ksqldb" else case.sql
    for name in case.inputs | case.optional_inputs | case.outputs | case.declares | case.models:
        for part in re.findall(r"`[^`]+`|[^.`]+", name):
            word = part.strip("`")
            assert (word.upper() if case.dialect == "ksqldb" else word) in text or "${" in case.sql


@pytest.mark.parametrize(("dialect", "name"), [(dialect, name) for dialect, classes in CLASSES.items() for name in classes])
def test_each_statement_class_has_a_case(dialect: str, name: str):
    pattern = re.compile(CLASSES[dialect][name], re.MULTILINE)
    assert any(pattern.search(case.sql) for case in cases() if case.dialect == dialect and case.group != "broken")
