"""Log records: what the event log keeps, and where each record is stored."""

from enum import IntEnum
from typing import NamedTuple

import msgspec

RETRY = "retry"
"""The channel of an event that is taken out of quarantine and judged again. The bytes are the same, so the event id is too."""


class RecordKind(IntEnum):
    """What the body of a log record is."""

    EVENT = 1
    REJECTED = 2
    OPERATOR = 3
    ERASED = 4


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record of the event log.

    `event_id` has 16 bytes, `arrival_us` is UTC microseconds, `note` is the reason of a rejection as JSON, or empty.
    """

    kind: RecordKind
    event_id: bytes
    arrival_us: int
    channel: str
    principal: str
    note: bytes
    body: bytes


class RecordAddress(NamedTuple):
    """Where a record is stored: a log has a `source`, a source has partitions, and an offset is unique within a partition."""

    source: str
    partition: int
    offset: int


class StoredRecord(NamedTuple):
    """A record together with its address, as the fold reads it."""

    source: str
    partition: int
    offset: int
    record: LogRecord


class OffsetRange(NamedTuple):
    """The records of one partition with offsets from `start` up to, not including, `end`."""

    start: int
    end: int
