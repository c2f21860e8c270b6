"""The plane of a Stream Catalog: tags, owners, descriptions and business metadata of topics and connectors; tags of schemas.

It is told before topics and schemas, so that these know the tags. The facet `tags` of a topic that has schemas is told once more by the
registry's plane, a moment later, with the tags of the schemas.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from lineage_bridge.errors import ForbiddenError, MissingError, SourceError
from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.secrets import mask_text, names_secret
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.translate import catalog_tags
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.organization import Registry
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.registry.plane import poll_of, registries, registry_http, registry_lacks

TELLER = EventBuilder("https://lineagebridge.dev/sources/confluent/catalog")
PAGE = 500
"""Entities of a page: as many as the catalog gives."""
MOST_AT_ONCE = 200
"""Of how many entities business metadata is asked at a poll, in turn."""
_PATH = "/catalog/v1"
_TOPICS, _CONNECTORS, _SCHEMAS = ("kafka_topic",), ("cn_connector",), ("sr_schema", "sr_record", "sr_field")
_ATTRIBUTES = ("owner", "description")
_ADVANCED = "ADVANCED"


class Entity(msgspec.Struct, frozen=True):
    """What the catalog says of a topic or connector. `place` is its full name in the catalog; `metadata`: None if it was not asked for."""

    kind: str
    place: str
    cluster: str
    name: str
    tags: tuple[str, ...] = ()
    owner: str = ""
    text: str = ""
    metadata: Mapping[str, Any] | None = None

    @property
    def is_described(self) -> bool:
        """Whether anything else is said of it."""
        return bool(self.tags or self.owner or self.text)


class Described(msgspec.Struct, frozen=True):
    """What was answered; None for a part that could not be had. `schemas`: names of schemas, records and fields to their tags."""

    topics: tuple[Entity, ...] | None = ()
    connectors: tuple[Entity, ...] | None = ()
    schemas: Mapping[str, tuple[str, ...]] | None = {}
    unseen: tuple[Unseen, ...] = ()


class CatalogPlane(Plane[Described]):
    """The catalog beside a registry."""

    name: ClassVar[str] = "catalog"
    stage: ClassVar[int] = 0

    def __init__(self, around: Around, registry: Registry) -> None:
        super().__init__(around, f"{registry.environment}/{registry.id}")
        self.registry = registry
        environment = around.whole.environment(registry.environment)
        self.package = environment.package if environment else ""
        self.clusters = {one.id: one for one in around.estate.kafka if one.environment == registry.environment}

    def lacks(self) -> str:
        """A registry that can be asked, and a package that has a catalog."""
        if not self.package:
            return "the environment has no package of Stream Governance, so no catalog"
        return registry_lacks(self.around, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> Described:
        """Three searches, and the business metadata of what is described. Raises SourceError if none of the searches answers."""
        http = registry_http(self.around, self.registry, self.key)
        asked = (_TOPICS, _CONNECTORS, _SCHEMAS)
        answers = http.map(lambda kinds: _searched(http, kinds), asked)
        failed = [error for error in answers if isinstance(error, SourceError)]
        unseen = [Unseen(f"entities {', '.join(kinds)}", str(one)) for kinds, one in zip(asked, answers, strict=True) if one in failed]
        if failed and self.package != _ADVANCED and all(isinstance(one, ForbiddenError) for one in failed):
            why = f"the package {self.package} of {self.registry.environment} does not give it: {failed[0]}"
            return Described(None, None, None, (Unseen("stream catalog", why),))
        if len(failed) == len(asked):
            raise failed[0]
        topics, connectors, tagged = (None if isinstance(one, SourceError) else one for one in answers)
        entities = [
            None if one is None else [made for entity in one if (made := _entity(entity)) and made.cluster in self.clusters]
            for one in (topics, connectors)
        ]
        business = self._business(
            http, [one for part in entities for one in part or ()], before, poll_of(now_us, self.settings.interval_s), unseen
        )
        told = [
            None if one is None else tuple(msgspec.structs.replace(entity, metadata=business.get(entity.place)) for entity in one)
            for one in entities
        ]
        return Described(told[0], told[1], None if tagged is None else dict(sorted(_tags_of(tagged))), tuple(unseen))

    def _business(
        self, http: HttpClient, entities: list[Entity], before: Snapshot | None, turn: int, unseen: list[Unseen]
    ) -> dict[str, Mapping[str, Any]]:
        """Names in the catalog to business metadata: asked of those that are described, or had such; empty where none is defined."""
        try:
            defined = http.get(f"{_PATH}/types/businessmetadatadefs")
        except MissingError:
            return {}
        except SourceError as error:
            unseen.append(Unseen("business metadata", str(error)))
            return {}
        had = {name for kind in ("topics", "connectors") for name, entry in _entries((before or {}).get(kind, {})) if entry["metadata"]}
        described = [one for one in entities if defined and (one.is_described or (self.clusters[one.cluster].space, one.name) in had)]
        found: dict[str, Mapping[str, Any]] = {one.place: {} for one in entities}
        for one in described:
            del found[one.place]
        described.sort(key=lambda one: one.place)
        turns = max(1, -(-len(described) // MOST_AT_ONCE))
        wanted = described[turn % turns :: turns]
        for one, answer in zip(wanted, http.map(lambda one: http.get(_path_of(one)), wanted), strict=True):
            if isinstance(answer, SourceError):
                unseen.append(Unseen(f"business metadata of {one.place}", str(answer)))
            elif isinstance(answer, list):
                found[one.place] = _metadata(answer)
        return found

    def tell(self, fetched: Described, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """What is new of topics and connectors."""
        del around
        was: Mapping[str, Any] = before or {"topics": {}, "connectors": {}, "schemas": {}}
        events: list[Json] = []
        told: dict[str, Any] = {}
        for kind, entities in (("topics", fetched.topics), ("connectors", fetched.connectors)):
            if entities is None:
                told[kind] = was[kind]
                continue
            told[kind], more = self._told(kind, entities, was[kind], now_us)
            events += more
        schemas = was["schemas"] if fetched.schemas is None else {name: list(tags) for name, tags in fetched.schemas.items()}
        return Observation({**told, "schemas": schemas}, tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Described:
        """Nothing is described."""
        return Described()

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """Tags of topics and schemas, and which topics are described in words."""
        entries = [(name, entry) for name, entry in _entries(snapshot["topics"])]
        tags = {name: frozenset(entry["tags"]) for name, entry in entries if entry["tags"]}
        schemas = {(self.registry.space, name): frozenset(told) for name, told in snapshot["schemas"].items()}
        described = frozenset(name for name, entry in entries if "documentation" in entry["told"])
        return SharedMetadata(tags={**tags, **schemas}, described=described)

    def _told(
        self, kind: str, entities: Iterable[Entity], was: Mapping[str, Any], now_us: int
    ) -> tuple[dict[str, dict[str, Any]], list[Json]]:
        """What is to be remembered of entities of a kind, and the facets of each that are new."""
        found: dict[str, dict[str, Any]] = {}
        events: list[Json] = []
        for entity in sorted(entities, key=lambda one: one.place):
            name = (self.clusters[entity.cluster].space, entity.name)
            earlier = was.get(name[0], {}).get(name[1], {"told": {}, "metadata": {}})
            metadata = earlier["metadata"] if entity.metadata is None else entity.metadata
            facets = _facets(kind, entity, metadata)
            told = {key: digest(facet) for key, facet in facets.items()}
            if told:
                found.setdefault(name[0], {})[name[1]] = {"tags": list(entity.tags), "metadata": metadata, "told": told}
            new = {key: facet for key, facet in facets.items() if earlier["told"].get(key) != told[key]}
            gone = {key: TELLER.deleted_facet() for key in earlier["told"] if key not in told}
            events += _event(kind, name, {**new, **gone}, now_us)
        listed = {(self.clusters[one.cluster].space, one.name) for one in entities}
        for name, entry in _entries(was):
            if name not in listed:
                events += _event(kind, name, dict.fromkeys(entry["told"], TELLER.deleted_facet()), now_us)
        return found, events


def planes(around: Around) -> Planes:
    """One plane for each registry."""
    for registry in registries(around):
        yield CatalogPlane(around, registry)


def _event(kind: str, name: DatasetName, facets: Mapping[str, Json], now_us: int) -> list[Json]:
    """A moment before now: what schemas tell of the same topics is told after it."""
    if not facets:
        return []
    if kind == "connectors":
        return [TELLER.job_event(now_us - 1, name, job_facets=facets)]
    return [TELLER.dataset_event(now_us - 1, name, facets)]


def _facets(kind: str, entity: Entity, metadata: Mapping[str, Any]) -> dict[str, Json]:
    """Of a connector, whose owner and description its own plane tells, those of the catalog are told beside the metadata."""
    facets: dict[str, Json] = {}
    tags = catalog_tags(entity.tags)
    more: Json = {"metadata": dict(metadata)} if metadata else {}
    if kind == "connectors":
        more |= {key: said for key, said in (("owner", entity.owner), ("description", entity.text)) if said}
        if tags:
            facets["tags"] = TELLER.job_tags(tags)
        if more:
            facets["confluent_business_metadata"] = TELLER.own_facet("1-0-0", "ConfluentBusinessMetadataJobFacet", **more)
        return facets
    if tags:
        facets["tags"] = TELLER.dataset_tags(tags)
    if entity.owner:
        facets["ownership"] = TELLER.ownership("Dataset", entity.owner)
    if entity.text:
        facets["documentation"] = TELLER.documentation("Dataset", entity.text)
    if more:
        facets["confluent_business_metadata"] = TELLER.own_facet("1-0-0", "ConfluentBusinessMetadataDatasetFacet", **more)
    return facets


def _entries(told: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[DatasetName, Mapping[str, Any]]]:
    for space, named in sorted(told.items()):
        for name, entry in sorted(named.items()):
            yield (space, name), entry


def _searched(http: HttpClient, kinds: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """All entities of some types; of schemas those that have tags. Raises SourceError. A type that the catalog does not have has none."""
    found: dict[str, Mapping[str, Any]] = {}
    parameters: dict[str, Any] = {"type": list(kinds), "limit": PAGE}
    parameters |= {"tag": "*"} if kinds == _SCHEMAS else {"attr": list(_ATTRIBUTES)}
    offset = 0
    while True:
        answer = http.get(f"{_PATH}/search/basic", **parameters, offset=offset)
        page = answer.get("entities", answer.get("searchResults")) if isinstance(answer, Mapping) else None
        if page is None and isinstance(answer, Mapping):
            page = []
        if not isinstance(page, list) or not all(isinstance(one, Mapping) for one in page):
            raise SourceError(f"GET {_PATH}/search/basic answered no list")
        new = {str(_attributes(one).get("qualifiedName")): one for one in page if one.get("status", "ACTIVE") == "ACTIVE"}
        is_over = len(page) < PAGE or not new.keys() - found.keys()
        found.update(new)
        if is_over:
            return list(found.values())
        offset += len(page)


def _entity(told: Mapping[str, Any]) -> Entity | None:
    """An entity by its name `registry:cluster:name`; None for one whose name tells no cluster. An owner's address is not kept."""
    attributes = _attributes(told)
    place = str(attributes.get("qualifiedName") or "")
    cluster = next((part for part in place.split(":") if part.startswith("lkc-")), "")
    name = str(attributes.get("name") or "") or place.rpartition(":")[2]
    owner = str(attributes.get("owner") or "")
    tags = _classified(told)
    text = mask_text(str(attributes.get("description") or ""))
    kind = str(told.get("typeName") or "")
    return Entity(kind, place, cluster, name, tags, "" if "@" in owner else owner, text) if cluster and name else None


def _tags_of(entities: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Names of schemas and of what is in them (`context:id:record.field`) to their tags."""
    for one in entities:
        place, tags = str(_attributes(one).get("qualifiedName") or ""), _classified(one)
        if tags and place.count(":") >= 2:
            yield place.partition(":")[2], tags


def _attributes(entity: Mapping[str, Any]) -> Mapping[str, Any]:
    told = entity.get("attributes")
    return told if isinstance(told, Mapping) else {}


def _classified(entity: Mapping[str, Any]) -> tuple[str, ...]:
    told = entity.get("classificationNames")
    return tuple(sorted({str(tag) for tag in told})) if isinstance(told, list) else ()


def _path_of(entity: Entity) -> str:
    return f"{_PATH}/entity/type/{entity.kind}/name/{quote(entity.place, safe='')}/businessmetadata"


def _metadata(answer: list[Any]) -> dict[str, Any]:
    """Business metadata by its name, without what its members' names call secret."""
    found: dict[str, Any] = {}
    for one in answer:
        attributes = one.get("attributes") if isinstance(one, Mapping) else None
        if isinstance(attributes, Mapping):
            told = {
                str(key): mask_text(str(value)) for key, value in attributes.items() if value is not None and not names_secret(str(key))
            }
            found[str(one.get("typeName") or "")] = dict(sorted(told.items()))
    return dict(sorted(found.items()))
