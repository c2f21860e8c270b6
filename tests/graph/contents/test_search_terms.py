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
