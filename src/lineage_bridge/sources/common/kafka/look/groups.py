"""Groups of all kinds as the brokers report them: members, the topics they read, and their committed offsets."""

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
    """The groups that the coordinators list, with their coordinators, and whether all brokers answered."""
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
        for said in answer.groups:
            kind = (said.group_type or CLASSIC).lower()
            found[said.group_id] = node, KafkaGroup(kind, said.group_state or "", said.protocol_type or "")
    return found, whole


def coordinators(wire: KafkaProtocol, names: Iterable[str], kind: int, what: str, failures: Failures) -> dict[int, list[str]]:
    """The names by the broker that coordinates them. `kind` is GROUP or TRANSACTION."""
    found: dict[int, list[str]] = defaultdict(list)
    for part in batches(sorted(names), _AT_ONCE):
        if wire.supports(FindCoordinatorRequest, 4):
            requests = [FindCoordinatorRequest(key_type=kind, coordinator_keys=part, min_version=4)]
        else:
            requests = [FindCoordinatorRequest(key=name, key_type=kind, max_version=3) for name in part]
        for place, answer in enumerate(wire.request_all([(wire.brokers[0], request) for request in requests])):
            if isinstance(answer, SourceError):
                failures.add_listing(what, answer)
                continue
            for said, name in [(one, one.key) for one in answer.coordinators] or [(answer, part[place])]:
                if said.error_code:
                    failures.add_name(what, said.error_code, name)
                else:
                    found[said.node_id].append(name)
    return found


def vanished(wire: KafkaProtocol, known: Mapping[str, str], failures: Failures) -> frozenset[str]:
    """Those of the groups (name to kind) that were deleted. Brokers do not report a group as dead to a user who may not see it."""
    what = "groups: those that are listed no more"
    gone = set()
    for node, names in coordinators(wire, known, GROUP, what, failures).items():
        requests = [(node, request) for request, _ in _describing((name, known[name]) for name in names)]
        for _, request, answer in request_each(wire, requests):
            if isinstance(answer, SourceError):
                failures.add_listing(what, answer)
                continue
            for said in answer.groups:
                kept = known.get(said.group_id, CLASSIC) == CLASSIC and isinstance(request, DescribeGroupsRequest)
                if said.error_code == GROUP_NOT_FOUND or (not said.error_code and said.group_state == DEAD and kept):
                    gone.add(said.group_id)
                elif said.error_code:
                    failures.add_name(what, said.error_code, said.group_id)
    return frozenset(gone)


def _describing(groups: Iterable[tuple[str, str]]) -> Iterator[tuple[Any, list[str]]]:
    """Requests that describe groups (name, kind), and the names in each."""
    by_kind: dict[str, list[str]] = defaultdict(list)
    for name, kind in groups:
        by_kind[kind].append(name)
    for kind, names in sorted(by_kind.items()):
        for part in batches(sorted(names), _AT_ONCE):
            if kind == CLASSIC:
                yield DescribeGroupsRequest(groups=part, include_authorized_operations=False), part
            elif kind in _NEWER:
                yield _NEWER[kind][0](group_ids=part, include_authorized_operations=False), part


def described(wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]], failures: Failures) -> dict[str, KafkaGroup]:
    """The groups with their members. A group that cannot be described stays as it was listed, with unknown members."""
    groups = {name: group for name, (_, group) in found.items()}
    by_node: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for name, (node, group) in found.items():
        by_node[node].append((name, group.kind))
        if group.kind != CLASSIC and group.kind not in _NEWER:
            failures.add_name(_MEMBERS, f"groups of the kind {group.kind} are not known", name)
    requests = [(node, request, names) for node, held in sorted(by_node.items()) for request, names in _describing(held)]
    for (_, _, names), answer in zip(requests, wire.request_all([(node, request) for node, request, _ in requests]), strict=True):
        if isinstance(answer, SourceError):
            why = "the brokers' version does not describe this kind of group" if isinstance(answer, MissingError) else str(answer)
            for name in names:
                failures.add_name(_MEMBERS, why, name)
            continue
        for said in answer.groups:
            if said.error_code:
                failures.add_name(_MEMBERS, said.error_code, said.group_id)
            elif said.group_id in groups:
                group = groups[said.group_id]
                of = _NEWER[group.kind][1] if group.kind in _NEWER else _classic
                groups[said.group_id] = of(said, group)
    return groups


def _classic(said: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # kafka-python has no types
    members = tuple(_classic_member(member, group.protocol) for member in said.members)
    return group._replace(state=said.group_state, assignor=said.protocol_data or "", members=members)


def _classic_member(said: Any, protocol: str) -> GroupMember:  # noqa: ANN401  # as above
    topics: set[str] = set()
    partitions = 0
    if protocol == "consumer":
        try:
            if said.member_metadata:
                topics.update(ConsumerProtocolSubscription.decode(said.member_metadata).topics)
            if said.member_assignment:
                for assigned in ConsumerProtocolAssignment.decode(said.member_assignment).assigned_partitions:
                    topics.add(assigned.topic)
                    partitions += len(assigned.partitions)
        except (struct.error, ValueError, IndexError):  # a client's own format
            pass
    return GroupMember(said.client_id, said.client_host, frozenset(topics), "", partitions)


def _newer(said: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # as above
    return group._replace(state=said.group_state, assignor=said.assignor_name, members=tuple(_newer_member(one) for one in said.members))


def _newer_member(said: Any) -> GroupMember:  # noqa: ANN401  # as above
    assigned = said.assignment.topic_partitions
    topics = frozenset(said.subscribed_topic_names) | {one.topic_name for one in assigned}
    pattern = getattr(said, "subscribed_topic_regex", None) or ""
    return GroupMember(said.client_id, said.client_host, topics, pattern, sum(len(one.partitions) for one in assigned))


def _streams(said: Any, group: KafkaGroup) -> KafkaGroup:  # noqa: ANN401  # as above
    topology = tuple(
        Subtopology(
            tuple(sorted({*part.source_topics, *(topic.name for topic in part.repartition_source_topics)})),
            tuple(sorted({*part.repartition_sink_topics, *(topic.name for topic in part.state_changelog_topics)})),
        )
        for part in (said.topology.subtopologies if said.topology else None) or ()
    )
    read = frozenset(topic for part in topology for topic in part.sources)
    members = tuple(
        GroupMember(one.client_id, one.client_host, read, "", sum(len(task.partitions) for task in one.assignment.active_tasks))
        for one in said.members
    )
    return group._replace(state=said.group_state, members=members, topology=topology)


_NEWER: dict[str, tuple[Any, Callable[[Any, KafkaGroup], KafkaGroup]]] = {
    CONSUMER: (messages.ConsumerGroupDescribeRequest, _newer),
    SHARE: (messages.ShareGroupDescribeRequest, _newer),
    STREAMS: (messages.StreamsGroupDescribeRequest, _streams),
}
"""Kind of group to the request that describes such groups, and how its answer is read."""


def committed(
    wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]], failures: Failures
) -> dict[str, dict[str, tuple[int, ...]]]:
    """The committed offsets of each group by topic; of share groups, where they start. Includes groups without members."""
    requests = list(_offset_requests(wire, found))
    read: dict[str, dict[str, tuple[int, ...]]] = {}
    for (_, _, names), answer in zip(requests, wire.request_all([(node, request) for node, request, _ in requests]), strict=True):
        if isinstance(answer, SourceError):
            for name in names:
                failures.add_name("groups: offsets", str(answer), name)
            continue
        for said in answer.groups or [answer]:
            name = said.group_id if answer.groups else names[0]
            if said.error_code:
                failures.add_name("groups: offsets", said.error_code, name)
            else:
                read[name] = _positions(said.topics)
    return read


def _offset_requests(wire: KafkaProtocol, found: Mapping[str, tuple[int, KafkaGroup]]) -> Iterator[tuple[int, Any, list[str]]]:
    """(broker, request, the groups that it asks for)."""
    by_node: dict[tuple[int, bool], list[str]] = defaultdict(list)
    for name, (node, group) in found.items():
        by_node[node, group.kind == SHARE].append(name)
    many, of_share = wire.supports(OffsetFetchRequest, 8), messages.DescribeShareGroupOffsetsRequest
    for (node, share), names in sorted(by_node.items()):
        for part in batches(sorted(names), _AT_ONCE if share or many else 1):
            if share:
                wanted = [of_share.DescribeShareGroupOffsetsRequestGroup(group_id=name, topics=None) for name in part]
                yield node, of_share(groups=wanted), part
            elif many:
                held = [OffsetFetchRequest.OffsetFetchRequestGroup(group_id=name, topics=None) for name in part]
                yield node, OffsetFetchRequest(groups=held, min_version=8, max_version=8), part
            else:
                yield node, OffsetFetchRequest(group_id=part[0], topics=None, min_version=2, max_version=7), part


def _positions(topics: Iterable[Any]) -> dict[str, tuple[int, ...]]:
    read: dict[str, tuple[int, ...]] = {}
    for topic in topics:
        held = {
            one.partition_index: one.committed_offset if hasattr(one, "committed_offset") else one.start_offset
            for one in topic.partitions
            if not one.error_code
        }
        places = tuple(held.get(place, -1) for place in range(max(held, default=-1) + 1))
        if any(place >= 0 for place in places):
            read[topic.name if hasattr(topic, "name") else topic.topic_name] = places
    return read
