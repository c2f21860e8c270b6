"""Groups of a cluster by its REST API: who is in them, what they read, and how far they are, as far as it tells.

It tells offsets on dedicated clusters only, and nowhere who writes in transactions.
"""

from collections.abc import Callable, Iterable, Mapping

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
from lineage_bridge.sources.confluent.kafka_rest import Count, Offset, Rest, Text

ASLEEP = frozenset(("", "Dead", "Empty"))
_FOLDERS = {CLASSIC: "consumer-groups", CONSUMER: "consumer-groups", SHARE: "share-groups", STREAMS: "streams-groups"}
_OFFSETS, _MEMBERS, _TOPOLOGIES, _GONE = (
    "groups: offsets",
    "groups: members",
    "groups: topologies",
    "groups: those that are listed no more",
)


class _Place(msgspec.Struct):
    topic_name: Text


class _Group(msgspec.Struct):
    """A group; each kind calls its name otherwise."""

    consumer_group_id: str = ""
    share_group_id: str = ""
    group_id: str = ""
    state: str = ""
    type: str = ""
    partition_assignor: str | None = None
    assigned_topic_partitions: list[_Place] | None = None

    @property
    def name(self) -> str:
        """Its name."""
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


class _Part(msgspec.Struct):
    source_topics: list[Text]
    repartition_source_topics: list[Text] = []
    repartition_sink_topics: list[Text] = []
    state_changelog_topics: list[Text] = []

    @property
    def told(self) -> Subtopology:
        """What it reads and writes."""
        sources, sinks = (self.source_topics, self.repartition_source_topics), (self.repartition_sink_topics, self.state_changelog_topics)
        return Subtopology(*(tuple(sorted({topic for part in parts for topic in part})) for parts in (sources, sinks)))


def look(rest: Rest, cluster: str, before: Mapping[str, str], is_asked: Callable[[str], bool], *, has_lags: bool) -> ClusterState:
    """What REST tells. `before`: groups that were known, and their kinds; `is_asked`: which groups are asked for more than their names;
    `has_lags`: whether the cluster tells offsets. Raises SourceError if groups cannot be listed.
    """
    failures = Failures()
    groups = _listed(rest)
    readers = sorted(name for name, group in groups.items() if group.kind in (CLASSIC, CONSUMER) and is_asked(name))
    lags: dict[str, list[_Lag]] = {}
    if has_lags:
        lags = rest.of_each(readers, lambda name: rest.listed(_Lag, "consumer-groups", name, "lags"), _OFFSETS, failures)
        groups |= {name: groups[name]._replace(members=_readers(groups[name], told)) for name, told in lags.items()}
    else:
        groups |= _with_members(rest, {name: groups[name] for name in readers}, failures)
    streams = sorted(name for name, group in groups.items() if group.kind == STREAMS)
    parts = rest.of_each(streams, lambda name: rest.listed(_Part, "streams-groups", name, "subtopologies"), _TOPOLOGIES, failures)
    groups |= {name: groups[name]._replace(topology=tuple(one.told for one in told)) for name, told in parts.items()}
    return ClusterState(
        cluster,
        groups=groups,
        groups_gone=_gone(rest, {name: kind for name, kind in before.items() if name not in groups}, failures),
        committed={name: _by_topic((one.topic_name, one.partition_id, one.current_offset) for one in told) for name, told in lags.items()},
        ends=_by_topic((one.topic_name, one.partition_id, one.log_end_offset) for told in lags.values() for one in told),
        unseen=failures.unseen(),
    )


def _listed(rest: Rest) -> dict[str, KafkaGroup]:
    """All groups. A cluster that has no share or streams groups need not know their lists."""
    found: dict[str, KafkaGroup] = {}
    for kind in (CLASSIC, SHARE, STREAMS):
        try:
            told = rest.listed(_Group, _FOLDERS[kind])
        except MissingError:
            if kind == CLASSIC:
                raise
            continue
        for one in told:
            if not one.name:
                raise SourceError(f"the list of {_FOLDERS[kind]} has one without a name")
            read = frozenset(place.topic_name for place in one.assigned_topic_partitions or ())
            mine = (one.type.lower() or kind) if kind == CLASSIC else kind
            found[one.name] = KafkaGroup(mine, _spelt(one.state), assignor=one.partition_assignor or "", topics=read)
    return found


def _spelt(state: str) -> str:
    """A state as the brokers spell it: PREPARING_REBALANCE is PreparingRebalance."""
    return "".join(part.title() for part in state.split("_"))


def _with_members(rest: Rest, groups: Mapping[str, KafkaGroup], failures: Failures) -> dict[str, KafkaGroup]:
    """The groups with their members, whose topics are not told."""
    awake = [name for name, group in groups.items() if group.state not in ASLEEP]
    members = rest.of_each(awake, lambda name: rest.listed(_Consumer, "consumer-groups", name, "consumers"), _MEMBERS, failures)
    if groups:
        failures.add_listing(_OFFSETS, "REST tells them on dedicated clusters only, and so what groups read")
    found = {name: group._replace(members=()) for name, group in groups.items() if group.state in ASLEEP}
    return found | {
        name: groups[name]._replace(members=tuple(GroupMember(one.client_id or "", partitions=-1) for one in told))
        for name, told in members.items()
    }


def _readers(group: KafkaGroup, lags: Iterable[_Lag]) -> tuple[GroupMember, ...] | None:
    """The members that have partitions. None if there must be some, but none is told."""
    held: dict[str, list[_Lag]] = {}
    for one in lags:
        if one.consumer_id:
            held.setdefault(one.consumer_id, []).append(one)
    found = (GroupMember(mine[0].client_id or "", "", frozenset(one.topic_name for one in mine), "", len(mine)) for mine in held.values())
    return tuple(sorted(found)) or (() if group.state in ASLEEP else None)


def _by_topic(places: Iterable[tuple[str, int, int | None]]) -> dict[str, tuple[int, ...]]:
    """Offsets by topic and partition, -1 where there is none; the greatest of what is told twice."""
    found: dict[str, dict[int, int]] = {}
    for topic, partition, offset in places:
        mine = found.setdefault(topic, {})
        mine[partition] = max(mine.get(partition, -1), -1 if offset is None else offset)
    return {topic: tuple(mine.get(at, -1) for at in range(max(mine) + 1)) for topic, mine in sorted(found.items())}


def _gone(rest: Rest, missed: Mapping[str, str], failures: Failures) -> frozenset[str]:
    """Those that are no more, of groups that are listed no more: the cluster says so of each by its name."""

    def is_gone(name: str) -> bool:
        try:
            return _spelt(rest.get(_Group, _FOLDERS.get(missed[name], _FOLDERS[CLASSIC]), name).state) == "Dead"
        except MissingError:
            return True

    return frozenset(name for name, gone in rest.of_each(sorted(missed), is_gone, _GONE, failures).items() if gone)
