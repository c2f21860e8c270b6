"""Finds how the columns of a table are named in the records of its topic, from the options of the table's format. Pure."""

from collections.abc import Mapping

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, topic_column, topic_columns

_ENVELOPES = {
    "debezium-json": ("before", "after"),
    "debezium-avro-confluent": ("before", "after"),
    "ogg-json": ("before", "after"),
    "canal-json": ("old", "data"),
    "maxwell-json": ("old", "data"),
}
"""Change-data formats to the members of a record with the row before and after the change."""


def of_topic(columns: tuple[SchemaField, ...], options: Mapping[str, str]) -> tuple[tuple[SchemaField, ...], tuple[tuple[str, str], ...]]:
    """Return the columns of the topic, and pairs of the names in the table and in the topic, where these differ."""
    key_format = options.get("key.format", "")
    named = set(filter(None, options.get("key.fields", "").split(";"))) if options.get("value.fields-include") == "EXCEPT_KEY" else set()
    prefix = options.get("key.fields-prefix", "")
    keys = [column for column in columns if column.name in named]
    values = [column for column in columns if column.name not in named]
    calls = {column.name: topic_column(KEY, "" if key_format == "raw" else column.name.removeprefix(prefix)) for column in keys}
    inner = [SchemaField("" if key_format == "raw" else column.name.removeprefix(prefix), column.type) for column in keys]
    value_format = options.get("value.format") or options.get("format", "")
    if value_format == "raw":
        calls |= {column.name: topic_column(VALUE, "") for column in values}
        values = [SchemaField("", column.type) for column in values]
    elif value_format in _ENVELOPES:
        before, after = _ENVELOPES[value_format]
        calls |= {column.name: topic_column(VALUE, f"{after}.{column.name}") for column in values}
        values = [SchemaField(side, "record", fields=tuple(values)) for side in (before, after)]
    return topic_columns(inner, values), tuple(sorted((name, column) for name, column in calls.items() if name != column))
