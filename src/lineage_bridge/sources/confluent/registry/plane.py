"""The plane of a Schema Registry: its subjects, and the topics of the environment's clusters that they describe."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.answers import RegistryState, Tagging
from lineage_bridge.sources.common.registry.client import RegistryClient
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject
from lineage_bridge.sources.common.registry.translate import RegistryEvents, merge_subjects, shared_metadata, subjects_in, translate_cluster
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata, merge_metadata
from lineage_bridge.sources.confluent.organization import KafkaCluster, SchemaRegistry
from lineage_bridge.sources.confluent.plane import Plane, PlaneContext, Planes
from lineage_bridge.sources.confluent.registry.client import poll_number, registries, registry_http, unavailable_registry_reason

_SUBJECTS_PER_POLL = 25
"""Subjects per poll for which compatibility and mode are fetched. The first poll fetches none, to need only a few calls."""


class RegistryPlane(Plane[RegistryState]):
    """Observes the Schema Registry of an environment."""

    name: ClassVar[str] = "registry"
    stage: ClassVar[int] = 2

    def __init__(self, context: PlaneContext, registry: SchemaRegistry) -> None:
        super().__init__(context, f"{registry.environment}/{registry.id}")
        self.registry = registry

    @property
    def clusters(self) -> list[KafkaCluster]:
        """The observed clusters of the environment."""
        return [cluster for cluster in self.context.observed.kafka_clusters if cluster.environment == self.registry.environment]

    @property
    def _has_single_cluster(self) -> bool:
        """Whether the environment has at most one cluster, so that all subjects belong to its topics."""
        clusters = self.context.organization.kafka_clusters
        return sum(cluster.environment == self.registry.environment for cluster in clusters) <= 1

    def unavailable_reason(self) -> str:
        """Why the registry cannot be read: its API key or its address is missing. Empty if both are known."""
        return unavailable_registry_reason(self.context, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> RegistryState:
        """Fetch all schemas in one listing, and the schemas that they refer to."""
        http = registry_http(self.context, self.registry, self.key)
        client = RegistryClient(self._settings(), http, _SUBJECTS_PER_POLL if before else 0)
        return client.look(subjects_in(before), poll_number(now_us, self.settings.interval_s))

    def translate(self, fetched: RegistryState, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events with what is new about the topics of each cluster."""
        subjects = merge_subjects(dataclasses.replace(fetched, catalog=tuple(self._tags(shared))), before)
        previous: Mapping[str, Any] = (before or {}).get("clusters", {})
        translated: dict[str, RegistryEvents] = {}
        unseen: list[Unseen] = []
        for own in self.clusters:
            cluster = shared.cluster(own.id)
            topics: Mapping[str, Any] = previous.get(own.id, {}).get("topics", {})
            if (cluster is None or cluster.topics is None) and not self._has_single_cluster and fetched.listed:
                unseen.append(
                    Unseen(f"topics of {own.id}", "the topics of the cluster are unknown, so subjects cannot be attributed to them")
                )
                translated[own.id] = RegistryEvents(dict(topics))
                continue
            translated[own.id] = translate_cluster(
                subjects,
                own.namespace,
                cluster or ClusterMetadata(own.id, own.namespace),
                topics,
                now_us,
                self._settings(),
                f"{self.registry.environment}/{self.registry.id}",
                shared.described,
            )
        clusters = {id_: result.snapshot for id_, result in translated.items()}
        events = [event for result in translated.values() for event in result.events]
        without_topic = self._without_topic(subjects.subjects, translated) if not unseen else ()
        snapshot = {**subjects.snapshot, "catalog": [], "clusters": clusters}
        return Observation(snapshot, tuple(events), unseen=(*subjects.unseen, *unseen, *without_topic))

    def empty_answer(self) -> RegistryState:
        """Return an answer without subjects."""
        return RegistryState(frozenset())

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the schemas of topics."""
        subjects = snapshot["subjects"]
        return merge_metadata(
            shared_metadata({"subjects": subjects, "topics": cluster["topics"]}) for cluster in snapshot["clusters"].values()
        )

    def _settings(self) -> RegistrySettings:
        return RegistrySettings(url=self.registry.url or "http://registry", strategies=self.settings.strategies)

    def _tags(self, shared: SharedMetadata) -> list[Tagging]:
        """Return the catalog's tags on schemas of this registry and on topics of its environment."""
        clusters = {cluster.namespace: cluster.id for cluster in self.clusters}
        found: list[Tagging] = []
        for (namespace, name), tags in shared.tags.items():
            if namespace in clusters:
                found += [Tagging("kafka_topic", f"{clusters[namespace]}:{name}", "", tag) for tag in tags]
            elif namespace == self.registry.namespace:
                context, id_, path = (*name.split(":", 2), "")[:3]
                found += [Tagging("sr_field", f"{context}:{id_}", path, tag) for tag in tags]
        return sorted(found)

    def _without_topic(self, subjects: Mapping[str, Subject], translated: Mapping[str, RegistryEvents]) -> list[Unseen]:
        """Report the subjects that describe no topic in any of the clusters."""
        without = set(subjects)
        for result in translated.values():
            without &= set(result.drift[0])
        if not without:
            return []
        why = (
            f"no cluster of {self.registry.environment} has such topics, or the subjects' names do not contain the topic; set `strategies`"
        )
        examples = ", ".join(sorted(without)[:10])
        return [Unseen("subjects without a topic", f"{len(without)} of {len(subjects)}: {examples}: {why}")]


def planes(context: PlaneContext) -> Planes:
    """Create one plane for each registry."""
    for registry in registries(context):
        yield RegistryPlane(context, registry)
