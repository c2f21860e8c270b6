"""Reads one input: validates the events of its records, and acknowledges the records once the log has them."""

import logging
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from lineage_bridge.errors import GoneError, LineageBridgeError, NotFoundError, UnavailableError
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.inputs.input import IncomingRecord, Input, Positions, StreamInput, as_position
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.meter import ReadingMeter
from lineage_bridge.ports.inputs import FilePosition, InputBatch, InputLog, InputPositions, InputStart, PartitionPosition

BATCH_BYTES: Final = 4 << 20
"""The maximum bytes of records in one request to the API, unless it is a single record."""
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 10.0
log = logging.getLogger(__name__)


class LogPositions(Positions):
    """The positions of an input in the log."""

    def __init__(self, name: str, event_log: InputLog) -> None:
        self._name, self._log = name, event_log
        found: InputPositions = event_log.positions(name)
        self.session, self.is_new = found.session, not found.opened
        self._positions = dict(found.partitions)

    def next_position(self, where: StreamPartition) -> EventPosition | None:
        """The first position in a partition that the log does not have."""
        return self._positions.get(where)

    def lives(self, stream: str, partition: str) -> list[str]:
        """The lives of a stream in which this partition has a position."""
        return sorted(where.life for where in self._positions if (where.stream, where.partition) == (stream, partition))

    def begin(self, starts: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably where new partitions begin."""
        positions = [PartitionPosition(where, as_position(at)) for where, at in sorted(starts.items())]
        self._log.begin(self._name, InputStart(self.session, positions))
        self.is_new = False
        self._positions |= dict(positions)

    def files(self, keys: Sequence[str]) -> list[FilePosition]:
        """The positions in the log of files with these keys."""
        found = self._log.positions(self._name, keys)
        if found.session != self.session:
            raise GoneError("the API was restarted, so earlier positions are not valid any more", "fetch the positions again")
        return found.files

    def note(self, files: Sequence[FilePosition]) -> None:
        """Store durably the versions of files that were read completely."""
        self._log.append(self._name, InputBatch(self.session, [], [], list(files)))

    def skip(self, ends: Mapping[StreamPartition, int | EventPosition]) -> None:
        """Store durably that records before these offsets or positions are skipped."""
        positions = [PartitionPosition(where, as_position(at)) for where, at in sorted(ends.items())]
        self._log.append(self._name, InputBatch(self.session, [], positions))
        self._positions |= dict(positions)

    def advance(self, ends: Mapping[StreamPartition, int]) -> None:
        """Record that the log has everything before these offsets."""
        self._positions |= {where: EventPosition(offset, 0) for where, offset in ends.items() if not where.file_key}


class SessionReader(ABC):
    """Reads an input until it is stopped, in sessions, each of which lasts until a failure. `clock` is monotonic, in seconds."""

    def __init__(self, source: Input[Any] | StreamInput[Any], clock_us: Callable[[], int], clock: Callable[[], float]) -> None:
        self.input, self._clock_us, self._clock = source, clock_us, clock
        self.meter = ReadingMeter(clock_us, clock)

    def run(self, stop: threading.Event) -> None:
        """Read the input until `stop` is set."""
        pause_s = 0.0
        while not stop.wait(pause_s):
            pause_s = self._run_session(stop, pause_s)

    def _run_session(self, stop: threading.Event, pause_s: float) -> float:
        """Read until `stop` or a failure; returns the seconds to wait before the next try."""
        read_before = self.meter.status.read
        try:
            self._read_until(stop)
        except GoneError:
            return 0.0
        except NotFoundError:
            return LONGEST_PAUSE_S  # the input was removed: whoever runs this reader stops it
        except LineageBridgeError as error:
            self._report(str(error), error.hint)
        except Exception as error:  # a boundary: a fault of one input must not stop the others
            log.exception("input %s: unexpected error", self.input.name)
            self._report(f"{type(error).__name__}: {error}", "this is a fault of LineageBridge; see its log")
        else:
            self.meter.change("idle")
            return float(self.input.settings.interval_s)
        finally:
            self.input.close()
        has_read = self.meter.status.read > read_before
        return FIRST_PAUSE_S if has_read or not pause_s else min(2 * pause_s, LONGEST_PAUSE_S)

    def _report(self, error: str, hint: str) -> None:
        if self.meter.status.error != error or self.meter.status.state != "failing":
            log.warning("input %s: %s", self.input.name, error)
        self.meter.fail(error, hint)

    @abstractmethod
    def _read_until(self, stop: threading.Event) -> None:
        """Open the input, and read until `stop`, or until there is a reason to close it for a while."""


class _Portion(NamedTuple):
    """Log records that are sent together, the offset up to which they cover each partition, and the number of events that the settings
    leave out.
    """

    judged: list[LogRecord]
    ends: dict[StreamPartition, int]
    filtered: int


class InputReader(SessionReader):
    """Reads an input until it is stopped. After a failure it waits, and continues at the log's positions.

    `key` is the installation's key; `clock` returns monotonic seconds.
    """

    def __init__(
        self, source: Input[Any], channel: str, event_log: InputLog, key: bytes, clock_us: Callable[[], int], clock: Callable[[], float]
    ) -> None:
        super().__init__(source, clock_us, clock)
        self.source, self._log = source, event_log
        self._judge = RecordJudge.make_judge(source.name, channel, source.settings, key)
        self._quiet_since = clock()

    def _read_until(self, stop: threading.Event) -> None:
        """Read until `stop`, or until no record has arrived for `idle_s`."""
        positions = LogPositions(self.source.name, self._log)
        self.source.open(positions)
        settings, self._quiet_since = self.source.settings, self._clock()
        while not stop.is_set():
            state = self.source.reading_state()  # Before reading, so that the state of topics is reported even if nothing can be read.
            self.meter.watch(state)
            if state.partitions:
                self.meter.change("reading")
            most = self.meter.allowance(settings.max_records_per_s, settings.batch_records)
            if not most:
                self.source.keep_alive()
                stop.wait(0.05)
                continue
            records = self.source.read(most)
            if records:
                self._take_in(records, positions, stop)
                self._quiet_since = self._clock()
            elif settings.idle_s and self._clock() - self._quiet_since >= settings.idle_s:
                return

    def _take_in(self, records: Sequence[IncomingRecord], positions: LogPositions, stop: threading.Event) -> None:
        """Append the events of records to the log, and acknowledge what is durable."""
        filtered = 0
        marks = {(record.where, record.offset + 1): record.mark for record in records if record.mark}
        for judged, read, left_out in self._portions(records):
            filtered += left_out
            # In the order in which they were read: of files with one key, the last is the one that has it now.
            ends = [PartitionPosition(where, EventPosition(offset, 0)) for where, offset in read.items()]
            files = [FilePosition(where, at, marks[where, at.offset]) for where, at in ends if (where, at.offset) in marks]
            if not self._append(InputBatch(positions.session, judged, ends, files), stop):
                return
            positions.advance(read)
            self.source.acknowledge(read)
        self.meter.count(records, filtered)

    def _portions(self, records: Sequence[IncomingRecord]) -> Iterator[_Portion]:
        """Yield the log records of these records' events, in portions."""
        judged: list[LogRecord] = []
        ends: dict[StreamPartition, int] = {}
        size = filtered = 0
        for record in records:
            taken = self._judge(record, self._clock_us)
            filtered += taken.filtered
            for event in taken.records:
                if judged and size + len(event.body) > BATCH_BYTES:
                    yield _Portion(judged, ends, filtered)
                    judged, ends, size, filtered = [], {}, 0, 0
                judged.append(event)
                size += len(event.body) + len(event.note)
            ends.pop(record.where, None)
            ends[record.where] = record.end
        yield _Portion(judged, ends, filtered)

    def _append(self, batch: InputBatch, stop: threading.Event) -> bool:
        """Append records, and retry while the log accepts none. Returns False if `stop` is set before they are durable."""
        pause_s = FIRST_PAUSE_S / 4
        while True:
            try:
                self._log.append(self.source.name, batch)
            except UnavailableError as error:
                self.meter.change("waiting", str(error))
            else:
                self.meter.change("reading")
                return True
            self.source.keep_alive()
            if stop.wait(pause_s):
                return False
            pause_s = min(2 * pause_s, 1.0)
