"""Reports topics as datasets: their configuration, who may use them, and how much data they contain. Pure."""

from collections.abc import Callable, Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from lineage_bridge.openlineage.event_builder import Json, schema_fields
from lineage_bridge.openlineage.facets import SchemaField
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import OUT, KafkaEventBuilder, digest
from lineage_bridge.sources.common.kafka.look.cluster import EVERY_TOPIC, EVERYBODY, AclRule, ClusterState, KafkaTopic
from lineage_bridge.sources.common.kafka.look.purposes import mirror_of, mirrors, purpose

STATISTICS_EVERY_US = 3_600_000_000
_META, _CONFIG, _ACCESS, _COLUMNS = range(4)

ExtraFacets: TypeAlias = Callable[[str, KafkaTopic], Mapping[str, Json]]
TopicRecord = Mapping[str, Any]
"""A topic's part of the snapshot: `id` (a digest), `said` (digests of the four parts that were reported), `end` (sum of its end offsets),
`counted` (time, start and end of the reported statistics), `blind` if its configuration can no longer be read."""


def _no_more(_: str, __: KafkaTopic) -> Mapping[str, Json]:
    return {}


def settled(topics: Mapping[str, TopicRecord]) -> frozenset[str]:
    """Return the topics whose configurations are known from earlier polls, so that they are not fetched at each poll."""
    return frozenset(name for name, state in topics.items() if state["said"][_CONFIG] and not state.get("blind"))


def topic_events(
    builder: KafkaEventBuilder,
    seen: ClusterState,
    before: Mapping[str, TopicRecord],
    columns: Mapping[str, tuple[SchemaField, ...]],
    more: ExtraFacets = _no_more,
    names: Mapping[str, str] = MappingProxyType({}),
) -> tuple[list[Json], dict[str, TopicRecord]]:
    """Return the events about topics, and the topics' part of the next snapshot.

    `columns`: the fields seen in the records of sampled topics. `more`: additional facets. `names`: for ids of principals (`sa-1` in
    `User:sa-1`), their names.
    """
    if seen.topics is None:
        return [], dict(before)
    events: list[Json] = []
    after: dict[str, TopicRecord] = {name: state for name, state in before.items() if name not in seen.topics_gone}
    events += [
        builder_event
        for name in sorted(seen.topics_gone & set(before))
        for builder_event in [OUT.dataset_event(builder.now_us, builder.name(name), {"lifecycleStateChange": OUT.lifecycle("DROP")})]
    ]
    rights = TopicAccess(seen.rules, names) if seen.rules is not None else None
    aliases = mirrors(seen.topics)
    for name, topic in sorted(seen.topics.items()):
        event, after[name] = _topic_event(
            builder, seen, name, topic, before.get(name, {}), rights, aliases, columns.get(name, ()), more(name, topic)
        )
        events += [event] if event else []
    return events, after


def _topic_event(
    builder: KafkaEventBuilder,
    seen: ClusterState,
    name: str,
    topic: KafkaTopic,
    before: TopicRecord,
    rights: "TopicAccess | None",
    aliases: Collection[str],
    columns: tuple[SchemaField, ...],
    more: Mapping[str, Json],
) -> tuple[Json | None, TopicRecord]:
    config = seen.configs.get(name)
    access = rights.facet_members(name) if rights is not None else None
    ident = digest(topic.id) if topic.id else ""
    again = bool(before.get("id") and ident and before["id"] != ident)
    digests = list(before.get("said", ("", "", "", "")))
    now = [
        digest([topic.id, len(topic.leaders), topic.replication, mirror_of(name, aliases), *([more] if more else [])]),
        digests[_CONFIG] if config is None else digest(config),
        digests[_ACCESS] if access is None else digest(access),
        digest([repr(field) for field in columns]) if columns else digests[_COLUMNS],
    ]
    if name in seen.settled and now[_META] != digests[_META]:
        digests[_CONFIG] = ""  # reported at the next poll, with its configuration
        return None, {**before, "said": digests}
    facets: dict[str, Json] = {}
    if now != digests:
        if now[: _CONFIG + 1] != digests[: _CONFIG + 1]:
            facets = {**_facets(builder, name, topic, config, aliases), **more}
            if config is None:
                now[_CONFIG] = ""  # reported again once its configuration can be read
        if access is not None:
            facets["kafka_access"] = OUT.own_facet("1-0-0", "KafkaAccessDatasetFacet", confidence="LOW", **access)
        if columns and now[_COLUMNS] != digests[_COLUMNS]:
            facets["schema"] = OUT.schema(schema_fields(columns))
    if again:
        facets["lifecycleStateChange"] = OUT.lifecycle("OVERWRITE")
    counted = before.get("counted") if not again else None
    statistics = _statistics(builder, seen, name, counted)
    if statistics:
        facets["kafka_statistics"] = statistics
        counted = [builder.now_us, sum(seen.starts[name]), sum(seen.ends[name])]
    ends = seen.ends.get(name)
    state = {"id": ident, "said": now, "end": before.get("end") if ends is None else sum(ends), "counted": counted}
    if config is None and name not in seen.settled and digests[_CONFIG]:
        state["blind"] = True
    return (OUT.dataset_event(builder.now_us, builder.name(name), facets) if facets else None), state


def _facets(
    builder: KafkaEventBuilder, name: str, topic: KafkaTopic, config: Mapping[str, str] | None, aliases: Collection[str]
) -> dict[str, Json]:
    mirrored = mirror_of(name, aliases)
    members: Json = {
        "clusterId": builder.cluster,
        "partitions": len(topic.leaders),
        "replicationFactor": topic.replication,
        "purpose": "MIRROR" if mirrored else purpose(name),
    }
    if topic.id:
        members["topicId"] = topic.id
    if config is not None:
        members["config"] = dict(sorted(config.items()))
    if mirrored:
        members["mirrorOf"] = {"clusterAlias": mirrored[0], "topic": mirrored[1]}
    return {
        "datasetType": OUT.dataset_type("TOPIC"),
        "dataSource": OUT.data_source(builder.namespace, builder.namespace),
        "kafka_topic": OUT.own_facet("1-0-0", "KafkaTopicDatasetFacet", **members),
    }


def _statistics(builder: KafkaEventBuilder, seen: ClusterState, name: str, counted: list[int] | None) -> Json | None:
    """The number of rows in the topic, and of rows written since the previous statistics. They are reported at most once an hour, and
    only if they changed.
    """
    if name not in seen.ends or name not in seen.starts:
        return None
    start, end = sum(seen.starts[name]), sum(seen.ends[name])
    if counted and (builder.now_us - counted[0] < STATISTICS_EVERY_US or counted[1:] == [start, end]):
        return None
    members: Json = {"retainedRows": end - start, "endOffsets": end}
    if counted:
        members |= {"writtenRows": max(0, end - counted[2]), "since": format_time(counted[0])}
    held = seen.producers.get(name, ())
    if held:
        members["producers"] = len(held)
    last = max((producer.last_ms for producer in held), default=-1)
    if last >= 0:
        members["lastWritten"] = format_time(last * 1000)
    return OUT.own_facet("1-0-0", "KafkaStatisticsDatasetFacet", **members)


class TopicAccess:
    """Which principals may read and write topics according to the access rules. A rule that denies overrides those that allow."""

    def __init__(self, rules: Iterable[AclRule], names: Mapping[str, str]) -> None:
        self._names = names
        self._literal: dict[str, list[AclRule]] = {}
        self._wide: list[AclRule] = []
        for rule in rules:
            if rule.pattern == "LITERAL" and rule.name != EVERY_TOPIC:
                self._literal.setdefault(rule.name, []).append(rule)
            else:
                self._wide.append(rule)

    def facet_members(self, name: str) -> Json:
        """The members of a topic's facet: `rules`, how many of the rules are for it; `mayRead` and `mayWrite`, sorted principals;
        `exceptRead` and `exceptWrite`, those who may not although everybody may (`User:*`); `names`, the names of those principals that
        have one. The last three are left out if empty.
        """
        rules = [rule for rule in self._wide if _is_for(rule, name)] + self._literal.get(name, [])
        (may_read, not_read), (may_write, not_write) = _may(rules, "READ"), _may(rules, "WRITE")
        members: Json = {"mayRead": may_read, "mayWrite": may_write}
        members |= {key: some for key, some in (("exceptRead", not_read), ("exceptWrite", not_write)) if some}
        every = sorted({principal for some in members.values() for principal in some})
        names = {principal: found for principal in every if (found := self._names.get(principal.partition(":")[2]))}
        return {"rules": len(rules), **members, **({"names": names} if names else {})}


def _is_for(rule: AclRule, name: str) -> bool:
    """Whether a rule for several topics is for this one. Only in a literal rule, `*` stands for every topic."""
    return rule.pattern == "LITERAL" or name.startswith(rule.name)


def _may(rules: Iterable[AclRule], operation: str) -> tuple[list[str], list[str]]:
    """Who may do something, and, where everybody may, who may not."""
    fitting = [rule for rule in rules if rule.operation in ("ALL", operation)]
    allowed = {rule.principal for rule in fitting if rule.allows}
    denied = {rule.principal for rule in fitting if not rule.allows}
    if EVERYBODY in denied:
        return [], []
    return sorted(allowed - denied), sorted(denied) if EVERYBODY in allowed else []
