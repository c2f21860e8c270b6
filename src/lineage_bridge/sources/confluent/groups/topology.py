"""Completes the topologies of Kafka Streams groups, because the REST API reports them without sinks. Pure."""

from dataclasses import replace

from lineage_bridge.sources.common.kafka.look.cluster import STREAMS, ClusterState, KafkaGroup, KafkaTopic, Subtopology
from lineage_bridge.sources.common.kafka.look.purposes import purpose


def with_known_topics(seen: ClusterState, topics: frozenset[str]) -> ClusterState:
    """Add the cluster's topics to the state of the groups, and complete the topologies with them."""
    groups = {name: _with_sinks(name, group, topics) for name, group in (seen.groups or {}).items()}
    every = seen.topics if seen.topics is not None else {name: KafkaTopic() for name in sorted(topics)}
    return replace(seen, topics=every, groups=None if seen.groups is None else groups)


def _with_sinks(name: str, group: KafkaGroup, topics: frozenset[str]) -> KafkaGroup:
    """Add the sinks of a Kafka Streams group to its topology. They are the topics whose names show that they belong to the group.

    If there are repartition topics, data flows from the sources to them, and from them to the state stores.
    """
    if group.kind != STREAMS or not group.topology or any(subtopology.sinks for subtopology in group.topology):
        return group
    own = sorted(topic for topic in topics if topic.startswith(f"{name}-"))
    repartition = tuple(topic for topic in own if purpose(topic) == "REPARTITION")
    stores = tuple(topic for topic in own if purpose(topic) == "CHANGELOG")
    sources = tuple(sorted({topic for subtopology in group.topology for topic in subtopology.sources} - set(repartition)))
    if repartition:
        topology: tuple[Subtopology, ...] = (Subtopology(sources, repartition), Subtopology(repartition, stores))
    else:
        topology = (Subtopology(sources, stores),)
    return group._replace(topology=topology, topics=frozenset((*sources, *repartition)))
