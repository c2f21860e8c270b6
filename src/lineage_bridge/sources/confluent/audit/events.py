"""Converts requests in the audit log to a facet of the datasets and jobs that they concern. The requests create no lineage. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import digest
from lineage_bridge.sources.common.kafka.events.topics import STATISTICS_EVERY_US
from lineage_bridge.sources.common.shared_metadata import SharedMetadata
from lineage_bridge.sources.confluent.audit.parse import ACCESS, CHANGES, STATEMENT, SUBJECT, TOPIC
from lineage_bridge.sources.confluent.audit.requests import IDENTITY, Requests, newest_first
from lineage_bridge.sources.confluent.namespaces import UserTopics
from lineage_bridge.sources.confluent.organization import Organization

PRODUCER = EventBuilder("https://lineagebridge.dev/sources/confluent/audit-log")
FACET = "confluent_changes"
DATASET, JOB = "Dataset", "Job"
_VERSION = re.compile(r"(?P<subject>.+) version \d+, id \d+")
Emitted = list[Any]
"""What was last emitted about a dataset or job: digests of its changes and of its access facets, and the time (UTC microseconds)."""


def change_events(
    resources: Mapping[str, Requests], targets: "Targets", emitted: Mapping[str, Emitted], now_us: int
) -> tuple[list[Json], dict[str, Emitted]]:
    """Return events about datasets and jobs that have new changes, or new access checks and no event in the last hour. Also returns what
    was emitted, for the snapshot.
    """
    by_node: dict[tuple[str, DatasetName], dict[str, list[Json]]] = {}
    for key, requests in resources.items():
        kind, names = targets.find(key)
        for name in names:
            merged = by_node.setdefault((kind, name), {category: [] for category in IDENTITY})
            for category in IDENTITY:
                merged[category] += [{**request, "resource": _title(key)} for request in requests[category]]
    events: list[Json] = []
    after: dict[str, Emitted] = {}
    for (kind, name), requests in sorted(by_node.items()):
        node = f"{kind} {name[0]} {name[1]}"
        facet, after[node] = _facet(requests, emitted.get(node, ["", "", 0]), kind, targets.shared, now_us)
        if facet:
            events.append(_event(kind, name, {FACET: facet}, now_us))
    return events, after


class Targets:
    """Finds the known datasets and jobs that the resources in the audit log denote."""

    def __init__(self, organization: Organization, shared: SharedMetadata) -> None:
        self.shared = shared
        self._organization, self._topics = organization, UserTopics(organization, shared)
        self._jobs = frozenset(shared.jobs.values())
        self._subjects: dict[tuple[str, str], set[DatasetName]] = {}
        for environment, subject, topic in self._subjects_of_topics():
            self._subjects.setdefault((environment, subject), set()).add(topic)

    def find(self, key: str) -> tuple[str, list[DatasetName]]:
        """Find the datasets or jobs of a resource. Returns DATASET or JOB, and their names; no names if the resource is unknown."""
        kind, scope, name = key.split(" ", 2)
        if kind == TOPIC:
            return DATASET, _as_list(self._topics.find(scope, name))
        if kind == SUBJECT:
            registries = self._organization.registries
            environment = next((registry.environment for registry in registries if registry.id == scope), "")
            return DATASET, sorted(self._subjects.get((environment, name), ()))
        if kind == STATEMENT:
            return JOB, _as_list(self.shared.jobs.get(f"{scope}/{name}"))
        cluster = self._organization.cluster(scope)
        by_name = (cluster.namespace, name) if cluster else None
        return JOB, _as_list(self.shared.jobs.get(name) or (by_name if by_name in self._jobs else None))

    def _subjects_of_topics(self) -> Iterator[tuple[str, str, DatasetName]]:
        """Yield environment, subject and topic for each registered schema of a topic."""
        environments = {cluster.namespace: cluster.environment for cluster in self._organization.kafka_clusters}
        for (topic, _), schema in self.shared.schemas.items():
            versions = schema.version.split("; ") if topic[0] in environments else ()
            for match in map(_VERSION.fullmatch, versions):
                if match:
                    yield environments[topic[0]], match["subject"], topic


def _event(kind: str, name: DatasetName, facets: Mapping[str, Json], now_us: int) -> Json:
    return PRODUCER.dataset_event(now_us, name, facets) if kind == DATASET else PRODUCER.job_event(now_us, name, job_facets=facets)


def _facet(requests: Requests, emitted: Emitted, kind: str, shared: SharedMetadata, now_us: int) -> tuple[Json | None, Emitted]:
    """Return the facet with these requests, if it is time to emit one, and what was last emitted."""
    newest = {category: newest_first(requests[category]) for category in IDENTITY}
    members = {category: [_entry(request, shared) for request in newest[category]] for category in IDENTITY}
    changes, access = digest(members[CHANGES]), digest(sorted(_identity(request) for request in newest[ACCESS]))
    is_hour_over = now_us - emitted[2] >= STATISTICS_EVERY_US
    if changes == emitted[0] and (access == emitted[1] or not is_hour_over):
        return None, emitted
    return PRODUCER.own_facet("1-0-0", f"ConfluentChanges{kind}Facet", **members), [changes, access, now_us]


def _entry(request: Json, shared: SharedMetadata) -> Json:
    name = shared.names.get(request["principal"], "")
    optional = {
        "time": format_time(request["at"]),
        **{key: request[key] for key in ("resource", "method", "principal", "client")},
        "name": name,
    }
    return {**{key: value for key, value in optional.items() if value}, "granted": request["granted"]}


def _title(key: str) -> str:
    """Return how the facet names a resource: its kind and its name."""
    kind, _, name = key.split(" ", 2)
    return f"{kind} {name}"


def _identity(request: Json) -> list[Any]:
    return [request[member] for member in IDENTITY[ACCESS]]


def _as_list(name: DatasetName | None) -> list[DatasetName]:
    return [name] if name else []
