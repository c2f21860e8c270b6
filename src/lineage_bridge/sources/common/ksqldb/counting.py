"""Counts what a query has read and written since its run was first seen. A restart of a server resets the server's counters. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.sources.common.ksqldb.answers import STREAM, KsqldbQuery, KsqldbState

_OUT = EventBuilder("https://lineagebridge.dev/sources/ksqldb")
_MESSAGES, _BYTES = "total-messages", ("total-message-bytes", "total-bytes")
"""The names of a server's counters for a topic that it writes; for a topic that it reads, they begin with `consumer-`. The counter of bytes
has another name in later versions.
"""

Counts = dict[str, list[int]]
"""For each counter, its last value, and the total since the run was first seen."""


def counted(
    query: KsqldbQuery, state: KsqldbState, offsets: Mapping[str, int], was: Mapping[str, Any] | None
) -> tuple[Counts, dict[str, Json], dict[str, Json]]:
    """Return the counters for the next snapshot, and the statistics of reads and writes by topic.

    Reads come from `offsets`, the committed offsets of the query's group, by topic. Without these, a server's counts of a topic are
    used, but only if no other query reads (or writes) the topic.
    """
    counts: Counts = {}
    read: dict[str, Json] = {}
    for topic in sorted({*offsets, *_topics(state, query.sources)}):
        rows = _count(counts, was, f"read {topic}", offsets[topic], restarts=False) if topic in offsets else None
        messages, size = _of_servers(query.id, state, topic, "consumer-", counts, was)
        rows = messages if rows is None else rows
        if rows is not None:
            read[topic] = {"inputStatistics": _OUT.input_statistics(rows=rows, size=size)}
    written: dict[str, Json] = {}
    for topic in _topics(state, query.sinks):
        rows, size = _of_servers(query.id, state, topic, "", counts, was)
        if rows is not None:
            written[topic] = {"outputStatistics": _OUT.output_statistics(rows=rows, size=size)}
    for key, value in (was or {}).items():
        counts.setdefault(key, list(value))
    return counts, read, written


def _topics(state: KsqldbState, relations: Iterable[str]) -> list[str]:
    return sorted({state.relations[name].topic for name in relations if name in state.relations})


def _of_servers(
    query: str, state: KsqldbState, topic: str, start: str, counts: Counts, was: Mapping[str, Any] | None
) -> tuple[int | None, int | None]:
    """Return the messages and bytes that the servers counted for a topic; None if they may include those of another query."""
    here = state.by_topic.get(topic, [])
    if any(kind == STREAM for kind, _, _ in state.unreadable) or {
        name for statistic in here for name in (statistic.readers if start else statistic.writers)
    } != {query}:
        return None, None
    counters = {counter: value for statistic in here for counter, value in statistic.counters.items()}
    counted_by = {statistic for _, statistic in counters}
    size = next((start + name for name in _BYTES if start + name in counted_by), "")
    sums: dict[str, int] = {}
    for (host, statistic), value in sorted(counters.items()):
        if statistic in (start + _MESSAGES, size):
            sums[statistic] = sums.get(statistic, 0) + _count(counts, was, f"{statistic} {topic} {host}", value, restarts=True)
    return sums.get(start + _MESSAGES), sums.get(size)


def _count(counts: Counts, was: Mapping[str, Any] | None, key: str, value: int, *, restarts: bool) -> int:
    """Continue a count. A value that has decreased is, with `restarts`, the value of a server's counter that was reset; without `restarts`,
    it is an offset that was moved back, whose rows are not counted again.
    """
    last, total = was.get(key, (0 if restarts else value, 0)) if was is not None else (value, 0)
    if value >= last:
        total += value - last
    elif restarts:
        total += value
    counts[key] = [value, total]
    return total
