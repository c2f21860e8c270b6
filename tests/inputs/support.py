"""Inputs that are read in a thread of the test, into a real log, without a server between them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tests.events import KEY

from lineage_bridge.errors import UnavailableError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.graph.record_origin import RecordOrigin, read_origin
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.reading import InputReader, SessionReader
from lineage_bridge.ports.inputs import InputBatch, InputPositions, InputStart
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.wiring.processes import now_us

SOON_S = 45.0
ReaderT = TypeVar("ReaderT", bound=SessionReader)


def until(holds: Callable[[], object], what: str = "it") -> None:
    deadline = time.monotonic() + SOON_S
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not hold within {SOON_S} s"
        time.sleep(0.02)


@dataclass
class FailingLedger:
    """A ledger behind a server that can be gone: appends fail while `is_gone`, after they were written if `is_written`."""

    ledger: InputLedger
    is_gone: bool = False
    is_written: bool = False
    calls: int = 0
    batches: list[InputBatch] = field(default_factory=list)

    def positions(self, name: str, files: Sequence[str] = ()) -> InputPositions:
        return self.ledger.positions(name, files)

    def begin(self, name: str, start: InputStart) -> None:
        self.ledger.begin(name, start)

    def append(self, name: str, batch: InputBatch) -> None:
        self.calls += 1
        if not self.is_gone or self.is_written:
            self.ledger.append(name, batch)
            self.batches.append(batch)
        if self.is_gone:
            raise UnavailableError("nobody answers")


class Installation:
    """A log with the ledger of its inputs, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = InputRepository(StateDatabase(folder / "state.db"))
        self.writer = LogWriter(folder / "log")
        self.reader = LogReader(folder / "log")
        self.ledger = InputLedger(self.writer, self.reader.read, self.repository, "session 1")

    def close(self) -> None:
        self.ledger.close()
        self.writer.close()

    def records(self) -> list[LogRecord]:
        return [record for _, record in self.reader.read(0, self.reader.durable_end())]

    def origins(self, name: str = "events") -> list[RecordOrigin]:
        found = (read_origin(record.note) for record in self.records())
        return [origin for origin in found if origin is not None and origin.input == name]

    def bodies(self) -> list[bytes]:
        return [record.body for record in self.records()]

    @contextmanager
    def reading(
        self, log: Any = None, name: str = "events", context: SourceContext = NO_CONTEXT, kind: str = "kafka", **settings: Any
    ) -> Iterator[InputReader]:
        """Read an input while the block lasts."""
        source = KINDS.make(name, kind, {"poll_s": 0.2, "refresh_s": 0.5, **settings}, context, "0123456789abcdef")
        with running(InputReader(source, kind, log or self.ledger, KEY, now_us, time.monotonic)) as reader:
            yield reader

    def bring(self, count: int, **settings: Any) -> list[bytes]:
        """Read until the log has so many records; the bodies of all."""
        with self.reading(**settings) as reader:
            until(lambda: len(self.records()) >= count, f"{count} records ({reader.meter.status})")
        return self.bodies()


@contextmanager
def installed(folder: Path) -> Iterator[Installation]:
    """An installation that is closed in order."""
    made = Installation(folder)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def running(reader: ReaderT) -> Iterator[ReaderT]:
    stop = threading.Event()
    thread = threading.Thread(target=reader.run, args=(stop,))
    thread.start()
    try:
        yield reader
    finally:
        stop.set()
        thread.join(SOON_S)
        assert not thread.is_alive()


def places(origins: Sequence[RecordOrigin]) -> list[tuple[str, str, int]]:
    return sorted((origin.stream, origin.partition, origin.offset) for origin in origins)
