"""Functions that build parts of the lines in an export."""

from typing import Any

from lineage_bridge.graph.relations import Origin
from lineage_bridge.openlineage.facets import SchemaField

Line = dict[str, Any]


def named(namespace: str, name: str) -> Line:
    """A dataset or job as an object with its namespace and name."""
    return {"namespace": namespace, "name": name}


def origin_text(origin: int) -> str:
    """The word for the origin of a flow: observed, declared or inferred."""
    return Origin(origin).name.lower()


def only_failed(failed: list[bool]) -> Line:
    """The member `only_failed`, if only failed runs state a thing under all its names. `failed` says for each name whether only failed runs
    state it.
    """
    return {"only_failed": True} if all(failed) else {}


def transformation(type_: str, subtype: str, masking: int) -> Line:
    """The transformation that a column statement states."""
    stated = {"type": type_, "subtype": subtype}
    return {**{key: value for key, value in stated.items() if value}, "masking": bool(masking)}


def schema_field(field: SchemaField) -> Line:
    """A column of a schema, with its nested fields."""
    line: Line = {"name": field.name}
    if field.type is not None:
        line["type"] = field.type
    if field.fields:
        line["fields"] = [schema_field(inner) for inner in field.fields]
    return line
