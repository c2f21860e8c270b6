"""Fetches groups of all kinds from the brokers: members, the topics they read, and their committed offsets."""

import struct
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from kafka.protocol.admin import DescribeGroupsRequest, ListGroupsRequest
from kafka.protocol.consumer import OffsetFetchRequest
from kafka.protocol.consumer.metadata import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from kafka.protocol.metadata import FindCoordinatorRequest

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.sources.common.kafka.look.cluster import CLASSIC, CONSUMER, SHARE, STREAMS, GroupMember, KafkaGroup, Subtopology
from lineage_bridge.sources.common.kafka.protocol import messages
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures, batches, request_each
from lineage_bridge.sources.common.kafka.protocol.wire import KafkaProtocol

GROUP_NOT_FOUND, DEAD = 69, "Dead"
GROUP, TRANSACTION = 0, 1
_AT_ONCE = 250
_MEMBERS = "groups: members"


def listed(wire: KafkaProtocol, failures: Failures) -> tuple[dict[str, tuple[int, KafkaGroup]], bool]:
    """Fetch the groups of the cluster, each with the id of its coordinator, and whether all brokers answered."""
    found: dict[str, tuple[int, KafkaGroup]] = {}
    whole = True
    for node, _, answer in request_each(wire, [(node, ListGroupsRequest(states_filter=[], types_filter=[])) for node in wire.brokers]):
        code = 0 if isinstance(answer, SourceError) else answer.error_code
        if isinstance(answer, SourceError):
            failures.add_listing(f"broker {node}: groups", answer)
        elif code:
            failures.add_name(f"broker {node}: groups", code, "list groups")
        if code or isinstance(answer, SourceError):
            whole = False
            continue
        for listing in answer.groups:
            kind = (listing.group_type or CLASSIC).lower()
            found[listing.group_id] = node, KafkaGroup(kind, listing.group_state or "", listing.protocol_type or "")
    return found, whole


def coordinators(wire: KafkaProtocol, names: Iterable[str], kind: int, what: str, failures: Failures) -> dict[int, list[str]]:
    """Find the broker that coordinates each of these names, and return the names by broker. `kind` is GROUP or TRANSACTION."""
    found: dict[int, list[str]] = defaultdict(list)
    for batch in batches(sorted(names), _AT_ONCE):
        if wire.supports(FindCoordinatorRequest, 4):
            requests = [FindCoordinatorRequest(key_type=kind, coordinator_keys=batch, min_version=4)]
        else:
            requests = [FindCoordinatorRequest(key=name, key_type=kind, max_version=3) for name in batch]
        for index, answer in enumerate(wire.request_all([(wire.brokers[0], request) for request in requests])):
            if isinstance(answer, SourceError):
                failures.add_listing(what, answer)
                continue
            for coordinator, name in [(entry, entry.key) for entry in answer.coordinators] or [(answer, batch[index])]:
                if coordinator.error_code:
                    failures.add_name(what, coordinator.error_code, name)
                else:
                    found[coordinator.node_id].append(name)
    return found


def find_deleted(wire: KafkaProtocol, known: Mapping[str, str], failures: Failures) -> frozenset[str]:
    """Return those of the known groups (name to kind) that were deleted. Brokers do not report a group as dead to a user who may not
    see it.
    """
    what = "groups that are no longer listed"
    gone = set()
    for node, names in coordinators(wire, known, GROUP, what, failures).items():
        requests = [(node, request) for request, _ in _describing((name, known[name]) for name in names)]
        for _, request, answer in request_each(wire, requests):
            if isinstance(answer, SourceError):
                failures.add_listing(what, answer)
                continue
            for description in answer.groups:
                kept = known.get(description.group_id, CLASSIC) == CLASSIC and isinstance(request, DescribeGroupsRequest)
                if description.error_code == GROUP_NOT_FOUND or (not description.error_code and description.group_state == DEAD and kept):
                    gone.add(description.group_id)
                elif description.error_code:
                    failures.add_name(what, description.error_code, description.group_id)
    return frozenset(gone)


def _describing(groups: Iterable[tuple[str, str]]) -> Iterator[tuple[Any, list[str]]]:
    """Yield requests that describe groups (pairs of name and kind), each with the names of its groups."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for name, kind in groups:
        by_kind[kind].append(name)
    for kind, names in sorted(by_kind.items()):
        for batch in batches(sorted(names), _AT_ONCE):
            if kind == CLASSIC:
                yield DescribeGroupsRequest(groups=batch, include_authorized_operations=False), batch
            elif kind in _NEWER:
                yield _NEWER[kind][0](group_ids=batch, include_authorized_operations=False), batch


def described(wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]], failures: Failures) -> dict[str, KafkaGroup]:
    """Fetch the members of groups. If a group cannot be described, its members are None."""
    groups = {name: group for name, (_, group) in found.items()}
    by_node: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for name, (node, group) in found.items():
        by_node[node].append((name, group.kind))
        if group.kind != CLASSIC and group.kind not in _NEWER:
            failures.add_name(_MEMBERS, f"unknown kind of group: {group.kind}", name)
    requests = [(node, request, names) for node, held in sorted(by_node.items()) for request, names in _describing(held)]
    for (_, _, names), answer in zip(requests, wire.request_all([(node, request) for node, request, _ in requests]), strict=True):
        if isinstance(answer, SourceError):
            why = "the brokers' version cannot describe this kind of group" if isinstance(answer, MissingError) else str(answer)
            for name in names:
                failures.add_name(_MEMBERS, why, name)
            continue
        for description in answer.groups:
            if description.error_code:
                failures.add_name(_MEMBERS, description.error_code, description.group_id)
            elif description.group_id in groups:
                group = groups[description.group_id]
                of = _NEWER[group.kind][1] if group.kind in _NEWER else _classic
                groups[description.group_id] = of(description, group)
    return groups


def _classic(description: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # kafka-python has no types
    members = tuple(_classic_member(member, group.protocol) for member in description.members)
    return group._replace(state=description.group_state, assignor=description.protocol_data or "", members=members)


def _classic_member(member: Any, protocol: str) -> GroupMember:  # noqa: ANN401  # as above
    topics: set[str] = set()
    partitions = 0
    if protocol == "consumer":
        try:
            if member.member_metadata:
                topics.update(ConsumerProtocolSubscription.decode(member.member_metadata).topics)
            if member.member_assignment:
                for assigned in ConsumerProtocolAssignment.decode(member.member_assignment).assigned_partitions:
                    topics.add(assigned.topic)
                    partitions += len(assigned.partitions)
        except (struct.error, ValueError, IndexError):  # a client's own format
            pass
    return GroupMember(member.client_id, member.client_host, frozenset(topics), "", partitions)


def _newer(description: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # as above
    return group._replace(
        state=description.group_state,
        assignor=description.assignor_name,
        members=tuple(_newer_member(member) for member in description.members),
    )


def _newer_member(member: Any) -> GroupMember:  # noqa: ANN401  # as above
    assigned = member.assignment.topic_partitions
    topics = frozenset(member.subscribed_topic_names) | {topic.topic_name for topic in assigned}
    pattern = getattr(member, "subscribed_topic_regex", None) or ""
    return GroupMember(member.client_id, member.client_host, topics, pattern, sum(len(topic.partitions) for topic in assigned))


def _streams(description: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # as above
    topology = tuple(
        Subtopology(
            tuple(sorted({*subtopology.source_topics, *(topic.name for topic in subtopology.repartition_source_topics)})),
            tuple(sorted({*subtopology.repartition_sink_topics, *(topic.name for topic in subtopology.state_changelog_topics)})),
        )
        for subtopology in (description.topology.subtopologies if description.topology else None) or ()
    )
    read = frozenset(topic for part in topology for topic in part.sources)
    members = tuple(
        GroupMember(member.client_id, member.client_host, read, "", sum(len(task.partitions) for task in member.assignment.active_tasks))
        for member in description.members
    )
    return group._replace(state=description.group_state, members=members, topology=topology)


_NEWER: dict[str, tuple[Any, Callable[[Any, KafkaGroup], KafkaGroup]]] = {
    CONSUMER: (messages.ConsumerGroupDescribeRequest, _newer),
    SHARE: (messages.ShareGroupDescribeRequest, _newer),
    STREAMS: (messages.StreamsGroupDescribeRequest, _streams),
}
"""Kind of group to the request that describes such groups, and the function that reads a group's description."""


def committed(
    wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]], failures: Failures
) -> dict[str, dict[str, tuple[int, ...]]]:
    """Fetch the committed offsets of each group by topic; for share groups, their start offsets. Groups without members are included."""
    requests = list(_offset_requests(wire, found))
    read: dict[str, dict[str, tuple[int, ...]]] = {}
    for (_, _, names), answer in zip(requests, wire.request_all([(node, request) for node, request, _ in requests]), strict=True):
        if isinstance(answer, SourceError):
            for name in names:
                failures.add_name("groups: offsets", str(answer), name)
            continue
        for group in answer.groups or [answer]:
            name = group.group_id if answer.groups else names[0]
            if group.error_code:
                failures.add_name("groups: offsets", group.error_code, name)
            else:
                read[name] = _positions(group.topics)
    return read


def _offset_requests(wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]]) -> Iterator[tuple[int, Any, list[str]]]:
    """Yield the requests for committed offsets: the broker, the request, and the names of the groups in it."""
    by_node: dict[tuple[int, bool], list[str]] = defaultdict(list)
    for name, (node, group) in found.items():
        by_node[node, group.kind == SHARE].append(name)
    many, of_share = wire.supports(OffsetFetchRequest, 8), messages.DescribeShareGroupOffsetsRequest
    for (node, share), names in sorted(by_node.items()):
        for batch in batches(sorted(names), _AT_ONCE if share or many else 1):
            if share:
                groups = [of_share.DescribeShareGroupOffsetsRequestGroup(group_id=name, topics=None) for name in batch]
                yield node, of_share(groups=groups), batch
            elif many:
                held = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in batch]
                yield node, OffsetFetchRequest(groups=held, min_version=8, max_version=8), batch
            else:
                yield node, OffsetFetchRequest(group_id=batch[0], topics=None, min_version=2, max_version=7), batch


def _positions(topics: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    read: dict[str, tuple[int, ...]] = {}
    for topic in topics:
        held = {
            partition.partition_index: partition.committed_offset if hasattr(partition, "committed_offset") else partition.start_offset
            for partition in topic.partitions
            if not partition.error_code
        }
        offsets = tuple(held.get(partition, -1) for partition in range(max(held, default=-1) + 1))
        if any(offset >= 0 for offset in offsets):
            read[topic.name if hasattr(topic, "name") else topic.topic_name] = offsets
    return read
