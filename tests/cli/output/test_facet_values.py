"""Facets as lines for people."""

from tests.events import facet

from lineage_bridge.cli.facet_values import facet_lines


def test_texts_lists_and_objects_are_indented_below_their_names() -> None:
    contents = facet(
        description="Orders.", tags=["a", "b"], query="SELECT 1\nFROM t", owner={"name": "team", "level": 3}, empty=[], none=None
    )
    assert facet_lines("any", contents, None) == [
        "description: Orders.",
        "tags: a, b",
        "query:",
        "  SELECT 1",
        "  FROM t",
        "owner:",
        "  name: team",
        "  level: 3",
        "empty: ",
        "none: null",
    ]


def test_a_list_of_objects_is_a_table_with_nested_fields_indented() -> None:
    fields = [{"name": "id", "type": "INT"}, {"name": "who", "type": "STRUCT", "fields": [{"name": "mail", "type": "TEXT"}]}]
    assert facet_lines("schema", facet(fields=fields), None) == [
        "fields:",
        "  name    type",
        "  id      INT",
        "  who     STRUCT",
        "    mail  TEXT",
    ]


def test_a_table_wraps_to_the_width() -> None:
    lines = facet_lines("schema", facet(fields=[{"name": "id", "description": "word " * 40}]), 60)
    assert max(map(len, lines)) <= 60


def test_assertions_that_failed_come_first_with_what_was_expected() -> None:
    contents = facet(
        assertions=[
            {"assertion": "not_null", "success": True, "column": "id"},
            {"assertion": "range", "success": False, "column": "age", "params": {"min": 0}},
            {"assertion": "custom", "name": "rows", "success": False, "expected": "10", "actual": "3", "severity": "warn"},
            {"assertion": "odd"},
        ]
    )
    assert facet_lines("dataQualityAssertions", contents, None) == [
        "2 of 4 assertions failed",
        "  result   assertion  column  expected    actual  severity  description",
        '  FAILED   range      age     {"min": 0}',
        "  FAILED   rows               10          3       warn",
        "  passed   not_null   id",
        "  unknown  odd",
    ]


def test_a_malformed_facet_is_shown_as_it_is() -> None:
    assert facet_lines("dataQualityAssertions", facet(assertions="none"), None) == ["assertions: none"]
    assert facet_lines("dataQualityAssertions", facet(assertions=[1]), None) == ["assertions: 1"]
    assert facet_lines("schema", facet(fields=[{}, [1, {"a": 2}]]), None) == ["fields:", "  {}", '  [1, {"a": 2}]']
    assert facet_lines("schema", {}, None) == []
