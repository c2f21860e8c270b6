"""Converts the answers of a registry to the events of topics. Pure.

The schema of a topic is asserted by the dataset itself, which takes precedence over its writers and readers. Its columns are the fields of
the values, and `_key` with the fields of the keys; a topic with several types of records has a column for each type.
"""

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from lineage_bridge.conversion import convert
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.answers import RegistryState, Tagging
from lineage_bridge.sources.common.registry.drift import describe_drift, find_drift
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject, SubjectTopic, subject_of, topics_of_subjects
from lineage_bridge.sources.common.registry.topics import SubjectVersion, TopicEvents, fields_of_part, tags_by_target
from lineage_bridge.sources.common.shared_metadata import (
    KEY,
    VALUE,
    ClusterMetadata,
    SharedMetadata,
    TopicSchema,
)


def subjects_in(snapshot: Snapshot | None) -> dict[str, Subject]:
    """Read the subjects in a snapshot."""
    return {name: convert(entry, Subject) for name, entry in (snapshot or {}).get("subjects", {}).items()}


@dataclass(frozen=True)
class RegistrySubjects:
    """The contents of a schema registry after a poll.

    `versions`: each subject's new versions, oldest first, or else its known one, with the time of registration if the registry reports
    it. `catalog`: all tags.
    """

    state: RegistryState
    versions: Mapping[str, list[tuple[Subject, int | None]]]
    catalog: list[Tagging]

    @property
    def subjects(self) -> dict[str, Subject]:
        """The newest version of each subject."""
        return {name: versions[-1][0] for name, versions in self.versions.items()}

    @property
    def unseen(self) -> list[Unseen]:
        """What could not be fetched or read in this poll."""
        unread = [Unseen(f"subject {name}: fields", subject.why) for name, subject in sorted(self.subjects.items()) if subject.why]
        return [*self.state.unseen, *unread]

    @property
    def snapshot(self) -> dict[str, Any]:
        """The registry's part of the snapshot."""
        subjects = {name: msgspec.to_builtins(subject) for name, subject in sorted(self.subjects.items())}
        return {"catalog": self.catalog, "subjects": subjects, "level": self.state.level, "mode": self.state.mode}


@dataclass(frozen=True)
class RegistryEvents:
    """The events of a cluster's topics. `topics`: their part of the snapshot; `drift`: subjects without a topic and topics without a
    subject.
    """

    topics: dict[str, Any]
    events: tuple[Json, ...] = ()
    drift: tuple[list[str], list[str]] = ([], [])

    @property
    def snapshot(self) -> dict[str, Any]:
        """The topics' part of the snapshot."""
        return {"topics": self.topics, "drift": {"subjects": self.drift[0], "topics": self.drift[1]}}


def merge_subjects(state: RegistryState, before: Snapshot | None) -> RegistrySubjects:
    """Merge the answers of a registry with the subjects in the previous snapshot."""
    was = before or {}
    catalog = [Tagging(*tagging) for tagging in was.get("catalog", ())] if state.catalog is None else list(state.catalog)
    level = was.get("level", "") if state.level is None else state.level
    mode = was.get("mode", "") if state.mode is None else state.mode
    return RegistrySubjects(dataclasses.replace(state, level=level, mode=mode), _versions(state, subjects_in(before)), catalog)


def translate(
    state: RegistryState, before: Snapshot | None, shared: SharedMetadata, now_us: int, settings: RegistrySettings
) -> Observation:
    """Return the events of a schema registry, and its next snapshot."""
    here = merge_subjects(state, before)
    was = before or {}
    cluster = shared.cluster(settings.kafka) if settings.kafka else shared.clusters[0] if len(shared.clusters) == 1 else None
    snapshot = {**here.snapshot, "catalog": here.catalog if settings.catalog else []}
    if cluster is None and not settings.kafka:
        why = f"{len(shared.clusters)} Kafka clusters are known instead of one; set `kafka` to a server of the cluster of the subjects"
        unseen = (*here.unseen, Unseen("topics of the subjects", why))
        return Observation({**snapshot, **RegistryEvents(was.get("topics", {})).snapshot}, unseen=unseen)
    namespace = cluster.namespace if cluster else shared.namespace("", settings.kafka)
    seen = translate_cluster(here, namespace, cluster, was.get("topics", {}), now_us, settings, urlsplit(settings.url).netloc)
    found = describe_drift(seen.drift, len(here.subjects), cluster)
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
    """Return the events of the topics in a namespace.

    `before`: each topic's part of the previous snapshot. `registry`: the name of the registry. `described`: datasets whose description
    comes from another system and takes precedence.
    """
    subjects = here.subjects
    placed = topics_of_subjects(subjects, cluster, settings.strategies)
    builder = TopicEvents(registry, here.state, before, now_us, tags_by_target(here.catalog, cluster), described)
    events: list[Json] = []
    topics: dict[str, Any] = {}
    for topic, versions in sorted(_by_topic(placed).items()):
        topics[topic], more = builder.topic((namespace, topic), versions, here.versions)
        events += more
    for topic, entry in sorted(before.items()):
        if topic not in topics and (cluster is None or cluster.topics is None or topic in cluster.topics):
            events.append(builder.undescribed(topic, entry))
    return RegistryEvents(topics, tuple(events), find_drift(subjects, placed, cluster, settings))


def shared_metadata(snapshot: Snapshot) -> SharedMetadata:
    """The metadata for other sources: the schemas of topics in a snapshot."""
    subjects = subjects_in(snapshot)
    schemas: dict[tuple[DatasetName, str], TopicSchema] = {}
    for topic, entry in snapshot.get("topics", {}).items():
        versions = [
            SubjectVersion(name, SubjectTopic(topic, part, ""), subjects[name]) for name, part, _ in entry["subjects"] if name in subjects
        ]
        for part in (KEY, VALUE):
            if here := [version for version in versions if version.target.part == part and version.subject.fields is not None]:
                version = "; ".join(version.version for version in here)
                schemas[(entry["namespace"], topic), part] = TopicSchema(fields_of_part(here, part), version)
    return SharedMetadata(schemas=schemas)


def _versions(state: RegistryState, was: Mapping[str, Subject]) -> dict[str, list[tuple[Subject, int | None]]]:
    """Return the new versions of each subject, oldest first, or else its known one, each with its time of registration."""
    found: dict[str, list[tuple[Subject, int | None]]] = {}
    for name in sorted(state.listed):
        new = [(subject_of(version, state.texts), version.at_us) for version in state.new.get(name, ())]
        versions = new or [(was[name], None)] if name in was or new else []
        if versions:
            own = was.get(name)
            level = state.levels.get(name, own.level if own else "")
            mode = state.modes.get(name, own.mode if own else "")
            deleted = name in state.deleted
            ids = tuple(sorted({*(own.ids if own else ()), *(version.id for version, _ in versions)}))
            found[name] = [(replace(version, ids=ids, level=level, mode=mode, deleted=deleted), at) for version, at in versions]
    return found


def _by_topic(placed: Mapping[str, tuple[SubjectTopic, ...]]) -> dict[str, list[tuple[str, SubjectTopic]]]:
    found: dict[str, list[tuple[str, SubjectTopic]]] = {}
    for name, here in sorted(placed.items()):
        for target in here:
            found.setdefault(target.topic, []).append((name, target))
    return found
