"""Writes facets as lines for people: members are indented below each other, lists of objects become tables."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lineage_bridge.cli.tables import table_lines

_INDENT = "  "
_META = ("_producer", "_schemaURL", "_deleted")


def facet_lines(key: str, facet: Mapping[str, Any], width: int | None) -> list[str]:
    """The lines with the contents of a facet, without its producer and schema. Tables are at most `width` columns wide; without `width`,
    each row is one line.
    """
    members = {name: value for name, value in facet.items() if name not in _META}
    assertions = members.get("assertions", [])
    if key == "dataQualityAssertions" and _is_table(assertions):
        rest = {name: value for name, value in members.items() if name != "assertions"}
        return [*_assertion_lines(assertions, width), *_member_lines(rest, width)]
    return list(_member_lines(members, width))


def _assertion_lines(assertions: Sequence[Mapping[str, Any]], width: int | None) -> list[str]:
    """The lines of assertions about data quality: a summary, then a line for each assertion, those that failed first."""
    failed = [assertion for assertion in assertions if assertion.get("success") is False]
    others = [assertion for assertion in assertions if assertion.get("success") is not False]
    columns = ["result", "assertion", "column", "expected", "actual", "severity", "description"]
    table = table_lines(columns, [_assertion_row(assertion) for assertion in (*failed, *others)], _within(width))
    return [f"{len(failed)} of {len(assertions)} assertions failed", *(f"{_INDENT}{line}" for line in table)]


def _assertion_row(assertion: Mapping[str, Any]) -> list[str]:
    result = {True: "passed", False: "FAILED"}.get(assertion.get("success", ""), "unknown")
    name = assertion.get("name") or assertion.get("assertion", "")
    expected = next((assertion[member] for member in ("expected", "params", "content") if assertion.get(member)), "")
    others = [assertion.get(member) or "" for member in ("actual", "severity", "description")]
    return [result, *map(_cell, (name, assertion.get("column") or "", expected, *others))]


def _member_lines(members: Mapping[str, Any], width: int | None) -> Iterator[str]:
    for name, value in members.items():
        if isinstance(value, Mapping | list) and value and not _is_plain(value):
            yield f"{name}:"
            yield from (f"{_INDENT}{line}" for line in _value_lines(value, _within(width)))
        elif isinstance(value, str) and "\n" in value:
            yield f"{name}:"
            yield from (f"{_INDENT}{line}" for line in value.splitlines())
        else:
            yield f"{name}: {_cell(value)}"


def _value_lines(value: Any, width: int | None) -> Iterator[str]:  # noqa: ANN401 - a JSON edge
    if isinstance(value, Mapping):
        yield from _member_lines(value, width)
    elif _is_table(value):
        columns = list(dict.fromkeys(name for item in _nested(value) for name in item if name != "fields"))
        rows = [[_cell(item.get(name, "")) for name in columns] for item in _nested(value)]
        yield from table_lines(columns, rows, width)
    else:
        yield from map(_cell, value)


def _nested(items: Sequence[Mapping[str, Any]], depth: int = 0) -> Iterator[Mapping[str, Any]]:
    """Yield items, each followed by the items inside it: the fields of a schema may contain other fields. The first member of an inner item
    is indented.
    """
    for item in items:
        first = next(iter(item), "")
        yield {name: f"{_INDENT * depth}{_cell(value)}" if name == first else value for name, value in item.items()}
        if _is_table(item.get("fields")):
            yield from _nested(item["fields"], depth + 1)


def _is_table(value: Any) -> bool:  # noqa: ANN401 - a JSON edge
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) and item for item in value)


def _is_plain(value: Any) -> bool:  # noqa: ANN401 - a JSON edge
    """Whether a value can be written as a list on one line."""
    return isinstance(value, list) and not any(isinstance(item, Mapping | list) or "\n" in str(item) for item in value)


def _cell(value: Any) -> str:  # noqa: ANN401 - a JSON edge
    if isinstance(value, str):
        return value
    if _is_plain(value):
        return ", ".join(map(_cell, value))
    return json.dumps(value, ensure_ascii=False)


def _within(width: int | None) -> int | None:
    return None if width is None else width - len(_INDENT)
