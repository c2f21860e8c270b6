"""Metadata that sources exchange: a registry knows the schemas of a connector's topics, Kafka Connect knows the connectors' consumer
groups. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import replace

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName

_KeyT = TypeVar("_KeyT")
KEY, VALUE = "key", "value"
KEY_COLUMN, VALUE_COLUMN = "_key", "_value"
"""The columns for a topic's key, and for a value that has no fields."""


def topic_column(part: str, path: str) -> str:
    """Return the column of a topic for the dotted path of a field; the path is empty for a whole key or value. Fields of the key are
    below `_key`.
    """
    if part == VALUE:
        return path or VALUE_COLUMN
    return f"{KEY_COLUMN}.{path}" if path else KEY_COLUMN


def topic_columns(keys: Iterable[SchemaField], values: Iterable[SchemaField]) -> tuple[SchemaField, ...]:
    """Return the columns of a topic: the fields of its values, then `_key` with the fields of its keys. All have different names.

    A field without a name represents a key or value that has no fields.
    """
    named = tuple(replace(field, name=field.name or VALUE_COLUMN) for field in values)
    inner = tuple(keys)
    if not inner or any(field.name == KEY_COLUMN for field in named):
        return named
    whole = len(inner) == 1 and not inner[0].name
    key = replace(inner[0], name=KEY_COLUMN) if whole else SchemaField(name=KEY_COLUMN, type="record", fields=inner)
    return (*named, key)


@dataclass(frozen=True)
class ClusterMetadata:
    """What one source knows about a Kafka cluster.

    - `id`: the id that the brokers report.
    - `namespace`: the namespace of its topics (`kafka://host:port`).
    - `servers`: all its known servers, as `host:port`.
    - `topics`: all topics, None if not listed.
    - `groups`: by group id, the topics that the group reads.
    - `ends`: by topic, the sum of its partitions' end offsets.
    - `read`: by group and topic, the sum of the committed offsets.
    - `lags`: by group, if another job owns it, the members of the facet `kafka_lag`: `at` (RFC 3339), `rows`, `topics`, `stuck`.
    - `sampled`: by topic and key or value, the ids of the schemas of some of its records.
    """

    id: str
    namespace: str
    servers: frozenset[str] = frozenset()
    topics: frozenset[str] | None = None
    groups: Mapping[str, frozenset[str]] = field(default_factory=dict)
    ends: Mapping[str, int] = field(default_factory=dict)
    read: Mapping[tuple[str, str], int] = field(default_factory=dict)
    sampled: Mapping[tuple[str, str], frozenset[int]] = field(default_factory=dict)
    lags: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


class TopicSchema(NamedTuple):
    """The schema of a topic's keys or values.

    `version` names it (`subject orders-value version 3, id 17`). Of several schemas, the one with the lowest `rank` is used: 0 comes from a
    registry, 1 from a declaration (a table of Flink or ksqlDB), 2 from sampled records.
    """

    fields: tuple[SchemaField, ...]
    version: str = ""
    rank: int = 0


@dataclass(frozen=True)
class SharedMetadata:
    """Metadata from sources.

    `schemas`: schemas of topics, by the topic's dataset name and whether it is that of the keys or the values. `owners`: the jobs that own
    groups, by cluster id and group. `names`: the names of people, service accounts and keys, by id. `jobs`: jobs, by the id that a system
    gives to what it runs: `lcc-..` or `clcc-..` of a connector, `env-../cloud.region/statement`, `lksqlc-../query`. `tags`: the tags of
    datasets, by the dataset's name; in the namespace of a registry, names are those of schemas (`context:id`) and their fields
    (`context:id:record.field`). `described`: datasets that a catalog has descriptions for.
    """

    clusters: tuple[ClusterMetadata, ...] = ()
    schemas: Mapping[tuple[DatasetName, str], TopicSchema] = field(default_factory=dict)
    owners: Mapping[tuple[str, str], DatasetName] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    jobs: Mapping[str, DatasetName] = field(default_factory=dict)
    tags: Mapping[DatasetName, frozenset[str]] = field(default_factory=dict)
    described: frozenset[DatasetName] = frozenset()

    def cluster(self, id_or_server: str) -> ClusterMetadata | None:
        """Return the cluster with this id, or with one of these servers (`host:port`, separated by commas); None if no source knows it."""
        if not id_or_server:
            return None
        servers = set(id_or_server.split(","))
        return next((known for known in self.clusters if known.id == id_or_server or known.servers & servers), None)

    def namespace(self, cluster_id: str, servers: str = "") -> str:
        """Return the namespace of a cluster's topics: the one that a source reports which knows the cluster, else one made from the first
        server, else from the id.
        """
        known = self.cluster(servers) or self.cluster(cluster_id)
        if known is not None:
            return known.namespace
        return f"kafka://{servers.split(',', maxsplit=1)[0].strip() or cluster_id}"

    def fields(self, topic: DatasetName, part: str = VALUE) -> tuple[SchemaField, ...]:
        """Return the fields of a topic's keys or values; empty if they are unknown."""
        schema = self.schemas.get((topic, part))
        return schema.fields if schema else ()


NO_METADATA = SharedMetadata()


def merge_metadata(known: Iterable[SharedMetadata]) -> SharedMetadata:
    """Merge the metadata of all sources, in any order. Of two schemas, the one with the lower rank is used."""
    every = list(known)
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    owners: dict[tuple[str, str], DatasetName] = {}
    for metadata in every:
        for key, schema in metadata.schemas.items():
            other = schemas.get(key)
            schemas[key] = schema if other is None or other is schema else min(other, schema, key=_rank)
        for group, job in metadata.owners.items():
            owners[group] = min(owners.get(group, job), job)
    jobs: dict[str, DatasetName] = {}
    for ident, job in (entry for metadata in every for entry in metadata.jobs.items()):
        jobs[ident] = min(jobs.get(ident, job), job)
    clusters: dict[tuple[str, str], ClusterMetadata] = {}
    for cluster in (cluster for metadata in every for cluster in metadata.clusters):
        name = cluster.id, cluster.namespace
        clusters[name] = _joined(clusters[name], cluster) if name in clusters else cluster
    names: dict[str, str] = {}
    for ident, named in (entry for metadata in every for entry in metadata.names.items()):
        names[ident] = min(names.get(ident, named), named)
    tags: dict[DatasetName, frozenset[str]] = {}
    for dataset, tagged in (entry for metadata in every for entry in metadata.tags.items()):
        tags[dataset] = tags.get(dataset, frozenset()) | tagged
    described = frozenset(name for metadata in every for name in metadata.described)
    return SharedMetadata(tuple(clusters[name] for name in sorted(clusters)), schemas, owners, names, jobs, tags, described)


def _rank(schema: TopicSchema) -> tuple[int, str, str]:
    return schema.rank, schema.version, repr(schema.fields)


def _joined(first: ClusterMetadata, other: ClusterMetadata) -> ClusterMetadata:
    """Merge what two sources, or two parts of one source, know about the same cluster. Of two offsets, the greater one is used."""
    topics = first.topics if other.topics is None else other.topics if first.topics is None else first.topics | other.topics
    return ClusterMetadata(
        first.id,
        first.namespace,
        first.servers | other.servers,
        topics,
        {name: first.groups.get(name, frozenset()) | other.groups.get(name, frozenset()) for name in {**first.groups, **other.groups}},
        _greater(first.ends, other.ends),
        _greater(first.read, other.read),
        {
            topic_part: first.sampled.get(topic_part, frozenset()) | other.sampled.get(topic_part, frozenset())
            for topic_part in {**first.sampled, **other.sampled}
        },
        {
            group: max(filter(None, (first.lags.get(group), other.lags.get(group))), key=lambda lag: str(lag["at"]))
            for group in {**first.lags, **other.lags}
        },
    )


def _greater(first: Mapping[_KeyT, int], other: Mapping[_KeyT, int]) -> dict[_KeyT, int]:
    return {key: max(first.get(key, 0), other.get(key, 0)) for key in {**first, **other}}
