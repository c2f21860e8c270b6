"""Growth: from when on a run, or a design-time statement, had the shape it has now, and what it had before.

A run's shape grows with what it says. From the moment `reached` on it is the present one; before, from `sprouted` on, it was another,
which is made again from what had been said by then. So an answer as of an earlier time looks up most shapes and makes few.
"""

from collections.abc import Iterable
from typing import NamedTuple

_SECOND_US = 1_000_000


class Growth(NamedTuple):
    """Times are UTC microseconds: from `sprouted` on something of a shape was there, from `reached` on the present shape.

    `forming` is the class of the stretch between them by its length, None if there is none.
    """

    sprouted: int
    reached: int
    forming: int | None


class Saying(NamedTuple):
    """What a design-time statement said on one day: one content, and when first and last, each with its event."""

    first: int
    first_event: bytes
    last: int
    last_event: bytes
    content: bytes

    def order(self, at_us: int | None = None) -> tuple[int, bytes, bytes]:
        """What decides between contents: who was said last. As of a time within the day, by its first mention if the last came later."""
        if at_us is None or self.last <= at_us:
            return self.last, self.last_event, self.content
        return self.first, self.first_event, self.content


NO_GROWTH = Growth(0, 0, None)


def of_run(firsts: Iterable[int]) -> Growth:
    """The growth of a run by the first mentions of all that makes its shape."""
    times = sorted(firsts)
    return between(times[0], times[-1]) if times else NO_GROWTH


def of_declaration(sayings: Iterable[Saying]) -> Growth:
    """The growth of a design-time statement, which is its newest content alone."""
    rows = list(sayings)
    if not rows:
        return NO_GROWTH
    newest = max(rows, key=Saying.order)
    others = max((row.order() for row in rows if row.content != newest.content), default=None)
    since = [row.first for row in rows if row.content == newest.content and (others is None or row.order(row.first) > others)]
    return between(min(row.first for row in rows), min(since, default=newest.last))


def newest_content(sayings: Iterable[Saying], at_us: int | None = None) -> bytes | None:
    """The content that was said last by a time, of those that had been said."""
    rows = [row for row in sayings if at_us is None or row.first <= at_us]
    return max(rows, key=lambda row: row.order(at_us)).content if rows else None


def between(sprouted: int, reached: int) -> Growth:
    """The growth that went on from one time to another."""
    return Growth(sprouted, reached, stretch(reached - sprouted) if sprouted < reached else None)


def stretch(length_us: int) -> int:
    """The class of a length: lengths of one class, but for those under a second, are within a factor of eight."""
    return ((length_us // _SECOND_US).bit_length() + 2) // 3


def longest(stretch_: int) -> int:
    """A length no stretch of a class exceeds."""
    return _SECOND_US << (3 * stretch_)


STRETCHES = range(stretch(2**63) + 1)
"""All classes."""
