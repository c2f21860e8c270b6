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


def named(case: Case) -> str:
    return f"{case.group}/{case.name}"


def test_names_are_unique():
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
def test_a_flow_is_told_once(case: Case):
    direct = Counter((edge.in_table, edge.in_column, edge.out_table, edge.out_column) for edge in case.columns)
    assert [edge for edge, times in direct.items() if times > 1] == []
    indirect = Counter((edge.in_table, edge.in_column, edge.out_table, kind) for edge in case.indirect for kind in edge.kinds)
    assert [edge for edge, times in indirect.items() if times > 1] == []


@pytest.mark.parametrize("case", cases(), ids=named)
def test_columns_of_a_known_table_exist(case: Case):
    for influence in case.indirect:
        if influence.in_table in case.schema:
            assert influence.in_column in case.schema[influence.in_table]
    for edge in case.columns:
        if edge.in_table in case.schema:
            assert edge.in_column in case.schema[edge.in_table]
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
