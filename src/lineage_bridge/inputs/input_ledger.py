"""Records which events of inputs the log has, so that each is appended once, however often it is sent.

The origins in the log's records are authoritative. The stored ledger is a copy up to some offset, so that only later records have to be
read when the process starts. The copy is not used if the log was restored to an earlier state. In that case the copy reaches beyond the
log's end, or the log has no longer the copy's last record at its offset.
"""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec

from lineage_bridge.errors import GoneError, RequestError
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition, read_origin
from lineage_bridge.inputs.file_positions import FilePositions
from lineage_bridge.inputs.judging import principal_name
from lineage_bridge.model.sources import InputProgress
from lineage_bridge.ports.inputs import InputBatch, InputPositions, InputRepository, InputStart, PartitionPosition
from lineage_bridge.ports.log import OffsetLog

SAVE_EVERY_BYTES: Final = 16 << 20
"""The number of bytes by which the log grows between two writes of the stored ledger."""
_REJECTED: Final = "rejected"
log = logging.getLogger(__name__)

ReadLog = Callable[[int, int], Iterable[tuple[int, LogRecord]]]
"""The records of the log between two offsets, with their offsets."""
Streamed = Callable[[str], Mapping[StreamPartition, EventPosition]]


class _Saved(msgspec.Struct, frozen=True):
    """The stored ledger of an input. It covers the log's records before `read_from`; the last record of the input among them is at
    `last_at`.
    """

    opened: bool
    begun: list[PartitionPosition]
    positions: list[PartitionPosition] = msgspec.field(name="places")
    progress: InputProgress
    read_from: int
    last_at: int | None = None


@dataclass
class _Ledger:
    """The ledger of an input: where its partitions begin, the next position in each, and counts of the events in the log."""

    files: FilePositions
    opened: bool = False
    begun: dict[StreamPartition, EventPosition] = field(default_factory=dict)
    positions: dict[StreamPartition, EventPosition] = field(default_factory=dict)
    progress: InputProgress = field(default_factory=InputProgress)
    read_from: int = 0
    saved_from: int = 0
    last_at: int | None = None

    def next_position(self, where: StreamPartition) -> EventPosition:
        """The first position in a partition that the log does not have."""
        if where.file_key:
            return self.files.next_position(where)
        return max(self.positions.get(where, _FIRST), self.begun.get(where, _FIRST))

    def advance(self, where: StreamPartition, position: EventPosition) -> None:
        """Record that everything before a position is in the log, or contains no event."""
        if where.file_key:
            self.files.advance(where, position)
            return
        self.positions[where] = max(self.positions.get(where, _FIRST), position)

    def count(self, record: LogRecord, origin: RecordOrigin, at: int) -> None:
        """Count a record that the log has at an offset."""
        self.last_at = at
        self.advance(origin.where, origin.next_position)
        progress, rejected = self.progress, self.progress.rejected
        if record.kind == RecordKind.REJECTED:
            code = _CODE.decode(record.note).code
            rejected = {**rejected, code: rejected.get(code, 0) + 1}
        accepted = progress.accepted + (record.kind == RecordKind.EVENT)
        self.progress = InputProgress(accepted, rejected, origin, record.arrival_us)

    def saved(self) -> bytes:
        """Encode the ledger for storing."""
        begun, positions = ([PartitionPosition(*item) for item in sorted(found.items())] for found in (self.begun, self.positions))
        return msgspec.json.encode(_Saved(self.opened, begun, positions, self.progress, self.read_from, self.last_at))


class _RejectionCode(msgspec.Struct):
    code: str = _REJECTED


class _NewRecord(NamedTuple):
    """A record that the log does not have yet, and its origin."""

    record: LogRecord
    origin: RecordOrigin


_CODE = msgspec.json.Decoder(_RejectionCode)
_SAVED = msgspec.json.Decoder(_Saved)
_FIRST: Final = EventPosition(0, 0)


class InputLedger:
    """Implements `ports.InputLog` over the log, which this process alone writes. Thread-safe.

    `session` identifies this process, `streamed` returns the archive's end in the partitions of an input read in the form `stream`.
    Batches of one input are appended one after the other. `close` stores the positions of the inputs.
    """

    def __init__(
        self, event_log: OffsetLog, read: ReadLog, repository: InputRepository, session: str, streamed: Streamed = lambda _: {}
    ) -> None:
        self._log, self._read, self._repository, self._session = event_log, read, repository, session
        self._streamed = streamed
        end = event_log.end()
        self._saved = {name: _restored(text, FilePositions(name, repository)) for name, text in repository.ledgers().items()}
        for name, ledger in self._saved.items():
            if ledger.read_from > end:
                # Saved at once: at the next start, the log may have grown beyond the stored offset, and would not look replaced.
                self._saved[name] = _of_shorter_log(ledger)
                self._save(self._saved[name])
        self._ledgers: dict[str, _Ledger] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._choosing = threading.Lock()

    def positions(self, name: str, files: Sequence[str] = ()) -> InputPositions:
        """The positions from which an input continues. Reads the records that the log received since the positions were stored."""
        with self._lock(name):
            ledger = self._loaded(name)
            if files:
                return InputPositions(self._session, ledger.opened, [], ledger.files.find(files))
            streamed = self._streamed(name)
            wheres = sorted({*ledger.begun, *ledger.positions, *streamed})
            partitions = [PartitionPosition(where, max(ledger.next_position(where), streamed.get(where, _FIRST))) for where in wheres]
            return InputPositions(self._session, ledger.opened or bool(streamed), partitions)

    def begin(self, name: str, start: InputStart) -> None:
        """Store where reading begins in partitions that have no position yet. Raises GoneError."""
        with self._lock(name):
            ledger = self._loaded(name, start.session)
            known = {*ledger.begun, *ledger.positions}
            ledger.begun.update({where: position for where, position in start.partitions if where not in known})
            ledger.opened = True
            self._save(ledger)

    def append(self, name: str, batch: InputBatch) -> None:
        """Append the records that the log does not have yet, and wait until they are durable.

        Raises GoneError, RequestError for records that do not belong to the input, UnavailableError, LogError.
        """
        with self._lock(name):
            ledger = self._loaded(name, batch.session)
            ledger.files.find([key for where, _ in batch.ends if (key := where.file_key)])
            fresh = list(_fresh(name, batch.records, ledger))
            offsets = self._log.submit([record for record, _ in fresh]).result()
            for (record, origin), at in zip(fresh, offsets, strict=True):
                ledger.count(record, origin, at)
            for where, position in batch.ends:
                ledger.advance(where, position)
            for file in batch.files:
                ledger.files.advance(*file)
            # No append of this input is in progress, so all its records in the log are counted.
            ledger.read_from = max(ledger.read_from, self._log.end())
            # Positions that do not follow from records in the log are stored at once.
            if not fresh or ledger.files.is_large or ledger.read_from - ledger.saved_from >= SAVE_EVERY_BYTES:
                self._save(ledger)

    def progress(self, name: str) -> InputProgress | None:
        """The counts of an input's events in the log; None while they are being computed."""
        lock = self._lock(name)
        if not lock.acquire(blocking=False):
            ledger = self._ledgers.get(name)
            return ledger.progress if ledger else None
        try:
            return self._loaded(name).progress
        finally:
            lock.release()

    def close(self) -> None:
        """Store the positions of the inputs."""
        for name, ledger in sorted(self._ledgers.items()):
            with self._lock(name):
                ledger.read_from = max(ledger.read_from, self._log.end())
                self._save(ledger)

    def _lock(self, name: str) -> threading.Lock:
        with self._choosing:
            return self._locks.setdefault(name, threading.Lock())

    def _loaded(self, name: str, session: str | None = None) -> _Ledger:
        """The ledger of an input, up to the end of the log. The caller holds its lock.

        Raises GoneError if `session` identifies an API process that has ended since.
        """
        if session not in (None, self._session):
            raise GoneError("these positions were read before the API was restarted", "fetch the positions again")
        if name not in self._ledgers:
            self._ledgers[name] = self._caught_up(name, self._saved.get(name) or _Ledger(FilePositions(name, self._repository)))
        return self._ledgers[name]

    def _caught_up(self, name: str, ledger: _Ledger) -> _Ledger:
        end = self._log.end()
        if not self._is_of_this_log(name, ledger, end):
            ledger = _of_shorter_log(ledger)
        for at, record in self._read(ledger.read_from, end) if ledger.read_from < end else ():
            if origin := _origin(name, record):
                ledger.count(record, origin, at)
                if ledger.files.is_large:
                    ledger.files.save()
        ledger.read_from = max(ledger.read_from, end)
        return ledger

    def _is_of_this_log(self, name: str, ledger: _Ledger, end: int) -> bool:
        """Whether the log still has the last record of a ledger at its offset. The log may have been restored and have grown since."""
        last_at = ledger.last_at
        if last_at is None:
            return True
        found = next(iter(self._read(last_at, end)), None) if last_at < end else None
        return found is not None and found[0] == last_at and _origin(name, found[1]) == ledger.progress.last

    @staticmethod
    def _save(ledger: _Ledger) -> None:
        ledger.files.save(ledger.saved())
        ledger.saved_from = ledger.read_from


def _restored(text: bytes, files: FilePositions) -> _Ledger:
    """Decode a ledger that was stored earlier."""
    saved = _SAVED.decode(text)
    return _Ledger(
        files, saved.opened, dict(saved.begun), dict(saved.positions), saved.progress, saved.read_from, saved.read_from, saved.last_at
    )


def _of_shorter_log(ledger: _Ledger) -> _Ledger:
    """The part of a ledger that stays valid after the log was restored to an earlier state: where partitions begin. The rest is computed
    again.
    """
    log.warning("the log was replaced: the positions of inputs are computed again from the log")
    ledger.files.forget()
    return _Ledger(ledger.files, ledger.opened, dict(ledger.begun))


def _origin(name: str, record: LogRecord) -> RecordOrigin | None:
    """The origin of a record, if the input read it; None for any other record."""
    origin = read_origin(record.note) if record.principal == principal_name(name) else None
    return origin if origin and origin.input == name else None


def _fresh(name: str, records: Sequence[LogRecord], ledger: _Ledger) -> Iterator[_NewRecord]:
    """The records that the log does not have yet, without duplicates. Raises RequestError."""
    behind: dict[StreamPartition, EventPosition] = {}
    for record in records:
        origin = _origin(name, record)
        if origin is None:
            raise RequestError(
                f"the request contains a record that does not belong to the input {name}",
                "only LineageBridge's own process may send such records",
            )
        where = origin.where
        if origin.position >= behind.get(where, ledger.next_position(where)):
            behind[where] = origin.next_position
            yield _NewRecord(record, origin)
