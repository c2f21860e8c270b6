"""Translates a Stream Catalog's entries about topics and connectors into OpenLineage events. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.registry.topics import catalog_tags
from lineage_bridge.sources.confluent.catalog.parse import Entity

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent/catalog")
TOPICS, CONNECTORS = "topics", "connectors"
"""Kinds of entities, as members of the snapshot."""
Memory = Mapping[str, Mapping[str, Any]]
"""What was emitted, by namespace and name: `tags`, `metadata`, and in `told` the digest of each facet."""


def entity_events(
    kind: str, entities: Iterable[Entity], namespaces: Mapping[str, str], before: Memory, now_us: int
) -> tuple[dict[str, dict[str, Any]], list[Json]]:
    """Return the part of the snapshot about entities, and events with their new and deleted facets.

    `namespaces`: for each cluster id, the namespace of its topics.
    """
    remembered: dict[str, dict[str, Any]] = {}
    events: list[Json] = []
    for entity in sorted(entities, key=lambda entity: entity.qualified_name):
        name = (namespaces[entity.cluster], entity.name)
        earlier = before.get(name[0], {}).get(name[1], {"told": {}, "metadata": {}})
        metadata = earlier["metadata"] if entity.metadata is None else entity.metadata
        facets = _facets(kind, entity, metadata)
        digests = {key: digest(facet) for key, facet in facets.items()}
        if digests:
            remembered.setdefault(name[0], {})[name[1]] = {"tags": list(entity.tags), "metadata": metadata, "told": digests}
        new = {key: facet for key, facet in facets.items() if earlier["told"].get(key) != digests[key]}
        withdrawn = {key: PRODUCER.deleted_facet() for key in earlier["told"] if key not in digests}
        events += _event(kind, name, {**new, **withdrawn}, now_us)
    listed = {(namespaces[entity.cluster], entity.name) for entity in entities}
    for name, entry in entries_of(before):
        if name not in listed:
            events += _event(kind, name, dict.fromkeys(entry["told"], PRODUCER.deleted_facet()), now_us)
    return remembered, events


def entries_of(memory: Memory) -> Iterator[tuple[DatasetName, Mapping[str, Any]]]:
    """Yield the entries of the snapshot's part about entities, with their full names."""
    for namespace, entries in sorted(memory.items()):
        for name, entry in sorted(entries.items()):
            yield (namespace, name), entry


def _event(kind: str, name: DatasetName, facets: Mapping[str, Json], now_us: int) -> list[Json]:
    """Return an event that is dated a microsecond before now. The registry plane's event about the same topic is then newer, and takes
    precedence.
    """
    if not facets:
        return []
    if kind == CONNECTORS:
        return [PRODUCER.job_event(now_us - 1, name, job_facets=facets)]
    return [PRODUCER.dataset_event(now_us - 1, name, facets)]


def _facets(kind: str, entity: Entity, metadata: Mapping[str, Any]) -> dict[str, Json]:
    tags = catalog_tags(entity.tags)
    if kind == CONNECTORS:
        return _connector_facets(entity, tags, metadata)
    facets: dict[str, Json] = {}
    if tags:
        facets["tags"] = PRODUCER.dataset_tags(tags)
    if entity.owner:
        facets["ownership"] = PRODUCER.ownership("Dataset", entity.owner)
    if entity.description:
        facets["documentation"] = PRODUCER.documentation("Dataset", entity.description)
    if metadata:
        facets["confluent_business_metadata"] = PRODUCER.own_facet(
            "1-0-0", "ConfluentBusinessMetadataDatasetFacet", metadata=dict(metadata)
        )
    return facets


def _connector_facets(entity: Entity, tags: list[Json], metadata: Mapping[str, Any]) -> dict[str, Json]:
    """Return the facets of a connector. The catalog's owner and description are in the catalog's own facet, because the connect plane
    emits the standard facets.
    """
    facets: dict[str, Json] = {}
    members: Json = {"metadata": dict(metadata)} if metadata else {}
    members |= {key: value for key, value in (("owner", entity.owner), ("description", entity.description)) if value}
    if tags:
        facets["tags"] = PRODUCER.job_tags(tags)
    if members:
        facets["confluent_business_metadata"] = PRODUCER.own_facet("1-0-0", "ConfluentBusinessMetadataJobFacet", **members)
    return facets
