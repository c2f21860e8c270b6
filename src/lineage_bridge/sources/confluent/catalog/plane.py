"""The plane of a Stream Catalog: tags, owners, descriptions and business metadata of topics and connectors, and tags of schemas.

It is translated before topics and schemas, whose planes use its tags. For topics with schemas, the registry plane later emits the `tags`
facet again, with the tags of the schemas added.
"""

from collections.abc import Mapping
from typing import Any, ClassVar

import msgspec

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.catalog import client
from lineage_bridge.sources.confluent.catalog.events import CONNECTORS, TOPICS, entity_events, entries_of
from lineage_bridge.sources.confluent.catalog.parse import (
    CatalogAnswers,
    Entity,
    parse_business_metadata,
    parse_entity,
    parse_schema_tags,
)
from lineage_bridge.sources.confluent.organization import SchemaRegistry
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.registry.client import poll_number, registries, registry_http, unavailable_registry_reason

METADATA_PER_POLL = 200
"""Entities per poll for which business metadata is fetched, in rotation."""
_ADVANCED = "ADVANCED"


class CatalogPlane(Plane[CatalogAnswers]):
    """Observes the Stream Catalog of an environment."""

    name: ClassVar[str] = "catalog"
    stage: ClassVar[int] = 0

    def __init__(self, context: PlaneContext, registry: SchemaRegistry) -> None:
        super().__init__(context, f"{registry.environment}/{registry.id}")
        self.registry = registry
        environment = context.organization.environment(registry.environment)
        self.package = registry.package or (environment.package if environment else "")
        clusters = (cluster for cluster in context.observed.kafka_clusters if cluster.environment == registry.environment)
        self.namespaces = {cluster.id: cluster.namespace for cluster in clusters}

    def unavailable_reason(self) -> str:
        """Why the catalog cannot be read: the environment's Stream Governance package, or the registry's key or address, is missing. Empty
        if none is missing.
        """
        if not self.package:
            return "the environment has no Stream Governance package, so it has no catalog"
        return unavailable_registry_reason(self.context, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> CatalogAnswers:
        """Send three searches, and fetch the business metadata of described entities. Raises SourceError if all searches fail."""
        http = registry_http(self.context, self.registry, self.key, self.registry.catalog_url)
        searches = (client.TOPICS, client.CONNECTORS, client.SCHEMAS)
        answers = http.map(lambda types: client.search_entities(http, types), searches)
        failed = [error for error in answers if isinstance(error, SourceError)]
        unseen = [
            Unseen(f"entities {', '.join(types)}", str(answer)) for types, answer in zip(searches, answers, strict=True) if answer in failed
        ]
        if failed and self.package != _ADVANCED and all(isinstance(error, ForbiddenError) for error in failed):
            why = f"the governance package {self.package} of {self.registry.environment} does not include the stream catalog: {failed[0]}"
            return CatalogAnswers(None, None, None, (Unseen("stream catalog", why),))
        if len(failed) == len(searches):
            raise failed[0]
        topics, connectors, schemas = (None if isinstance(answer, SourceError) else answer for answer in answers)
        entities = [None if found is None else self._entities(found) for found in (topics, connectors)]
        every = [entity for found in entities for entity in found or ()]
        metadata = self._business_metadata(http, every, before, poll_number(now_us, self.settings.interval_s), unseen)
        complete = [
            None
            if found is None
            else tuple(msgspec.structs.replace(entity, metadata=metadata.get(entity.qualified_name)) for entity in found)
            for found in entities
        ]
        return CatalogAnswers(complete[0], complete[1], None if schemas is None else parse_schema_tags(schemas), tuple(unseen))

    def _entities(self, entries: list[Mapping[str, Any]]) -> list[Entity]:
        return [entity for entry in entries if (entity := parse_entity(entry)) and entity.cluster in self.namespaces]

    def _business_metadata(
        self, http: HttpClient, entities: list[Entity], before: Snapshot | None, poll: int, unseen: list[Unseen]
    ) -> dict[str, Mapping[str, Any]]:
        """Fetch the business metadata of entities that are described, or that had business metadata before; by qualified name. All others
        have none.

        `poll` selects a part of the entities; the others are fetched at other polls.
        """
        try:
            definitions = client.list_business_metadata_definitions(http)
        except MissingError:
            return {}
        except SourceError as error:
            unseen.append(Unseen("business metadata", str(error)))
            return {}
        had = {name for kind in (TOPICS, CONNECTORS) for name, entry in entries_of((before or {}).get(kind, {})) if entry["metadata"]}
        candidates = [
            entity for entity in entities if definitions and (entity.is_described or (self.namespaces[entity.cluster], entity.name) in had)
        ]
        found: dict[str, Mapping[str, Any]] = {entity.qualified_name: {} for entity in entities}
        for entity in candidates:
            found.pop(entity.qualified_name, None)
        candidates.sort(key=lambda entity: entity.qualified_name)
        rounds = max(1, -(-len(candidates) // METADATA_PER_POLL))
        due = candidates[poll % rounds :: rounds]
        for entity, answer in zip(due, http.map(lambda entity: client.get_business_metadata(http, entity), due), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"business metadata of {entity.qualified_name}", str(answer)))
            elif isinstance(answer, list):
                found[entity.qualified_name] = parse_business_metadata(answer)
        return found

    def translate(self, fetched: CatalogAnswers, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for new metadata of topics and connectors."""
        del shared
        previous: Mapping[str, Any] = before or {"topics": {}, "connectors": {}, "schemas": {}}
        events: list[Json] = []
        snapshot: dict[str, Any] = {}
        for kind, entities in ((TOPICS, fetched.topics), (CONNECTORS, fetched.connectors)):
            if entities is None:
                snapshot[kind] = previous[kind]
                continue
            snapshot[kind], more = entity_events(kind, entities, self.namespaces, previous[kind], now_us)
            events += more
        schemas = fetched.schemas
        snapshot["schemas"] = previous["schemas"] if schemas is None else {name: list(tags) for name, tags in schemas.items()}
        return Observation(snapshot, tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> CatalogAnswers:
        """Return an answer without entities."""
        return CatalogAnswers()

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the tags of topics and schemas, and the topics that have a description."""
        entries = list(entries_of(snapshot[TOPICS]))
        tags = {name: frozenset(entry["tags"]) for name, entry in entries if entry["tags"]}
        schemas = {(self.registry.namespace, name): frozenset(tagged) for name, tagged in snapshot["schemas"].items()}
        described = frozenset(name for name, entry in entries if "documentation" in entry["told"])
        return SharedMetadata(tags={**tags, **schemas}, described=described)


def planes(context: PlaneContext) -> Planes:
    """Create a plane for the Stream Catalog of each registry."""
    for registry in registries(context):
        yield CatalogPlane(context, registry)
