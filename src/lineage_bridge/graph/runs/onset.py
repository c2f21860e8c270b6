"""Finds when the ratio of what a job writes to what it reads left its baseline. Pure."""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from lineage_bridge.graph.runs.path_ledger import TOLERANCE, LedgerWindow
from lineage_bridge.graph.runs.statistics import Amount

LEAST_WIDTH_US: Final = 60_000_000
"""The shortest time that amounts are summed over."""
_MOST_BUCKETS: Final = 2_000


class Onset(NamedTuple):
    """When a ratio left its baseline (UTC microseconds): the last bucket with reports before the change begins at `last_good`, the first
    one after it at `first_bad`.
    """

    last_good: int
    first_bad: int


def width_of(period: LedgerWindow) -> int:
    """The length of the buckets for a period, in microseconds: whole minutes, and long enough that there are not too many buckets."""
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
    """Find when the ratio of rows written to rows read left `ratio`, from the rows of each bucket (by the bucket's start).

    The surplus, or lack, of rows written is summed over the buckets. This sum first stays flat and later grows; the ratio changed at the
    bucket at which the sum is furthest from a straight line over the whole time. Single buckets prove nothing, because rows may be written
    one bucket after they were read. None if the ratio after that bucket is within the tolerance, or if the ratio before it was already
    outside: then there is no change within this time.
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
