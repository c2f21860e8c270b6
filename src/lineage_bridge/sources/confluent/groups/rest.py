"""Fetches the groups of a cluster from its REST API: members, topics and offsets, as far as the API reports them.

The API reports offsets on dedicated clusters only, and never reports transactional producers.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

import msgspec

from lineage_bridge.errors import MissingError, SourceError
from lineage_bridge.sources.common.kafka.look.cluster import (
    CLASSIC,
    CONSUMER,
    SHARE,
    STREAMS,
    ClusterState,
    GroupMember,
    KafkaGroup,
    Subtopology,
)
from lineage_bridge.sources.common.kafka.protocol.fetch import Failures
from lineage_bridge.sources.confluent.kafka_rest import Count, KafkaRest, Offset, Text, Unreadable

INACTIVE = frozenset(("", "Dead", "Empty"))
"""States of groups without members."""
_EntryT = TypeVar("_EntryT", bound=msgspec.Struct)
_FOLDERS = {CLASSIC: "consumer-groups", CONSUMER: "consumer-groups", SHARE: "share-groups", STREAMS: "streams-groups"}
_OFFSETS, _MEMBERS, _TOPOLOGIES, _MISSING = (
    "groups: offsets",
    "groups: members",
    "groups: topologies",
    "groups that are no longer listed",
)


class _Assignment(msgspec.Struct):
    topic_name: Text


class _Group(msgspec.Struct):
    """A group in an answer. Which member contains its name depends on the kind of the group."""

    consumer_group_id: str = ""
    share_group_id: str = ""
    group_id: str = ""
    state: str = ""
    type: str = ""
    partition_assignor: str | None = None
    assigned_topic_partitions: list[_Assignment] | None = None

    @property
    def name(self) -> str:
        """The name of the group."""
        return self.consumer_group_id or self.share_group_id or self.group_id


class _Consumer(msgspec.Struct):
    client_id: str | None = None


class _Lag(msgspec.Struct):
    topic_name: Text
    partition_id: Count
    consumer_id: str | None = None
    client_id: str | None = None
    current_offset: Offset | None = None
    log_end_offset: Offset | None = None


class _Subtopology(msgspec.Struct):
    source_topics: list[Text]
    repartition_source_topics: list[Text] = []
    repartition_sink_topics: list[Text] = []
    state_changelog_topics: list[Text] = []

    def parsed(self) -> Subtopology:
        """The topics that the subtopology reads and writes."""
        sources, sinks = (self.source_topics, self.repartition_source_topics), (self.repartition_sink_topics, self.state_changelog_topics)
        return Subtopology(*(tuple(sorted({topic for topics in side for topic in topics})) for side in (sources, sinks)))


def fetch_groups(
    rest: KafkaRest, cluster: str, before: Mapping[str, str], is_relevant: Callable[[str], bool], *, has_lags: bool
) -> ClusterState:
    """Fetch the groups that the REST API reports. Raises SourceError if groups cannot be listed.

    `before`: the kinds of known groups by name; `is_relevant`: whether to fetch the details of a group; `has_lags`: whether the cluster
    reports offsets.
    """
    failures = Failures()
    groups = _list_groups(rest, failures)
    readers = sorted(
        name for name, group in groups.items() if group.kind in (CLASSIC, CONSUMER) and group.state != "Dead" and is_relevant(name)
    )
    lags: dict[str, list[_Lag]] = {}
    if has_lags:
        lags = rest.fetch_each(readers, lambda name: _readable(rest, _Lag, _OFFSETS, failures, name, "lags"), _OFFSETS, failures)
        groups |= {name: groups[name]._replace(members=_members(groups[name], own)) for name, own in lags.items()}
    else:
        groups |= _with_members(rest, {name: groups[name] for name in readers}, failures)
    streams = sorted(name for name, group in groups.items() if group.kind == STREAMS)
    topologies = rest.fetch_each(
        streams, lambda name: _readable(rest, _Subtopology, _TOPOLOGIES, failures, name, "subtopologies", STREAMS), _TOPOLOGIES, failures
    )
    groups |= {
        name: groups[name]._replace(topology=tuple(subtopology.parsed() for subtopology in subtopologies))
        for name, subtopologies in topologies.items()
    }
    return ClusterState(
        cluster,
        groups=groups,
        groups_gone=_gone(rest, {name: kind for name, kind in before.items() if name not in groups}, failures),
        committed={name: _by_topic((lag.topic_name, lag.partition_id, lag.current_offset) for lag in own) for name, own in lags.items()},
        ends=_by_topic((lag.topic_name, lag.partition_id, lag.log_end_offset) for own in lags.values() for lag in own),
        unseen=failures.unseen(),
    )


def _list_groups(rest: KafkaRest, failures: Failures) -> dict[str, KafkaGroup]:
    """Fetch all groups that can be read. A cluster without share groups or streams groups may not support listing these."""
    found: dict[str, KafkaGroup] = {}
    for kind in (CLASSIC, SHARE, STREAMS):
        try:
            listing = rest.list_readable(_Group, _FOLDERS[kind])
        except MissingError:
            if kind == CLASSIC:
                raise
            continue
        unnamed = [Unreadable({}, SourceError("a group has no name")) for entry in listing.entries if not entry.name]
        listing.unreadable.extend(unnamed)
        listing.record_unreadable(f"groups: {_FOLDERS[kind]}", failures)
        for entry in listing.entries:
            if not entry.name:
                continue
            topics = frozenset(assignment.topic_name for assignment in entry.assigned_topic_partitions or ())
            actual_kind = (entry.type.lower() or kind) if kind == CLASSIC else kind
            found[entry.name] = KafkaGroup(actual_kind, _state(entry.state), assignor=entry.partition_assignor or "", topics=topics)
    return found


def _readable(
    rest: KafkaRest, kind: type[_EntryT], what: str, failures: Failures, group: str, detail: str, of: str = CLASSIC
) -> list[_EntryT]:
    """Fetch one listing about a group, such as its members, and return the entries that can be read. All others are recorded as failures.
    `of`: the kind of the group. Raises SourceError.
    """
    listing = rest.list_readable(kind, _FOLDERS[of], group, detail)
    if listing.unreadable:
        failures.add_name(what, "some entries cannot be read", group)
    return listing.entries


def _state(state: str) -> str:
    """Convert the state of a group to the spelling of brokers: PREPARING_REBALANCE becomes PreparingRebalance."""
    return "".join(part.title() for part in state.split("_"))


def _with_members(rest: KafkaRest, groups: Mapping[str, KafkaGroup], failures: Failures) -> dict[str, KafkaGroup]:
    """Fetch the members of groups. The API does not report which topics a member reads."""
    active = [name for name, group in groups.items() if group.state not in INACTIVE]
    members = rest.fetch_each(active, lambda name: _readable(rest, _Consumer, _MEMBERS, failures, name, "consumers"), _MEMBERS, failures)
    if groups:
        failures.add_listing(_OFFSETS, "REST reports offsets, and thus the topics that groups read, on dedicated clusters only")
    found = {name: group._replace(members=()) for name, group in groups.items() if group.state in INACTIVE}
    return found | {
        name: groups[name]._replace(members=tuple(GroupMember(consumer.client_id or "", partitions=-1) for consumer in consumers))
        for name, consumers in members.items()
    }


def _members(group: KafkaGroup, lags: Iterable[_Lag]) -> tuple[GroupMember, ...] | None:
    """Return the members that have partitions; None if the group is active but no member is reported."""
    by_consumer: dict[str, list[_Lag]] = {}
    for lag in lags:
        if lag.consumer_id:
            by_consumer.setdefault(lag.consumer_id, []).append(lag)
    members = (
        GroupMember(own[0].client_id or "", "", frozenset(lag.topic_name for lag in own), "", len(own)) for own in by_consumer.values()
    )
    return tuple(sorted(members)) or (() if group.state in INACTIVE else None)


def _by_topic(offsets: Iterable[tuple[str, int, int | None]]) -> dict[str, tuple[int, ...]]:
    """Group the offsets of partitions by topic, -1 for a partition without one. If a partition has several, the greatest is used."""
    found: dict[str, dict[int, int]] = {}
    for topic, partition, offset in offsets:
        own = found.setdefault(topic, {})
        own[partition] = max(own.get(partition, -1), -1 if offset is None else offset)
    return {topic: tuple(own.get(number, -1) for number in range(max(own) + 1)) for topic, own in sorted(found.items())}


def _gone(rest: KafkaRest, missing: Mapping[str, str], failures: Failures) -> frozenset[str]:
    """Return the groups that no longer exist. Each of `missing`, which are no longer listed, is looked up by its name."""

    def is_gone(name: str) -> bool:
        try:
            return _state(rest.get(_Group, _FOLDERS.get(missing[name], _FOLDERS[CLASSIC]), name).state) == "Dead"
        except MissingError:
            return True

    return frozenset(name for name, gone in rest.fetch_each(sorted(missing), is_gone, _MISSING, failures).items() if gone)
