"""Growth: from when on a run, or a design-time statement, had the shape it has now, and what it had before.

A run's shape grows with what it says. From the moment `reached` on it is the present one; before, from `sprouted` on, it was another,
which is made again from what had been said by then. So an answer as of an earlier time looks up most shapes and makes few.
"""

from collections.abc import Iterable
from typing import NamedTuple

_SECOND_US = 1_000_000


class ShapeHistory(NamedTuple):
    """Times are UTC microseconds: from `sprouted` on something of a shape was there, from `reached` on the present shape.

    `forming` is the class of the stretch between them by its length, None if there is none.
    """

    first_shape_at: int
    current_since: int
    pending_until: int | None


class DeclaredOnDay(NamedTuple):
    """What a design-time statement said on one day: one content, and when first and last, each with its event."""

    first: int
    first_event: bytes
    last: int
    last_event: bytes
    facet_set: bytes

    def order(self, at_us: int | None = None) -> tuple[int, bytes, bytes]:
        """What decides between contents: who was said last. As of a time within the day, by its first mention if the last came later."""
        if at_us is None or self.last <= at_us:
            return self.last, self.last_event, self.facet_set
        return self.first, self.first_event, self.facet_set


NO_HISTORY = ShapeHistory(0, 0, None)


def run_history(firsts: Iterable[int]) -> ShapeHistory:
    """The growth of a run by the first mentions of all that makes its shape."""
    times = sorted(firsts)
    return history_between(times[0], times[-1]) if times else NO_HISTORY


def declaration_history(declarations: Iterable[DeclaredOnDay]) -> ShapeHistory:
    """The growth of a design-time statement, which is its newest content alone."""
    rows = list(declarations)
    if not rows:
        return NO_HISTORY
    newest = max(rows, key=DeclaredOnDay.order)
    others = max((row.order() for row in rows if row.facet_set != newest.facet_set), default=None)
    since = [row.first for row in rows if row.facet_set == newest.facet_set and (others is None or row.order(row.first) > others)]
    return history_between(min(row.first for row in rows), min(since, default=newest.last))


def newest_facet_set(declarations: Iterable[DeclaredOnDay], at_us: int | None = None) -> bytes | None:
    """The content that was said last by a time, of those that had been said."""
    rows = [row for row in declarations if at_us is None or row.first <= at_us]
    return max(rows, key=lambda row: row.order(at_us)).facet_set if rows else None


def history_between(sprouted: int, reached: int) -> ShapeHistory:
    """The growth that went on from one time to another."""
    return ShapeHistory(sprouted, reached, length_class(reached - sprouted) if sprouted < reached else None)


def length_class(length_us: int) -> int:
    """The class of a length: lengths of one class, but for those under a second, are within a factor of eight."""
    return ((length_us // _SECOND_US).bit_length() + 2) // 3


def longest_of_class(stretch_: int) -> int:
    """A length no stretch of a class exceeds."""
    return _SECOND_US << (3 * stretch_)


LENGTH_CLASSES = range(length_class(2**63) + 1)
"""All classes."""
