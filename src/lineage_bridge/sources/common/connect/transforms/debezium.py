"""How Debezium's transforms change a record."""

from lineage_bridge.sources.common.connect.transforms.fields import MADE, named
from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.transforms.records import (
    HEADER,
    KEY,
    VALUE,
    WHOLE,
    Origins,
    Record,
    changed,
    is_in,
    mapped,
    moved,
)
from lineage_bridge.sources.common.connect.transforms.transform import Transform


def convert_zone(record: Record, transform: Transform) -> Record:
    """Apply Debezium's time-zone conversion to the named fields. If none are named, it converts all times, but which fields are times is
    unknown here, so the record stays the same.
    """
    names = [name.rpartition(":")[2] for name in transform.options_list("include.list")]
    fields = record.part(VALUE)
    converted = [path for path in fields if any(is_in(path, prefix + name) for name in names for prefix in ("", "after.", "before."))]
    return record.with_part(VALUE, mapped(fields, converted, changed))


def header_to_value(record: Record, transform: Transform) -> Record:
    """Apply Debezium's HeaderToValue: copy or move headers to fields of the value."""
    headers, fields = record.part(HEADER), record.part(VALUE)
    names = transform.options_list("headers")
    for header, field in zip(names, transform.options_list("fields"), strict=False):
        fields.update(moved(headers, header, field) or {field: MADE})
    if transform.option("operation") == "move":
        headers = {path: origins for path, origins in headers.items() if not named(path, names)}
    return record.with_part(HEADER, headers).with_part(VALUE, fields)


def unwrap(record: Record, transform: Transform) -> Record:
    """Replace Debezium's envelope by the row after the change, with fields of the envelope added under a prefix."""
    fields = record.part(VALUE)
    if not any(is_in(path, "after") for path in fields):
        return record.forgetting([VALUE])
    row = moved(fields, "after", WHOLE)
    prefix = transform.option("add.fields.prefix", default="__")
    for added in transform.options_list("add.fields"):
        name, _, alias = added.partition(":")
        row[prefix + (alias or name).replace(".", "_")] = MADE
    if "rewrite" in transform.option("delete.handling.mode", "delete.tombstone.handling.mode"):
        row["__deleted"] = MADE
    return record.with_part(VALUE, row)


def outbox(record: Record, transform: Transform) -> Record:
    """Apply Debezium's outbox router: the payload becomes the value, one column the key; other columns are put next to the payload or
    into headers.
    """
    if VALUE in record.unknown:
        return record.forgetting([KEY])
    fields = record.part(VALUE)
    row = moved(fields, "after", WHOLE) if any(is_in(path, "after") for path in fields) else fields
    key = moved(row, transform.option("table.field.event.key", "collection.field.event.key", default="aggregateid"), WHOLE)
    payload = transform.option("table.field.event.payload", "collection.field.event.payload", default="payload")
    headers = {**record.part(HEADER), **moved(row, transform.option("table.field.event.id", default="id"), "id")}
    beside: dict[str, Origins] = {}
    for placement in listed(transform.option("table.fields.additional.placement", "collection.fields.additional.placement")):
        name, target, alias, *_ = [*placement.split(":"), "", ""]
        (headers if target == "header" else beside).update(moved(row, name, alias or name) if target in ("header", "envelope") else {})
    value = moved(row, payload, "payload" if beside else WHOLE)
    if transform.is_on("table.expand.json.payload") or transform.is_on("collection.expand.json.payload"):
        value = {path: changed(origins) for path, origins in value.items()}
    return record.knowing(KEY, key).with_part(HEADER, headers).with_part(VALUE, {**value, **beside})


def mark_table(record: Record, transform: Transform) -> Record:
    """Add a field with the physical table to the key, to distinguish keys of different tables."""
    if not transform.is_on("key.enforce.uniqueness", default=True):
        return record
    name = transform.option("key.field.name", default="__dbz__physicalTableIdentifier")
    return record.with_part(KEY, {**record.part(KEY), name: MADE})
