"""What can be searched of a node besides its name."""

import json
from typing import Any

import pytest
from tests.events import facet

from lineage_bridge.graph.contents.search_terms import FIELDS, MAX_TEXT, matching_lines, plain, search_text


def search_text_of(**facets: Any) -> dict[str, str]:
    text = search_text("ns", "name", {key: json.dumps(value).encode() for key, value in facets.items()})
    return dict(zip(FIELDS, text, strict=True)) if text else {}


def test_each_facet_has_its_field() -> None:
    nested = {"name": "address", "type": "STRUCT", "fields": [{"name": "city", "description": "where it is"}]}
    found = search_text_of(
        schema=facet(fields=[{"name": "id"}, nested]),
        ownership=facet(owners=[{"name": "team:data"}, {"name": "ann"}]),
        tags=facet(tags=[{"key": "pii", "value": "true"}]),
        documentation=facet(description="All addresses"),
        sql=facet(query="SELECT 1"),
        errorMessage=facet(message="no such table", programmingLanguage="SQL"),
    )
    assert found == {
        "title": "ns\nname",
        "columns": "id\naddress\naddress.city",
        "owners": "team:data\nann",
        "tags": "pii=true",
        "description": "All addresses\nwhere it is",
        "sql": "SELECT 1",
        "failure": "no such table",
    }


@pytest.mark.parametrize("facets", [{}, {"storage": facet(storageLayer="x")}, {"sql": {"query": 5}}, {"tags": facet(tags=[])}])
def test_a_node_without_statements_has_no_text(facets: dict[str, Any]) -> None:
    assert search_text_of(**facets) == {}


def test_a_text_has_an_end() -> None:
    assert len(search_text_of(sql=facet(query="x" * 10_000_000))["sql"]) == MAX_TEXT


def test_lines_that_match() -> None:
    text = "customer_id\nOrder_Total\nid"
    assert matching_lines(text, ["cust"]) == ["customer_id"]
    assert matching_lines(text, ["id"]) == ["customer_id", "id"]
    assert matching_lines(text, ["order_tot"]) == ["Order_Total"]
    assert matching_lines(text, ["stomer"]) == []
    assert matching_lines(text, ["%"]) == []
    assert matching_lines("a" * 500 + " here it is " + "b" * 500, ["here"]) == [("a" * 500 + " here it is " + "b" * 500)[461:581]]
    assert plain("Ä_b-C") == " ä b c"


def test_what_the_catalog_of_a_target_has_says_so_and_comes_last() -> None:
    entry = {"target": "lake", "catalog": "c", "table": "t", "description": "all\norders", "owners": ["ann"]}
    more = {"tags": [{"key": "team", "value": "sales"}], "columns": [{"name": "id", "description": "the\x1fkey"}]}
    found = search_text_of(
        lineagebridge_catalog_lake={**facet(), **entry, **more},
        lineagebridge_catalog_other={**facet(), **entry},
        lineagebridge_catalog_odd={**facet(), "target": "odd", "columns": 7},
        schema=facet(fields=[{"name": "n", "description": "a number"}]),
        documentation=facet(description="in the catalog \x1flake"),
    )
    lines = matching_lines(found["description"], ["catalog", "number", "orders", "key"], limit=10)
    assert lines == ["in the catalog  lake", "a number", "in the catalog lake: all orders", "in the catalog lake: the key"]
    assert {name: matching_lines(found[name], [word]) for name, word in (("owners", "ann"), ("tags", "sales"), ("columns", "id"))} == {
        "owners": ["in the catalog lake: ann"],
        "tags": ["in the catalog lake: team=sales"],
        "columns": ["in the catalog lake: id"],
    }
    long = search_text_of(lineagebridge_catalog_lake={**facet(), **entry, "description": "a" * 500 + " here it is " + "b" * 500})
    assert matching_lines(long["description"], ["here"]) == ["in the catalog lake: " + ("a" * 500 + " here it is " + "b" * 500)[461:581]]
