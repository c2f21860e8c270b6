"""How much work a payload may cause, in proportion to its bytes."""

from collections.abc import Sequence
from typing import Final

from lineage_bridge.openlineage.verdict import Rejected

LEAST_NS: Final = 200_000_000
"""What the smallest payload may cost. Plans and scripts of a megabyte that mention secrets are taken."""
NS_PER_BYTE: Final = 80
FIRST_BYTES: Final = 4096
FIRST_NS_PER_BYTE: Final = 250
"""What more each of the first bytes of an event may cost: payloads of many ordinary events with a few secrets each are taken."""
OBJECT_NS: Final = 500
EVENT_NS: Final = 20_000
"""What judging an object in an event, and judging and recording an event, cost at least."""
LEAST_EVENT: Final = 50
"""Bytes of the shortest event: whatever is shorter names no job or dataset, or has no time."""
TINY_EVENT_NS: Final = 200_000
"""What such a one may cost, so that a payload of thousands is refused as a whole instead of each by itself."""


class TooCostlyError(Exception):
    """A payload causes more work than its size allows. `ingest` catches it."""


class Effort:
    """What a payload of events may still cost, in nanoseconds that its work takes about; counted, not measured."""

    def __init__(self, events: Sequence[bytes]) -> None:
        sizes = [len(event) for event in events]
        self.left_ns = LEAST_NS + sum(sizes) * NS_PER_BYTE + sum(min(size, FIRST_BYTES) for size in sizes) * FIRST_NS_PER_BYTE

    def spend(self, nanoseconds: int) -> None:
        """Account for work that follows. Raises TooCostlyError."""
        self.left_ns -= nanoseconds
        if self.left_ns < 0:
            raise TooCostlyError


def too_costly(events: int, size: int) -> Rejected:
    """Why such a payload is refused."""
    what = "the event is" if events == 1 else f"the {events} events are"
    return Rejected("too_costly", "$", f"{what} too costly to check for secrets: {size} bytes; send less at once, with fewer tiny values")
