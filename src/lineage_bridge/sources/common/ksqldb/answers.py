"""The answers of a ksqlDB server at one poll, as plain values. Shapes: https://docs.ksqldb.io, REST API reference."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets import SchemaField

STATEMENTS = ("SHOW STREAMS EXTENDED;", "SHOW TABLES EXTENDED;", "SHOW QUERIES EXTENDED;")
"""What is asked: in one request, so all of it is of one moment."""

_HINT = "is it a ksqlDB server?"


class KsqldbRelation(NamedTuple):
    """A stream or table (`kind`) with its topic.

    `counters`: (host, statistic) to what that host read from or wrote to the topic since it started. `committed`: (group, topic) to the sum
    of the committed offsets of the queries that write the stream.
    """

    name: str
    kind: str
    topic: str
    keys: tuple[SchemaField, ...]
    values: tuple[SchemaField, ...]
    key_format: str = ""
    value_format: str = ""
    window: str = ""
    timestamp: str = ""
    partitions: int = 0
    replication: int = 0
    statement: str = ""
    writers: tuple[str, ...] = ()
    readers: tuple[str, ...] = ()
    counters: Mapping[tuple[str, str], int] = {}
    committed: Mapping[tuple[str, str], int] = {}


class KsqldbQuery(NamedTuple):
    """A query. `hosts`: host to its state there (RUNNING, PAUSED, ERROR, UNRESPONSIVE); `errors`: oldest first."""

    id: str
    kind: str
    text: str
    sources: tuple[str, ...]
    sinks: tuple[str, ...]
    hosts: Mapping[str, str]
    state: str = ""
    window: str = ""
    topology: str = ""
    errors: tuple[str, ...] = ()
    properties: Mapping[str, Any] = {}


@dataclass(frozen=True)
class KsqldbState:
    """All answers. `warnings`: statement to the server's warnings about it."""

    version: str
    cluster: str
    service: str
    status: str
    relations: Mapping[str, KsqldbRelation]
    queries: Mapping[str, KsqldbQuery]
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def by_topic(self) -> Mapping[str, list[KsqldbRelation]]:
        """The streams and tables of each topic, by name."""
        found: dict[str, list[KsqldbRelation]] = {}
        for _, one in sorted(self.relations.items()):
            found.setdefault(one.topic, []).append(one)
        return found

    @cached_property
    def committed(self) -> Mapping[str, Mapping[str, int]]:
        """Group to topic to the sum of the offsets it has committed."""
        found: dict[str, dict[str, int]] = {}
        for _, one in sorted(self.relations.items()):
            for (group, topic), offset in one.committed.items():
                found.setdefault(group, {})[topic] = offset
        return found


def parse(info: Any, entities: Any) -> KsqldbState:  # noqa: ANN401  # JSON
    """The answers to `/info` and the statements. Raises SourceError if a part is missing or cannot be read."""
    if not isinstance(entities, list) or len(entities) != len(STATEMENTS):
        raise SourceError(f"ksqlDB answered only some of {len(STATEMENTS)} statements", _HINT)
    try:
        server = info["KsqlServerInfo"]
        relations = [_relation(one) for entity in entities[:2] for one in entity["sourceDescriptions"]]
        queries = [_query(one) for one in entities[2]["queryDescriptions"]]
        said = {_asked(entity): tuple(str(one.get("message")) for one in entity.get("warnings") or ()) for entity in entities}
        return KsqldbState(
            str(server.get("version") or ""),
            str(server.get("kafkaClusterId") or ""),
            str(server.get("ksqlServiceId") or ""),
            str(server.get("serverStatus") or ""),
            {one.name: one for one in relations},
            {one.id: one for one in queries if one.kind == "PERSISTENT"},
            {asked: texts for asked, texts in said.items() if texts},
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"ksqlDB's answer has a shape that cannot be read: {error!r}", _HINT) from error


def _asked(entity: Mapping[str, Any]) -> str:
    return " ".join(str(entity.get("statementText") or entity["@type"]).upper().rstrip(";").removesuffix("EXTENDED").split())


def _relation(said: Mapping[str, Any]) -> KsqldbRelation:
    keys = tuple(_field(one) for one in said["fields"] if one.get("type") == "KEY")
    return KsqldbRelation(
        _text(said, "name"),
        _text(said, "type"),
        _text(said, "topic"),
        keys,
        tuple(_field(one) for one in said["fields"] if one.get("type") != "KEY"),
        str(said.get("keyFormat") or ""),
        str(said.get("valueFormat") or ""),
        str(said.get("windowType") or ""),
        str(said.get("timestamp") or ""),
        int(said.get("partitions") or 0),
        int(said.get("replication") or 0),
        str(said.get("statement") or ""),
        tuple(sorted(str(query["id"]) for query in said.get("writeQueries") or ())),
        tuple(sorted(str(query["id"]) for query in said.get("readQueries") or ())),
        dict(_statistics(said)),
        dict(_committed(said)),
    )


def _text(said: Mapping[str, Any], key: str) -> str:
    if not isinstance(said[key], str):
        raise TypeError(key)
    return str(said[key])


def _names(said: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if not isinstance(said[key], list):
        raise TypeError(key)
    return tuple(sorted(map(str, said[key])))


def _field(said: Mapping[str, Any]) -> SchemaField:
    return _typed(str(said["name"]), said["schema"])


def _typed(name: str, schema: Mapping[str, Any]) -> SchemaField:
    kind, parameters, member = str(schema["type"]), schema.get("parameters") or {}, schema.get("memberSchema")
    inner: tuple[SchemaField, ...] = ()
    if kind == "STRUCT":
        inner = tuple(map(_field, schema.get("fields") or ()))
    elif kind == "ARRAY" and member:
        inner = (_typed("_element", member),)
    elif kind == "MAP" and member:
        inner = (SchemaField(name="key", type="STRING"), _typed("value", member))
    if kind == "DECIMAL" and "precision" in parameters:
        kind = f"DECIMAL({parameters['precision']},{parameters.get('scale', 0)})"
    return SchemaField(name=name, type=kind, fields=inner or None)


def _statistics(said: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    """A list with hosts in it, a map of hosts or, of a single server, the statistics by name; this varies between versions."""
    everywhere = said.get("clusterStatistics")
    if isinstance(everywhere, list) and everywhere:
        yield from (((str(one["host"]), str(one["name"])), int(one["value"])) for one in everywhere)
    elif isinstance(everywhere, dict) and everywhere:
        yield from (((host, name), int(one["value"])) for host, every in everywhere.items() for name, one in every.items())
    else:
        local = said.get("statisticsMap") or {}
        yield from ((("", name), int(one["value"])) for name, one in local.items())


def _committed(said: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    for group in said.get("queryOffsetSummaries") or ():
        for topic in group["topicSummaries"]:
            yield (str(group["groupId"]), str(topic["kafkaTopic"])), sum(int(one["consumerOffset"]) for one in topic["offsets"])


def _query(said: Mapping[str, Any]) -> KsqldbQuery:
    name, kind, properties = _text(said, "id"), said.get("queryType"), said.get("overriddenProperties") or {}
    if not isinstance(properties, dict):
        raise TypeError(properties)
    errors = sorted(said.get("queryErrors") or (), key=lambda one: one.get("timestamp") or 0)
    return KsqldbQuery(
        name,
        str(kind or ("PERSISTENT" if said.get("sinks") else "PUSH")),
        _text(said, "statementText"),
        _names(said, "sources"),
        _names(said, "sinks"),
        {str(host): str(state) for host, state in (said.get("ksqlHostQueryStatus") or {}).items()},
        str(said.get("state") or ""),
        str(said.get("windowType") or ""),
        str(said.get("topology") or ""),
        tuple(str(one.get("errorMessage") or "") for one in errors),
        properties,
    )
