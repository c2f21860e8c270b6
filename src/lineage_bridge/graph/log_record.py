"""What the event log carries: one frame, as the fold receives it from any source."""

from enum import IntEnum
from typing import NamedTuple

RETRY = "retry"
"""The channel of an event that was taken out of quarantine: the same bytes, judged again."""


class FrameKind(IntEnum):
    """What a frame of the log holds."""

    EVENT = 1
    REJECTED = 2
    OPERATOR = 3
    ERASED = 4


class Carried(NamedTuple):
    """One frame with the place it was read from: `source` and `part` name the stream, `place` the frame in it.

    `arrival` is UTC microseconds, `event` the 16-byte id, `note` the reason of a rejection as JSON (or empty).
    """

    source: str
    part: int
    place: int
    kind: int
    event: bytes
    arrival: int
    channel: str
    principal: str
    note: bytes
    body: bytes
