"""Groups of each Kafka cluster, and who writes in transactions: the brokers are asked, or REST where they cannot be reached."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.events import translate
from lineage_bridge.sources.common.kafka.events.groups import GroupContext, group_events
from lineage_bridge.sources.common.kafka.events.producers import producer_events
from lineage_bridge.sources.common.kafka.look import look
from lineage_bridge.sources.common.kafka.look.cluster import STREAMS, ClusterState, KafkaGroup, KafkaTopic, Subtopology
from lineage_bridge.sources.common.kafka.look.purposes import purpose
from lineage_bridge.sources.common.kafka.look.scope import is_data
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.groups import rest
from lineage_bridge.sources.confluent.kafka_rest import ClusterPlane, for_each_cluster

AGAIN_US = 3_600_000_000
"""Brokers that did not answer are tried again after an hour: each attempt may wait for its time to run out."""
_LONGEST_S = 10.0
_OWNED = re.compile(r"connect-lcc-[a-z0-9]+|_confluent.*")
"""Groups of connectors and of ksqlDB, which are no jobs of their own, whether their owners are known or not."""


@dataclass(frozen=True)
class Looked:
    """What was seen. `blocked`: why the brokers could not be asked, and when they were tried (us). `is_all_gone`: the cluster is."""

    seen: ClusterState
    blocked: tuple[str, int] | None = None
    is_all_gone: bool = False

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be had."""
        if self.blocked is None:
            return self.seen.unseen
        return (Unseen("brokers", f"{self.blocked[0]}; REST is asked, which does not tell who writes in transactions"), *self.seen.unseen)


class Groups(ClusterPlane[Looked]):
    """The groups of a cluster. Its snapshot: `groups` and `producers` as they are remembered, `ends` of topics, perhaps `blocked`."""

    name, stage = "groups", 5

    def fetch(self, before: Snapshot | None, now_us: int) -> Looked:
        """Ask the brokers, or REST. Raises SourceError if groups cannot be listed."""
        held = before or {}
        how, blocked = self.settings.groups_by, held.get("blocked")
        if how == "rest" or (how == "auto" and not self.cluster.bootstrap):
            return Looked(self._by_rest(held))
        if how == "protocol" or blocked is None or now_us - blocked[1] >= AGAIN_US:
            try:
                return Looked(self._by_protocol(held))
            except SourceError as error:
                if how == "protocol":
                    raise
                blocked = str(error), now_us
        return Looked(self._by_rest(held), (blocked[0], blocked[1]))

    def _by_protocol(self, held: Snapshot) -> ClusterState:
        settings = self._access()
        with KafkaProtocol(settings) as wire:
            return look.look_at_groups(wire, settings, translate.recorded_names(held, 0))

    def _by_rest(self, held: Snapshot) -> ClusterState:
        before = {name: state["kind"] for name, state in held.get("groups", {}).items()}
        has_lags = self.cluster.kind.lower() in ("dedicated", "")
        return rest.look(self.rest(), self.cluster.id, before, lambda name: not _OWNED.fullmatch(name), has_lags=has_lags)

    def _access(self) -> KafkaSettings:
        key, protocol = self.credential, self.settings.kafka_security_protocol
        login: dict[str, Any] = {"sasl_mechanism": "PLAIN", "username": key.key, "password": key.secret} if "SASL" in protocol else {}
        if protocol.endswith("SSL"):
            login["ssl_ca_file"] = self.settings.ca_file
        timeout_s = min(self.settings.timeout_s, _LONGEST_S)
        try:
            return KafkaSettings(bootstrap_servers=self.cluster.bootstrap, security_protocol=protocol, timeout_s=timeout_s, **login)
        except ValueError as error:
            raise SourceError(f"{self.cluster.bootstrap} is no address of brokers") from error

    def tell(self, fetched: Looked, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Groups and producers that began, go on, or ended."""
        held: Mapping[str, Any] = before or {}
        groups_before, producers_before = held.get("groups", {}), held.get("producers", {})
        cluster = around.cluster(self.cluster.id)
        seen = _with_topics(fetched.seen, frozenset((cluster and cluster.topics) or ()))
        if fetched.is_all_gone:
            ids = frozenset(ident for state in producers_before.values() for ident in state["ids"])
            seen = replace(seen, groups_gone=frozenset(groups_before), transactions={}, transactions_gone=ids)
        teller = self.teller(now_us)
        names = {*(seen.groups or {}), *groups_before}
        owners = {group: job for (where, group), job in around.owners.items() if where == self.cluster.id}
        owned = frozenset(owners) | {name for name in names if _OWNED.fullmatch(name)}
        writers, producers, written = producer_events(teller, seen, producers_before, names, is_data)
        readers, groups = group_events(teller, seen, groups_before, GroupContext(written, owned, is_data))
        same = translate.group_aliases(teller, groups, owners)
        ends = {topic: sum(places) for topic, places in sorted(seen.ends.items()) if min(places, default=-1) >= 0}
        snapshot: dict[str, Any] = {"groups": groups, "producers": producers, "ends": {**held.get("ends", {}), **ends}}
        if fetched.blocked:
            snapshot["blocked"] = list(fetched.blocked)
        return Observation(snapshot, (*writers, *readers), tuple(same), fetched.unseen)

    def nothing(self) -> Looked:
        """No group."""
        return Looked(ClusterState(self.cluster.id, groups={}), is_all_gone=True)

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """What groups read, and how far they are."""
        groups: Mapping[str, Any] = snapshot["groups"]
        read = {
            (name, topic): sum(place for place in places if place >= 0)
            for name, state in groups.items()
            for topic, places in state["at"].items()
        }
        reads = {name: frozenset(state["topics"]) for name, state in groups.items()}
        return SharedMetadata(
            (ClusterMetadata(self.cluster.id, self.cluster.space, self.servers, groups=reads, ends=snapshot["ends"], read=read),)
        )


planes = for_each_cluster(Groups)


def _with_topics(seen: ClusterState, known: frozenset[str]) -> ClusterState:
    """With the cluster's topics, of which topologies that are told in part are completed."""
    groups = {name: _completed(name, group, known) for name, group in (seen.groups or {}).items()}
    topics = seen.topics if seen.topics is not None else {name: KafkaTopic() for name in sorted(known)}
    return replace(seen, topics=topics, groups=None if seen.groups is None else groups)


def _completed(name: str, group: KafkaGroup, known: frozenset[str]) -> KafkaGroup:
    """A group of Kafka Streams whose topology has no sinks, as REST tells it: its own topics are known by their names.

    What is repartitioned goes to the stores by way of that.
    """
    if group.kind != STREAMS or not group.topology or any(part.sinks for part in group.topology):
        return group
    own = sorted(topic for topic in known if topic.startswith(f"{name}-"))
    between = tuple(topic for topic in own if purpose(topic) == "REPARTITION")
    stores = tuple(topic for topic in own if purpose(topic) == "CHANGELOG")
    sources = tuple(sorted({topic for part in group.topology for topic in part.sources} - set(between)))
    parts = (Subtopology(sources, between), Subtopology(between, stores)) if between else (Subtopology(sources, stores),)
    return group._replace(topology=parts, topics=frozenset((*sources, *between)))
