"""Limits the work that a payload may cause, in proportion to its bytes."""

from collections.abc import Sequence
from itertools import repeat
from typing import Final

from lineage_bridge.openlineage.verdict import Rejected

LEAST_NS: Final = 100_000_000
"""The cost limit of the smallest payload, in nanoseconds. It lets plans and scripts of a megabyte that mention secrets pass."""
NS_PER_BYTE: Final = 80
FIRST_BYTES: Final = 4096
FIRST_NS_PER_BYTE: Final = 250
"""The additional cost limit for each of the first bytes of an event. It lets many ordinary events with a few secrets each pass."""
OBJECT_NS: Final = 500
EVENT_NS: Final = 20_000
"""The minimum cost of validating one object of an event, and of validating and recording an event."""
LEAST_EVENT: Final = 50
"""Length of the shortest valid event in bytes. A shorter one names no job or dataset, or has no time."""
TINY_EVENT_NS: Final = 200_000
"""The cost limit of an event below that length: a payload of thousands of them is rejected as a whole."""


class TooCostlyError(Exception):
    """A payload causes more work than its size allows. `ingest` catches this error."""


class Effort:
    """The amount of work that a payload may still cause, in estimated nanoseconds; these are counted, not measured."""

    def __init__(self, events: Sequence[bytes]) -> None:
        sizes = list(map(len, events))
        self.left_ns = LEAST_NS + sum(sizes) * NS_PER_BYTE + sum(map(min, sizes, repeat(FIRST_BYTES))) * FIRST_NS_PER_BYTE

    def spend(self, nanoseconds: int) -> None:
        """Deduct the cost of work that is about to be done. Raises TooCostlyError."""
        self.left_ns -= nanoseconds
        if self.left_ns < 0:
            raise TooCostlyError


def too_costly(events: int, size: int) -> Rejected:
    """Make the rejection of a payload that causes too much work."""
    what = "the event is" if events == 1 else f"the {events} events are"
    return Rejected(
        "too_costly", "$", f"{what} too costly to check for secrets: {size} bytes; send fewer events at once, with fewer tiny values"
    )
