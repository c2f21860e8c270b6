"""Finds the names and types of the fields in records, or the ids of the records' schemas in a registry. Keeps no values. Pure."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.kafka.look.cluster import RecordSample

_LARGEST = 1 << 20
_MOST_FIELDS, _DEEPEST = 300, 8
_NAME = re.compile(r"(?!.*\d{4})[A-Za-z_$][\w.$ -]{0,127}")
"""Valid names of fields. Objects are also used as maps, whose keys are data: addresses, numbers, UUIDs."""
_LOGICAL = {f"org.apache.kafka.connect.data.{name}": name.lower() for name in ("Date", "Decimal", "Time", "Timestamp")}


def sample(records: Iterable[bytes | None]) -> RecordSample:
    """Return the fields and schema ids in some records' keys or values."""
    ids: set[int] = set()
    fields: dict[str, SchemaField] = {}
    declared: Sequence[SchemaField] = ()
    for record in records:
        if not record or len(record) > _LARGEST:
            continue
        if record[0] == 0 and len(record) >= 5:
            ids.add(int.from_bytes(record[1:5], "big"))
            continue
        found = _json(record)
        if not isinstance(found, dict):
            continue
        if set(found) == {"schema", "payload"} and isinstance(found["schema"], dict):
            declared = _declared(found["schema"]) or declared
        else:
            fields = _merged(fields, _plain(found, 0))
    return RecordSample(tuple(declared) or tuple(fields.values()), tuple(sorted(ids)))


def _json(record: bytes) -> object:
    try:
        found: object = json.loads(record)
    except (ValueError, RecursionError):
        return None
    return found


def _plain(found: Mapping[str, Any], depth: int) -> dict[str, SchemaField]:
    """The fields of a JSON object in a sampled record; none if the object is a map, whose keys are data and not names of fields."""
    if depth >= _DEEPEST or len(found) > _MOST_FIELDS or not all(_NAME.fullmatch(name) for name in found):
        return {}
    return {name: _field(name, value, depth) for name, value in found.items()}


def _field(name: str, value: object, depth: int) -> SchemaField:
    if isinstance(value, dict):
        return SchemaField(name=name, type="record", fields=tuple(_plain(value, depth + 1).values()) or None)
    if isinstance(value, list):
        inner: dict[str, SchemaField] = {}
        for item in value[:10]:
            inner = _merged(inner, _plain(item, depth + 1)) if isinstance(item, dict) else inner
        return SchemaField(name=name, type="array", fields=tuple(inner.values()) or None)
    kinds = ((bool, "boolean"), (int, "long"), (float, "double"), (str, "string"))
    return SchemaField(name=name, type=next((kind for of, kind in kinds if isinstance(value, of)), None))


def _merged(first: Mapping[str, SchemaField], other: Mapping[str, SchemaField]) -> dict[str, SchemaField]:
    merged = dict(first)
    for name, field in other.items():
        known = merged.get(name)
        merged[name] = field if known is None else SchemaField(name=name, type=_either(known.type, field.type), fields=_inner(known, field))
    return merged


def _inner(first: SchemaField, other: SchemaField) -> tuple[SchemaField, ...] | None:
    both = _merged({field.name: field for field in first.fields or ()}, {field.name: field for field in other.fields or ()})
    return tuple(both.values()) or None


def _either(first: str | None, other: str | None) -> str | None:
    if first is None or other is None or first == other:
        return first or other
    return "double" if {first, other} == {"long", "double"} else None


def _declared(schema: Mapping[str, Any]) -> tuple[SchemaField, ...]:
    """The fields in the schema that Kafka Connect's converter writes next to each value."""
    inner = schema.get("fields")
    if schema.get("type") != "struct" or not isinstance(inner, list):
        return ()
    return tuple(_declared_field(field) for field in inner if isinstance(field, dict) and isinstance(field.get("field"), str))


def _declared_field(declared: Mapping[str, Any]) -> SchemaField:
    kind, items = declared.get("type"), declared.get("items")
    logical = _LOGICAL.get(str(declared.get("name")))
    fields = _declared(declared) or (_declared(items) if isinstance(items, dict) else ())
    type_name = logical or ("record" if kind == "struct" else kind if isinstance(kind, str) else None)
    return SchemaField(name=declared["field"], type=type_name, fields=fields or None)


def to_json(found: RecordSample) -> dict[str, Any]:
    """Convert a sample to its form in the snapshot."""
    return {"fields": [_to_json(field) for field in found.fields], "ids": list(found.ids)}


def _to_json(field: SchemaField) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": field.name, "type": field.type}
    return {**entry, "fields": [_to_json(inner) for inner in field.fields]} if field.fields else entry


def from_json(entry: Mapping[str, Any]) -> RecordSample:
    """Convert a sample from its form in the snapshot."""
    return RecordSample(tuple(_from_json(field) for field in entry["fields"]), tuple(entry["ids"]))


def _from_json(entry: Mapping[str, Any]) -> SchemaField:
    inner = tuple(_from_json(field) for field in entry.get("fields", ()))
    return SchemaField(name=entry["name"], type=entry["type"], fields=inner or None)
