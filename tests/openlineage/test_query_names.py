"""Names of common table expressions are no datasets: column lineage that names them as sources is read without them."""

from typing import Any

import pytest
from tests.openlineage.support import META, clean, event, repaired, text

from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.facets import read_as
from lineage_bridge.openlineage.query_names import expression_names

MODEL = "with orders as (select * from customers) select orders.spent from orders"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        (MODEL, {"orders"}),
        ("WITH RECURSIVE a(x, y) AS (SELECT 1), b AS NOT MATERIALIZED (SELECT * FROM a) SELECT * FROM b", {"a", "b"}),
        ("select * from (with x as (select (1)) select * from x) y", {"x"}),
        ("with a as (with b as (select 1) select * from b) select * from a", {"a", "b"}),
        ('with "My Orders" as (select 1), `b` as (select 2) select 1', {"my orders", "b"}),
        ("-- with x as (select 1)\nselect 'with y as (select 2)' /* with z as (select 3) */", set()),
        ("create table t (a int) with (x = 'y')", set()),
        ("select a, b from t", set()),
        ("with a as (select 1", set()),
        ("with a, b as (select 1)", set()),
        ("create table t with data as select 1", set()),
        ("with", set()),
        ("", set()),
    ],
)
def test_names_of_expressions(query: str, names: set[str]) -> None:
    assert expression_names(query) == names


def source(name: str, field: str = "spent") -> dict[str, str]:
    return {"namespace": "duckdb://x", "name": name, "field": field}


def model(columns: dict[str, Any], inputs: tuple[str, ...] = ("customers",), query: str = MODEL) -> bytes:
    lineage = {"columnLineage": {**META, **columns}}
    return text(
        event(
            job={"namespace": "dbt", "name": "model", "facets": {"sql": {**META, "query": query}}},
            inputs=[{"namespace": "duckdb://x", "name": name} for name in inputs],
            outputs=[{"namespace": "duckdb://x", "name": "revenue", "facets": lineage}],
        )
    )


def columns_of(raw: bytes) -> dict[str, list[str]]:
    found, _ = repaired(raw)
    facet = read_as(standard.ColumnLineageDatasetFacet, "dataset", "columnLineage", found.outputs[0].facets["columnLineage"])
    assert facet is not None
    return {key: [source_.name for source_ in column.inputFields] for key, column in facet.fields.items()}


def test_a_source_that_is_an_expression_of_the_query_is_left_out() -> None:
    raw = model(
        {"fields": {"spent": {"inputFields": [source("Orders"), source("customers")]}, "other": {"inputFields": [source("orders")]}}}
    )
    assert columns_of(raw) == {"spent": ["customers"]}
    _, repairs = repaired(raw)
    assert repairs == [
        ("query_name", "$.outputs[0].facets.columnLineage.fields.other.inputFields[0]"),
        ("query_name", "$.outputs[0].facets.columnLineage.fields.spent.inputFields[0]"),
    ]


def test_sources_of_the_whole_dataset_are_looked_at_too() -> None:
    assert columns_of(model({"fields": {}, "dataset": [source("orders")]})) == {}
    found, _ = repaired(model({"fields": {}, "dataset": [source("orders"), source("customers")]}))
    facet = read_as(standard.ColumnLineageDatasetFacet, "dataset", "columnLineage", found.outputs[0].facets["columnLineage"])
    assert facet is not None
    assert [source_.name for source_ in facet.dataset or ()] == ["customers"]


@pytest.mark.parametrize(
    ("name", "inputs", "query"),
    [
        ("orders", ("orders", "customers"), MODEL),
        ("shop.orders", ("customers",), MODEL),
        ("orders", ("customers",), "select * from customers"),
    ],
)
def test_what_may_be_a_dataset_stays(name: str, inputs: tuple[str, ...], query: str) -> None:
    raw = model({"fields": {"spent": {"inputFields": [source(name)]}}}, inputs, query)
    assert b'"columnLineage"' in raw
    assert b"inputFields" in clean(raw).outputs[0].facets["columnLineage"]


def test_without_a_query_nothing_is_left_out() -> None:
    lineage = {"columnLineage": {**META, "fields": {"spent": {"inputFields": [source("orders")]}}}}
    found = clean(text(event(outputs=[{"namespace": "duckdb://x", "name": "revenue", "facets": lineage}])))
    assert found.outputs[0].facets["columnLineage"] == text(lineage["columnLineage"])
