"""The event log, as those see it who append to it, read it back or fold it."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Protocol

import msgspec

from lineage_bridge.graph.log_record import Carried, FrameKind

LOG_SOURCE = "log"
"""The source name of the embedded event log."""


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One entry of the event log. `event_id` has 16 bytes, `arrival_us` is UTC microseconds, `note` is empty or a small JSON text."""

    kind: FrameKind
    event_id: bytes
    arrival_us: int
    channel: str
    principal: str
    note: bytes
    body: bytes


class EventLog(Protocol):
    """Makes accepted events durable."""

    def submit(self, frames: Sequence[Frame]) -> "Future[list[int]]":
        """Append records; the future gives their offsets once they are durable.

        Raises UnavailableError under overload; the future fails with LogError.
        """

    def end(self) -> int:
        """The durable end: the offset behind the last durable record."""


class FrameReader(Protocol):
    """Reads durable records back."""

    def durable_end(self) -> int:
        """The durable end of the log; 0 when it is empty."""

    def read_one(self, offset: int) -> Frame:
        """The record at an offset. Raises OffsetError or RecordError."""

    def span(self, start: int, end: int) -> int:
        """The size in bytes of the records in [start, end), which is how far a consumer lags. Raises OffsetError."""


class CarriedFrames(Protocol):
    """Reads an offset range of one partition."""

    def __call__(self, start: int, end: int) -> Iterator[Carried]:
        """The records from offset `start` up to, but not including, `end`."""
