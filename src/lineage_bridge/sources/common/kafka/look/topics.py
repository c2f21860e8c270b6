"""The topics of a cluster, their configurations, offsets and access rules, as the brokers report them."""

from collections.abc import Iterable, Mapping
from typing import Any

from kafka.protocol.admin import DescribeAclsRequest, DescribeConfigsRequest
from kafka.protocol.consumer import ListOffsetsRequest
from kafka.protocol.metadata import MetadataRequest

from lineage_bridge.errors import SourceError
from lineage_bridge.sources.common.kafka.look.cluster import AclRule, KafkaTopic
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures, batches, by_leader, request_each
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol

UNKNOWN_TOPIC, NO_AUTHORIZER = 3, 54
LATEST, EARLIEST = -1, -2
_TOPIC_RESOURCE, _TOPICS_OWN = 2, 1
_AT_ONCE, _PARTITIONS_AT_ONCE = 1000, 20_000
_PATTERNS, _OPERATIONS, _ALLOW = {3: "LITERAL", 4: "PREFIXED"}, {2: "ALL", 3: "READ", 4: "WRITE"}, 3


def cluster(wire: KafkaProtocol) -> tuple[Any, dict[str, KafkaTopic]]:
    """The answer about the cluster, and the topics that the user may see. Raises SourceError."""
    answer = wire.request(MetadataRequest(topics=None, allow_auto_topic_creation=False))
    return answer, {said.name: _topic(said) for said in answer.topics if not said.error_code or said.partitions}


def _topic(said: Any) -> KafkaTopic:  # noqa: ANN401  # kafka-python has no types
    count = max((partition.partition_index for partition in said.partitions), default=-1) + 1
    leaders = [-1] * count
    for partition in said.partitions:
        leaders[partition.partition_index] = partition.leader_id
    copies = max((len(partition.replica_nodes) for partition in said.partitions), default=0)
    ident = "" if said.topic_id is None or not int(said.topic_id) else str(said.topic_id)
    return KafkaTopic(ident, bool(said.is_internal), tuple(leaders), copies)


def sought(wire: KafkaProtocol, names: Iterable[str], failures: Failures) -> tuple[dict[str, KafkaTopic], frozenset[str]]:
    """Looks for topics by name: those that exist, and those that do not.

    A listing leaves out topics that the user may not see; asked by name, brokers say that a topic does not exist only to users who may see
    it.
    """
    found: dict[str, KafkaTopic] = {}
    gone = set()
    for part in batches(sorted(names), _AT_ONCE):
        wanted = [MetadataRequest.MetadataRequestTopic(name=name) for name in part]
        try:
            answer = wire.request(MetadataRequest(topics=wanted, allow_auto_topic_creation=False))
        except SourceError as error:
            failures.add_listing("topics: those that are listed no more", error)
            continue
        for said in answer.topics:
            if said.error_code == UNKNOWN_TOPIC:
                gone.add(said.name)
            elif said.error_code and not said.partitions:
                failures.add_name("topics: those that are listed no more", said.error_code, said.name)
            else:
                found[said.name] = _topic(said)
    return found, frozenset(gone)


def configs(wire: KafkaProtocol, names: Iterable[str], failures: Failures) -> dict[str, dict[str, str]]:
    """The configuration set on each topic itself, without secrets and without what it inherits from the cluster."""
    resource = DescribeConfigsRequest.DescribeConfigsResource
    found: dict[str, dict[str, str]] = {}
    for part in batches(sorted(names), _AT_ONCE):
        wanted = [resource(resource_type=_TOPIC_RESOURCE, resource_name=name, configuration_keys=None) for name in part]
        try:
            answer = wire.request(DescribeConfigsRequest(resources=wanted))
        except SourceError as error:
            failures.add_listing("topics: configurations", error)
            continue
        for said in answer.results:
            if said.error_code:
                failures.add_name("topics: configurations", said.error_code, said.resource_name)
            else:
                found[said.resource_name] = {entry.name: entry.value or "" for entry in said.configs if _own(entry)}
    return found


def _own(entry: Any) -> bool:  # noqa: ANN401  # as above
    return bool(entry.config_source == _TOPICS_OWN and not entry.is_sensitive)


def offsets(wire: KafkaProtocol, topics: Mapping[str, KafkaTopic], when: int, failures: Failures) -> dict[str, tuple[int, ...]]:
    """The LATEST or EARLIEST offset of each partition. A topic with a partition that did not answer is left out."""
    of_topic, of_partition = ListOffsetsRequest.ListOffsetsTopic, ListOffsetsRequest.ListOffsetsTopic.ListOffsetsPartition
    leaders = {name: topic.leaders for name, topic in topics.items()}
    requests = []
    for node, parts in by_leader(leaders, _PARTITIONS_AT_ONCE):
        wanted = [
            of_topic(name=name, partitions=[of_partition(partition_index=place, timestamp=when) for place in places])
            for name, places in parts.items()
        ]
        requests.append((node, ListOffsetsRequest(replica_id=-1, isolation_level=0, topics=wanted)))
    found = {name: [-1] * len(nodes) for name, nodes in leaders.items()}
    for node, _, answer in request_each(wire, requests):
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: offsets of topics", answer)
            continue
        for topic in answer.topics:
            for said in topic.partitions:
                if said.error_code:
                    failures.add_name("topics: offsets", said.error_code, topic.name)
                else:
                    found[topic.name][said.partition_index] = said.offset
    for name, nodes in leaders.items():
        if -1 in nodes:
            failures.add_name("topics: offsets", "a partition has no leader", name)
    return {name: tuple(places) for name, places in found.items() if places and -1 not in places}


def rules(wire: KafkaProtocol, failures: Failures) -> tuple[AclRule, ...] | None:
    """The access rules for topics; empty if the cluster has no access control, None if the user may not list them."""
    asking = DescribeAclsRequest(
        resource_type_filter=_TOPIC_RESOURCE,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    try:
        answer = wire.request(asking)
    except SourceError as error:
        failures.add_listing("rights on topics", error)
        return None
    if answer.error_code == NO_AUTHORIZER:
        return ()
    if answer.error_code:
        failures.add_name("rights on topics", answer.error_code, "describe acls")
        return None
    return tuple(
        sorted(
            AclRule(
                said.resource_name, _PATTERNS[said.pattern_type], one.principal, _OPERATIONS[one.operation], one.permission_type == _ALLOW
            )
            for said in answer.resources
            for one in said.acls
            if said.pattern_type in _PATTERNS and one.operation in _OPERATIONS
        )
    )
