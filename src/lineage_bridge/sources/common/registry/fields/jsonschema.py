"""Converts JSON Schemas to the fields of OpenLineage's schema facet."""

import json
from collections.abc import Mapping
from typing import Any

from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012

from lineage_bridge.errors import RequestError
from lineage_bridge.openlineage.facets import SchemaField

_Resolver = Any
"""The library's resolver, whose type parameter is private."""


def fields(text: str, references: Mapping[str, str]) -> tuple[SchemaField, ...]:
    """Convert a JSON Schema to fields. `references`: the schemas to which it refers. Raises RequestError."""
    schema = _parsed(text)
    root = _resource(schema)
    known = [(name, _resource(_parsed(other))) for name, other in references.items()]
    registry: Registry[Any] = Registry().with_resources([("", root), *known])
    registry = registry.with_resources([(found, resource) for _, resource in known if (found := resource.id())]).crawl()
    field = _field("", schema, registry.resolver_with_root(root), ())
    return field.fields or () if field.type == "object" else (field,)


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise RequestError("the JSON Schema is not JSON", "check the schema in the registry") from None


def _resource(schema: object) -> Resource[Any]:
    return (
        Resource.from_contents(schema, default_specification=DRAFT202012)
        if isinstance(schema, dict)
        else DRAFT202012.create_resource(schema)
    )


def _field(name: str, schema: object, resolver: _Resolver, inside: tuple[int, ...]) -> SchemaField:
    """Convert a schema to a field. `inside`: the schemas that enclose it, by which recursion is noticed."""
    if not isinstance(schema, dict) or id(schema) in inside:
        return SchemaField(name=name)
    inside = (*inside, id(schema))
    description = schema.get("description")
    described = description if isinstance(description, str) else None
    parts = _parts(schema, resolver, inside)
    kind = _kind(schema)
    if kind == "array" and not parts:
        items = schema.get("items")
        parts = {"_element": _field("_element", items, resolver, inside)} if isinstance(items, dict) else {}
    elif kind in ("object", "map") and not parts and isinstance(schema.get("additionalProperties"), dict):
        value = _field("value", schema["additionalProperties"], resolver, inside)
        return SchemaField(name=name, type="map", description=described, fields=(SchemaField(name="key", type="string"), value))
    if kind is None and not parts:
        branch = _branch(name, schema, resolver, inside)
        return SchemaField(name=name, type=branch.type, description=described or branch.description, fields=branch.fields)
    return SchemaField(name=name, type=kind or "object", description=described, fields=tuple(parts.values()) or None)


def _parts(schema: dict[str, Any], resolver: _Resolver, inside: tuple[int, ...]) -> dict[str, SchemaField]:
    """Return the properties of an object: its own, and those of the schemas to which it refers or of which it is composed."""
    found: dict[str, SchemaField] = {}
    properties = schema.get("properties")
    for key, part in properties.items() if isinstance(properties, dict) else ():
        found[key] = _field(key, part, resolver, inside)
    composed = [part for keyword in ("allOf", "anyOf", "oneOf") for part in schema.get(keyword) or () if isinstance(part, dict)]
    for part in composed:
        made = _field("", part, resolver, inside)
        for field in (made.fields or ()) if made.type == "object" else ():
            found.setdefault(field.name, field)
    return found


def _branch(name: str, schema: dict[str, Any], resolver: _Resolver, inside: tuple[int, ...]) -> SchemaField:
    """Convert a schema without a type: as the schema to which it refers, or as its only branch that is not null."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        try:
            found = resolver.lookup(reference)
        except Unresolvable:
            return SchemaField(name=name, type=reference)
        return _field(name, found.contents, found.resolver, inside)
    branches = [part for keyword in ("anyOf", "oneOf", "allOf") for part in schema.get(keyword) or () if isinstance(part, dict)]
    others = [part for part in branches if part.get("type") != "null"]
    if len(others) == 1:
        return _field(name, others[0], resolver, inside)
    enumerated = "enum" in schema or "const" in schema
    return SchemaField(name=name, type="union" if others else "enum" if enumerated else None)


def _kind(schema: dict[str, Any]) -> str | None:
    kinds = schema.get("type")
    named = [kinds] if isinstance(kinds, str) else [kind for kind in kinds if isinstance(kind, str)] if isinstance(kinds, list) else []
    types = [kind for kind in named if kind != "null"] or named
    if len(types) == 1:
        shape = schema.get("format")
        return f"{types[0]}({shape})" if isinstance(shape, str) and types[0] in ("string", "integer", "number") else types[0]
    return "union" if types else None
