"""The shards that are read, and their positions. A shard is read once its parent shards have been read to their ends.

The offset of a position is the sequence number of the last record that was read. Reading starts with that record again: if it no longer
exists, later records may have been deleted too. The number in a position (see EventPosition) contains more. If it is at least CHECKED, it
contains a time at which no later record had arrived yet. ENDED means that no more records will come. (The sequence number at which Kinesis
ends a shard cannot show that, because it is not always greater than the sequence numbers of the records.) The position of a shard that has
returned no record yet has offset 0. Its number then contains the time at which reading began, and whether the shard is read from that time
on or from its first record.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from lineage_bridge.errors import SourceError
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Positions
from lineage_bridge.inputs.kinesis.client import AT_FIRST, Shard, ShardStart, Stream, incoming
from lineage_bridge.inputs.kinesis.settings import LATEST, TRIM_HORIZON, KinesisInputSettings
from lineage_bridge.openlineage.times import parse_time

CHECKED: Final = 1 << 62
ENDED: Final = CHECKED + (1 << 61)
CHECK_EVERY_MS: Final = 3_600_000
"""Milliseconds between two writes of the position of an idle shard."""


class RecordBuffer:
    """Records that were read but not returned yet. Aggregated records are split one after the other."""

    def __init__(self) -> None:
        self._answered: deque[tuple[StreamPartition, int, Any]] = deque()
        self._parts: Iterator[IncomingRecord] = iter(())
        self._next: IncomingRecord | None = None
        self.size = 0
        """The size of the buffered records in bytes."""

    def __bool__(self) -> bool:
        return self._next is not None or bool(self._answered)

    def add(self, where: StreamPartition, sequence: int, record: Any) -> None:  # noqa: ANN401  # JSON
        """Add a record in the form in which Kinesis returns it."""
        self._answered.append((where, sequence, record))
        self.size += len(record["Data"])

    def pop(self) -> IncomingRecord:
        """Remove the oldest record, and return it. Raises IndexError."""
        if self._next is None:
            self._parts = incoming(*self._answered[0])
            self._next = next(self._parts)
        found, self._next = self._next, next(self._parts, None)
        if self._next is None:
            _, _, record = self._answered.popleft()
            self.size -= len(record["Data"])
        return found


@dataclass
class ReadShard:
    """A shard that is read. `start` is where its next iterator begins, `expected` the record that must be there, because it was read
    before.

    `complete_ms` is the last time at which no record after `start` had been deleted; `checked_ms` is the stored value of `complete_ms`.
    Times are UTC milliseconds, `due` is on the monotonic clock.
    """

    where: StreamPartition
    start: ShardStart
    expected: int | None = None
    complete_ms: int = 0
    iterator: str | None = None
    is_closed: bool = False
    is_stopped: bool = False
    behind_ms: int | None = None
    buffer: RecordBuffer = field(default_factory=RecordBuffer)
    checked_ms: int = 0
    due: float = 0.0
    failures: int = 0
    problem: str = ""
    error: SourceError | None = None

    def advance_to(self, sequence: int, now_ms: int) -> None:
        """Record up to where the shard was read, which is where the next iterator begins."""
        self.start, self.expected, self.complete_ms = ShardStart("AT_SEQUENCE_NUMBER", sequence), None, now_ms


class ShardTree:
    """The shards of a stream and their positions in the log."""

    def __init__(self, settings: KinesisInputSettings, positions: Positions) -> None:
        self._settings, self._positions = settings, positions
        self.stream: Stream | None = None
        self._listed: Mapping[str, Shard] = {}
        self.reading: dict[str, ReadShard] = {}

    def update(self, stream: Stream, shards: Sequence[Shard]) -> None:
        """Record the existing shards, and store where new shards begin."""
        if self.stream is None or self.stream.life != stream.life:
            self.reading = {}
        self.stream, self._listed = stream, {shard.id: shard for shard in shards}
        is_new = self._positions.is_new
        new = [shard for shard in shards if self._positions.next_position(self._where(shard.id)) is None]
        if new or is_new:
            self._positions.begin({self._where(shard.id): self._beginning(shard, stream, is_first=is_new) for shard in new})
        self._choose()

    def settle(self, now_ms: int) -> bool:
        """Store which shards were read to their ends, and which are idle; returns whether any shard was read to its end. Call this only
        when the log has all records that were taken from the buffers.
        """
        ended, checked = dict[StreamPartition, int | EventPosition](), dict[StreamPartition, int | EventPosition]()
        for shard in self.reading.values():
            if shard.buffer or shard.is_stopped:
                continue
            if shard.is_closed:
                ended[shard.where] = EventPosition(shard.start.sequence, ENDED)
            elif shard.behind_ms == 0 and shard.start.sequence and now_ms - shard.checked_ms >= CHECK_EVERY_MS:
                shard.checked_ms = now_ms
                checked[shard.where] = EventPosition(shard.start.sequence, CHECKED + shard.complete_ms)
        if ended or checked:
            self._positions.skip(ended | checked)
        if ended:
            self._choose()
        return bool(ended)

    def _choose(self) -> None:
        """Select the shards to read: those whose parent shards have been read to their ends."""
        chosen = [shard for shard in self._listed.values() if not self._is_read(shard) and all(map(self._is_settled, shard.parents))]
        self.reading = {shard.id: self.reading.get(shard.id) or self._opened(shard) for shard in chosen}

    def _is_settled(self, parent: str) -> bool:
        return parent not in self._listed or self._is_read(self._listed[parent])

    def _is_read(self, shard: Shard) -> bool:
        return self._next(self._where(shard.id)).number >= ENDED

    def _opened(self, shard: Shard) -> ReadShard:
        where = self._where(shard.id)
        offset, number = self._next(where)
        if not offset:
            since_ms, is_from_time = number >> 1, bool(number & 1)
            start = ShardStart("AT_TIMESTAMP", at_ms=since_ms) if is_from_time else AT_FIRST
            return ReadShard(where, start, complete_ms=since_ms)
        checked_ms = number - CHECKED if number >= CHECKED else 0
        return ReadShard(where, ShardStart("AT_SEQUENCE_NUMBER", offset), complete_ms=checked_ms, checked_ms=checked_ms)

    def _next(self, where: StreamPartition) -> EventPosition:
        return self._positions.next_position(where) or EventPosition(0, 0)

    def _where(self, shard: str) -> StreamPartition:
        return StreamPartition(self._settings.stream_name, self.stream.life if self.stream else "", shard)

    def _beginning(self, shard: Shard, stream: Stream, *, is_first: bool) -> EventPosition:
        """Where to begin reading a new shard: at the first start of the input, where the settings say; later, at the shard's first
        record.
        """
        start = self._settings.start if is_first else TRIM_HORIZON
        if start == TRIM_HORIZON:
            return EventPosition(0, stream.now_ms << 1)
        if start == LATEST:
            return EventPosition(0, stream.now_ms << 1 | 1) if shard.is_open else EventPosition(0, ENDED)
        parsed = parse_time(start)
        at_ms = parsed.us // 1000 if parsed else 0
        return EventPosition(0, at_ms << 1 | 1 if at_ms > stream.now_ms - stream.retention_ms else stream.now_ms << 1)
