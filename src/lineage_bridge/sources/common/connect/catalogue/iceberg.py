"""Finds the tables that Iceberg's sink writes: https://iceberg.apache.org/docs/latest/kafka-connect/ and the transforms in its
repository.
"""

from lineage_bridge.sources.common.connect.catalogue.view import ConnectorView
from lineage_bridge.sources.common.connect.lineage.connection import EvidenceKind, FoundObject
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed


def iceberg_sink(view: ConnectorView, topic: str, seen: str) -> list[FoundObject]:
    """Find the tables of a topic. Each listed table gets all records, unless a field of the record selects the table. Without a list,
    the field contains the table's name.

    If a transform fills the field with the topic's name, the topic selects the table. The connector does not start without both a list
    and a field.
    """
    tables, field = view.list_of(["iceberg.tables"]), view.setting("iceberg.tables.route-field")
    by_topic = bool(field and seen) and field in _topic_fields(view)
    if not tables:
        is_named = by_topic and topic == seen and not view.is_unreadable(["iceberg.tables"])
        return [FoundObject(topic.lower() if is_named else None, None, EvidenceKind.LISTED)]
    routes = {table: view.setting(f"iceberg.table.{table}.route-regex") for table in tables} if by_topic else {}
    patterns = {table: compile_java(route) for table, route in routes.items() if route}
    if not patterns or None in patterns.values():
        return [FoundObject(table, None, EvidenceKind.LISTED, maybe=bool(field)) for table in tables]
    chosen = [table for table, pattern in patterns.items() if pattern and (pattern.fullmatch(topic) or pattern.fullmatch(seen))]
    return [FoundObject(table, None, EvidenceKind.LISTED, maybe=topic != seen) for table in chosen]


def _topic_fields(view: ConnectorView) -> list[str]:
    """Return the fields of a record that transforms fill with the topic's name."""
    fields = []
    for alias in listed(view.setting("transforms")):
        kind = view.setting(f"transforms.{alias}.type")
        if kind.endswith(".KafkaMetadataTransform"):
            sign = "." if view.setting(f"transforms.{alias}.nested").lower() == "true" else "_"
            fields.append(view.setting(f"transforms.{alias}.field_name", default="_kafka_metadata") + sign + "topic")
        elif kind.endswith(".InsertField$Value"):
            fields.append(view.setting(f"transforms.{alias}.topic.field").rstrip("!?"))
    return fields
