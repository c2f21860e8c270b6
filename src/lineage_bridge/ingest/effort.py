"""How much work a payload may cause, in proportion to its bytes: about what two of its size with ordinary events take besides."""

from collections.abc import Sequence
from typing import Final

from lineage_bridge.openlineage.verdict import Rejected

LEAST_BYTES: Final = 16 << 10
"""A smaller payload may cost what one of this size may."""
JUDGING_NS: Final = 60
MASKING_NS: Final = 60
SECOND_NS: Final = 20
"""What each byte may cost: for judging, for masking, and for masking what remains without the facets that were too costly."""
OBJECT_NS: Final = 500
EVENT_NS: Final = 20_000
"""What judging an object in an event, and judging and recording an event, cost at least."""
LEAST_EVENT: Final = 50
"""Bytes of the shortest event: whatever is shorter names no job or dataset, or has no time."""
TINY_EVENT_NS: Final = 200_000
"""What such a one may cost, so that a payload of thousands is refused as a whole instead of each by itself."""


class TooCostlyError(Exception):
    """Something causes more work than its size allows. `ingest` catches it."""


class Allowance:
    """What work may still cost, in nanoseconds that it takes about; counted, not measured, so that it is the same on every machine."""

    def __init__(self, nanoseconds: int) -> None:
        self.left_ns = nanoseconds

    def add(self, nanoseconds: int) -> None:
        """Allow for more work; what was overdrawn before is forgiven."""
        self.left_ns = max(0, self.left_ns) + nanoseconds

    def spend(self, nanoseconds: int) -> None:
        """Account for work that follows. Raises TooCostlyError."""
        self.left_ns -= nanoseconds
        if self.left_ns < 0:
            raise TooCostlyError


class Effort:
    """What a payload of events may cost. `judging` is for all of them; of the others, each event adds its own share when its turn comes."""

    def __init__(self, events: Sequence[bytes]) -> None:
        self.size = sum(map(len, events))
        missing = max(0, LEAST_BYTES - self.size)
        self.judging = Allowance((self.size + missing) * JUDGING_NS)
        self.masking = Allowance(missing * MASKING_NS)
        self.second = Allowance(missing * SECOND_NS)

    def begin(self, size: int) -> None:
        """An event of so many bytes follows."""
        self.masking.add(size * MASKING_NS)
        self.second.add(size * SECOND_NS)


def too_costly(events: int, size: int) -> Rejected:
    """Why such a payload is refused."""
    what = "the event is" if events == 1 else f"the {events} events are"
    return Rejected("too_costly", "$", f"{what} too costly to check for secrets: {size} bytes; send less at once, with fewer tiny values")
