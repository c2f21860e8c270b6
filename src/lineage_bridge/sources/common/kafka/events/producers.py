"""Reports transactional producers as streaming jobs, and the topics that applications of groups write in transactions. Pure.

Many programs generate transactional ids (`orders-0`, `orders-<uuid>-1`): ids that differ only in the numbers and UUIDs at their end are one
producer. If a consumer group has the same name as a producer, both belong to one application, which is reported as the group's job. A run
begins when a producer is first seen writing. It ends (COMPLETE) when it has written nothing for an hour, or (ABORT) when the
brokers have forgotten all of its ids.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import Json, run_id
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.sources.common.kafka.events.builder import OUT, KafkaEventBuilder, digest
from lineage_bridge.sources.common.kafka.look.cluster import UNDER_WAY, ClusterState
from lineage_bridge.sources.common.kafka.look.purposes import stems

QUIET_US = 3_600_000_000
_IDS_KEPT = 20

ProducerRecord = Mapping[str, Any]
"""The snapshot of a producer: some `ids` and how `many`, `topics` it writes, `last` (its newest record, ms), `told` (digest), and if
a run is open its `start` and when it was last `alive` (us)."""


def producer_events(
    builder: KafkaEventBuilder,
    seen: ClusterState,
    before: Mapping[str, ProducerRecord],
    groups: Collection[str],
    is_selected: Callable[[str], bool],
) -> tuple[list[Json], dict[str, ProducerRecord], dict[str, frozenset[str]]]:
    """Return the events about producers, the producers' part of the next snapshot, and the topics that the applications of groups write."""
    if seen.transactions is None:
        return [], dict(before), {name: frozenset(before[name]["topics"]) for name in before if name in groups}
    held = _gathered(seen, groups)
    events: list[Json] = []
    after: dict[str, ProducerRecord] = {}
    for name, was in before.items():
        if name in held:
            continue
        if set(was["ids"]) <= seen.transactions_gone:
            events += [_event(builder, name, was, "ABORT")] if "start" in was and name not in groups else []
        else:
            after[name] = was
    for name, (ids, topics, last) in sorted(held.items()):
        known = before.get(name, {})
        stated = {topic for topic in {*known.get("topics", ()), *topics} - seen.topics_gone if is_selected(topic)}
        state: dict[str, Any] = {
            "ids": ids[:_IDS_KEPT],
            "many": len(ids),
            "topics": sorted(stated),
            "last": max(last, known.get("last", -1)),
            "told": known.get("told", ""),
        }
        alive = state["last"] > known.get("last", -1) or any(seen.transactions[producer_id].state in UNDER_WAY for producer_id in ids)
        if name not in groups:
            events += _step(builder, name, state, known, alive=alive)
        after[name] = state
    return events, after, {name: frozenset(after[name]["topics"]) for name in after if name in groups}


def _gathered(seen: ClusterState, groups: Collection[str]) -> dict[str, tuple[list[str], set[str], int]]:
    """Group transactional ids by producer. Returns, by its name, each producer's ids, the topics that it writes, and the time of its
    newest record.
    """
    by_id: dict[int, tuple[set[str], int]] = {}
    for topic, producers in seen.producers.items():
        for producer in producers:
            topics, last = by_id.get(producer.id, (set(), -1))
            by_id[producer.id] = topics | {topic}, max(last, producer.last_ms)
    held: dict[str, tuple[list[str], set[str], int]] = {}
    for ident, transaction in sorted((seen.transactions or {}).items()):
        names = stems(ident)
        name = next((stem for stem in names if stem in groups), names[-1])
        ids, topics, last = held.get(name, ([], set(), -1))
        written, newest = by_id.get(transaction.producer_id, (set(), -1))
        held[name] = [*ids, ident], topics | written | transaction.topics, max(last, newest)
    return held


def _step(builder: KafkaEventBuilder, name: str, state: dict[str, Any], known: ProducerRecord, *, alive: bool) -> list[Json]:
    """Return the events of a producer that is not part of a group's job, and update `state`, its part of the snapshot."""
    if "start" in known:
        state |= {"start": known["start"], "alive": builder.now_us if alive else known["alive"]}
        if builder.now_us - state["alive"] >= QUIET_US:
            return [_ended(builder, name, state)]
        return [_running(builder, name, state, "RUNNING")]
    if state["topics"] and (alive or not state["told"]):
        state |= {"start": builder.now_us, "alive": builder.now_us, "told": ""}
        return [_running(builder, name, state, "START")]
    return []


def _ended(builder: KafkaEventBuilder, name: str, state: dict[str, Any]) -> Json:
    event = _event(builder, name, state, "COMPLETE")
    del state["start"], state["alive"]
    return event


def _running(builder: KafkaEventBuilder, name: str, state: dict[str, Any], kind: str) -> Json:
    now = digest([state["topics"], state["ids"], state["many"]])
    whole, state["told"] = now != state["told"], now
    return _event(builder, name, state, kind, whole=whole)


def _event(builder: KafkaEventBuilder, name: str, state: ProducerRecord, kind: str, *, whole: bool = False) -> Json:
    facets: dict[str, Json] = {}
    if whole:
        members: Json = {"clusterId": builder.cluster, "transactionalIds": state["ids"], "count": state["many"]}
        if state["last"] >= 0:
            members["lastWritten"] = format_time(state["last"] * 1000)
        facets["kafka_producer"] = OUT.own_facet("1-0-0", "KafkaProducerRunFacet", **members)
    return OUT.run_event(
        kind,
        builder.now_us,
        run_id("kafka", builder.cluster, "producer", name, state["start"]),
        builder.producer(name),
        run_facets=facets,
        job_facets=builder.job_facets("PRODUCER") if whole else {},
        outputs=[OUT.dataset(builder.name(topic)) for topic in state["topics"]] if whole else (),
    )
