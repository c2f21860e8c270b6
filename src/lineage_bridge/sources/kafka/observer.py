"""The observer of a Kafka cluster."""

from collections.abc import Iterator, Mapping
from typing import Any

from lineage_bridge.errors import ConfigError, LineageBridgeError, SourceError
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.sources.kafka.groupevents import Around, group_events
from lineage_bridge.sources.kafka.producerevents import producer_events
from lineage_bridge.sources.kafka.scope import Known, is_told
from lineage_bridge.sources.kafka.seen import Seen
from lineage_bridge.sources.kafka.settings import KafkaSettings
from lineage_bridge.sources.kafka.teller import Teller
from lineage_bridge.sources.kafka.topicevents import topic_events
from lineage_bridge.sources.knowledge import Cluster, Knowledge
from lineage_bridge.sources.observer import Check, Kind, Observation, Observer, SameJob, SameSpace, Snapshot

try:
    from lineage_bridge.sources.kafka.look import checked, look
    from lineage_bridge.sources.kafka.wire import Wire
except ImportError as error:
    raise ConfigError("a Kafka cluster takes packages more", "pip install 'lineage-bridge[kafka]'") from error


def known(before: Snapshot | None) -> Known:
    """What a snapshot says was told."""
    held = before or {}
    topics: Mapping[str, Any] = held.get("topics", {})
    return Known(
        topics=frozenset(topics),
        ends={name: state["end"] for name, state in topics.items() if state.get("end") is not None},
        groups={name: state["kind"] for name, state in held.get("groups", {}).items()},
        transactions=frozenset(ident for state in held.get("producers", {}).values() for ident in state["ids"]),
    )


def translate(settings: KafkaSettings, seen: Seen, before: Snapshot | None, around: Knowledge, now_us: int) -> Observation:
    """What was seen as events. Pure."""
    held = before or {}
    namespace = f"kafka://{settings.server}"
    teller = Teller(seen.cluster, namespace, now_us, settings.heartbeat_s)

    def told(topic: str) -> bool:
        return is_told(settings, topic)

    columns: dict[str, tuple[SchemaField, ...]] = {}
    owners = {group: job for (cluster, group), job in around.owners.items() if cluster == seen.cluster}
    groups_before: Mapping[str, Any] = held.get("groups", {})
    names = {*(seen.groups or {}), *groups_before}
    writers, producers, written = producer_events(teller, seen, held.get("producers", {}), names, told)
    readers, groups = group_events(teller, seen, groups_before, Around(written, frozenset(owners), told))
    topics_told, topics = topic_events(teller, seen, held.get("topics", {}), columns)
    servers = sorted({*settings.bootstrap_servers.split(","), *seen.brokers})
    same: list[SameJob | SameSpace] = [
        SameSpace(namespace, f"kafka://{other}", f"cluster id {seen.cluster} answered by {other}")
        for other in (*servers, *([seen.cluster] if seen.cluster else []))
        if other not in held.get("same", ()) and f"kafka://{other}" != namespace
    ]
    joined = sorted(group for group, state in groups.items() if group in owners and state.get("told") and not state.get("joined"))
    for group in joined:
        job = owners[group]
        if job != (namespace, group):
            same.append(SameJob(job[0], job[1], namespace, group, f"group {group} of cluster {seen.cluster} is that job's"))
        groups[group] = {**groups[group], "joined": True}
    snapshot = {
        "cluster": seen.cluster,
        "servers": servers,
        "same": sorted({*held.get("same", ()), *servers, seen.cluster}),
        "topics": topics,
        "groups": groups,
        "producers": producers,
    }
    return Observation(snapshot, (*topics_told, *writers, *readers), tuple(same), seen.unseen)


class KafkaObserver(Observer[KafkaSettings]):
    """A Kafka cluster, seen through its own protocol. Connections are opened at each look: none is kept idle between."""

    def test(self) -> Iterator[Check]:
        """Reach a broker and log in; then each listing."""
        try:
            with Wire(self.settings) as wire:
                yield Check("reach", True, f"{self.settings.server} answers, {len(wire.brokers)} brokers")
                for step, seen, failure in checked(wire, self.settings):
                    yield Check(step, not failure, failure or seen, _HINTS.get(step, "") if failure else "")
        except LineageBridgeError as error:
            yield Check("reach", False, str(error), error.hint)

    def observe(self, before: Snapshot | None, around: Knowledge, now_us: int) -> Observation:
        """Look once. Raises SourceError."""
        with Wire(self.settings) as wire:
            seen = look(wire, self.settings, known(before))
        if before and seen.cluster != before["cluster"]:
            raise SourceError(
                f"{self.settings.server} is another cluster now: {seen.cluster}, it was {before['cluster']}",
                "remove the source and add it again if that is meant",
            )
        return translate(self.settings, seen, before, around, now_us)

    def knowledge(self, snapshot: Snapshot) -> Knowledge:
        """The cluster, its topics, groups and offsets."""
        topics, groups = snapshot["topics"], snapshot["groups"]
        cluster = Cluster(
            id=snapshot["cluster"],
            namespace=f"kafka://{self.settings.server}",
            servers=frozenset(snapshot["servers"]),
            topics=frozenset(topics),
            groups={name: frozenset(state["topics"]) for name, state in groups.items()},
            ends={name: state["end"] for name, state in topics.items() if state["end"] is not None},
            read={
                (name, topic): sum(place for place in places if place >= 0)
                for name, state in groups.items()
                for topic, places in state["at"].items()
            },
        )
        return Knowledge(clusters=(cluster,))

    def close(self) -> None:
        """Nothing is held between two looks."""


_HINTS = {
    "configurations": "allow DESCRIBE_CONFIGS on topics",
    "groups": "allow DESCRIBE on groups",
    "transactions": "allow DESCRIBE on transactional ids",
    "producers": "allow READ on topics",
    "rights": "allow DESCRIBE on the cluster",
    "offsets": "allow DESCRIBE on topics",
}

KIND = Kind(KafkaSettings, KafkaObserver, "a Kafka cluster: topics, groups, producers, offsets, rights")
