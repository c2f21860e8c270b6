"""The plane of a Schema Registry: its subjects, on the topics of every cluster of its environment that has such topics."""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from msgspec.structs import replace

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.http import HttpClient
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.registry.answers import RegistryState, Tagging
from lineage_bridge.sources.common.registry.client import HEADERS, RegistryClient
from lineage_bridge.sources.common.registry.settings import RegistrySettings
from lineage_bridge.sources.common.registry.subjects import Subject
from lineage_bridge.sources.common.registry.translate import RegistryEvents, merge_subjects, shared_metadata, subjects_in, translate_cluster
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata, merge_metadata
from lineage_bridge.sources.confluent.organization import KafkaCluster, Registry
from lineage_bridge.sources.confluent.plane import Around, Plane, Planes
from lineage_bridge.sources.confluent.settings import EVERY

_BY_SUBJECT = 25
"""Of how many subjects compatibility and mode are asked at a poll; at the first poll of none, so that it takes a few calls."""


def registry_http(around: Around, registry: Registry, user: str) -> HttpClient:
    """The client that asks a registry, or the catalog beside it. Raises SourceError for one that cannot be asked."""
    credential = around.settings.credential("registry", registry.id, registry.environment)
    if credential is None or not registry.url:
        raise SourceError(registry_lacks(around, registry))
    return around.clients.http(user, registry.url, credential, f"registry {registry.id}", HEADERS)


def registry_lacks(around: Around, registry: Registry) -> str:
    """Why a registry cannot be asked; empty if it can."""
    if around.settings.credential("registry", registry.id, registry.environment) is None:
        return f"no API key of {registry.id} is set"
    return "" if registry.url else f"the address of {registry.id} is not told; set registry_urls"


def poll_of(now_us: int, interval_s: float) -> int:
    """Which poll this is, for what is asked in turn: a number that grows by one from poll to poll."""
    return int(now_us / 1_000_000 / interval_s)


class RegistryPlane(Plane[RegistryState]):
    """The registry of an environment."""

    name: ClassVar[str] = "registry"
    stage: ClassVar[int] = 2

    def __init__(self, around: Around, registry: Registry) -> None:
        super().__init__(around, f"{registry.environment}/{registry.id}")
        self.registry = registry

    @property
    def clusters(self) -> list[KafkaCluster]:
        """The clusters of the environment that are observed."""
        return [one for one in self.around.estate.kafka if one.environment == self.registry.environment]

    @property
    def _alone_here(self) -> bool:
        """Whether the environment has no more than one cluster, so that its subjects can be of no other's topics."""
        return sum(one.environment == self.registry.environment for one in self.around.whole.kafka) <= 1

    def lacks(self) -> str:
        """A key and an address."""
        return registry_lacks(self.around, self.registry)

    def fetch(self, before: Snapshot | None, now_us: int) -> RegistryState:
        """All schemas in one listing, and what they refer to."""
        http = registry_http(self.around, self.registry, self.key)
        client = RegistryClient(self._settings(), http, _BY_SUBJECT if before else 0)
        return client.look(subjects_in(before), poll_of(now_us, self.settings.interval_s))

    def tell(self, fetched: RegistryState, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """What is new of topics, cluster by cluster."""
        here = merge_subjects(dataclasses.replace(fetched, catalog=tuple(self._tags(around))), before)
        was: Mapping[str, Any] = (before or {}).get("clusters", {})
        told: dict[str, RegistryEvents] = {}
        unseen: list[Unseen] = []
        for one in self.clusters:
            cluster = around.cluster(one.id)
            topics: Mapping[str, Any] = was.get(one.id, {}).get("topics", {})
            if (cluster is None or cluster.topics is None) and not self._alone_here and fetched.listed:
                unseen.append(Unseen(f"topics of {one.id}", "its topics are not known, so nothing tells which subjects are of them"))
                told[one.id] = RegistryEvents(dict(topics))
                continue
            cluster = cluster or ClusterMetadata(one.id, one.space)
            told[one.id] = translate_cluster(
                here,
                one.space,
                cluster,
                topics,
                now_us,
                self._settings(),
                f"{self.registry.environment}/{self.registry.id}",
                around.described,
            )
        snapshot = {
            **here.snapshot,
            "catalog": [],
            "clusters": {id_: one.snapshot for id_, one in told.items()},
        }
        events = [event for one in told.values() for event in one.events]
        alone = self._alone(here.subjects, told) if not unseen else ()
        return Observation(snapshot, tuple(events), unseen=(*here.unseen, *unseen, *alone))

    def nothing(self) -> RegistryState:
        """No subject."""
        return RegistryState(frozenset())

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """The schemas of topics."""
        subjects = snapshot["subjects"]
        return merge_metadata(shared_metadata({"subjects": subjects, "topics": one["topics"]}) for one in snapshot["clusters"].values())

    def _settings(self) -> RegistrySettings:
        return RegistrySettings(url=self.registry.url or "http://registry", strategies=self.settings.strategies)

    def _tags(self, around: SharedMetadata) -> list[Tagging]:
        """The tags of the catalog on schemas of this registry, and on topics of its environment."""
        spaces = {one.space: one.id for one in self.clusters}
        found: list[Tagging] = []
        for (space, name), tags in around.tags.items():
            if space in spaces:
                found += [Tagging("kafka_topic", f"{spaces[space]}:{name}", "", tag) for tag in tags]
            elif space == self.registry.space:
                context, id_, path = (*name.split(":", 2), "")[:3]
                found += [Tagging("sr_field", f"{context}:{id_}", path, tag) for tag in tags]
        return sorted(found)

    def _alone(self, subjects: Mapping[str, Subject], told: Mapping[str, RegistryEvents]) -> list[Unseen]:
        """Subjects that describe no topic in any cluster."""
        alone = set(subjects)
        for one in told.values():
            alone &= set(one.drift[0])
        if not alone:
            return []
        why = f"no cluster of {self.registry.environment} has such topics, or the names do not tell them; set `strategies`"
        return [Unseen("subjects without a topic", f"{len(alone)} of {len(subjects)}: {', '.join(sorted(alone)[:10])}: {why}")]


def registries(around: Around) -> list[Registry]:
    """All registries, with the addresses that are set of them; those that are not listed go by `registry`.

    The address that is set for all is that of a registry without one, or of the only environment's.
    """
    urls, estate = around.settings.registry_urls, around.estate
    listed, common = {one.environment for one in estate.registries}, urls.get(EVERY, "")
    found = [replace(one, url=urls.get(one.environment) or one.url or common) for one in estate.registries]
    set_ = {one.id: urls.get(one.id) or (common if len(estate.environments) == 1 else "") for one in estate.environments}
    return [*found, *(Registry("registry", id_, url) for id_, url in set_.items() if url and id_ not in listed)]


def planes(around: Around) -> Planes:
    """One plane for each registry."""
    for registry in registries(around):
        yield RegistryPlane(around, registry)
