"""Builds the events of topics from the subjects of a registry and the tags of its catalog. Pure."""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.registry.answers import RegistryState, Tagging
from lineage_bridge.sources.common.registry.fields.texts import Tagged
from lineage_bridge.sources.common.registry.subjects import Subject, SubjectTopic, context_of
from lineage_bridge.sources.common.shared_metadata import (
    KEY,
    VALUE,
    ClusterMetadata,
    topic_column,
    topic_columns,
)

EVENTS = EventBuilder("https://lineagebridge.dev/sources/registry")


@dataclass(frozen=True)
class SubjectVersion:
    """A version of a subject, and the topic whose keys or values it describes."""

    name: str
    target: SubjectTopic
    subject: Subject

    @property
    def version(self) -> str:
        """The label of the version in the topic's facets."""
        return f"{self.name} version {self.subject.version}, id {self.subject.id}"


@dataclass(frozen=True)
class TopicEvents:
    """Builds the events of topics in one poll.

    `before`: each topic's part of the snapshot. `catalog`: the tags of the stream catalog, by the schema or topic that is tagged.
    `described`: datasets whose description comes from another system.
    """

    registry: str
    state: RegistryState
    before: Mapping[str, Any]
    now_us: int
    catalog: Mapping[str, list[Tagging]]
    described: Collection[DatasetName] = ()

    def undescribed(self, topic: str, entry: Mapping[str, Any]) -> Json:
        """Return the event of a topic that is no longer described by any subject: it deletes all facets except the tags of the catalog."""
        name = (entry["namespace"], topic)
        keys = [key for key in entry["keys"] if key != "documentation" or name not in self.described]
        facets = dict.fromkeys(keys, EVENTS.deleted_facet())
        if "tags" in facets and topic in self.catalog:
            facets["tags"] = EVENTS.dataset_tags(catalog_tags(self._catalog_tags(topic)))
        return EVENTS.dataset_event(self.now_us, name, facets)

    def topic(
        self, name: DatasetName, described_by: list[tuple[str, SubjectTopic]], versions: Mapping[str, list[tuple[Subject, int | None]]]
    ) -> tuple[dict[str, Any], list[Json]]:
        """Return a topic's part of the snapshot, and its events. There are events only if something is new: one for each version
        not reported yet.
        """
        was = self.before.get(name[1])
        was = was if was and was["namespace"] == name[0] else None
        steps = list(self._steps(described_by, versions, is_new=was is None))
        digest = self._digest(name, steps[-1][1])
        if was and was["told"] == digest:
            return was, []
        facets = self._facets(name, steps[-1][1])
        entry = {
            "namespace": name[0],
            "subjects": [[subject, target.part, target.strategy] for subject, target in described_by],
            "keys": sorted(facets),
            "told": digest,
        }
        ended = set(was["keys"]) - facets.keys() - ({"documentation"} if name in self.described else set()) if was else ()
        deleted = dict.fromkeys(sorted(ended), EVENTS.deleted_facet())
        older = [EVENTS.dataset_event(at, name, self._facets(name, versions)) for at, versions in steps[:-1]]
        older += [EVENTS.dataset_event(steps[-1][0], name, facets)] if steps[-1][0] < self.now_us else []
        return entry, [*older, EVENTS.dataset_event(self.now_us, name, {**facets, **deleted})]

    def _steps(
        self, described_by: list[tuple[str, SubjectTopic]], versions: Mapping[str, list[tuple[Subject, int | None]]], *, is_new: bool
    ) -> Iterator[tuple[int, list[SubjectVersion]]]:
        """Yield each time at which a subject of a topic got a new version, oldest first, with the versions of all its subjects then.

        A new topic uses the registry's times. A known topic was polled before, so its versions are dated up to the current poll.
        """
        current = {name: versions[name][0][0] for name, _ in described_by}
        older = [(at, name, number) for name, _ in described_by for number, (_, at) in enumerate(versions[name][:-1])]
        older.sort(key=lambda step: (step[0] is None, step[0] or 0))
        newest = [versions[name][-1][1] for name, _ in described_by]
        end = max((at for at in newest if at is not None), default=self.now_us) if is_new and None not in newest else self.now_us
        for left, (at, name, number) in zip(range(len(older), 0, -1), older, strict=True):
            current = {**current, name: versions[name][number][0]}
            yield (at if is_new and at is not None else end - left), _at_versions(described_by, current)
        yield end, _at_versions(described_by, {name: versions[name][-1][0] for name, _ in described_by})

    def _digest(self, name: DatasetName, versions: list[SubjectVersion]) -> str:
        """Return a digest of what the events contain. A version itself never changes, but its settings and tags do."""
        state = self.state
        settings = [
            (
                *version.target,
                version.version,
                version.subject.level or state.level,
                version.subject.mode or state.mode,
                version.subject.deleted,
            )
            for version in versions
        ]
        tagged = [*self._catalog_tags(name[1]), *(tagging for version in versions for tagging in self._catalog_field_tags(version))]
        return hashlib.blake2b(
            json.dumps([self.registry, settings, tagged, *(["described"] if name in self.described else [])]).encode(), digest_size=12
        ).hexdigest()

    def _facets(self, name: DatasetName, versions: list[SubjectVersion]) -> dict[str, Json]:
        values = [version for version in versions if version.target.part == VALUE]
        keys = [version for version in versions if version.target.part == KEY]
        facets: dict[str, Json] = {}
        if any(version.subject.fields is not None for version in versions):
            facets["schema"] = EVENTS.schema(schema_fields(topic_columns(fields_of_part(keys, KEY), fields_of_part(values, VALUE))))
        facets["version"] = EVENTS.dataset_version("; ".join(version.version for version in (*values, *keys)))
        docs = [version.subject.doc for version in values if version.subject.doc]
        if len(docs) == 1 and name not in self.described:
            facets["documentation"] = EVENTS.documentation("Dataset", docs[0])
        tags = [tag for group in (values, keys) for version in group for tag in _tags(version, version.subject.tags, alone=len(group) == 1)]
        known = {(tag.get("field"), tag["key"]) for tag in tags}
        more = [
            {**tag, "source": "STREAM_CATALOG"}
            for group in (values, keys)
            for version in group
            for tag in _tags(version, self._catalog_field_tags(version), alone=len(group) == 1)
            if (tag.get("field"), tag["key"]) not in known
        ]
        more += [tag for tag in catalog_tags(self._catalog_tags(name[1])) if (None, tag["key"]) not in known]
        more.sort(key=lambda tag: (str(tag.get("field", "")), str(tag["key"])))
        if tags or more:
            facets["tags"] = EVENTS.dataset_tags([*tags, *more])
        subjects = [self._subject(version) for version in (*values, *keys)]
        facets["schema_registry"] = EVENTS.own_facet("1-0-0", "SchemaRegistryDatasetFacet", registry=self.registry, subjects=subjects)
        return facets

    def _catalog_tags(self, topic: str) -> list[str]:
        """The stream catalog's tags on the topic itself."""
        return sorted({tagging.tag for tagging in self.catalog.get(topic, ())})

    def _catalog_field_tags(self, version: SubjectVersion) -> list[Tagged]:
        """The catalog's tags on a schema and its fields, with the fields' paths."""
        schema = f"{context_of(version.name)[0] or '.'}:{version.subject.id}"
        found: set[Tagged] = set()
        for tagging in self.catalog.get(schema, ()):
            found.add((_below(tagging.path, version.subject.record), tagging.tag))
        return sorted(found)

    def _subject(self, version: SubjectVersion) -> Json:
        subject = version.subject
        always: Json = {
            "subject": version.name,
            "part": version.target.part,
            "version": subject.version,
            "id": subject.id,
            "schemaType": subject.kind,
            "strategy": version.target.strategy,
        }
        optional: Json = {
            "record": subject.record,
            "context": context_of(version.name)[0],
            "compatibility": subject.level or self.state.level,
            "mode": subject.mode or self.state.mode,
            "references": [reference._asdict() for reference in subject.references],
            "tags": [{"field": path, "tag": tag} if path else {"tag": tag} for path, tag in subject.tags],
            "rules": list(subject.rules),
            "properties": subject.properties,
            "deleted": subject.deleted,
        }
        return {**always, **{key: value for key, value in optional.items() if value}}


def _at_versions(described_by: Iterable[tuple[str, SubjectTopic]], subjects: Mapping[str, Subject]) -> list[SubjectVersion]:
    return [SubjectVersion(name, target, subjects[name]) for name, target in described_by]


def _below(path: str, record: str) -> str:
    """Return the path of a field within its record. In the catalog, the path begins with the record's name, sometimes with other names
    before it.
    """
    _, found, rest = f".{path}.".partition(f".{record}.")
    return rest.rstrip(".") if record and found else path


def catalog_tags(tags: Iterable[str]) -> list[Json]:
    """Convert tags of the stream catalog to the form of the tags facet."""
    return [{"key": tag, "value": "true", "source": "STREAM_CATALOG"} for tag in sorted(set(tags))]


def fields_of_part(versions: Iterable[SubjectVersion], part: str) -> tuple[SchemaField, ...]:
    """Return the fields of a topic's keys or of its values. If there are several types of records, each type is a field."""
    readable = [version for version in versions if version.target.part == part and version.subject.fields is not None]
    if len(readable) == 1:
        return readable[0].subject.columns()
    return tuple(SchemaField(name=_type_name(version), type="record", fields=version.subject.columns() or None) for version in readable)


def _type_name(version: SubjectVersion) -> str:
    return version.subject.record or version.name


def tags_by_target(catalog: list[Tagging], cluster: ClusterMetadata | None) -> dict[str, list[Tagging]]:
    """Group the tags by schema (`context:id`) or topic, without those on topics of other clusters."""
    found: dict[str, list[Tagging]] = {}
    for tagging in catalog:
        there, _, topic = tagging.where.partition(":")
        if tagging.kind != "kafka_topic":
            found.setdefault(tagging.where, []).append(tagging)
        elif cluster is None or not cluster.id.startswith("lkc-") or cluster.id == there:
            found.setdefault(topic, []).append(tagging)
    return found


def _tags(version: SubjectVersion, tags: Iterable[Tagged], *, alone: bool) -> Iterator[Json]:
    for path, tag in tags:
        member: Json = {"key": tag, "value": "true", "source": "SCHEMA_REGISTRY"}
        inner = path if alone else ".".join(name for name in (_type_name(version), path) if name)
        yield {**member, "field": topic_column(version.target.part, inner)} if inner or version.target.part == KEY else member
