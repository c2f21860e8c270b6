"""The plane of topics: the topics of a Kafka cluster, their configurations and who may use them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.event_builder import Json
from lineage_bridge.sources.common.kafka.events.builder import OUT
from lineage_bridge.sources.common.kafka.events.topics import ExtraFacets, topic_events
from lineage_bridge.sources.common.kafka.look.cluster import ClusterState, KafkaTopic
from lineage_bridge.sources.common.kafka.look.scope import is_data
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.common.observer import Observation, Snapshot, Unseen
from lineage_bridge.sources.common.shared_metadata import ClusterMetadata, SharedMetadata
from lineage_bridge.sources.confluent.kafka_rest import ClusterPlane, for_each_cluster
from lineage_bridge.sources.confluent.topics.rest import CONFIGURATIONS, RULES, find_topic, list_configs, list_rules, list_topics

_MISSING = "topics that are no longer listed"
_AnswerT = TypeVar("_AnswerT")


@dataclass(frozen=True)
class TopicListing:
    """The topics that a poll found in a cluster. `hidden`: topics that the cluster did not list, but that may still exist."""

    seen: ClusterState
    hidden: frozenset[str] = frozenset()

    @property
    def unseen(self) -> tuple[Unseen, ...]:
        """What could not be fetched in this poll."""
        return self.seen.unseen


class TopicsPlane(ClusterPlane[TopicListing]):
    """Observes the topics of a Kafka cluster. Its snapshot has `topics`, as `topic_events` returns them."""

    name, stage = "topics", 1

    def fetch(self, before: Snapshot | None, now_us: int) -> TopicListing:
        """Send three calls, and one for each topic that is no longer listed. Raises SourceError if topics cannot be listed."""
        del now_us
        rest, failures = self.rest(), Failures()
        topics = list_topics(rest, failures)
        missing = sorted(set((before or {}).get("topics", ())) - set(topics))
        looked_up = rest.fetch_each(missing, lambda name: find_topic(rest, name), _MISSING, failures)
        gone = {name for name, topic in looked_up.items() if topic is None}
        topics |= {name: topic for name, topic in looked_up.items() if topic is not None}
        reported = {name: topic for name, topic in topics.items() if is_data(name, topic.internal)}
        configs = _or_none(CONFIGURATIONS, lambda: list_configs(rest, failures), failures)
        rules = _or_none(RULES, lambda: list_rules(rest, failures), failures)
        seen = ClusterState(
            self.cluster.id,
            topics=reported,
            configs={name: config for name in reported if configs is not None and (config := configs.get(name, {})) is not None},
            rules=rules,
            unseen=failures.unseen(),
        )
        return TopicListing(seen, frozenset({*missing, *topics} - gone - reported.keys()))

    def translate(self, fetched: TopicListing, before: Snapshot | None, shared: SharedMetadata, now_us: int) -> Observation:
        """Return events for topics that are new, changed or gone."""
        previous: Mapping[str, Any] = (before or {}).get("topics", {})
        gone = previous.keys() - (fetched.seen.topics or {}).keys() - fetched.hidden
        seen = replace(fetched.seen, topics_gone=frozenset(gone))
        events, topics = topic_events(self.event_builder(now_us), seen, previous, {}, self._facets(shared), shared.names)
        return Observation({"topics": topics}, tuple(events), unseen=fetched.unseen)

    def empty_answer(self) -> TopicListing:
        """Return an answer without topics."""
        return TopicListing(ClusterState(self.cluster.id, topics={}))

    def shared_metadata(self, snapshot: Snapshot) -> SharedMetadata:
        """Return the cluster and its topics."""
        cluster = ClusterMetadata(self.cluster.id, self.cluster.namespace, self.bootstrap_servers, frozenset(snapshot["topics"]))
        return SharedMetadata(clusters=(cluster,))

    def _facets(self, shared: SharedMetadata) -> ExtraFacets:
        cluster = self.cluster
        environment = self.context.organization.environment(cluster.environment)
        optional = {
            "cluster_name": cluster.name,
            "environment_name": environment.name if environment else "",
            "cloud": cluster.cloud,
            "region": cluster.region,
            "bootstrap_servers": ",".join(server for server in cluster.servers if server in self.bootstrap_servers),
        }
        members_of_cluster = {
            "cluster_id": cluster.id,
            "environment_id": cluster.environment,
            **{key: value for key, value in optional.items() if value},
        }

        def facets_of(name: str, topic: KafkaTopic) -> Mapping[str, Json]:
            members: Json = {**members_of_cluster, "partitions": len(topic.leaders), "replication_factor": topic.replication}
            if tags := shared.tags.get((cluster.namespace, name)):
                members["tags"] = sorted(tags)
            return {"confluent_kafka": OUT.own_facet("1-0-0", "ConfluentKafkaDatasetFacet", **members)}

        return facets_of


planes = for_each_cluster(TopicsPlane)


def _or_none(what: str, fetch: Callable[[], _AnswerT], failures: Failures) -> _AnswerT | None:
    """Call `fetch`, and return its result. If it fails, the failure is recorded, and None is returned."""
    try:
        return fetch()
    except SourceError as error:
        failures.add_listing(what, error)
        return None
