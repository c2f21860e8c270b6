"""Maps the columns of a connector's table to the fields of its topic, and finds which are masked."""

from collections.abc import Iterable, Mapping

from lineage_bridge.sources.common.connect.lineage.connection import Connection, ConnectorFlow
from lineage_bridge.sources.common.connect.transforms.chain import replay
from lineage_bridge.sources.common.connect.transforms.debezium import unwrap
from lineage_bridge.sources.common.connect.transforms.fields import MADE
from lineage_bridge.sources.common.connect.transforms.patterns import compile_java, listed
from lineage_bridge.sources.common.connect.transforms.records import (
    KEY,
    VALUE,
    FieldOrigin,
    Origins,
    Record,
    RecordField,
    either,
    is_in,
    moved,
)
from lineage_bridge.sources.common.connect.transforms.topics import TopicName
from lineage_bridge.sources.common.connect.transforms.transform import Transform

_UNWRAP = Transform("", "", VALUE, {})


def across(
    connection: Connection, flow: ConnectorFlow, values: Iterable[str], keys: Iterable[str] = (), config: Mapping[str, str] | None = None
) -> Record:
    """Follow columns through a connector. Returns the fields at the end of a flow, each with the fields at the start that it comes
    from.

    For a source, `values` are the table's columns, `keys` are those of them that form the record's key, and the end is the topic's
    records. For a sink, they are the fields of the topic's values and keys, and the end is the table, whose columns are the fields of
    the value. For a connector that copies topics, both ends are topics. `config`: the connector's configuration, if it maps columns
    itself. The result is empty for a flow that was only observed.
    """
    start = _start(connection, list(values), list(keys))
    if not flow.before or not start.fields:
        return Record.nothing_known()
    outcomes = replay(connection.chain, flow.before, start).outcomes
    records = [outcome.record for outcome in outcomes if not connection.is_source or _is(outcome.topic, flow.topic)]
    if not records:
        return Record.nothing_known()
    end = records[0]
    for other in records[1:]:
        end = either(end, other)
    return end if connection.is_source else _columns(connection, flow, end, config or {})


def _start(connection: Connection, values: list[str], keys: list[str]) -> Record:
    if not connection.is_source or connection.connector.shape == "record":
        return Record.starting(keys, values)
    if connection.connector.shape not in ("row", "debezium"):
        return Record.nothing_known()
    own = {name: frozenset((FieldOrigin(RecordField(VALUE, name)),)) for name in values}
    key = {RecordField(KEY, name): own.get(name, frozenset((FieldOrigin(RecordField(VALUE, name)),))) for name in keys}
    if connection.connector.shape == "row":
        return Record({**key, **{RecordField(VALUE, name): origins for name, origins in own.items()}})
    envelope: dict[RecordField, Origins] = {
        RecordField(VALUE, f"{side}.{name}"): own[name] for side in ("before", "after") for name in values
    }
    return Record({**key, **envelope, **{RecordField(VALUE, name): MADE for name in ("op", "ts_ms", "source.ts_ms")}})


def _columns(connection: Connection, flow: ConnectorFlow, end: Record, config: Mapping[str, str]) -> Record:
    """Convert the record that a sink gets to the columns of its table."""
    value = end.part(VALUE)
    if connection.connector.shape == "debezium" and any(is_in(path, "after") for path in value):
        end = unwrap(end, _UNWRAP)
    if connection.connector.reader == "column-mappings" and flow.outside is not None:
        mapping = next((text for key, text in sorted(config.items()) if key.endswith(f".{flow.outside[1]}.mapping")), "")
        return _mapped(end, mapping)
    return end


def _mapped(end: Record, mapping: str) -> Record:
    """Apply the mapping of columns in DataStax' sink: `column=value.field, column=key.field`."""
    if end.unknown:
        return end.forgetting([VALUE])
    columns: dict[str, Origins] = {}
    for pair in listed(mapping):
        column, _, field = (part.strip() for part in pair.partition("="))
        part, _, path = field.partition(".")
        columns.update(moved(end.part(part), path, column))
    return end.knowing(VALUE, columns)


def _is(found: TopicName, topic: str) -> bool:
    pattern = compile_java(found.text) if found.is_pattern else None
    return found.text == topic or bool(pattern and pattern.fullmatch(topic))
