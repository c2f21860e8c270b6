"""What a registry answered, to what is told of topics. Pure.

A topic's schema is told as a dataset's, which stands before what its writers and readers say. Its columns are the fields of the values,
and `_key` with the fields of the keys; of a topic with records of several types, a column for each type.
"""

import dataclasses
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.answers import RegistryState, Tagging
from lineage_bridge.sources.common.registry.fields.texts import Tagged
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject, SubjectTopic, context_of, subject_of, topics_of_subjects
from lineage_bridge.sources.common.shared_metadata import (
    KEY,
    VALUE,
    ClusterMetadata,
    SharedMetadata,
    TopicSchema,
    topic_column,
    topic_columns,
)

EVENTS = EventBuilder("https://lineagebridge.dev/sources/registry")
_NAMED = 10
"""How many names of what drifts are written out."""


@dataclass(frozen=True)
class _SubjectVersion:
    """A subject of a topic, at one version."""

    name: str
    place: SubjectTopic
    subject: Subject

    @property
    def version(self) -> str:
        return f"{self.name} version {self.subject.version}, id {self.subject.id}"


def subjects_in(snapshot: Snapshot | None) -> dict[str, Subject]:
    """The subjects that a snapshot remembers."""
    return {name: msgspec.convert(told, Subject) for name, told in (snapshot or {}).get("subjects", {}).items()}


@dataclass(frozen=True)
class RegistrySubjects:
    """What a registry has, after a poll: the versions of each subject that are new, or the one that is known, and all tags."""

    said: RegistryState
    stages: Mapping[str, list[tuple[Subject, int | None]]]
    catalog: list[Tagging]

    @property
    def subjects(self) -> dict[str, Subject]:
        """The newest version of each subject."""
        return {name: versions[-1][0] for name, versions in self.stages.items()}

    @property
    def unseen(self) -> list[Unseen]:
        """What of it could not be had, or not be read."""
        unread = [Unseen(f"subject {name}: fields", subject.why) for name, subject in sorted(self.subjects.items()) if subject.why]
        return [*self.said.unseen, *unread]

    @property
    def snapshot(self) -> dict[str, Any]:
        """What is to be remembered of it."""
        subjects = {name: msgspec.to_builtins(subject) for name, subject in sorted(self.subjects.items())}
        return {"catalog": self.catalog, "subjects": subjects, "level": self.said.level, "mode": self.said.mode}


@dataclass(frozen=True)
class RegistryEvents:
    """What is told of the topics of a cluster. `topics` are to be remembered, `drift` are subjects and topics that have no other side."""

    topics: dict[str, Any]
    events: tuple[Json, ...] = ()
    drift: tuple[list[str], list[str]] = ([], [])

    @property
    def snapshot(self) -> dict[str, Any]:
        """What is to be remembered of it."""
        return {"topics": self.topics, "drift": {"subjects": self.drift[0], "topics": self.drift[1]}}


def merge_subjects(said: RegistryState, before: Snapshot | None) -> RegistrySubjects:
    """What a registry has, with what was known of it before."""
    told = before or {}
    catalog = [Tagging(*one) for one in told.get("catalog", ())] if said.catalog is None else list(said.catalog)
    level = told.get("level", "") if said.level is None else said.level
    mode = told.get("mode", "") if said.mode is None else said.mode
    return RegistrySubjects(dataclasses.replace(said, level=level, mode=mode), _stages(said, subjects_in(before)), catalog)


def translate(said: RegistryState, before: Snapshot | None, around: SharedMetadata, now_us: int, settings: RegistrySettings) -> Observation:
    """What is to be told of what was answered."""
    here = merge_subjects(said, before)
    told = before or {}
    cluster = around.cluster(settings.kafka) if settings.kafka else around.clusters[0] if len(around.clusters) == 1 else None
    snapshot = {**here.snapshot, "catalog": here.catalog if settings.catalog else []}
    if cluster is None and not settings.kafka:
        why = f"{len(around.clusters)} Kafka clusters are known, not one; set `kafka` to a server of the one that the subjects are of"
        missed = (*here.unseen, Unseen("topics of the subjects", why))
        return Observation({**snapshot, **RegistryEvents(told.get("topics", {})).snapshot}, unseen=missed)
    namespace = cluster.namespace if cluster else around.namespace("", settings.kafka)
    seen = translate_cluster(here, namespace, cluster, told.get("topics", {}), now_us, settings, urlsplit(settings.url).netloc)
    found = _found(seen.drift, len(here.subjects), cluster)
    return Observation({**snapshot, **seen.snapshot}, seen.events, unseen=(*here.unseen, *found))


def translate_cluster(
    here: RegistrySubjects,
    namespace: str,
    cluster: ClusterMetadata | None,
    before: Mapping[str, Any],
    now_us: int,
    settings: RegistrySettings,
    registry: str,
    described: Collection[DatasetName] = (),
) -> RegistryEvents:
    """What is told of the topics in a namespace; `before`: what had been told of each. `registry` is what the registry is called.

    `described`: the datasets that another system describes in words, which then count.
    """
    subjects = here.subjects
    placed = topics_of_subjects(subjects, cluster, settings.strategies)
    telling = _Telling(registry, here.said, before, now_us, _by_place(here.catalog, cluster), described)
    events: list[Json] = []
    topics: dict[str, Any] = {}
    for topic, parts in sorted(_by_topic(placed).items()):
        topics[topic], more = telling.topic((namespace, topic), parts, here.stages)
        events += more
    for topic, entry in sorted(before.items()):
        if topic not in topics and (cluster is None or cluster.topics is None or topic in cluster.topics):
            events.append(telling.gone(topic, entry))
    return RegistryEvents(topics, tuple(events), _drift(subjects, placed, cluster, settings))


def shared_metadata(snapshot: Snapshot) -> SharedMetadata:
    """The schemas of topics that a snapshot holds."""
    subjects = subjects_in(snapshot)
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    for topic, entry in snapshot.get("topics", {}).items():
        parts = [
            _SubjectVersion(name, SubjectTopic(topic, part, ""), subjects[name]) for name, part, _ in entry["subjects"] if name in subjects
        ]
        for part in (KEY, VALUE):
            if here := [one for one in parts if one.place.part == part and one.subject.fields is not None]:
                version = "; ".join(one.version for one in here)
                schemas[(entry["namespace"], topic), part] = TopicSchema(_fields(here, part), version)
    return SharedMetadata(schemas=schemas)


def _stages(said: RegistryState, was: Mapping[str, Subject]) -> dict[str, list[tuple[Subject, int | None]]]:
    """Each subject's versions that are new, or the one that is known, oldest first, each with when it was registered."""
    found: dict[str, list[tuple[Subject, int | None]]] = {}
    for name in sorted(said.listed):
        new = [(subject_of(version, said.texts), version.at_us) for version in said.new.get(name, ())]
        versions = new or [(was[name], None)] if name in was or new else []
        if versions:
            own = was.get(name)
            level = said.levels.get(name, own.level if own else "")
            mode = said.modes.get(name, own.mode if own else "")
            deleted = name in said.deleted
            ids = tuple(sorted({*(own.ids if own else ()), *(one.id for one, _ in versions)}))
            found[name] = [(replace(one, ids=ids, level=level, mode=mode, deleted=deleted), at) for one, at in versions]
    return found


def _by_topic(placed: Mapping[str, tuple[SubjectTopic, ...]]) -> dict[str, list[tuple[str, SubjectTopic]]]:
    found: dict[str, list[tuple[str, SubjectTopic]]] = {}
    for name, here in sorted(placed.items()):
        for place in here:
            found.setdefault(place.topic, []).append((name, place))
    return found


# what is told of a topic


@dataclass(frozen=True)
class _Telling:
    """What is told of topics at one poll; `before`: what had been told of each."""

    registry: str
    said: RegistryState
    before: Mapping[str, Any]
    now_us: int
    catalog: Mapping[str, list[Tagging]]
    described: Collection[DatasetName] = ()

    def gone(self, topic: str, entry: Mapping[str, Any]) -> Json:
        """What is told of a topic that no subject describes any more; what the catalog says of it stays."""
        name = (entry["namespace"], topic)
        keys = [key for key in entry["keys"] if key != "documentation" or name not in self.described]
        facets = dict.fromkeys(keys, EVENTS.deleted_facet())
        if "tags" in facets and topic in self.catalog:
            facets["tags"] = EVENTS.dataset_tags(catalog_tags(self._of_topic(topic)))
        return EVENTS.dataset_event(self.now_us, name, facets)

    def topic(
        self, name: DatasetName, here: list[tuple[str, SubjectTopic]], stages: Mapping[str, list[tuple[Subject, int | None]]]
    ) -> tuple[dict[str, Any], list[Json]]:
        """What is to be remembered of a topic, and the events: one for each version that nobody was told of, if anything is new."""
        was = self.before.get(name[1])
        was = was if was and was["namespace"] == name[0] else None
        steps = list(self._steps(here, stages, is_new=was is None))
        told = self._digest(name, steps[-1][1])
        if was and was["told"] == told:
            return was, []
        facets = self._facets(name, steps[-1][1])
        entry = {
            "namespace": name[0],
            "subjects": [[subject, place.part, place.strategy] for subject, place in here],
            "keys": sorted(facets),
            "told": told,
        }
        ended = set(was["keys"]) - facets.keys() - ({"documentation"} if name in self.described else set()) if was else ()
        withdrawn = dict.fromkeys(sorted(ended), EVENTS.deleted_facet())
        older = [EVENTS.dataset_event(at, name, self._facets(name, parts)) for at, parts in steps[:-1]]
        older += [EVENTS.dataset_event(steps[-1][0], name, facets)] if steps[-1][0] < self.now_us else []
        return entry, [*older, EVENTS.dataset_event(self.now_us, name, {**facets, **withdrawn})]

    def _steps(
        self, here: list[tuple[str, SubjectTopic]], stages: Mapping[str, list[tuple[Subject, int | None]]], *, is_new: bool
    ) -> Iterator[tuple[int, list[_SubjectVersion]]]:
        """The topic with each older version, and as it is: when, and its parts. If it is new here the registry's time counts."""
        now = {name: stages[name][0][0] for name, _ in here}
        older = [(at, name, at_version) for name, _ in here for at_version, (_, at) in enumerate(stages[name][:-1])]
        older.sort(key=lambda step: (step[0] is None, step[0] or 0))
        ends = [stages[name][-1][1] for name, _ in here]
        end = max((at for at in ends if at is not None), default=self.now_us) if is_new and None not in ends else self.now_us
        for left, (at, name, version) in zip(range(len(older), 0, -1), older, strict=True):
            now = {**now, name: stages[name][version][0]}
            yield (at if is_new and at is not None else end - left), [_SubjectVersion(one, place, now[one]) for one, place in here]
        yield end, [_SubjectVersion(one, place, stages[one][-1][0]) for one, place in here]

    def _digest(self, name: DatasetName, parts: list[_SubjectVersion]) -> str:
        """What is told of a topic, in short: a version does not change, only what is said about it."""
        said = self.said
        told = [
            (*part.place, part.version, part.subject.level or said.level, part.subject.mode or said.mode, part.subject.deleted)
            for part in parts
        ]
        tagged = [*self._of_topic(name[1]), *(tagging for part in parts for tagging in self._tagged(part))]
        return hashlib.blake2b(
            json.dumps([self.registry, told, tagged, *(["described"] if name in self.described else [])]).encode(), digest_size=12
        ).hexdigest()

    def _facets(self, name: DatasetName, parts: list[_SubjectVersion]) -> dict[str, Json]:
        values = [part for part in parts if part.place.part == VALUE]
        keys = [part for part in parts if part.place.part == KEY]
        facets: dict[str, Json] = {}
        if any(part.subject.fields is not None for part in parts):
            facets["schema"] = EVENTS.schema(schema_fields(topic_columns(_fields(keys, KEY), _fields(values, VALUE))))
        facets["version"] = EVENTS.dataset_version("; ".join(part.version for part in (*values, *keys)))
        docs = [part.subject.doc for part in values if part.subject.doc]
        if len(docs) == 1 and name not in self.described:
            facets["documentation"] = EVENTS.documentation("Dataset", docs[0])
        tags = [tag for group in (values, keys) for part in group for tag in _tags(part, part.subject.tags, alone=len(group) == 1)]
        known = {(tag.get("field"), tag["key"]) for tag in tags}
        more = [
            {**tag, "source": "STREAM_CATALOG"}
            for group in (values, keys)
            for part in group
            for tag in _tags(part, self._tagged(part), alone=len(group) == 1)
            if (tag.get("field"), tag["key"]) not in known
        ]
        more += [tag for tag in catalog_tags(self._of_topic(name[1])) if (None, tag["key"]) not in known]
        more.sort(key=lambda tag: (str(tag.get("field", "")), str(tag["key"])))
        if tags or more:
            facets["tags"] = EVENTS.dataset_tags([*tags, *more])
        told = [self._subject(part) for part in (*values, *keys)]
        facets["schema_registry"] = EVENTS.own_facet("1-0-0", "SchemaRegistryDatasetFacet", registry=self.registry, subjects=told)
        return facets

    def _of_topic(self, topic: str) -> list[str]:
        """The tags that the catalog has on a topic itself."""
        return sorted({tagging.tag for tagging in self.catalog.get(topic, ())})

    def _tagged(self, part: _SubjectVersion) -> list[Tagged]:
        """The tags that the catalog has on the schema of a part of a topic, by the paths of fields."""
        schema = f"{context_of(part.name)[0] or '.'}:{part.subject.id}"
        found: set[Tagged] = set()
        for tagging in self.catalog.get(schema, ()):
            found.add((_below(tagging.path, part.subject.record), tagging.tag))
        return sorted(found)

    def _subject(self, part: _SubjectVersion) -> Json:
        subject = part.subject
        told: Json = {
            "subject": part.name,
            "part": part.place.part,
            "version": subject.version,
            "id": subject.id,
            "schemaType": subject.kind,
            "strategy": part.place.strategy,
        }
        more: Json = {
            "record": subject.record,
            "context": context_of(part.name)[0],
            "compatibility": subject.level or self.said.level,
            "mode": subject.mode or self.said.mode,
            "references": [reference._asdict() for reference in subject.references],
            "tags": [{"field": path, "tag": tag} if path else {"tag": tag} for path, tag in subject.tags],
            "rules": list(subject.rules),
            "properties": subject.properties,
            "deleted": subject.deleted,
        }
        return {**told, **{key: value for key, value in more.items() if value}}


def _below(path: str, record: str) -> str:
    """The path of a field in its record, by its full name in the catalog, which may tell more of the record's place."""
    _, found, rest = f".{path}.".partition(f".{record}.")
    return rest.rstrip(".") if record and found else path


def catalog_tags(tags: Iterable[str]) -> list[Json]:
    """Tags that the catalog has on a dataset, as their facet has them."""
    return [{"key": tag, "value": "true", "source": "STREAM_CATALOG"} for tag in sorted(set(tags))]


def _fields(parts: Iterable[_SubjectVersion], part: str) -> tuple[SchemaField, ...]:
    """The fields of a topic's keys or values. Records of several types are a field each."""
    readable = [one for one in parts if one.place.part == part and one.subject.fields is not None]
    if len(readable) == 1:
        return readable[0].subject.columns()
    return tuple(SchemaField(name=_type_name(one), type="record", fields=one.subject.columns() or None) for one in readable)


def _type_name(part: _SubjectVersion) -> str:
    return part.subject.record or part.name


def _by_place(catalog: list[Tagging], cluster: ClusterMetadata | None) -> dict[str, list[Tagging]]:
    """The tags by the schema (`context:id`) or the topic that they are on. Those of topics in another cluster are left out."""
    found: dict[str, list[Tagging]] = {}
    for tagging in catalog:
        there, _, topic = tagging.where.partition(":")
        if tagging.kind != "kafka_topic":
            found.setdefault(tagging.where, []).append(tagging)
        elif cluster is None or not cluster.id.startswith("lkc-") or cluster.id == there:
            found.setdefault(topic, []).append(tagging)
    return found


def _tags(part: _SubjectVersion, tags: Iterable[Tagged], *, alone: bool) -> Iterator[Json]:
    for path, tag in tags:
        told: Json = {"key": tag, "value": "true", "source": "SCHEMA_REGISTRY"}
        inner = path if alone else ".".join(name for name in (_type_name(part), path) if name)
        yield {**told, "field": topic_column(part.place.part, inner)} if inner or part.place.part == KEY else told


# drift


def _drift(
    subjects: Mapping[str, Subject],
    placed: Mapping[str, tuple[SubjectTopic, ...]],
    cluster: ClusterMetadata | None,
    settings: RegistrySettings,
) -> tuple[list[str], list[str]]:
    """Subjects that describe no topic and that no schema refers to, and topics of a cluster that no subject describes."""
    referred = {reference.subject for subject in subjects.values() for reference in subject.references}
    alone = sorted(name for name, here in placed.items() if not here and name not in referred)
    if cluster is None or cluster.topics is None or settings.subjects != ("*",):
        return alone, []
    described = {place.topic for here in placed.values() for place in here}
    return alone, sorted(topic for topic in cluster.topics - described if not _is_internal(topic))


def _found(drift: tuple[list[str], list[str]], subjects: int, cluster: ClusterMetadata | None) -> Iterator[Unseen]:
    alone, bare = drift
    if alone:
        hint = "the cluster has no such topic, or their records are in topics that the name does not tell; set `strategies`"
        yield Unseen("subjects without a topic", f"{_some(alone, subjects)}: {hint}")
    if bare and cluster is not None:
        topics = sum(not _is_internal(topic) for topic in cluster.topics or ())
        yield Unseen("topics without a subject", f"{_some(bare, topics)}: the registry knows no schema of their records")


def _some(names: list[str], of: int) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{len(names)} of {of}: {', '.join(names[:_NAMED])}{more}"


def _is_internal(topic: str) -> bool:
    return topic.startswith("_") or topic.endswith(("-changelog", "-repartition"))
