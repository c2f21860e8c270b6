"""What a query read and wrote since its run was first seen, from counters that restart with the server. Pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from lineage_bridge.openlineage.event_builder import EventBuilder, Json
from lineage_bridge.sources.common.ksqldb.answers import KsqldbQuery, KsqldbState

_OUT = EventBuilder("https://lineagebridge.dev/sources/ksqldb")
_MESSAGES, _BYTES = "total-messages", ("total-message-bytes", "total-bytes")
"""What a server counts of a topic that it writes; `consumer-` before it, of one that it reads. The bytes were renamed once."""

Counts = dict[str, list[int]]
"""A counter to what it last was, and how much was counted since the run was first seen."""


def counted(
    query: KsqldbQuery, said: KsqldbState, offsets: Mapping[str, int], was: Mapping[str, Any] | None
) -> tuple[Counts, dict[str, Json], dict[str, Json]]:
    """The counters for the next snapshot, and the statistics of what was read and written, by topic.

    Reads come from `offsets`, the committed offsets of the query's group, by topic. A server's counts of a topic are used only if no other
    query reads it, or writes to it.
    """
    counts: Counts = {}
    read: dict[str, Json] = {}
    for topic in sorted({*offsets, *_topics(said, query.sources)}):
        rows = _count(counts, was, f"read {topic}", offsets[topic], restarts=False) if topic in offsets else None
        messages, size = _of_servers(query.id, said, topic, "consumer-", counts, was)
        rows = messages if rows is None else rows
        if rows is not None:
            read[topic] = {"inputStatistics": _OUT.input_statistics(rows=rows, size=size)}
    written: dict[str, Json] = {}
    for topic in _topics(said, query.sinks):
        rows, size = _of_servers(query.id, said, topic, "", counts, was)
        if rows is not None:
            written[topic] = {"outputStatistics": _OUT.output_statistics(rows=rows, size=size)}
    for key, value in (was or {}).items():
        counts.setdefault(key, list(value))
    return counts, read, written


def _topics(said: KsqldbState, relations: Iterable[str]) -> list[str]:
    return sorted({said.relations[name].topic for name in relations if name in said.relations})


def _of_servers(
    query: str, said: KsqldbState, topic: str, start: str, counts: Counts, was: Mapping[str, Any] | None
) -> tuple[int | None, int | None]:
    """Messages and bytes that the servers counted for a topic; None if another query may have contributed."""
    here = said.by_topic.get(topic, [])
    if {name for one in here for name in (one.readers if start else one.writers)} != {query}:
        return None, None
    counters = {counter: value for one in here for counter, value in one.counters.items()}
    told = {statistic for _, statistic in counters}
    size = next((start + name for name in _BYTES if start + name in told), "")
    sums: dict[str, int] = {}
    for (host, statistic), value in sorted(counters.items()):
        if statistic in (start + _MESSAGES, size):
            sums[statistic] = sums.get(statistic, 0) + _count(counts, was, f"{statistic} {topic} {host}", value, restarts=True)
    return sums.get(start + _MESSAGES), sums.get(size)


def _count(counts: Counts, was: Mapping[str, Any] | None, key: str, value: int, *, restarts: bool) -> int:
    """Continue a count. A number that decreased was reset; after an offset was reset, rows read again are not counted twice."""
    last, total = was.get(key, (0 if restarts else value, 0)) if was is not None else (value, 0)
    if value >= last:
        total += value - last
    elif restarts:
        total += value
    counts[key] = [value, total]
    return total
