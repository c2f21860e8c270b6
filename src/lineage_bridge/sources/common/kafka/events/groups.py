"""Reports groups as streaming jobs, with one run for each period in which a group reads, its topics and its lag. Pure.

A run begins when a group is first seen with members, or when its offsets move. It ends (COMPLETE) when the group has had no members at two
polls in a row or, if the group only commits offsets, when they have not moved for an hour. If the group is deleted, its run ends at once
(ABORT). A group that is idle when it is first seen gets a single COMPLETE event, because it has read before.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, run_id
from lineage_bridge.openlineage.facets.lag import KAFKA_LAG, KAFKA_LAG_FACET
from lineage_bridge.openlineage.facets.rebalance import KAFKA_REBALANCE
from lineage_bridge.openlineage.naming import DatasetName
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import OUT, KafkaEventBuilder, digest
from lineage_bridge.sources.common.kafka.events.rebalances import membership, rebalance
from lineage_bridge.sources.common.kafka.events.unread import partitions_behind, stuck_partitions, unread_records
from lineage_bridge.sources.common.kafka.look.cluster import STREAMS, ClusterState, GroupMember, KafkaGroup, Subtopology
from lineage_bridge.sources.common.kafka.look.purposes import is_streams_client, purpose

QUIET_US = 3_600_000_000
_ASLEEP = frozenset(("Empty", "Dead", "Not Ready", ""))
_MEMBERS_REPORTED = 20

GroupRecord = Mapping[str, Any]
"""A group's part of the snapshot: `kind`; `topics` it reads and `outputs`; `at` (topic to committed offsets by partition);
`behind` (topic to partitions with unread records); `members` (`Membership`); `run`, if one is
open: `start` (us), `rows` (topic to rows since), `alive` (us), `had` (whether members were seen), `idle` (polls); `told` (digest);
`joined` once the owner of the group was reported; `lag`: of a group that another job owns, the members of the lag's facet."""


@dataclass(frozen=True)
class GroupContext:
    """Facts about groups from other parts of the poll and other sources: the topics that each group writes in transactions, the groups that
    belong to other jobs, and the topics to report.
    """

    written: Mapping[str, frozenset[str]] = field(default_factory=dict)
    owned: frozenset[str] = frozenset()
    is_selected: Callable[[str], bool] = bool


def is_streams(name: str, group: KafkaGroup) -> bool:
    """Whether a consumer group is that of a Kafka Streams application."""
    if group.kind == STREAMS or group.assignor == "stream":
        return True
    return any(is_streams_client(member.client_id) and member.client_id.startswith(name) for member in group.members or ())


def group_events(
    builder: KafkaEventBuilder, seen: ClusterState, before: Mapping[str, GroupRecord], context: GroupContext
) -> tuple[list[Json], dict[str, GroupRecord]]:
    """Return the events about consumer groups, and the groups' part of the next snapshot."""
    after: dict[str, GroupRecord] = {name: state for name, state in before.items() if name not in seen.groups_gone}
    ended = [name for name in sorted(seen.groups_gone & set(before)) if before[name].get("run")]
    events = [_GroupEvents(builder, name, before[name], seen, context).end("ABORT") for name in ended]
    for name, group in sorted((seen.groups or {}).items()):
        if group.protocol not in ("consumer", "share", "streams", ""):
            continue  # workers of Connect and registries only use groups to coordinate
        step = _GroupEvents(builder, name, before.get(name, {}), seen, context, group)
        new, after[name] = step.step()
        events += new
    return events, after


class _GroupEvents:
    """Builds the events about a single group in a poll."""

    def __init__(
        self,
        builder: KafkaEventBuilder,
        name: str,
        before: GroupRecord,
        seen: ClusterState,
        context: GroupContext,
        group: KafkaGroup | None = None,
    ) -> None:
        self.builder, self.name, self.before, self.seen, self.context = builder, name, before, seen, context
        self.group = group or KafkaGroup(before.get("kind", ""), "Dead")
        self.at: dict[str, list[int]] = {topic: list(offsets) for topic, offsets in seen.committed.get(name, {}).items()}
        if name not in seen.committed:
            self.at = dict(before.get("at", {}))
        self.run: dict[str, Any] | None = dict(before["run"]) if before.get("run") else None
        self.moved = _moved(before.get("at", {}), self.at)
        self.unread = unread_records(self.at, self.at, seen.ends)
        self.members = membership(self.group, builder.now_us, before.get("members", {}))
        self.reads = self._reads()
        self.topology = self._topology()
        outputs = {*before.get("outputs", ()), *(sink for part in self.topology for sink in part.sinks)}
        self.outputs = sorted(outputs - seen.topics_gone)

    def _reads(self) -> list[str]:
        subscribed = {topic for member in self.group.members or () for topic in member.topics}
        if self.group.members is None:
            subscribed = set(self.before.get("topics", ()))
        subscribed |= self.group.topics
        read = (subscribed or set(self.at)) | {topic for topic, rows in self.moved.items() if rows}
        if self.run:
            read |= set(self.before.get("topics", ()))
        return sorted(topic for topic in read - self.seen.topics_gone if self.context.is_selected(topic))

    def _topology(self) -> tuple[Subtopology, ...]:
        written = self.context.written.get(self.name, frozenset())
        if not is_streams(self.name, self.group):
            return (Subtopology(tuple(self.reads), tuple(sorted(written))),) if written else ()
        own = [topic for topic in self.seen.topics or () if topic.startswith(f"{self.name}-")]
        parts = self.group.topology
        if not parts:
            between = [topic for topic in own if purpose(topic) == "REPARTITION"]
            stores = [topic for topic in own if purpose(topic) == "CHANGELOG"]
            sources = tuple(topic for topic in self.reads if topic not in between)
            parts = (Subtopology(sources, tuple(sorted(between))), Subtopology((*sources, *sorted(between)), tuple(sorted(stores))))
        sinks = tuple(sorted(written - {sink for part in parts for sink in part.sinks}))
        every = tuple(sorted({source for part in parts for source in part.sources}))
        return (*parts, Subtopology(every, sinks)) if sinks else parts

    @property
    def active(self) -> bool:
        """Whether the group is reading at the time of the poll."""
        if self.group.members is None:
            return self.group.state not in _ASLEEP
        return bool(self.group.members)

    def step(self) -> tuple[list[Json], GroupRecord]:
        """Return the events about the group in this poll, and the group's part of the next snapshot."""
        events: list[Json] = []
        stated = self.before.get("told", "")
        if self.name in self.context.owned:
            events = [self.end("COMPLETE")] if self.run else []
            unread = self._unread()
            return events, {**self._state(None, stated), **({"lag": unread} if unread else {})}
        alive = self.active or any(self.moved.values())
        if self.run is None and (alive or (self.reads and not stated)):
            self.run = {
                "start": self.builder.now_us,
                "rows": dict.fromkeys(self.reads, 0) if alive else {},
                "alive": self.builder.now_us,
                "had": False,
                "idle": 0,
            }
            if alive:
                self._count()
            now = self._digest()
            events = [self._event("START" if alive else "COMPLETE", whole=True)]
            return events, self._state(self.run if alive else None, now)
        if self.run is None:
            return [], self._state(None, stated)
        self._count()
        if alive:
            self.run |= {"alive": self.builder.now_us, "idle": 0}
        else:
            self.run["idle"] += 1
        if self._over():
            return [self.end("COMPLETE")], self._state(None, stated)
        now = self._digest()
        return [self._event("RUNNING", whole=now != stated)], self._state(self.run, now)

    def _over(self) -> bool:
        run = self.run or {}
        if run["had"]:
            return bool(run["idle"] >= 2)
        return bool(self.builder.now_us - run["alive"] >= QUIET_US)

    def _count(self) -> None:
        run = self.run or {}
        rows = dict(run["rows"])
        for topic in self.reads:
            rows[topic] = rows.get(topic, 0) + self.moved.get(topic, 0)
        run |= {"rows": rows, "had": run["had"] or bool(self.group.members)}

    def end(self, kind: str) -> Json:
        """Return the event that ends the group's open run: COMPLETE or ABORT."""
        return self._event(kind, whole=False)

    def _digest(self) -> str:
        described = self.group.members is not None or self.group.topics or self.group.topology
        if not described and self.before.get("told"):
            return str(self.before["told"])  # the group could not be described at this poll, so nothing changed
        return digest([self.reads, self.outputs, self._facet()])

    def _state(self, run: Mapping[str, Any] | None, stated: str) -> GroupRecord:
        state: dict[str, Any] = {"kind": self.group.kind, "topics": self.reads, "at": self.at, "told": stated}
        state |= {key: value for key, value in (("behind", partitions_behind(self.unread)), ("members", self.members)) if value}
        if self.outputs:
            state["outputs"] = self.outputs
        if self.before.get("joined"):
            state["joined"] = True
        return {**state, "run": run} if run else state

    def _event(self, kind: str, *, whole: bool) -> Json:
        run = self.run or {}
        streams = is_streams(self.name, self.group)
        unread = self._unread()
        run_facets = {KAFKA_LAG: OUT.own_facet("1-0-0", KAFKA_LAG_FACET, **unread)} if unread else {}
        moved = rebalance(self.before.get("members", {}), self.members) if kind == "RUNNING" else None
        job_facets: dict[str, Json] = {KAFKA_REBALANCE: moved} if moved else {}
        outputs: Iterable[str] = ()
        if whole:
            run_facets["kafka_group"] = self._facet()
            job_facets |= self.builder.job_facets("STREAMS_APPLICATION" if streams else "CONSUMER_GROUP")
            outputs = self.outputs
            if len(self.topology) > 1:
                job_facets["lineage"] = OUT.lineage(self._lineage())
        ident = run_id("kafka", self.builder.cluster, "group", self.name, run["start"])
        return OUT.run_event(
            kind,
            self.builder.now_us,
            ident,
            self.builder.group(self.name),
            run_facets=run_facets,
            job_facets=job_facets,
            inputs=[self._input(topic, run["rows"].get(topic)) for topic in self.reads],
            outputs=[OUT.dataset(self.builder.name(topic)) for topic in outputs],
        )

    def _input(self, topic: str, rows: int | None) -> Json:
        counted = rows is not None and topic in self.at
        return OUT.dataset(self.builder.name(topic), inputFacets={"inputStatistics": OUT.input_statistics(rows)} if counted else {})

    def _lineage(self) -> list[Json]:
        sources: dict[str, set[str]] = {}
        for part in self.topology:
            for sink in part.sinks:
                sources.setdefault(sink, set()).update(source for source in part.sources if source != sink)
        ends = [self._entry(self.builder.name(sink), sorted(found)) for sink, found in sorted(sources.items())]
        used = {source for found in sources.values() for source in found}
        idle = [topic for topic in self.reads if topic not in used]
        return [*ends, {"type": "JOB", "inputs": [_dataset(self.builder.name(topic)) for topic in idle]}] if idle else ends

    def _entry(self, target: DatasetName, sources: Iterable[str]) -> Json:
        return {**_dataset(target), "inputs": [_dataset(self.builder.name(source)) for source in sources]}

    def _facet(self) -> Json:
        group = self.group
        members: Json = {"clusterId": self.builder.cluster, "groupType": group.kind, "state": group.state}
        patterns = sorted({member.pattern for member in group.members or () if member.pattern})
        members |= {key: value for key, value in (("assignor", group.assignor), ("subscribedPatterns", patterns)) if value}
        if group.members is None:
            members["membersUnknown"] = True
        else:
            shown = sorted(group.members)[:_MEMBERS_REPORTED]
            members["memberCount"] = len(group.members)
            members["members"] = [_member(member) for member in shown]
        return OUT.own_facet("1-0-0", "KafkaGroupRunFacet", **members)

    def _unread(self) -> Json | None:
        """Return the members of the facet with the group's lag; None if that is unknown."""
        lag = {topic: sum(rows.values()) for topic, rows in self.unread.items() if topic in self.reads}
        if not lag:
            return None
        members: Json = {"at": format_time(self.builder.now_us), "rows": sum(lag.values()), "topics": lag}
        behind, committed = self.before.get("behind", {}), self.before.get("at", {})
        stuck = stuck_partitions({topic: self.unread[topic] for topic in lag}, behind, committed, self.at)
        return {**members, **({"stuck": stuck} if stuck else {})}


def _member(member: GroupMember) -> Json:
    facts: Json = {"clientId": member.client_id}
    if member.host:
        facts["host"] = member.host.lstrip("/")
    if member.partitions >= 0:
        facts["partitions"] = member.partitions
    return facts


def _dataset(name: DatasetName) -> Json:
    return {"type": "DATASET", "namespace": name[0], "name": name[1]}


def _moved(before: Mapping[str, list[int]], now: Mapping[str, list[int]]) -> dict[str, int]:
    """Count the rows that a group read between two polls. Only partitions count whose offset is known at both and has increased."""
    return {
        topic: sum(max(0, offset - was) for offset, was in zip(offsets, before.get(topic, ()), strict=False) if offset >= 0 and was >= 0)
        for topic, offsets in now.items()
    }
