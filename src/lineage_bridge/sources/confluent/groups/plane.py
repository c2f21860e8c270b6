"""The plane of groups: a cluster's consumer groups and transactional producers, read from the brokers or, if these cannot be reached, from
its REST API.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.events import translate
from lineage_bridge.sources.common.kafka.events.groups import GroupContext, group_events
from lineage_bridge.sources.common.kafka.events.producers import producer_events
from lineage_bridge.sources.common.kafka.look import look
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState
from lineage_bridge.sources.common.kafka.look.scope import is_data
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol
from lineage_bridge.sources.common.kafka.settings import KafkaSettings
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.groups.rest import fetch_groups
from lineage_bridge.sources.confluent.groups.topology import with_known_topics
from lineage_bridge.sources.confluent.kafka_rest import ClusterPlane, for_each_cluster

RETRY_US = 3_600_000_000
"""How long to wait before trying brokers again that did not answer, because each attempt may take the full timeout."""
_LONGEST_TIMEOUT_S = 10.0
_OWNED = re.compile(r"connect-c?lcc-[a-z0-9]+|_confluent.*")
"""Groups of connectors and of ksqlDB, which are not jobs of their own, even if their owners are unknown."""


@dataclass(frozen=True)
class GroupListing:
    """The groups and producers that a poll found. `blocked`: the reason why the brokers could not be reached, and when that was
    (microseconds). `is_all_gone`: the cluster no longer exists.
    """

    seen: ClusterState
    blocked: tuple[str, int] | None = None
    is_all_gone: bool = False

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be fetched in this poll."""
        if self.blocked is None:
            return self.seen.unseen
        why = f"{self.blocked[0]}; REST is used instead, which does not report transactional producers"
        return (Unseen("brokers", why), *self.seen.unseen)


class GroupsPlane(ClusterPlane[GroupListing]):
    """Observes the groups of a cluster. Its snapshot has `groups`, `producers`, the `ends` of topics, and `blocked` if it is set."""

    name, stage = "groups", 5

    def fetch(self, before: Snapshot | None, now_us: int) -> GroupListing:
        """Fetch groups from the brokers or from the REST API. Raises SourceError if groups cannot be listed."""
        previous = before or {}
        how, blocked = self.settings.groups_by, previous.get("blocked")
        if how == "rest" or (how == "auto" and not self.cluster.bootstrap):
            return GroupListing(self._by_rest(previous))
        if how == "protocol" or blocked is None or now_us - blocked[1] >= RETRY_US:
            try:
                return GroupListing(self._by_protocol(previous))
            except SourceError as error:
                if how == "protocol":
                    raise
                blocked = str(error), now_us
        return GroupListing(self._by_rest(previous), (blocked[0], blocked[1]))

    def _by_protocol(self, previous: Snapshot) -> ClusterState:
        settings = self._kafka_settings()
        with KafkaProtocol(settings) as wire:
            return look.poll_groups(wire, settings, translate.recorded_names(previous, 0))

    def _by_rest(self, previous: Snapshot) -> ClusterState:
        kinds = {name: state["kind"] for name, state in previous.get("groups", {}).items()}
        has_lags = self.cluster.kind.lower() in ("dedicated", "")
        return fetch_groups(self.rest(), self.cluster.id, kinds, lambda name: not _OWNED.fullmatch(name), has_lags=has_lags)

    def _kafka_settings(self) -> KafkaSettings:
        key, protocol = self.credential, self.settings.kafka_security_protocol
        login: dict[str, Any] = {"sasl_mechanism": "PLAIN", "username": key.key, "password": key.secret} if "SASL" in protocol else {}
        if protocol.endswith("SSL"):
            login["ssl_ca_file"] = self.settings.ca_file
        timeout_s = min(self.settings.timeout_s, _LONGEST_TIMEOUT_S)
        try:
            return KafkaSettings.model_validate(
                {"bootstrap_servers": self.cluster.bootstrap, "security_protocol": protocol, "timeout_s": timeout_s, **login},
                context=self.settings.context,
            )
        except ValueError as error:
            raise SourceError(
                f"'{self.cluster.bootstrap}' is not a valid list of bootstrap servers", "check the cluster's servers in Confluent Cloud"
            ) from error

    def translate(self, fetched: GroupListing, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for groups and producers that started, continue or ended."""
        previous: Mapping[str, Any] = before or {}
        groups_before, producers_before = previous.get("groups", {}), previous.get("producers", {})
        cluster = shared.cluster(self.cluster.id)
        seen = with_known_topics(fetched.seen, frozenset((cluster and cluster.topics) or ()))
        if fetched.is_all_gone:
            ids = frozenset(id_ for state in producers_before.values() for id_ in state["ids"])
            seen = replace(seen, groups_gone=frozenset(groups_before), transactions={}, transactions_gone=ids)
        builder = self.event_builder(now_us)
        names = {*(seen.groups or {}), *groups_before}
        owners = {group: job for (where, group), job in shared.owners.items() if where == self.cluster.id}
        owned = frozenset(owners) | {name for name in names if _OWNED.fullmatch(name)}
        writers, producers, written = producer_events(builder, seen, producers_before, names, is_data)
        readers, groups = group_events(builder, seen, groups_before, GroupContext(written, owned, is_data))
        same = translate.group_aliases(builder, groups, owners)
        ends = {topic: sum(offsets) for topic, offsets in sorted(seen.ends.items()) if min(offsets, default=-1) >= 0}
        snapshot: dict[str, Any] = {"groups": groups, "producers": producers, "ends": {**previous.get("ends", {}), **ends}}
        if fetched.blocked:
            snapshot["blocked"] = list(fetched.blocked)
        return Observation(snapshot, (*writers, *readers), tuple(same), fetched.unseen)

    def empty_answer(self) -> GroupListing:
        """Return an answer without groups."""
        return GroupListing(ClusterState(self.cluster.id, groups={}), is_all_gone=True)

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the topics that groups read, and the groups' offsets."""
        groups: Mapping[str, Any] = snapshot["groups"]
        read = {
            (name, topic): sum(offset for offset in offsets if offset >= 0)
            for name, state in groups.items()
            for topic, offsets in state["at"].items()
        }
        reads = {name: frozenset(state["topics"]) for name, state in groups.items()}
        cluster = ClusterMetadata(
            self.cluster.id, self.cluster.namespace, self.bootstrap_servers, groups=reads, ends=snapshot["ends"], read=read
        )
        return SharedMetadata((cluster,))


planes = for_each_cluster(GroupsPlane)
