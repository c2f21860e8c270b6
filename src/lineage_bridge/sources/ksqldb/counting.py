"""Amounts of a query since its run was first seen, from numbers that begin anew when a server starts. Pure."""

from collections.abc import Mapping
from typing import Any

from lineage_bridge.openlineage.outgoing import Json, Outgoing
from lineage_bridge.sources.knowledge import Knowledge
from lineage_bridge.sources.ksqldb.answers import Answers, Query

_OUT = Outgoing("https://lineagebridge.dev/sources/ksqldb")
_MESSAGES, _BYTES = "total-messages", "total-message-bytes"

Counts = dict[str, list[int]]
"""A counter to what it last was, and how much was counted since the run was first seen."""


def counted(
    query: Query, said: Answers, around: Knowledge, group: str, was: Mapping[str, Any] | None
) -> tuple[Counts, dict[str, Json], dict[str, Json]]:
    """The counters to be remembered, and by topic the statistics of what was read and written.

    What is read is told by the offsets that the query's group committed, which ksqlDB tells or the broker. What is written is told where
    no other query writes to the topic.
    """
    counts: Counts = {}
    read: dict[str, Json] = {}
    for topic, offset in sorted(_committed(said, around, group).items()):
        rows = _count(counts, was, f"read {topic}", offset, restarts=False)
        read[topic] = {"inputStatistics": _OUT.input_statistics(rows=rows)}
    written: dict[str, Json] = {}
    for name in query.sinks:
        sink = said.relations.get(name)
        if sink is None or not sink.written or sink.writers != (query.id,):
            continue
        sums = {_MESSAGES: 0, _BYTES: 0}
        for (host, statistic), value in sorted(sink.written.items()):
            if statistic in sums:
                sums[statistic] += _count(counts, was, f"{statistic} {name} {host}", value, restarts=True)
        told_bytes = any(statistic == _BYTES for _, statistic in sink.written)
        statistics = _OUT.output_statistics(rows=sums[_MESSAGES], size=sums[_BYTES] if told_bytes else None)
        written[sink.topic] = {"outputStatistics": statistics}
    for key, value in (was or {}).items():
        counts.setdefault(key, list(value))
    return counts, read, written


def _committed(said: Answers, around: Knowledge, group: str) -> dict[str, int]:
    told = {topic: at for one in said.relations.values() for (owner, topic), at in one.committed.items() if owner == group}
    cluster = around.cluster(said.cluster)
    return told or {topic: at for (owner, topic), at in (cluster.read if cluster else {}).items() if owner == group}


def _count(counts: Counts, was: Mapping[str, Any] | None, key: str, value: int, *, restarts: bool) -> int:
    """Count on. A number that fell began anew; an offset that fell was set back, and what is read again is not counted twice."""
    last, total = was.get(key, (0 if restarts else value, 0)) if was is not None else (value, 0)
    if value >= last:
        total += value - last
    elif restarts:
        total += value
    counts[key] = [value, total]
    return total
