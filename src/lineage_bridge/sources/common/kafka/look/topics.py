"""Fetches the topics of a cluster from the brokers, with their configurations, offsets and access rules."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.admin import DescribeAclsRequest, DescribeConfigsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.look.cluster import EVERY_HOST, EVERY_TOPIC, EVERYBODY, AclRule, KafkaTopic
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures, batches, by_leader, request_each
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol

UNKNOWN_TOPIC, NO_AUTHORIZER = 3, 54
LATEST, EARLIEST = -1, -2
_TOPIC_RESOURCE, _TOPICS_OWN = 2, 1
_AT_ONCE, _PARTITIONS_AT_ONCE = 1000, 20_000
_PATTERNS, _OPERATIONS, _ALLOW = {3: "LITERAL", 4: "PREFIXED"}, {2: "ALL", 3: "READ", 4: "WRITE"}, 3


def cluster(wire: KafkaProtocol) -> tuple[Any, dict[str, KafkaTopic]]:
    """Fetch the cluster's metadata with the topics that the source's user may see. Raises SourceError."""
    answer = wire.request(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    return answer, {topic.name: _topic(topic) for topic in answer.topics if not topic.error_code or topic.partitions}


def _topic(topic: Any) -> KafkaTopic:  # noqa: ANN401  # kafka-python has no types
    count = max((partition.partition_index for partition in topic.partitions), default=-1) + 1
    leaders = [-1] * count
    for partition in topic.partitions:
        leaders[partition.partition_index] = partition.leader_id
    copies = max((len(partition.replica_nodes) for partition in topic.partitions), default=0)
    ident = "" if topic.topic_id is None or not int(topic.topic_id) else str(topic.topic_id)
    return KafkaTopic(ident, bool(topic.is_internal), tuple(leaders), copies)


def find_by_name(wire: KafkaProtocol, names: Iterable[str], failures: Failures) -> tuple[dict[str, KafkaTopic], frozenset[str]]:
    """Look for topics by their names. Returns those that exist, and those that do not.

    A listing leaves out topics that the user may not see; a request by name reports a topic as missing only to users who may see it.
    """
    found: dict[str, KafkaTopic] = {}
    gone = set()
    for batch in batches(sorted(names), _AT_ONCE):
        topics = [MetadataRequest.MetadataRequestTopic(name=name) for name in batch]
        try:
            answer = wire.request(MetadataRequest(topics=topics, allow_auto_topic_creation=False))
        except SourceError as error:
            failures.add_listing("topics that are no longer listed", error)
            continue
        for topic in answer.topics:
            if topic.error_code == UNKNOWN_TOPIC:
                gone.add(topic.name)
            elif topic.error_code and not topic.partitions:
                failures.add_name("topics that are no longer listed", topic.error_code, topic.name)
            else:
                found[topic.name] = _topic(topic)
    return found, frozenset(gone)


def configs(wire: KafkaProtocol, names: Iterable[str], failures: Failures) -> dict[str, dict[str, str]]:
    """Fetch the settings that were set for each topic itself, without secrets, and without defaults of the cluster."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    found: dict[str, dict[str, str]] = {}
    for batch in batches(sorted(names), _AT_ONCE):
        resources = [resource(resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None) for name in batch]
        try:
            answer = wire.request(DescribeConfigsRequest(resources=resources))
        except SourceError as error:
            failures.add_listing("topics: configurations", error)
            continue
        for result in answer.results:
            if result.error_code:
                failures.add_name("topics: configurations", result.error_code, result.resource_name)
            else:
                found[result.resource_name] = {entry.name: entry.value or "" for entry in result.configs if _own(entry)}
    return found


def _own(entry: Any) -> bool:  # noqa: ANN401  # as above
    return bool(entry.config_source == _TOPICS_OWN and not entry.is_sensitive)


def offsets(wire: KafkaProtocol, topics: Mapping[str, KafkaTopic], when: int, failures: Failures) -> dict[str, tuple[int, ...]]:
    """Fetch the LATEST or EARLIEST offset of each partition. A topic is left out if the offset of any partition is unknown."""
    of_topic, of_partition = ListOffsetsRequest.ListOffsetsTopic, ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition
    leaders = {name: topic.leaders for name, topic in topics.items()}
    requests = []
    for node, batch in by_leader(leaders, _PARTITIONS_AT_ONCE):
        of_topics = [
            of_topic(name=name, partitions=[of_partition(partition_index=partition, timestamp=when) for partition in partitions])
            for name, partitions in batch.items()
        ]
        requests.append((node, ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=of_topics)))
    found = {name: [-1] * len(nodes) for name, nodes in leaders.items()}
    for node, _, answer in request_each(wire, requests):
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: offsets of topics", answer)
            continue
        for topic in answer.topics:
            for partition in topic.partitions:
                if partition.error_code:
                    failures.add_name("topics: offsets", partition.error_code, topic.name)
                else:
                    found[topic.name][partition.partition_index] = partition.offset
    for name, nodes in leaders.items():
        if -1 in nodes:
            failures.add_name("topics: offsets", "a partition has no leader", name)
    return {name: tuple(offsets) for name, offsets in found.items() if offsets and -1 not in offsets}


def rules(wire: KafkaProtocol, failures: Failures) -> tuple[AclRule, ...] | None:
    """Fetch the access rules for topics: one by which everybody may do everything if the cluster has no access control; None if the
    source's user may not list them.
    """
    request = DescribeAclsRequest(
        resource_type_filter=_TOPIC_RESOURCE,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    try:
        answer = wire.request(request)
    except SourceError as error:
        failures.add_listing("rights on topics", error)
        return None
    if answer.error_code == NO_AUTHORIZER:
        return (AclRule(EVERY_TOPIC, "LITERAL", EVERYBODY, "ALL"),)
    if answer.error_code:
        failures.add_name("rights on topics", answer.error_code, "describe acls")
        return None
    return tuple(
        sorted(
            AclRule(
                resource.resource_name,
                _PATTERNS[resource.pattern_type],
                acl.principal,
                _OPERATIONS[acl.operation],
                acl.permission_type == _ALLOW,
            )
            for resource in answer.resources
            for acl in resource.acls
            if resource.pattern_type in _PATTERNS and acl.operation in _OPERATIONS
            if acl.permission_type == _ALLOW or acl.host == EVERY_HOST
        )
    )
