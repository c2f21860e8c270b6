"""Reads a record's name, description and tags from a schema's text. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from proto_schema_parser import ast

from lineage_bridge.sources.common.registry.fields import protobuf
from lineage_bridge.sources.common.registry.fields.fields import reading

Tagged = tuple[str, str]
"""The dotted path of a field (empty: the record) and its tag."""
_TAGS = "confluent:tags"


class SchemaDocumentation(NamedTuple):
    """What the text of a schema says about its record: the full name, by which RecordNameStrategy names the subject, the description
    and the tags.
    """

    record: str = ""
    doc: str = ""
    tags: tuple[Tagged, ...] = ()


def read_documentation(kind: str, text: str) -> SchemaDocumentation:
    """Read the documentation in a schema. Raises RequestError if it cannot be read."""
    with reading(kind):
        return _documentation_of(kind, text)


def _documentation_of(kind: str, text: str) -> SchemaDocumentation:
    if kind == "PROTOBUF":
        return _protobuf(text)
    try:
        schema = json.loads(text)
    except (ValueError, RecursionError):
        return SchemaDocumentation()
    if not isinstance(schema, dict):
        return SchemaDocumentation()
    tags = tuple(sorted(set(_avro_tags(schema, "") if kind == "AVRO" else _json_tags(schema, ""))))
    if kind == "AVRO":
        return SchemaDocumentation(_avro_name(schema), _text(schema.get("doc")), tags)
    return SchemaDocumentation(_text(schema.get("title")), _text(schema.get("description")), tags)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _avro_name(schema: Mapping[str, Any]) -> str:
    name, space = _text(schema.get("name")), _text(schema.get("namespace"))
    return name if "." in name or not space else f"{space}.{name}"


def _below(path: str, name: object) -> str:
    return f"{path}.{name}" if path else str(name)


def _own(part: Mapping[str, Any], path: str) -> Iterator[Tagged]:
    tags = part.get(_TAGS)
    yield from ((path, str(tag)) for tag in tags) if isinstance(tags, list) else ()


def _avro_tags(schema: object, path: str) -> Iterator[Tagged]:
    if isinstance(schema, list):
        for branch in schema:
            yield from _avro_tags(branch, path)
    if not isinstance(schema, dict):
        return
    yield from _own(schema, path)
    for field in schema.get("fields") or ():
        if isinstance(field, dict):
            below = _below(path, field.get("name"))
            yield from _own(field, below)
            yield from _avro_tags(field.get("type"), below)
    for keyword in ("type", "items", "values"):
        if isinstance(schema.get(keyword), dict | list):
            yield from _avro_tags(schema[keyword], path)


def _json_tags(schema: object, path: str) -> Iterator[Tagged]:
    if not isinstance(schema, dict):
        return
    yield from _own(schema, path)
    properties = schema.get("properties")
    for name, part in properties.items() if isinstance(properties, dict) else ():
        yield from _json_tags(part, _below(path, name))
    yield from _json_tags(schema.get("items"), path)
    for keyword in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(keyword) or ():
            yield from _json_tags(part, path)


def _protobuf(text: str) -> SchemaDocumentation:
    types = protobuf.types_of(text)
    record = next((name for name, found in types.items() if isinstance(found, ast.Message)), "")
    tags = tuple(sorted(set(_message_tags(record, types, "", ()))))
    return SchemaDocumentation(record, "", tags)


def _message_tags(full: str, types: "protobuf.Types", path: str, inside: tuple[str, ...]) -> Iterator[Tagged]:
    found = types.get(full)
    if not isinstance(found, ast.Message) or full in inside:
        return
    for part in _flat(found.elements):
        if isinstance(part, ast.Option):
            yield from ((path, tag) for tag in _option_tags(part, "message_meta"))
        elif isinstance(part, ast.Field):
            below = _below(path, part.name)
            yield from ((below, tag) for option in part.options for tag in _option_tags(option, "field_meta"))
            inner = protobuf.look_up(part.type, full, types)
            if inner is not None:
                yield from _message_tags(inner, types, below, (*inside, full))


def _flat(elements: Any) -> Iterator[object]:  # noqa: ANN401  # the library's elements of a message or a oneof
    for part in elements:
        if isinstance(part, ast.OneOf):
            yield from _flat(part.elements)
        else:
            yield part


def _option_tags(option: ast.Option, meta: str) -> list[str]:
    name = option.name.replace("(.", "(")
    if name == f"(confluent.{meta}).tags":
        return _listed(option.value)
    if name == f"(confluent.{meta})" and isinstance(option.value, ast.MessageLiteral):
        return [
            tag
            for part in option.value.elements
            if isinstance(part, ast.MessageLiteralField) and part.name == "tags"
            for tag in _listed(part.value)
        ]
    return []


def _listed(value: object) -> list[str]:
    return [str(tag) for tag in value] if isinstance(value, list) else [str(value)]
