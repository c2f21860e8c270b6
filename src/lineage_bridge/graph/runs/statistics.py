"""Statistics: what runs read and wrote, from the numbers they told.

Producers count in one of two ways: from the beginning of the run (cumulative), or since their last report (per interval). Which of
them a run does is declared, or told by whether its numbers fall. Each run is counted by itself, so parallel runs do not mix.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from itertools import pairwise
from operator import itemgetter
from typing import NamedTuple

COUNTERS = ("rows", "bytes", "files")
_FALLS_IN = 8
"""Numbers that fall at more than one step in this many are per interval."""
_RESET = 2
"""A cumulative counter that is less than its highest value divided by this began anew."""


class Counting(str, Enum):
    """How a run counts."""

    CUMULATIVE = "cumulative"
    INTERVAL = "interval"


class Sample(NamedTuple):
    """What a run told at one time (UTC microseconds) of one dataset and side; None where it told nothing."""

    time: int
    rows: int | None
    bytes: int | None
    files: int | None


class Amount(NamedTuple):
    """An amount of data; None where nothing was ever told."""

    rows: int | None = None
    bytes: int | None = None
    files: int | None = None

    def __add__(self, other: object) -> "Amount":
        """The sum; what is not told on one side is what the other tells."""
        if not isinstance(other, Amount):
            return NotImplemented
        return Amount(*(_plus(a, b) for a, b in zip(self, other, strict=True)))


def _plus(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else a + b


def counting(series: Iterable[Sample], content_mode: str | None = None) -> Counting:
    """How a run counts: as its job declares by emissionPattern (ACCUMULATIVE, COMPLETE_SNAPSHOT), else by whether its numbers fall."""
    if content_mode == "ACCUMULATIVE":
        return Counting.CUMULATIVE
    if content_mode == "COMPLETE_SNAPSHOT":
        return Counting.INTERVAL
    ordered = sorted(series, key=itemgetter(0))
    for place in range(1, len(COUNTERS) + 1):
        told = [value for value in (sample[place] for sample in ordered) if value]
        steps = list(pairwise(told))
        if sum(b < a for a, b in steps) * _FALLS_IN > len(steps):
            return Counting.INTERVAL
    return Counting.CUMULATIVE


def increments(series: Iterable[Sample], how: Counting) -> list[tuple[int, Amount]]:
    """What each report adds, in the order of time: their sum is the run's amount. An absent or zero number adds nothing."""
    highest = [0, 0, 0]
    out: list[tuple[int, Amount]] = []
    for sample in sorted(series, key=itemgetter(0)):
        added: list[int | None] = []
        for place, value in enumerate(sample[1:]):
            added.append(value if how is Counting.INTERVAL or not value else _rise(highest, place, value))
        out.append((sample.time, Amount(*added)))
    return out


def _rise(highest: list[int], place: int, value: int) -> int:
    """How much a cumulative counter has risen; a small step back is a late report, a large one a new beginning."""
    known = highest[place]
    if value * _RESET < known:
        highest[place] = value
        return value
    highest[place] = max(known, value)
    return max(value - known, 0)


def total(changes: Iterable[tuple[int, Amount]], since: int, until: int) -> Amount:
    """The amount within [since, until)."""
    return sum((amount for time, amount in changes if since <= time < until), start=Amount())


def buckets(changes: Sequence[tuple[int, Amount]], since: int, until: int, width_us: int) -> list[tuple[int, Amount]]:
    """The amounts within [since, until) by stretches of `width_us` from `since` on, each with its start, without the empty ones."""
    found: dict[int, Amount] = {}
    for time, amount in changes:
        if since <= time < until:
            start = since + (time - since) // width_us * width_us
            found[start] = found.get(start, Amount()) + amount
    return sorted(found.items())


def per_second(amount: Amount, span_us: int) -> tuple[float | None, ...]:
    """The amount by the second over a stretch of time."""
    return tuple(None if value is None else round(value * 1_000_000 / span_us, 6) for value in amount)
