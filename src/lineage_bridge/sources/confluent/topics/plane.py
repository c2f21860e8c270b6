"""Topics of each Kafka cluster: what they are, how they are set up, who may use them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import msgspec

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.kafka.events.builder import OUT
from lineage_bridge.sources.common.kafka.events.topics import ExtraFacets, topic_events
from lineage_bridge.sources.common.kafka.look.cluster import AclRule, ClusterState, KafkaTopic
from lineage_bridge.sources.common.kafka.look.scope import is_data
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.kafka_rest import ClusterPlane, Count, Rest, Text, for_each_cluster

_CONFIGURATIONS, _RIGHTS, _GONE = "topics: configurations", "rights on topics", "topics: those that are listed no more"
_AnswerT = TypeVar("_AnswerT")


class _Topic(msgspec.Struct):
    topic_name: Text
    is_internal: bool = False
    partitions_count: Count = 0
    replication_factor: Count = 0


class _Config(msgspec.Struct):
    topic_name: str
    name: str
    value: str | None = None
    is_default: bool = False
    is_sensitive: bool = False
    source: str = ""

    @property
    def is_own(self) -> bool:
        """Whether it is set of the topic itself, and may be told."""
        return not self.is_sensitive and (self.source == "DYNAMIC_TOPIC_CONFIG" if self.source else not self.is_default)


class _Acl(msgspec.Struct):
    resource_type: str
    resource_name: str
    pattern_type: str
    principal: str
    operation: str
    permission: str


@dataclass(frozen=True)
class Listed:
    """The topics of a cluster. `hidden` are those that are not told, but that the cluster does not say are gone."""

    seen: ClusterState
    hidden: frozenset[str] = frozenset()

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be had."""
        return self.seen.unseen


class Topics(ClusterPlane[Listed]):
    """The topics of a cluster. Its snapshot: `topics`, as `topic_events` remembers them."""

    name, stage = "topics", 1

    def fetch(self, before: Snapshot | None, now_us: int) -> Listed:
        """Three calls, and one for each topic that is listed no more. Raises SourceError if topics cannot be listed."""
        del now_us
        rest, failures = self.rest(), Failures()
        topics = _topics(rest)
        missed = sorted(set((before or {}).get("topics", ())) - set(topics))
        sought = rest.of_each(missed, lambda name: _sought(rest, name), _GONE, failures)
        gone = {name for name, found in sought.items() if found is None}
        topics |= {name: found for name, found in sought.items() if found is not None}
        told = {name: topic for name, topic in topics.items() if is_data(name, topic.internal)}
        configs = _attempted(_CONFIGURATIONS, lambda: _configs(rest), failures)
        rules = _attempted(_RIGHTS, lambda: _rules(rest), failures)
        seen = ClusterState(
            self.cluster.id,
            topics=told,
            configs={} if configs is None else {name: configs.get(name, {}) for name in told},
            rules=rules,
            unseen=failures.unseen(),
        )
        return Listed(seen, frozenset({*missed, *topics} - gone - told.keys()))

    def tell(self, fetched: Listed, before: Snapshot | None, around: SharedMetadata, now_us: int) -> Observation:
        """Topics that are new, that changed, or that are gone."""
        held: Mapping[str, Any] = (before or {}).get("topics", {})
        gone = held.keys() - (fetched.seen.topics or {}).keys() - fetched.hidden
        seen = replace(fetched.seen, topics_gone=frozenset(gone))
        events, topics = topic_events(self.teller(now_us), seen, held, {}, self._facets(around), around.names)
        return Observation({"topics": topics}, tuple(events), unseen=fetched.unseen)

    def nothing(self) -> Listed:
        """No topic."""
        return Listed(ClusterState(self.cluster.id, topics={}))

    def know(self, snapshot: Snapshot) -> SharedMetadata:
        """The cluster and its topics."""
        one = ClusterMetadata(self.cluster.id, self.cluster.space, self.servers, frozenset(snapshot["topics"]))
        return SharedMetadata(clusters=(one,))

    def _facets(self, around: SharedMetadata) -> ExtraFacets:
        here = self.cluster
        environment = self.around.whole.environment(here.environment)
        named = {
            "cluster_name": here.name,
            "environment_name": environment.name if environment else "",
            "cloud": here.cloud,
            "region": here.region,
            "bootstrap_servers": next(iter(self.servers), ""),
        }
        place = {"cluster_id": here.id, "environment_id": here.environment, **{key: said for key, said in named.items() if said}}

        def of(name: str, topic: KafkaTopic) -> Mapping[str, Json]:
            members: Json = {**place, "partitions": len(topic.leaders), "replication_factor": topic.replication}
            tags = around.tags.get((here.space, name))
            if tags:
                members["tags"] = sorted(tags)
            return {"confluent_kafka": OUT.own_facet("1-0-0", "ConfluentKafkaDatasetFacet", **members)}

        return of


planes = for_each_cluster(Topics)


def _attempted(what: str, ask: Callable[[], _AnswerT], failures: Failures) -> _AnswerT | None:
    """What `ask` gives; None if it fails."""
    try:
        return ask()
    except SourceError as error:
        failures.add_listing(what, error)
        return None


def _topics(rest: Rest) -> dict[str, KafkaTopic]:
    return {one.topic_name: _topic(one) for one in rest.listed(_Topic, "topics")}


def _topic(one: _Topic) -> KafkaTopic:
    return KafkaTopic("", one.is_internal, (0,) * one.partitions_count, one.replication_factor)


def _sought(rest: Rest, name: str) -> KafkaTopic | None:
    """A topic that is asked for by name; None if there is none."""
    try:
        return _topic(rest.get(_Topic, "topics", name))
    except MissingError:
        return None


def _configs(rest: Rest) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for one in rest.listed(_Config, "topics", "-", "configs"):
        if one.is_own:
            found.setdefault(one.topic_name, {})[one.name] = one.value or ""
    return found


def _rules(rest: Rest) -> tuple[AclRule, ...]:
    told = rest.listed(_Acl, "acls", resource_type="TOPIC")
    return tuple(
        sorted(
            AclRule(one.resource_name, one.pattern_type, one.principal, one.operation, one.permission == "ALLOW")
            for one in told
            if one.resource_type == "TOPIC" and one.pattern_type in ("LITERAL", "PREFIXED") and one.operation in ("ALL", "READ", "WRITE")
        )
    )
