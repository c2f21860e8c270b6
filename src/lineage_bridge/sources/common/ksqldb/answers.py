"""Values for the answers of a ksqlDB server at one poll. Their shapes are those in https://docs.ksqldb.io, REST API reference."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.facets import SchemaField

STATEMENTS = ("SHOW STREAMS EXTENDED;", "SHOW TABLES EXTENDED;", "SHOW QUERIES EXTENDED;")
"""The statements of a poll; one request sends all, so that the answers are consistent."""
STREAM, QUERY = "stream", "query"
"""The kinds of descriptions; tables are described like streams."""

_EntryT = TypeVar("_EntryT")
_HINT = "check that the address is that of a ksqlDB server"


class KsqldbRelation(NamedTuple):
    """A stream or table of ksqlDB (`kind`) with its topic.

    `counters`: by host and statistic, the amount that the host has read from or written to the topic since it started. `committed`: by
    group and topic, the sum of the committed offsets of the queries that write the stream.
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
    """A query of ksqlDB. `hosts`: the state of the query on each host (RUNNING, PAUSED, ERROR, UNRESPONSIVE); `errors`: oldest first."""

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
    """All answers of a ksqlDB server at one poll. `warnings`: by statement, the server's warnings about it.

    `unreadable`: the kind and name (empty if unknown) of what could not be read, and why.
    """

    version: str
    cluster: str
    service: str
    status: str
    relations: Mapping[str, KsqldbRelation]
    queries: Mapping[str, KsqldbQuery]
    warnings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    unreadable: tuple[tuple[str, str, str], ...] = ()

    @cached_property
    def by_topic(self) -> Mapping[str, list[KsqldbRelation]]:
        """The streams and tables of each topic, by the topic's name."""
        found: dict[str, list[KsqldbRelation]] = {}
        for _, relation in sorted(self.relations.items()):
            found.setdefault(relation.topic, []).append(relation)
        return found

    @cached_property
    def committed(self) -> Mapping[str, Mapping[str, int]]:
        """By group and then topic, the sum of the group's committed offsets."""
        found: dict[str, dict[str, int]] = {}
        for _, relation in sorted(self.relations.items()):
            for (group, topic), offset in relation.committed.items():
                found.setdefault(group, {})[topic] = offset
        return found


def parse(info: Any, entities: Any) -> KsqldbState:  # noqa: ANN401  # JSON
    """Parse the answers to `/info` and the statements. Raises SourceError if a list is missing; unreadable descriptions are left out."""
    if not isinstance(entities, list) or len(entities) != len(STATEMENTS):
        raise SourceError(f"ksqlDB did not answer all of the {len(STATEMENTS)} statements that were sent", _HINT)
    try:
        server = info["KsqlServerInfo"]
        unreadable: list[tuple[str, str, str]] = []
        relations = [relation for entity in entities[:2] for relation in _read(STREAM, _relation, entity["sourceDescriptions"], unreadable)]
        queries = _read(QUERY, _query, entities[2]["queryDescriptions"], unreadable)
        warnings = {_asked(entity): tuple(str(warning.get("message")) for warning in entity.get("warnings") or ()) for entity in entities}
        return KsqldbState(
            str(server.get("version") or ""),
            str(server.get("kafkaClusterId") or ""),
            str(server.get("ksqlServiceId") or ""),
            str(server.get("serverStatus") or ""),
            {relation.name: relation for relation in relations},
            {query.id: query for query in queries if query.kind == "PERSISTENT"},
            {asked: texts for asked, texts in warnings.items() if texts},
            tuple(sorted(unreadable)),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise SourceError(f"ksqlDB's answer has an unexpected shape: {error!r}", _HINT) from error


def _read(
    kind: str,
    read: Callable[[Mapping[str, Any]], _EntryT],
    descriptions: Any,  # noqa: ANN401  # JSON
    unreadable: list[tuple[str, str, str]],
) -> list[_EntryT]:
    """Read descriptions. Those that cannot be read are left out and added to `unreadable`."""
    if not isinstance(descriptions, list):
        raise TypeError(descriptions)
    found = []
    for description in descriptions:
        try:
            found.append(read(description))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:  # noqa: PERF203  # each fails on its own
            name = description.get("id" if kind == QUERY else "name") if isinstance(description, Mapping) else None
            unreadable.append((kind, name if isinstance(name, str) else "", f"ksqlDB's description has an unexpected shape: {error!r}"))
    return found


def _asked(entity: Mapping[str, Any]) -> str:
    return " ".join(str(entity.get("statementText") or entity["@type"]).upper().rstrip(";").removesuffix("EXTENDED").split())


def _relation(description: Mapping[str, Any]) -> KsqldbRelation:
    keys = tuple(_field(field) for field in description["fields"] if field.get("type") == "KEY")
    return KsqldbRelation(
        _name(description, "name"),
        _name(description, "type"),
        _name(description, "topic"),
        keys,
        tuple(_field(field) for field in description["fields"] if field.get("type") != "KEY"),
        str(description.get("keyFormat") or ""),
        str(description.get("valueFormat") or ""),
        str(description.get("windowType") or ""),
        str(description.get("timestamp") or ""),
        int(description.get("partitions") or 0),
        int(description.get("replication") or 0),
        str(description.get("statement") or ""),
        tuple(sorted(str(query["id"]) for query in description.get("writeQueries") or ())),
        tuple(sorted(str(query["id"]) for query in description.get("readQueries") or ())),
        dict(_statistics(description)),
        dict(_committed(description)),
    )


def _text(entity: Mapping[str, Any], key: str) -> str:
    if not isinstance(entity[key], str):
        raise TypeError(key)
    return str(entity[key])


def _name(entity: Mapping[str, Any], key: str) -> str:
    if not _text(entity, key):
        raise ValueError(key)
    return str(entity[key])


def _names(entity: Mapping[str, Any], key: str) -> tuple[str, ...]:
    if not isinstance(entity[key], list):
        raise TypeError(key)
    return tuple(sorted(map(str, entity[key])))


def _field(field: Mapping[str, Any]) -> SchemaField:
    return _typed(str(field["name"]), field["schema"])


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


def _statistics(description: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    """Yield the statistics in a description, each as ((host, statistic), value). Depending on the version, they are a list with hosts,
    a map of hosts or, for a single server, a map of statistics.
    """
    everywhere = description.get("clusterStatistics")
    if isinstance(everywhere, list) and everywhere:
        yield from (((str(entry["host"]), str(entry["name"])), int(entry["value"])) for entry in everywhere)
    elif isinstance(everywhere, dict) and everywhere:
        yield from (((host, name), int(entry["value"])) for host, every in everywhere.items() for name, entry in every.items())
    else:
        local = description.get("statisticsMap") or {}
        yield from ((("", name), int(entry["value"])) for name, entry in local.items())


def _committed(offsets: Mapping[str, Any]) -> Iterator[tuple[tuple[str, str], int]]:
    for group in offsets.get("queryOffsetSummaries") or ():
        for topic in group["topicSummaries"]:
            yield (str(group["groupId"]), str(topic["kafkaTopic"])), sum(int(partition["consumerOffset"]) for partition in topic["offsets"])


def _query(description: Mapping[str, Any]) -> KsqldbQuery:
    name, kind, properties = _name(description, "id"), description.get("queryType"), description.get("overriddenProperties") or {}
    if not isinstance(properties, dict):
        raise TypeError(properties)
    errors = sorted(description.get("queryErrors") or (), key=lambda entry: entry.get("timestamp") or 0)
    return KsqldbQuery(
        name,
        str(kind or ("PERSISTENT" if description.get("sinks") else "PUSH")),
        _text(description, "statementText"),
        _names(description, "sources"),
        _names(description, "sinks"),
        {str(host): str(state) for host, state in (description.get("ksqlHostQueryStatus") or {}).items()},
        str(description.get("state") or ""),
        str(description.get("windowType") or ""),
        str(description.get("topology") or ""),
        tuple(str(error.get("errorMessage") or "") for error in errors),
        properties,
    )
