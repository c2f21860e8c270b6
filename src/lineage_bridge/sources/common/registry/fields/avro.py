"""Converts Avro schemas to the fields of OpenLineage's schema facet."""

import json
from collections.abc import Mapping
from typing import Any

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField

_NAMED = ("record", "error", "enum", "fixed")


def fields(text: str, references: Mapping[str, str]) -> tuple[SchemaField, ...]:
    """Convert an Avro schema to fields. `references`: the schemas to which it refers. Raises RequestError."""
    reader = _Reader()
    for other in references.values():
        reader.register(_parsed(other), "")
    schema = _parsed(text)
    reader.register(schema, "")
    field = reader.field("", schema, "", None, ())
    return field.fields or () if reader.is_record(schema, "") else (field,)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        if text.strip().replace(".", "").replace("_", "").isalnum():
            return text.strip()
        raise RequestError("the Avro schema is not JSON", "check the schema in the registry") from None


class _Reader:
    """Converts the types of a schema. It finds named types by their full names, also in the schemas that this one refers to."""

    def __init__(self) -> None:
        self.named: dict[str, dict[str, Any]] = {}

    def register(self, schema: object, space: str) -> None:
        """Add the named types within a schema."""
        if isinstance(schema, list):
            for branch in schema:
                self.register(branch, space)
        elif isinstance(schema, dict):
            kind = schema.get("type")
            if kind in _NAMED and isinstance(schema.get("name"), str):
                full = _full(schema["name"], schema.get("namespace", space))
                self.named.setdefault(full, schema)
                space = full.rpartition(".")[0]
            for branch in [kind, schema.get("items"), schema.get("values"), *(field.get("type") for field in _record_fields(schema))]:
                if isinstance(branch, list | dict):
                    self.register(branch, space)

    def is_record(self, schema: object, space: str) -> bool:
        """Whether a schema is a record, or the name of a record."""
        found = self._resolved(schema, space)[0]
        return isinstance(found, dict) and found.get("type") in ("record", "error")

    def field(self, name: str, schema: object, space: str, doc: str | None, inside: tuple[str, ...]) -> SchemaField:
        """Convert a type to a field. `inside`: the named types that enclose it, by which recursion is noticed."""
        schema, space = self._resolved(schema, space)
        if isinstance(schema, list):
            return self._union(name, schema, space, doc, inside)
        kind = schema.get("type") if isinstance(schema, dict) else None
        if isinstance(kind, dict | list):
            return self.field(name, kind, space, doc, inside)
        if not isinstance(schema, dict):
            return SchemaField(name=name, type=str(schema), description=doc)
        return self._typed(name, schema, space, doc or schema.get("doc"), inside)

    def _typed(self, name: str, schema: dict[str, Any], space: str, declared: str | None, inside: tuple[str, ...]) -> SchemaField:
        kind = schema.get("type")
        if kind in _NAMED:
            full = _full(str(schema.get("name", "")), schema.get("namespace", space))
            parts = None if full in inside else self._fields(schema, full.rpartition(".")[0], (*inside, full))
            return SchemaField(name=name, type=full if kind != "record" else kind, description=declared, fields=parts)
        if kind == "array":
            return SchemaField(
                name=name, type="array", description=declared, fields=(self.field("_element", schema.get("items"), space, None, inside),)
            )
        if kind == "map":
            key = SchemaField(name="key", type="string")
            return SchemaField(
                name=name, type="map", description=declared, fields=(key, self.field("value", schema.get("values"), space, None, inside))
            )
        return SchemaField(name=name, type=_logical(schema), description=declared)

    def _fields(self, schema: dict[str, Any], space: str, inside: tuple[str, ...]) -> tuple[SchemaField, ...] | None:
        made = tuple(self.field(str(f.get("name", "")), f.get("type"), space, f.get("doc"), inside) for f in _record_fields(schema))
        return made or None

    def _union(self, name: str, schema: list[object], space: str, doc: str | None, inside: tuple[str, ...]) -> SchemaField:
        """Convert a union. A union of null and one other type becomes that type; any other becomes a field of type union, with a field for
        each type.
        """
        branches = [branch for branch in schema if branch != "null"]
        if len(branches) == 1:
            return self.field(name, branches[0], space, doc, inside)
        made = tuple(self.field(_branch_name(branch), branch, space, None, inside) for branch in branches)
        return SchemaField(name=name, type="union", description=doc, fields=made or None)

    def _resolved(self, schema: object, space: str) -> tuple[object, str]:
        if not isinstance(schema, str):
            return schema, space
        full = _full(schema, space)
        found = self.named.get(full) or self.named.get(schema)
        return (schema, space) if found is None else (found, full.rpartition(".")[0])


def _record_fields(schema: dict[str, Any]) -> list[dict[str, Any]]:
    found = schema.get("fields")
    return [field for field in found if isinstance(field, dict)] if isinstance(found, list) else []


def _full(name: str, space: str) -> str:
    return name if "." in name or not space else f"{space}.{name}"


def _logical(schema: dict[str, Any]) -> str:
    logical = schema.get("logicalType")
    if logical == "decimal":
        return f"decimal({schema.get('precision')},{schema.get('scale', 0)})"
    return str(logical or schema.get("type"))


def _branch_name(branch: object) -> str:
    if isinstance(branch, dict):
        return str(branch.get("name") or branch.get("type"))
    return str(branch).rpartition(".")[2]
