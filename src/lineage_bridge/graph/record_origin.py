"""The origin of a log record: where an input read its event. The origin is stored in the record's note, so that it becomes durable together
with the event.
"""

from typing import Final, NamedTuple

import msgspec

PART_BITS: Final = 32
"""The bit at which the number of a partition begins in the number of an event."""


class StreamPartition(NamedTuple):
    """A partition of a stream (a topic).

    `life` distinguishes streams that had the same name at different times, such as the id of a topic. Offsets are unique within a partition
    of a life. If the stream is a file, `partition` is empty, and `life` is the file's key, a space, and a text that distinguishes the file
    from earlier files with the same key.
    """

    stream: str
    life: str
    partition: str

    @property
    def file_key(self) -> str:
        """The key of the file, if the partition is a file; otherwise empty."""
        return "" if self.partition else self.life.partition(" ")[0]


class EventPosition(NamedTuple):
    """The position of an event in a partition: the record at `offset`, and the number of the event in this record, from 0.

    In an aggregated record, the bits of `number` from PART_BITS on are the number of the contained record. Positions compare by their
    order. Offsets may be larger than 64 bits.
    """

    offset: int
    number: int

    @property
    def address(self) -> int:
        """The position as one number, in the same order. The log record of the event has this number as its offset."""
        return self.offset << _NUMBER_BITS | self.number

    @staticmethod
    def at(address: int) -> "EventPosition":
        """The position that has this address."""
        return EventPosition(address >> _NUMBER_BITS, address & (1 << _NUMBER_BITS) - 1)


_NUMBER_BITS = 14
"""Bits of an address for the number of an event within its payload, which holds fewer events."""


class RecordOrigin(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where the input `input` read an event: see StreamPartition and EventPosition; the record at `offset` holds `count` events.

    `part` is the number of the contained record within an aggregated record (Kinesis' sub-sequence number); `index` and `count` then refer
    to the events of that record. `at_ms` is when the record was written to the stream, in UTC milliseconds. `key` and `headers` are those
    of the record, without secrets, if they are text.
    """

    input: str
    stream: str
    life: str
    partition: str
    offset: int
    index: int = 0
    count: int = 1
    at_ms: int | None = None
    key: str = ""
    headers: dict[str, str] = {}
    part: int | None = None

    def __str__(self) -> str:
        of = f", event {self.index + 1} of {self.count}" if self.count > 1 else ""
        partition = f", partition {self.partition}" if self.partition else ""
        part = f", part {self.part}" if self.part else ""
        return f"{self.stream}{partition}, offset {self.offset}{part}{of}"

    @property
    def where(self) -> StreamPartition:
        """The partition of the stream from which the event was read."""
        return StreamPartition(self.stream, self.life, self.partition)

    @property
    def position(self) -> EventPosition:
        """The event's position in its partition."""
        return EventPosition(self.offset, ((self.part or 0) << PART_BITS) + self.index)

    @property
    def next_position(self) -> EventPosition:
        """The position right after the event."""
        if self.index + 1 < self.count:
            return EventPosition(self.offset, self.position.number + 1)
        return EventPosition(self.offset + 1, 0) if self.part is None else EventPosition(self.offset, (self.part + 1) << PART_BITS)


class _Note(msgspec.Struct):
    origin: RecordOrigin | None = None


_DECODER = msgspec.json.Decoder(_Note)


def read_origin(note: bytes) -> RecordOrigin | None:
    """Read the origin in the note of a record; None if the note has none."""
    return _DECODER.decode(note).origin if note else None
