"""The seams: what the parts ask of each other. They meet in `wiring`."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Protocol

from lineage_bridge.graph.carried import Carried, FrameKind
from lineage_bridge.graph.relations import Row

LOG_SOURCE = "log"
"""The name of the embedded event log as a source of frames."""


@dataclass(frozen=True)
class Frame:
    """One frame for the event log. `arrival_us` is UTC microseconds; `event_id` 16 bytes; `note` empty or a small JSON text."""

    kind: FrameKind
    event_id: bytes
    arrival_us: int
    channel: str
    principal: str
    note: bytes
    body: bytes


@dataclass(frozen=True)
class Batch:
    """The facts of one micro-batch, merged per partition, with the stretch (start, end) of each stream (source, part) they come from."""

    spans: Mapping[tuple[str, int], tuple[int, int]]
    rows: Mapping[str, list[Row]]


@dataclass(frozen=True)
class Budget:
    """How many rows one transaction may read and write to derive values, beyond those the batch brought. At least one key is always derived."""

    rows: int


class EventLog(Protocol):
    """Where accepted events become durable."""

    def submit(self, frames: Sequence[Frame]) -> "Future[list[int]]":
        """The frames' places, once they are durable. Raises UnavailableError under overload; the future fails with LogError."""

    def end(self) -> int:
        """The durable end: the place behind the last durable frame."""


class FrameReader(Protocol):
    """Reads frames back from where they are durable."""

    def durable_end(self) -> int:
        """The durable end of the log; 0 when it is empty."""

    def read_one(self, offset: int) -> Frame:
        """The frame at a place. Raises OffsetError or FrameError."""


class GraphStore(Protocol):
    """The graph store, opened by the pipeline alone."""

    def position(self, source: str) -> dict[int, int]:
        """Part to place: where the next batch of `source` starts."""

    def apply(self, batch: Batch, budget: Budget) -> None:
        """Merge one batch in one transaction. Raises PositionError, CollisionError."""

    def settle(self, budget: Budget) -> int:
        """Derive what earlier batches left; the number of keys still left."""


class CarriedFrames(Protocol):
    """A stretch of a stream as frames with their places."""

    def __call__(self, start: int, end: int) -> Iterator[Carried]:
        """The frames from `start` up to `end`."""
