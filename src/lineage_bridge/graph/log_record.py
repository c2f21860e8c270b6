"""Log records: what the event log keeps, and where each record is stored."""

from enum import IntEnum
from typing import NamedTuple

import msgspec

from lineage_bridge.graph.record_origin import RecordOrigin

RETRY = "retry"
"""The channel of an event that was validated again after it had been in quarantine. The event's bytes and id stay the same, unless the
event arrived inside a value that could not be read at that time.
"""


class RecordKind(IntEnum):
    """What the body of a log record contains, such as an event."""

    EVENT = 1
    REJECTED = 2
    OPERATOR = 3
    ERASED = 4


class LogRecord(msgspec.Struct, frozen=True, gc=False):
    """One record of the event log.

    `event_id` has 16 bytes, `arrival_us` is UTC microseconds, `note` is a RecordNote as JSON, or empty.
    """

    kind: RecordKind
    event_id: bytes
    arrival_us: int
    channel: str
    principal: str
    note: bytes
    body: bytes


class RecordNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The metadata that is stored beside the body of a record.

    `code`, `path` and `message` state why the record was rejected. `namespaces` are the globs that the sender was limited to when the
    record arrived; without globs, the whole event has effect. For an event that another principal accepted from quarantine, `sender` is the
    original principal, and `waived` means that the event was accepted although its job or dataset lies outside `namespaces`. `origin` is
    where an input read the record. `releases` is the id of the quarantined record that became this event, if that record has another id.
    `whole`: the body of this rejected record is all that the input read, unchanged.
    """

    code: str = ""
    path: str = ""
    message: str = ""
    namespaces: tuple[str, ...] = ()
    sender: str = ""
    waived: bool = False
    origin: RecordOrigin | None = None
    releases: bytes = b""
    whole: bool = False


NO_NOTE = RecordNote()
_NOTES = msgspec.json.Decoder(RecordNote)


def read_note(note: bytes) -> RecordNote:
    """Decode the note of a record. Raises msgspec.DecodeError if the bytes are not a note."""
    return _NOTES.decode(note) if note else NO_NOTE


def write_note(note: RecordNote) -> bytes:
    """Encode a note; an empty note gives no bytes."""
    return b"" if note == NO_NOTE else msgspec.json.encode(note)


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
