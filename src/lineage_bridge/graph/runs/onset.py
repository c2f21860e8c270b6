"""Finds when the ratio of what a job writes to what it reads left its baseline. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lineage_bridge.graph.runs.ledger import TOLERANCE, LedgerWindow
from lineage_bridge.graph.runs.statistics import Amount

LEAST_WIDTH_US: Final = 60_000_000
"""The shortest time that amounts are summed over."""
_MOST_BUCKETS: Final = 2_000


class Onset(NamedTuple):
    """When a ratio was still right, and when not any more (UTC microseconds): the last reports of rows written before it left its baseline
    begin at `last_good`, the first reports after the turn at `first_bad`.
    """

    last_good: int
    first_bad: int


def width_of(period: LedgerWindow) -> int:
    """How long the buckets of a period are, in microseconds: whole minutes, and not too many of them."""
    minutes = -(-period.length // (LEAST_WIDTH_US * _MOST_BUCKETS))
    return max(1, minutes) * LEAST_WIDTH_US


def rows_by_start(buckets: Iterable[tuple[int, Amount]]) -> dict[int, int]:
    """The rows of all buckets that begin at the same time, by that time."""
    found: dict[int, int] = {}
    for start, amount in buckets:
        if amount.rows is not None:
            found[start] = found.get(start, 0) + amount.rows
    return found


def onset(read: Mapping[int, int], written: Mapping[int, int], ratio: float, tolerance: float = TOLERANCE) -> Onset | None:
    """Where the ratio of rows written to rows read left `ratio`, by the rows of each bucket, which are named by their start.

    It is the bucket at which the surplus (or lack) of rows written lies furthest on the other side of its steady growth over the whole
    time: the turn of a sum that first stays flat and then grows. None if the ratio is within the tolerance after it, or already outside
    before it: then it did not turn in this time. What one bucket expects is no proof, since what was read may be written a bucket later.
    """
    starts = sorted({*read, *written})
    surplus, expected = [], []
    more, mass = 0.0, 0.0
    for start in starts:
        mass += ratio * read.get(start, 0)
        more += written.get(start, 0) - ratio * read.get(start, 0)
        surplus.append(more)
        expected.append(mass)
    if mass == 0 or more == 0:
        return None
    sign = 1 if more > 0 else -1
    turn = min(range(len(starts)), key=lambda at: (sign * (surplus[at] - more * expected[at] / mass), -at))
    before, after = expected[turn], mass - expected[turn]
    slack = ratio * max(read.values())
    if (
        before == 0
        or turn == len(starts) - 1
        or abs(surplus[turn]) > tolerance * before + slack
        or abs(more - surplus[turn]) <= tolerance * after
    ):
        return None
    # Rows that were only read by then show nothing: they may be written after the turn.
    last_good = next((start for start in reversed(starts[: turn + 1]) if start in written), None)
    return None if last_good is None else Onset(last_good, starts[turn + 1])
