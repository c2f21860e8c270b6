"""Reports ksqlDB's streams and tables. Each is another name of a topic. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.sources.common.ksqldb.answers import KsqldbRelation
from lineage_bridge.sources.common.ksqldb.columns import REGISTERED, keys_of
from lineage_bridge.sources.common.ksqldb.poll import (
    EVENTS,
    KsqldbPoll,
    digest,
)
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, topic_columns

_SEPARATOR = "; "


class StreamEvents:
    """Builds the events of streams, tables and their topics; `topics_after` and `streams_after` are their parts of the next snapshot."""

    def __init__(self, poll: KsqldbPoll) -> None:
        self.poll = poll
        self.topics_after: dict[str, Any] = {}
        self.streams_after: dict[str, str] = {}

    def topic_events(self) -> Iterator[Json]:
        """Yield the events of topics with streams or tables, if anything is new."""
        by_topic = self.poll.state.by_topic
        for topic, here in sorted(by_topic.items()):
            facets = self._facets(topic, here)
            keys, values = _declared(here)
            self.topics_after[topic] = {
                "namespace": self.poll.namespace,
                KEY: list(map(pack_field, keys)),
                VALUE: list(map(pack_field, values)),
                "version": _SEPARATOR.join(f"ksqlDB {relation.kind.lower()} {relation.name}" for relation in here),
                "written": any(relation.writers for relation in here),
                "facets": sorted(facets),
                "told": digest({key: facet for key, facet in facets.items() if key != "schema"}),
                "schema": digest(facets["schema"]) if "schema" in facets else "",
            }
            was = self.poll.before["topics"].get(topic)
            now = self.topics_after[topic]
            if was is not None and any(map(self.poll.is_hidden, _names_in(was) - _names_in(now))):
                self.topics_after[topic] = was
            elif was is None or any(was[key] != now[key] for key in ("told", "namespace")) or now["schema"] not in ("", was["schema"]):
                yield from self._event((self.poll.namespace, topic), facets)
        for topic, was in sorted(self.poll.before["topics"].items()):
            if topic not in by_topic and any(map(self.poll.may_exist, _names_in(was))):
                self.topics_after[topic] = was
            elif topic not in by_topic:
                gone = {key: EVENTS.deleted_facet() for key in was["facets"] if key != "schema" or not self._is_registered(topic)}
                yield from self._event((was["namespace"], topic), gone)

    def stream_events(self) -> Iterator[Json]:
        """Yield the events of streams and tables that have datasets of their own, if anything is new."""
        before = self.poll.before.get("streams", {})
        for name, relation in sorted(self.poll.state.relations.items()) if not self.poll.names.alone else ():
            facets = _names_of([(self.poll.namespace, relation.topic)], [relation])
            self.streams_after[name] = digest(facets)
            if before.get(name) != self.streams_after[name]:
                yield from self._event((self.poll.names.streams, name), facets)
        for name in sorted(before.keys() - self.streams_after.keys()):
            if self.poll.may_exist(name):
                self.streams_after[name] = before[name]
            else:
                yield from self._event((self.poll.names.streams, name), dict.fromkeys(("symlinks", "ksqldb"), EVENTS.deleted_facet()))

    def _event(self, name: DatasetName, facets: Mapping[str, Json]) -> Iterator[Json]:
        if facets:
            yield EVENTS.dataset_event(self.poll.now_us, name, facets)

    def _facets(self, topic: str, here: list[KsqldbRelation]) -> dict[str, Json]:
        facets = _names_of([(self.poll.names.streams, relation.name) for relation in here], here) if self.poll.names.alone else {}
        if not self._is_registered(topic):
            facets["schema"] = EVENTS.schema(schema_fields(topic_columns(*_declared(here))))
        return facets

    def _is_registered(self, topic: str) -> bool:
        """Whether a schema registry reports the topic's schema. If so, this source must neither overwrite nor delete the schema."""
        known = (self.poll.shared.schemas.get(((self.poll.namespace, topic), part)) for part in (KEY, VALUE))
        return any(schema and schema.rank == REGISTERED for schema in known)


def _names_in(topic: Mapping[str, Any]) -> set[str]:
    """The names of the streams and tables of a topic, as its part of the snapshot has them."""
    return {text.split(" ", 2)[2] for text in topic["version"].split(_SEPARATOR)}


def _names_of(others: list[DatasetName], here: list[KsqldbRelation]) -> dict[str, Json]:
    """Return the facets with the other names of a topic or of a stream."""
    return {
        "symlinks": EVENTS.symlinks(others, "TABLE"),
        "ksqldb": EVENTS.own_facet("1-0-0", "KsqldbDatasetFacet", streams=[_stream(relation) for relation in here]),
    }


def _declared(here: list[KsqldbRelation]) -> tuple[tuple[SchemaField, ...], tuple[SchemaField, ...]]:
    """Return the fields of a topic's keys and values that its streams and tables declare. Of several declarations of a name, the first
    one is used.
    """
    keys = next((found for relation in here if (found := keys_of(relation))), ())
    values: dict[str, SchemaField] = {}
    for relation in here:
        for field in relation.values:
            values.setdefault(field.name, field)
    return keys, tuple(values.values())


def _stream(relation: KsqldbRelation) -> Json:
    members: Json = {
        "name": relation.name,
        "type": relation.kind,
        "keyFormat": relation.key_format,
        "valueFormat": relation.value_format,
        "windowType": relation.window,
        "timestamp": relation.timestamp,
        "partitions": relation.partitions,
        "replication": relation.replication,
        "statement": mask_text(relation.statement),
    }
    return {key: value for key, value in members.items() if value}


def pack_field(field: SchemaField) -> list[Any]:
    """Convert a field to its form in the snapshot."""
    return [field.name, field.type, [pack_field(inner) for inner in field.fields or ()]]


def unpack_field(packed: list[Any]) -> SchemaField:
    """Convert a field from its form in the snapshot."""
    name, kind, inner = packed
    return SchemaField(name=name, type=kind, fields=tuple(map(unpack_field, inner)) or None)
