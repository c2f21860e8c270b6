"""Sums records and bytes of a run across restarts of its tasks, which reset Flink's own counters. Pure."""

from collections.abc import Mapping

from lineage_bridge.sources.common.flink.metrics import Counts
from lineage_bridge.sources.common.flink.plan import Operator

Held = dict[str, list[int]]
"""For each counter, its total before its last reset, and its last value. Totals never decrease; counts between a poll and a restart are
lost.
"""


def read_of(counts: Counts) -> dict[str, int]:
    """Return the rows and bytes that a source read. Old kinds of sources do not count reads; for these, return what they emitted."""
    return _counted(counts.get("numRecordsIn") or counts.get("numRecordsOut"), counts.get("numBytesIn") or None)


def written_of(counts: Counts) -> dict[str, int]:
    """Return the rows and bytes that a sink wrote. Old kinds of sinks do not count writes; for these, return what they received."""
    return _counted(counts.get("numRecordsSend", counts.get("numRecordsIn")), counts.get("numBytesSend"))


def hold(before: Held, key: str, counted: Mapping[str, int]) -> Held:
    """Return the totals of an operator, updated with the counters that it reported now."""
    after: Held = {}
    for name, now in counted.items():
        base, last = before.get(f"{key} {name}", [0, 0])
        after[f"{key} {name}"] = [base + max(0, last - now), now]
    return after


def key_of(operator: Operator) -> str:
    """The key under which the totals of an operator are stored."""
    return f"{operator.vertex} {operator.metrics}"


def total(held: Held, operators: tuple[Operator, ...], name: str) -> int | None:
    """The sum of rows or bytes over several operators; None if the number of one of them is unknown."""
    found = [held.get(f"{key_of(operator)} {name}") for operator in operators]
    if not found or None in found:
        return None
    return sum(sum(sizes) for sizes in found if sizes is not None)


def _counted(rows: float | None, size: float | None) -> dict[str, int]:
    return {name: int(value) for name, value in (("rows", rows), ("bytes", size)) if value is not None}
