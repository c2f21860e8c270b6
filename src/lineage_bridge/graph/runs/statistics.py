"""Computes how much runs read and wrote, from the counters that they reported.

Producers count in one of two ways: from the beginning of the run (cumulative), or since the last report (per interval). A run's way is
declared, or inferred from whether its numbers decrease. Each run is counted separately, so parallel runs do not mix.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

COUNTERS = ("rows", "bytes", "files")
_FALLS_IN = 8
"""A counter that decreases more often than once in this many reports counts per interval, instead of cumulatively."""
_RESET = 2
"""A cumulative counter was reset if it is less than its highest value divided by this number."""


class Counting(str, Enum):
    """How a run counts rows and bytes: from its beginning, or anew for each report."""

    CUMULATIVE = "cumulative"
    INTERVAL = "interval"


class Sample(NamedTuple):
    """The counters that a run reported at one time (UTC microseconds) for one input or output; None where it reported none."""

    time: int
    rows: int | None
    bytes: int | None
    files: int | None


class Amount(NamedTuple):
    """An amount of data; None where nothing was ever reported."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None

    def __add__(self, other: object) -> "Amount":
        """Add two amounts. If a counter is None in one of them, the value of the other counts."""
        if not isinstance(other, Amount):
            return NotImplemented
        return Amount(*(_plus(a, b) for a, b in zip(self, other, strict=True)))


def _plus(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


def counting(series: Iterable[Sample], content_mode: str | None = None) -> Counting:
    """Decide how a run counts: as its emissionPattern declares (ACCUMULATIVE, COMPLETE_SNAPSHOT), else by whether its numbers decrease."""
    if content_mode == "ACCUMULATIVE":
        return Counting.CUMULATIVE
    if content_mode == "COMPLETE_SNAPSHOT":
        return Counting.INTERVAL
    ordered = sorted(series, key=itemgetter(0))
    for counter in range(1, len(COUNTERS) + 1):
        reported = [value for value in (sample[counter] for sample in ordered) if value]
        steps = list(pairwise(reported))
        if sum(b < a for a, b in steps) * _FALLS_IN > len(steps):
            return Counting.INTERVAL
    return Counting.CUMULATIVE


def increments(series: Iterable[Sample], how: Counting) -> list[tuple[int, Amount]]:
    """How much each report adds, in order of time; the sum is the run's amount. An absent or zero counter adds nothing."""
    highest = [0, 0, 0]
    out: list[tuple[int, Amount]] = []
    for sample in sorted(series, key=itemgetter(0)):
        added: list[int | None] = []
        for counter, value in enumerate(sample[1:]):
            added.append(value if how is Counting.INTERVAL or not value else _rise(highest, counter, value))
        out.append((sample.time, Amount(*added)))
    return out


def _rise(highest: list[int], counter: int, value: int) -> int:
    """How much a cumulative counter has increased since its highest value. A small decrease is a late report and adds nothing; a large
    one is a reset.
    """
    peak = highest[counter]
    if value * _RESET < peak:
        highest[counter] = value
        return value
    highest[counter] = max(peak, value)
    return max(value - peak, 0)


def total(changes: Iterable[tuple[int, Amount]], since: int, until: int) -> Amount:
    """The sum of the amounts within [since, until)."""
    return sum((amount for time, amount in changes if since <= time < until), start=Amount())


def buckets(changes: Sequence[tuple[int, Amount]], since: int, until: int, width_us: int) -> list[tuple[int, Amount]]:
    """The amounts within [since, until) by buckets of `width_us`, the first of which begins at `since`: pairs of start and amount, for
    each bucket with reports.
    """
    found: dict[int, Amount] = {}
    for time, amount in changes:
        if since <= time < until:
            start = since + (time - since) // width_us * width_us
            found[start] = found.get(start, Amount()) + amount
    return sorted(found.items())


def per_second(amount: Amount, window_us: int) -> tuple[float | None, ...]:
    """The amount per second over a window of `window_us` microseconds."""
    return tuple(None if value is None else round(value * 1_000_000 / window_us, 6) for value in amount)
