"""Limits the work that a payload, and the masking of each of its events, may cause, in proportion to their bytes."""

from collections.abc import Sequence
from typing import Final

from lineage_bridge.openlineage.verdict import Rejected

LEAST_NS: Final = 70_000_000
"""The cost limit of the smallest payload, in nanoseconds, without the masking of secrets."""
NS_PER_BYTE: Final = 80
LEAST_MASKING_NS: Final = 750_000
MASKING_NS_PER_BYTE: Final = 80
"""What finding the secrets in an event may cost before facets are masked whole. A small event with a few secrets costs less, and so does
a script of a megabyte with a secret.
"""
NAMING_NS_PER_BYTE: Final = 250
"""What finding the secrets in the rest of an event may cost after its facets were masked whole: names cannot be masked whole. Hundreds of
names that are signed URLs cost less.
"""
LEAST_PAYLOAD_MASKING_NS: Final = 3_000_000
PAYLOAD_MASKING_NS_PER_BYTE: Final = MASKING_NS_PER_BYTE + NAMING_NS_PER_BYTE
"""What masking all events of a payload may cost. Any number of small events with three secrets each cost less."""
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
    """A budget of work, in nanoseconds. The cost of each step is estimated and deducted; no time is measured."""

    def __init__(self, left_ns: int) -> None:
        self.left_ns = left_ns

    def spend(self, nanoseconds: int) -> None:
        """Deduct the cost of work that is about to be done. Raises TooCostlyError."""
        if nanoseconds > self.left_ns:
            raise TooCostlyError
        self.left_ns -= nanoseconds


def judging_effort(events: Sequence[bytes]) -> Effort:
    """The work that a payload may cause, apart from masking its secrets."""
    return Effort(LEAST_NS + sum(map(len, events)) * NS_PER_BYTE)


def masking_effort(event: bytes) -> Effort:
    """The work that finding the secrets in an event may cause. It depends on the event alone, not on other events in the same payload."""
    return Effort(LEAST_MASKING_NS + len(event) * MASKING_NS_PER_BYTE)


def naming_effort(event: bytes) -> Effort:
    """The work that finding the remaining secrets may cause in an event whose facets were masked as a whole."""
    return Effort(LEAST_MASKING_NS + len(event) * NAMING_NS_PER_BYTE)


def payload_masking_effort(events: Sequence[bytes]) -> Effort:
    """The work that masking the secrets in all events of a payload may cause."""
    return Effort(LEAST_PAYLOAD_MASKING_NS + sum(map(len, events)) * PAYLOAD_MASKING_NS_PER_BYTE)


def too_costly(events: int, size: int) -> Rejected:
    """Make the rejection of a payload that causes too much work."""
    what = "the event is" if events == 1 else f"the {events} events are"
    return Rejected(
        "too_costly", "$", f"{what} too costly to check for secrets: {size} bytes; send fewer events at once, with fewer tiny values"
    )
