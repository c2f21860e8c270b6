"""Reads one input of the form `stream`: Spark reads the planned ranges in the pipeline's process, and each record is added to the archive
once.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lineage_bridge.errors import SourceError
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Positions, StreamInput, as_position
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.reading import SessionReader
from lineage_bridge.ports.inputs import InputLog
from lineage_bridge.ports.streams import JudgedRow, StreamFeed, StreamRange, StreamRow, TakenRows

BATCH_BYTES: Final = 32 << 20
"""The approximate bytes of records in one batch."""
FIRST_RECORDS: Final = 100
LONGEST_POLL_S: Final = 0.2
_FIRST = EventPosition(0, 0)


class StreamPositions(Positions):
    """The positions of an input in the store; also in the log, if the input was read in the form `embedded` before."""

    def __init__(self, name: str, feed: StreamFeed, event_log: InputLog) -> None:
        self._name, self._feed = name, feed
        logged, own = event_log.positions(name), feed.positions(name)
        self.is_new = not logged.opened and not own
        # If the log has only some events of a record, the whole record is ingested again: events that come twice count once.
        further = {where: EventPosition(at.offset, 0) for where, at in logged.partitions if at.offset > own.get(where, _FIRST).offset}
        new = {where: _FIRST for where, _ in logged.partitions if where not in own and where not in further}
        feed.advance(name, {**further, **new})
        self._positions = {**own, **new, **further}

    def next_position(self, where: StreamPartition) -> EventPosition | None:
        """The first position in a partition that the archive does not have."""
        return self._positions.get(where)

    def lives(self, stream: str, partition: str) -> list[str]:
        """The lives of a stream in which this partition has a position."""
        return sorted(where.life for where in self._positions if (where.stream, where.partition) == (stream, partition))

    def begin(self, starts: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably where new partitions begin."""
        self._advance({where: at for where, at in starts.items() if where not in self._positions})
        self.is_new = False

    def skip(self, ends: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably that records before these offsets cannot be read any more."""
        self._advance(ends)

    def moved(self, ranges: Sequence[StreamRange]) -> None:
        """Record that ranges were moved into the archive."""
        self._positions |= {given.where: EventPosition(given.end, 0) for given in ranges}

    def _advance(self, starts: Mapping[StreamPartition, int | EventPosition]) -> None:
        positions = {where: as_position(at) for where, at in starts.items()}
        self._feed.advance(self._name, positions)
        self._positions |= positions


@dataclass(frozen=True)
class RowJudge:
    """Validates rows that Spark has read, in Spark's workers."""

    judge: RecordJudge
    lives: Mapping[tuple[str, str], StreamPartition]
    clock_us: Callable[[], int]

    def __call__(self, row: StreamRow) -> JudgedRow:
        """Convert a row that Spark has read to log records."""
        where = self.lives[row.where.stream, row.where.partition]
        return self.judge(IncomingRecord(where, row.offset, row.value, row.at_ms, row.key, row.headers), self.clock_us)


class StreamReader(SessionReader):
    """Reads an input of the form `stream` until it is stopped. After a failure it waits, and continues at the store's position.

    `missing` returns what Spark lacks to read it, or an empty string.
    """

    def __init__(
        self,
        source: StreamInput[Any],
        judge: RecordJudge,
        feed: StreamFeed,
        event_log: InputLog,
        missing: Callable[[], str],
        clock_us: Callable[[], int],
        clock: Callable[[], float],
    ) -> None:
        super().__init__(source, clock_us, clock)
        self.source, self._judge, self._feed, self._log, self._missing = source, judge, feed, event_log, missing
        self._most = FIRST_RECORDS

    def _read_until(self, stop: threading.Event) -> None:
        """Read the input until `stop` is set."""
        if absent := self._missing():
            raise SourceError(absent, "fetch them with: lineage-bridge jars")
        name, settings = self.source.name, self.source.settings
        self._feed.finish(name)
        positions = StreamPositions(name, self._feed, self._log)
        self.source.open(positions)
        while not stop.is_set():
            most = self.meter.allowance(settings.max_records_per_s, min(settings.max_offsets_per_trigger, self._most))
            ranges = self.source.plan(most) if most else ()
            if ranges:
                self._take(ranges, positions)
            else:
                self._feed.finish(name)
                self._feed.progress(name)
                stop.wait(min(settings.poll_s, LONGEST_POLL_S))
            state = self.source.reading_state()
            self.meter.watch(state)
            if state.partitions:
                self.meter.change("reading")
        self._feed.finish(name)

    def _take(self, ranges: Sequence[StreamRange], positions: StreamPositions) -> None:
        """Ingest several ranges together. If they cannot be read, ingest each separately, and skip those that still cannot be read."""
        try:
            self._take_together(ranges, positions)
        except SourceError as error:
            if len(ranges) == 1:
                self.source.postpone(ranges[0], error)
                raise
            failures = [failure for given in ranges if (failure := self._failure_of(given, positions))]
            if len(failures) == len(ranges):
                raise failures[0] from error

    def _failure_of(self, given: StreamRange, positions: StreamPositions) -> SourceError | None:
        try:
            self._take_together([given], positions)
        except SourceError as error:
            self.source.postpone(given, error)
            return error
        return None

    def _take_together(self, ranges: Sequence[StreamRange], positions: StreamPositions) -> None:
        where = {(given.where.stream, given.where.partition): given.where for given in ranges}
        read = self.source.read(ranges, self._feed.parallelism)
        rows = RowJudge(self._judge, where, self._clock_us)
        taken = self._feed.take(self.source.name, ranges, read, rows, lambda: self.source.is_same(ranges))
        if taken is None:
            return
        if taken.is_cut:
            # At most half as many, as large records of one partition may count little among many small ones of others.
            planned = sum(given.end - given.start for given in ranges)
            self._most = max(1, min(planned // 2, BATCH_BYTES // max(1, taken.size // max(1, taken.read))))
            return
        positions.moved(ranges)
        self.source.taken(ranges)
        self.meter.add(taken.read, taken.skipped, taken.newest_ms, taken.filtered)
        self._adapt(taken)

    def _adapt(self, taken: TakenRows) -> None:
        """Adapt the number of records per batch to about BATCH_BYTES, without growing abruptly."""
        if taken.read:
            fitting = BATCH_BYTES // max(1, taken.size // taken.read)
            self._most = max(1, min(fitting, max(4 * taken.read, FIRST_RECORDS), 1_000_000))
