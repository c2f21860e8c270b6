"""Finds the records that a group has not read yet, and its stuck partitions, on which it makes no progress. Pure."""

from collections.abc import Iterable, Mapping, Sequence

from lineage_bridge.openlineage.event_builder import Json

Offsets = Mapping[str, Sequence[int]]
"""Topic to an offset of each partition; -1 for a partition without one."""
Unread = Mapping[str, Mapping[int, int]]
"""Topic to the records not yet read, by partition; only partitions whose committed offset is known."""


def unread_records(topics: Iterable[str], committed: Offsets, ends: Offsets) -> dict[str, dict[int, int]]:
    """Return the records that lie between the committed offsets of a group and the ends of its partitions."""
    return {
        topic: {
            partition: max(0, end - offset)
            for partition, (end, offset) in enumerate(zip(ends[topic], committed[topic], strict=False))
            if offset >= 0
        }
        for topic in topics
        if ends.get(topic) and committed.get(topic)
    }


def partitions_behind(unread: Unread) -> dict[str, list[int]]:
    """Return the partitions that have unread records, by topic; topics without such partitions are left out."""
    behind = {topic: [partition for partition, count in sorted(counts.items()) if count] for topic, counts in sorted(unread.items())}
    return {topic: partitions for topic, partitions in behind.items() if partitions}


def stuck_partitions(unread: Unread, behind: Mapping[str, Sequence[int]], before: Offsets, now: Offsets) -> dict[str, Json]:
    """Return the topics with stuck partitions of a group, each with the number of these partitions and the one with the most unread
    records.

    A partition is stuck if it has unread records, had some at the previous poll (`behind`), and its committed offset has not changed since
    (`before`, `now`), while that of another partition of the topic has increased.
    """
    found = {}
    for topic, counts in sorted(unread.items()):
        pairs = list(enumerate(zip(before.get(topic, ()), now.get(topic, ()), strict=False)))
        if not any(was >= 0 and offset > was for _, (was, offset) in pairs):
            continue
        had = set(behind.get(topic, ()))
        stuck = [partition for partition, (was, offset) in pairs if partition in had and was == offset and counts.get(partition)]
        if stuck:
            worst = max(stuck, key=lambda partition: (counts[partition], -partition))
            found[topic] = {"partitions": len(stuck), "worst": worst, "rows": counts[worst]}
    return found
