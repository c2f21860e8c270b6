"""Collects the evidence about a connector apart from its configuration: from the worker's answers, the last poll and the Kafka cluster."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.sources.common.connect.catalogue.family import SINK
from lineage_bridge.sources.common.connect.events.memory import ConnectorMemory
from lineage_bridge.sources.common.connect.lineage.connection import ConnectorEvidence
from lineage_bridge.sources.common.connect.secrets import has_placeholder, mask_config
from lineage_bridge.sources.common.connect.transforms.patterns import listed
from lineage_bridge.sources.common.connect.worker import ConnectorDetail, ConnectorState
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata

_OF_PARTITIONS = {
    "topic.prefix": "server",
    "database.server.name": "server",
    "database.dbname": "database",
    "database.names": "database",
    "source.cluster.alias": "cluster",
    "file": "filename",
}
"""For some settings, the member of a source's offset partitions that contains the value of the setting."""
_PREFIXES = ("topic.prefix", "database.server.name")
_TABLES = ("table.include.list", "table.whitelist", "collection.include.list", "tables")


def group_of(connector: ConnectorState) -> str:
    """Return the consumer group of a sink."""
    if connector.service is not None and connector.service.group:
        return connector.service.group
    own = connector.config.get("consumer.override.group.id", "")
    return own if own and not has_placeholder(own) else f"connect-{connector.name}"


def remember(memory: ConnectorMemory, detail: ConnectorDetail, passwords: frozenset[str]) -> None:
    """Store the answers of this poll in what is remembered about a connector."""
    if detail.given is not None:
        memory.given = [mask_config(entry, passwords) for entry in detail.given]
    if detail.topics is not None:
        memory.topics = list(detail.topics)
    if detail.offsets is not None:
        memory.partitions = _distinct(entry["partition"] for entry in detail.offsets)


def evidence_of(connector: ConnectorState, memory: ConnectorMemory, cluster: ClusterMetadata | None) -> ConnectorEvidence:
    """Return all evidence about a connector. Values of placeholders that follow from other evidence are included."""
    topics, partitions = memory.topics or [], memory.partitions or []
    if connector.direction == SINK and cluster is not None:
        partitions = [*partitions, *({"kafka_topic": topic} for topic in sorted(cluster.groups.get(group_of(connector), ())))]
    return ConnectorEvidence(
        direction=connector.direction,
        known_topics=cluster.topics if cluster else None,
        observed_topics=tuple(topics),
        tasks=tuple(memory.given or ()),
        offsets=tuple({"partition": partition} for partition in partitions),
        settings={**_readable(connector.config, topics, partitions), **(connector.service.settings if connector.service else {})},
    )


def sums_of(connector: ConnectorState, detail: ConnectorDetail, cluster: ClusterMetadata | None) -> dict[str, int]:
    """Return the committed offsets of a sink, summed by topic: from the sink's worker if it reports them, else from the cluster's report
    about the sink's consumer group.
    """
    if detail.offsets is None:
        group = group_of(connector)
        return {topic: total for (reader, topic), total in cluster.read.items() if reader == group} if cluster else {}
    sums: dict[str, int] = {}
    for entry in detail.offsets:
        offset = entry.get("offset")
        topic, at = entry["partition"].get("kafka_topic"), offset.get("kafka_offset") if isinstance(offset, dict) else None
        if isinstance(topic, str) and isinstance(at, int):
            sums[topic] = sums.get(topic, 0) + at
    return sums


def _distinct(partitions: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the partitions of offsets without partition numbers and repeats, sorted."""
    named = ({str(k): v for k, v in partition.items() if isinstance(v, str)} for partition in partitions)
    return [dict(items) for items in sorted({tuple(sorted(partition.items())) for partition in named})]


def _readable(config: Mapping[str, str], topics: list[str], partitions: list[dict[str, Any]]) -> dict[str, str]:
    """Return values for placeholder settings, where the evidence allows exactly one value."""
    hidden = {key for key, value in config.items() if has_placeholder(value)}
    candidates = {
        key: {partition[member] for partition in partitions if partition.get(member)}
        for key, member in _OF_PARTITIONS.items()
        if key in hidden
    }
    for key in hidden.intersection(_PREFIXES):
        candidates[key] = candidates.get(key) or _prefixes(config, topics)
    return {key: next(iter(values)) for key, values in sorted(candidates.items()) if len(values) == 1}


def _prefixes(config: Mapping[str, str], topics: list[str]) -> set[str]:
    """Return the prefixes before the names of listed tables in the names of used topics."""
    tables = [table.replace("\\.", ".") for key in _TABLES for table in listed(config.get(key, ""))]
    return {topic[: -len(table) - 1] for topic in topics for table in tables if topic.endswith(f".{table}")}
