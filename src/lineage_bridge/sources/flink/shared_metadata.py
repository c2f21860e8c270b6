"""Metadata from Flink for other sources: consumer groups of jobs, and the schemas of topics that DDL declares. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.flink.values import DatasetAccess, JobFlows
from lineage_bridge.sources.common.shared_metadata import KEY, KEY_COLUMN, VALUE, VALUE_COLUMN, SharedMetadata, TopicSchema

_DECLARED = 1


def metadata_of(flows: JobFlows) -> dict[str, Any]:
    """Return, as JSON, the part of a job's flows that other sources can use, and which of its datasets were inferred."""
    schemas = {access.dataset: access for access in (*flows.outputs, *flows.inputs) if access.fields and access.connector.endswith("kafka")}
    return {
        "groups": [list(group) for group in flows.groups],
        "schemas": [_schema(access) for access in schemas.values()],
        "inferred": sorted(list(access.dataset) for access in (*flows.inputs, *flows.outputs) if access.inferred),
    }


def shared_metadata(snapshot: Mapping[str, Any]) -> SharedMetadata:
    """Combine the metadata of a snapshot's jobs. If two tables declare one topic, the table whose name sorts first is used."""
    owners: dict[tuple[str, str], DatasetName] = {}
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    for facts in snapshot.get("jobs", {}).values():
        job = (snapshot["namespace"], facts["name"])
        for cluster, group in facts.get("groups", ()):
            owners[cluster, group] = min(owners.get((cluster, group), job), job)
        for namespace, name, table, fields in facts.get("schemas", ()):
            for part, columns in _parts(_fields(fields)):
                schema = TopicSchema(columns, f"table {table}", _DECLARED)
                key = ((namespace, name), part)
                schemas[key] = min(schemas.get(key, schema), schema, key=lambda candidate: (candidate.version, repr(candidate.fields)))
    return SharedMetadata(schemas=schemas, owners=owners)


def _schema(access: DatasetAccess) -> list[Any]:
    return [*access.dataset, access.tables[0] if access.tables else "", [_field(field) for field in access.fields]]


def _field(field: SchemaField) -> list[Any]:
    return [field.name, field.type, [_field(inner) for inner in field.fields or ()]]


def _fields(values: list[Any]) -> tuple[SchemaField, ...]:
    return tuple(SchemaField(name, type_, fields=_fields(inner) or None) for name, type_, inner in values)


def _parts(columns: tuple[SchemaField, ...]) -> Iterator[tuple[str, tuple[SchemaField, ...]]]:
    """Split the columns of a topic into fields of its values and of its keys; a field without a name is the whole value or key."""
    values = tuple(column for column in columns if column.name != KEY_COLUMN)
    yield VALUE, tuple(SchemaField("", column.type) if column.name == VALUE_COLUMN else column for column in values)
    for column in columns:
        if column.name == KEY_COLUMN:
            yield KEY, column.fields or (SchemaField("", column.type),)
