"""Converts the state of a cluster to events and to metadata for other sources. Pure."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.sources.common.kafka.events.builder import KafkaEventBuilder
from lineage_bridge.sources.common.kafka.events.groups import GroupContext, group_events
from lineage_bridge.sources.common.kafka.events.producers import producer_events
from lineage_bridge.sources.common.kafka.events.topics import STATISTICS_EVERY_US, settled, topic_events
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState, RecordSample
from lineage_bridge.sources.common.kafka.look.sampling import from_json, to_json
from lineage_bridge.sources.common.kafka.look.scope import RecordedNames, is_reported, matches
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, SameJob, SameNamespace, Snapshot
from lineage_bridge.sources.common.shared_metadata import KEY, VALUE, ClusterMetadata, SharedMetadata, TopicSchema, topic_columns

_OF_RECORDS, _SAMPLED_AT_ONCE = 2, 100
_CONFIGURED_EVERY_US = 600_000_000


def recorded_names(before: Snapshot | None, now_us: int) -> RecordedNames:
    """Return the names in the previous snapshot, and the topics whose configurations need not be fetched at this poll.

    All configurations are fetched only once in ten minutes, because they rarely change and are most of the size of the answers.
    """
    held = before or {}
    topics: Mapping[str, Any] = held.get("topics", {})
    return RecordedNames(
        topics=frozenset(topics),
        settled=settled(topics) if now_us - held.get("configured", 0) < _CONFIGURED_EVERY_US else frozenset(),
        ends={name: state["end"] for name, state in topics.items() if state["end"] is not None},
        groups={name: state["kind"] for name, state in held.get("groups", {}).items()},
        transactions=frozenset(ident for state in held.get("producers", {}).values() for ident in state["ids"]),
    )


def topics_to_sample(settings: KafkaSettings, seen: ClusterState, before: Snapshot | None, now_us: int) -> dict[str, tuple[int, ...]]:
    """Return the topics of which this poll reads some records, with their end offsets: topics with new records, each at most once an
    hour.
    """
    samples: Mapping[str, Any] = (before or {}).get("samples", {})
    ends = {name: offsets for name, offsets in seen.ends.items() if matches(name, settings.sample) and any(offsets)}
    topics = [name for name, offsets in ends.items() if name not in samples or _is_old(samples[name], sum(offsets), now_us)]
    return {name: ends[name] for name in sorted(topics)[:_SAMPLED_AT_ONCE]}


def _is_old(sample: Mapping[str, Any], end: int, now_us: int) -> bool:
    return bool(sample["end"] != end and now_us - sample["at"] >= STATISTICS_EVERY_US)


def translate(settings: KafkaSettings, seen: ClusterState, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
    """Return the events of a Kafka cluster, and its next snapshot."""
    held = before or {}
    builder = KafkaEventBuilder(seen.cluster, f"kafka://{settings.server}", now_us, settings.heartbeat_s)

    def is_selected(topic: str) -> bool:
        return is_reported(settings, topic)

    samples = _samples(seen, held.get("samples", {}), now_us)
    columns = {name: _columns(state) for name, state in samples.items() if not _is_registered(shared, builder.name(name))}
    owners = {group: job for (cluster, group), job in shared.owners.items() if cluster == seen.cluster}
    groups_before: Mapping[str, Any] = held.get("groups", {})
    names = {*(seen.groups or {}), *groups_before}
    writers, producers, written = producer_events(builder, seen, held.get("producers", {}), names, is_selected)
    readers, groups = group_events(builder, seen, groups_before, GroupContext(written, frozenset(owners), is_selected))
    topic_state_events, topics = topic_events(builder, seen, held.get("topics", {}), columns)
    servers = sorted({*settings.bootstrap_servers.split(","), *seen.brokers})
    snapshot = {
        "cluster": seen.cluster,
        "configured": held.get("configured", 0) if seen.settled else now_us,
        "servers": servers,
        "same": sorted({*held.get("same", ()), *servers, seen.cluster} - {""}),
        "topics": topics,
        "groups": groups,
        "producers": producers,
        "samples": samples,
    }
    same: list[SameJob | SameNamespace] = [*_spaces(builder, [*servers, seen.cluster], held.get("same", []))]
    same += group_aliases(builder, groups, owners)
    return Observation(snapshot, (*topic_state_events, *writers, *readers), tuple(same), seen.unseen)


def _samples(seen: ClusterState, before: Mapping[str, Any], now_us: int) -> dict[str, Any]:
    samples = {name: state for name, state in before.items() if name not in seen.topics_gone}
    for name, parts in sorted(seen.samples.items()):
        looks = {part: to_json(parts.get(part, RecordSample())) for part in (KEY, VALUE)}
        samples[name] = {"at": now_us, "end": sum(seen.ends.get(name, ())), **looks}
    return samples


def _columns(state: Mapping[str, Any]) -> tuple[SchemaField, ...]:
    return topic_columns(from_json(state[KEY]).fields, from_json(state[VALUE]).fields)


def _is_registered(shared: SharedMetadata, topic: DatasetName) -> bool:
    schema = shared.schemas.get((topic, VALUE))
    return schema is not None and schema.rank < _OF_RECORDS


def _spaces(builder: KafkaEventBuilder, others: list[str], reported: list[str]) -> list[SameNamespace]:
    """Return the other namespaces of the cluster that have not been reported as equal to `builder.namespace` before."""
    new = [other for other in others if other and other not in reported and f"kafka://{other}" != builder.namespace]
    return [SameNamespace(builder.namespace, f"kafka://{other}", f"cluster id {builder.cluster} answered by {other}") for other in new]


def group_aliases(builder: KafkaEventBuilder, groups: dict[str, Any], owners: Mapping[str, DatasetName]) -> list[SameJob]:
    """Return aliases for groups that were reported as jobs before the job that owns them was known. Each is returned once, and is
    marked in `groups`.
    """
    same = []
    for name in sorted(group for group in groups.keys() & owners.keys() if groups[group].get("told")):
        ours = builder.group(name)
        if owners[name] != ours and not groups[name].get("joined"):
            same.append(SameJob(*owners[name], *ours, f"group {name} of cluster {builder.cluster} is that job's"))
        groups[name] = {**groups[name], "joined": True}
    return same


def shared_metadata(settings: KafkaSettings, snapshot: Snapshot) -> SharedMetadata:
    """The metadata for other sources: the cluster, its topics, groups and offsets, and the fields in sampled records."""
    topics, groups, samples = snapshot["topics"], snapshot["groups"], snapshot["samples"]
    namespace = f"kafka://{settings.server}"
    looks = {(name, part): from_json(state[part]) for name, state in samples.items() for part in (KEY, VALUE)}
    cluster = ClusterMetadata(
        id=snapshot["cluster"],
        namespace=namespace,
        servers=frozenset(snapshot["servers"]),
        topics=frozenset(topics),
        groups={name: frozenset(state["topics"]) for name, state in groups.items()},
        ends={name: state["end"] for name, state in topics.items() if state["end"] is not None},
        read={
            (name, topic): sum(offset for offset in offsets if offset >= 0)
            for name, state in groups.items()
            for topic, offsets in state["at"].items()
        },
        lags={name: state["lag"] for name, state in groups.items() if "lag" in state},
        sampled={key: frozenset(look.ids) for key, look in looks.items() if look.ids},
    )
    schemas = {
        ((namespace, name), part): TopicSchema(look.fields, "as some records have it", _OF_RECORDS)
        for (name, part), look in looks.items()
        if look.fields
    }
    return SharedMetadata(clusters=(cluster,), schemas=schemas)
