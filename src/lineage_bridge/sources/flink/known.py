"""What other sources may use of what was seen of Flink: its consumer groups, and the schemas that DDL declares of topics. Pure."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.flink.flows import Access, Flows
from lineage_bridge.sources.knowledge import VALUE, Knowledge, Schema

_DECLARED = 1


def told_of(flows: Flows) -> dict[str, Any]:
    """What a job's flows tell others, as JSON."""
    schemas = {access.dataset: access for access in (*flows.outputs, *flows.inputs) if access.fields and access.connector.endswith("kafka")}
    return {"groups": [list(group) for group in flows.groups], "schemas": [_schema(access) for access in schemas.values()]}


def knowledge_of(snapshot: Mapping[str, Any]) -> Knowledge:
    """What the jobs of a snapshot tell together. Of two declarations of one topic the least by its table's name counts."""
    owners: dict[tuple[str, str], DatasetName] = {}
    schemas: dict[tuple[DatasetName, str], Schema] = {}
    for facts in snapshot.get("jobs", {}).values():
        job = (snapshot["namespace"], facts["name"])
        for cluster, group in facts.get("groups", ()):
            owners[cluster, group] = min(owners.get((cluster, group), job), job)
        for namespace, name, table, fields in facts.get("schemas", ()):
            said = Schema(tuple(SchemaField(*field) for field in fields), f"table {table}", _DECLARED)
            key = ((namespace, name), VALUE)
            schemas[key] = min(schemas.get(key, said), said, key=lambda one: (one.version, repr(one.fields)))
    return Knowledge(schemas=schemas, owners=owners)


def _schema(access: Access) -> list[Any]:
    return [*access.dataset, access.tables[0] if access.tables else "", [[field.name, field.type] for field in access.fields]]
