"""Names of common table expressions are no datasets: they stand for the columns that they take over, or are left out."""

from typing import Any

import pytest
from tests.openlineage.support import META, clean, event, repaired, text

from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.facets import read_as
from lineage_bridge.openlineage.queries.expressions import expressions_of, origin_of
from lineage_bridge.openlineage.queries.names import MAX_QUERY

COMPUTED = "with orders as (select sum(spent) as spent from customers) select orders.spent from orders"
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
    assert expressions_of(query).keys() == names


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


@pytest.mark.parametrize(
    ("expression", "field", "origin"),
    [
        ("select * from customers", "spent", ("customers", "spent")),
        (
            "select customers.* from customers where x in (select y from z union select 1) order by a, b limit 3",
            "spent",
            ("customers", "spent"),
        ),
        ("select distinct c.amount as Spent, c.id from main.customers as c", "SPENT", ("main.customers", "amount")),
        ('select id, amount spent from "Shop"."Main"."Customers" c', "spent", ("shop.main.customers", "amount")),
        ("select *, amount as spent from customers", "spent", ("customers", "amount")),
        ("select *, upper(note) as note from customers", "spent", ("customers", "spent")),
        ("select *, upper(note) as note from customers", "note", None),
        ("select spent + 1 as spent from customers", "spent", None),
        ("select 'spent' spent, 1 as spent2 from customers", "spent", None),
        ("select * except (note) from customers", "spent", None),
        ("select other.spent from customers", "spent", None),
        ("select * from customers, others", "spent", None),
        ("select * from customers join others using (id)", "spent", None),
        ("select * from customers left join others using (id)", "spent", None),
        ("select * from customers union all select * from others", "spent", None),
        ("select spent from customers group by spent", "spent", None),
        ("select * from (select * from customers)", "spent", None),
        ("select * from read_csv('customers')", "spent", None),
        ("with x as (select 1) select * from customers", "spent", None),
        ("select spent", "spent", None),
        ("", "spent", None),
    ],
)
def test_the_column_that_an_expression_takes_over(expression: str, field: str, origin: tuple[str, str] | None) -> None:
    found = origin_of(expressions_of(f"with orders as ({expression}) select 1"), "Orders", field)
    assert (found and (".".join(found[0]), found[1])) == origin


@pytest.mark.parametrize(
    ("query", "origin"),
    [
        ("with a as (select x as y from t), b as (select y as z from a), c as (select * from b) select 1", ("t", "x")),
        ("with c as (select x as z from c) select 1", ("c", "x")),
        ("with b as (select x as z from s.c), c as (select * from b) select 1", ("s.c", "x")),
        ("with a as (select * from c), c as (select * from a) select 1", None),
        ("with c(z) as (select * from t) select 1", None),
        ("with c as (select * from t) select * from (with c as (select * from u) select * from c)", None),
        ("with c as (select * from t) select * from (with d as (select * from u) select * from d)", ("t", "z")),
    ],
)
def test_expressions_are_followed_through_each_other(query: str, origin: tuple[str, str] | None) -> None:
    found = origin_of(expressions_of(query), "c", "z")
    assert (found and (".".join(found[0]), found[1])) == origin


def test_a_column_of_an_expression_is_that_of_the_input_it_takes_it_from() -> None:
    raw = model({"fields": {"spent": {"inputFields": [source("orders")]}}}, ("shop.main.customers", "shop.main.others"))
    assert columns_of(raw) == {"spent": ["shop.main.customers"]}
    assert repaired(raw)[1] == [("query_name", "$.outputs[0].facets.columnLineage.fields.spent.inputFields[0]")]


@pytest.mark.parametrize("inputs", [("a.customers", "b.customers"), ("others",), ("my_customers", "customers.x"), ()])
def test_a_table_that_is_no_input_or_may_be_several_is_not_guessed(inputs: tuple[str, ...]) -> None:
    assert columns_of(model({"fields": {"spent": {"inputFields": [source("orders")]}}}, inputs)) == {}


def test_deep_nesting_is_not_read_again_for_each_level() -> None:
    depth = 2_000
    found = expressions_of("".join(f"with a{n} as (select * from t where x in (" for n in range(depth)) + "))" * depth)
    assert len(found) == depth
    assert origin_of(found, "a0", "x") == (("t",), "x")
    assert origin_of(found, f"a{depth - 1}", "x") is None


@pytest.mark.parametrize("repeated", ["[", '"[" ', "with ", "with as as (1), ", "(", "with as (", "''", "/*", "-- \n"])
def test_what_repeats_is_not_read_again_for_each_repeat(repeated: str) -> None:
    query = "with c as (select x from t) select " + repeated * 30_000
    assert origin_of(expressions_of(query), "c", "x") == (("t",), "x")


@pytest.mark.parametrize(
    ("query", "name"), [('with "a[b" as (select x from t) select 1', "a[b"), ("with [c d] as (select x from t) select [", "c d")]
)
def test_brackets_in_names_are_kept(query: str, name: str) -> None:
    found = expressions_of(query)
    assert (list(found), len(found), name in found, "c" in found) == ([name], 1, True, False)
    assert origin_of(found, name, "x") == (("t",), "x")


def test_a_source_that_is_a_computed_expression_of_the_query_is_left_out() -> None:
    raw = model(
        {"fields": {"spent": {"inputFields": [source("Orders"), source("customers")]}, "other": {"inputFields": [source("orders")]}}},
        query=COMPUTED,
    )
    assert columns_of(raw) == {"spent": ["customers"]}
    _, repairs = repaired(raw)
    assert repairs == [
        ("query_name", "$.outputs[0].facets.columnLineage.fields.other.inputFields[0]"),
        ("query_name", "$.outputs[0].facets.columnLineage.fields.spent.inputFields[0]"),
    ]


def test_sources_of_the_whole_dataset_are_looked_at_too() -> None:
    assert columns_of(model({"fields": {}, "dataset": [source("orders")]}, query=COMPUTED)) == {}
    found, _ = repaired(model({"fields": {}, "dataset": [source("orders"), source("others")]}))
    facet = read_as(standard.ColumnLineageDatasetFacet, "dataset", "columnLineage", found.outputs[0].facets["columnLineage"])
    assert facet is not None
    assert [source_.name for source_ in facet.dataset or ()] == ["customers", "others"]


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


@pytest.mark.parametrize(
    "projected", ["null as spent", "current_date spent", "not spent", "true as spent", "spent, current_date", "date as day, spent"]
)
def test_words_that_are_no_columns_are_not_taken_for_columns(projected: str) -> None:
    origin = origin_of(expressions_of(f"with orders as (select {projected} from customers) select * from orders"), "orders", "spent")
    assert origin == ((("customers",), "spent") if projected in ("spent, current_date", "date as day, spent") else None)


def test_a_quoted_word_is_a_column() -> None:
    expressions = expressions_of('with orders as (select "null" as spent from customers) select * from orders')
    assert origin_of(expressions, "orders", "spent") == (("customers",), "null")


def test_a_very_long_query_is_not_read() -> None:
    columns = {"fields": {"spent": {"inputFields": [source("orders")]}}}
    longest = MODEL.ljust(MAX_QUERY)
    (_, repairs), found = repaired(model(columns, query=longest)), clean(model(columns, query=longest + " "))
    assert [code for code, _ in repairs] == ["query_name"]
    assert b'"orders"' in found.outputs[0].facets["columnLineage"]
