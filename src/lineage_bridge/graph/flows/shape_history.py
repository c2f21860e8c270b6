"""Determines since when a run, or a design-time statement, has had its current shape.

A run's shape grows with what the run states. The current shape has been the same since `current_since`. Between `first_shape_at` and
`current_since` the run had other shapes. These are not stored, but computed when needed, from what the run had stated by then. So an answer
as of an earlier time looks up most shapes and computes few.
"""

from collections.abc import Iterable
from typing import NamedTuple

_SECOND_US = 1_000_000


class ShapeHistory(NamedTuple):
    """When an asserter first had any shape (`first_shape_at`) and since when it has its current one; times are UTC microseconds.

    `pending_until` is the class of the interval between these two times by its length (see `length_class`); None if they are equal.
    """

    first_shape_at: int
    current_since: int
    pending_until: int | None


class DeclaredOnDay(NamedTuple):
    """A facet set that a design-time statement asserted on one day, with the time and the event of the first and of the last assertion."""

    first: int
    first_event: bytes
    last: int
    last_event: bytes
    facet_set: bytes

    def order(self, at_us: int | None = None) -> tuple[int, bytes, bytes]:
        """The sort key for choosing the newest facet set: the time of the last assertion. As of `at_us`, it is the time of the day's first
        assertion if the last one was later than `at_us`.
        """
        if at_us is None or self.last <= at_us:
            return self.last, self.last_event, self.facet_set
        return self.first, self.first_event, self.facet_set


NO_HISTORY = ShapeHistory(0, 0, None)


def run_history(firsts: Iterable[int]) -> ShapeHistory:
    """The history of a run's shape, from the times at which each part of the shape was first stated."""
    times = sorted(firsts)
    return history_between(times[0], times[-1]) if times else NO_HISTORY


def declaration_history(declarations: Iterable[DeclaredOnDay]) -> ShapeHistory:
    """The history of a design-time statement's shape, which depends on its newest facet set only."""
    rows = list(declarations)
    if not rows:
        return NO_HISTORY
    newest = max(rows, key=DeclaredOnDay.order)
    others = max((row.order() for row in rows if row.facet_set != newest.facet_set), default=None)
    since = [row.first for row in rows if row.facet_set == newest.facet_set and (others is None or row.order(row.first) > others)]
    return history_between(min(row.first for row in rows), min(since, default=newest.last))


def newest_facet_set(declarations: Iterable[DeclaredOnDay], at_us: int | None = None) -> bytes | None:
    """The facet set that was asserted last, at `at_us` or before if it is given; None if there is none."""
    rows = [row for row in declarations if at_us is None or row.first <= at_us]
    return max(rows, key=lambda row: row.order(at_us)).facet_set if rows else None


def history_between(first_shape_at: int, current_since: int) -> ShapeHistory:
    """The history of a shape that was first seen at `first_shape_at` and last changed at `current_since` (UTC microseconds)."""
    return ShapeHistory(
        first_shape_at, current_since, length_class(current_since - first_shape_at) if first_shape_at < current_since else None
    )


def length_class(length_us: int) -> int:
    """The class of a length in microseconds. Lengths of one class are within a factor of eight, except those under a second."""
    return ((length_us // _SECOND_US).bit_length() + 2) // 3


def longest_of_class(length: int) -> int:
    """An upper bound, in microseconds, for the lengths of a class."""
    return _SECOND_US << (3 * length)


LENGTH_CLASSES = range(length_class(2**63) + 1)
"""All classes."""
