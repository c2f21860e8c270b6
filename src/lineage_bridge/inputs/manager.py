"""Runs all inputs, each in its own thread, and reports their state."""

import threading
from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

import msgspec

from lineage_bridge.errors import ConfigError
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.kinds import KINDS, InputKinds
from lineage_bridge.inputs.reading import InputReader, SessionReader
from lineage_bridge.inputs.settings import is_streamed
from lineage_bridge.inputs.streaming import StreamReader
from lineage_bridge.model.sources import InputRecord, InputStatus
from lineage_bridge.ports.inputs import InputLog, InputsReport
from lineage_bridge.ports.streams import StreamFeed
from lineage_bridge.sources.common.settings import NO_CONTEXT, SourceContext

TICK_S: Final = 1.0


class StreamSide(NamedTuple):
    """What inputs of the form `stream` need: the feed that ingests their records, and a function that returns what Spark lacks to read
    them, if anything.
    """

    feed: StreamFeed
    missing: Callable[[], str]


class _Running:
    """An input that is read in a thread. `basis` is the configuration from which its reader was created."""

    def __init__(self, reader: SessionReader, basis: object) -> None:
        self.reader, self.basis = reader, basis
        self.stop = threading.Event()
        self.thread = threading.Thread(target=reader.run, args=(self.stop,), name=f"input-{reader.input.name}", daemon=True)
        self.thread.start()


class InputManager:
    """Reads the inputs that `records` lists, unless they are paused, and passes a report to `report` about every second.

    With `stream`, it only reads inputs of the form `stream`, without it only the others. `intake` names the input whose topic is the log of
    received events, if there is one.
    """

    def __init__(
        self,
        records: Callable[[], Iterable[InputRecord]],
        event_log: InputLog,
        report: Callable[[InputsReport], None],
        *,
        pid: int,
        key: bytes,
        installation: str,
        clock_us: Callable[[], int],
        clock: Callable[[], float],
        context: SourceContext = NO_CONTEXT,
        kinds: InputKinds = KINDS,
        stream: StreamSide | None = None,
        intake: str = "",
    ) -> None:
        self._stream, self._intake = stream, intake
        self._records, self._log, self._report, self._pid = records, event_log, report, pid
        self._key, self._installation, self._clock_us, self._clock = key, installation, clock_us, clock
        self._context, self._kinds = context, kinds
        self._running: dict[str, _Running] = {}
        self._ending: list[_Running] = []
        self._broken: dict[str, tuple[object, InputStatus]] = {}

    def run(self, stop: threading.Event, tick_s: float = TICK_S) -> None:
        """Read the inputs until `stop`. Records that are not durable by then are read again at the next start."""
        while not stop.is_set():
            self._change()
            statuses = {name: running.reader.meter.status for name, running in self._running.items()}
            broken = {name: status for name, (_, status) in self._broken.items()}
            self._report(InputsReport(self._pid, self._clock_us(), {**statuses, **broken}))
            stop.wait(tick_s)
        for name in list(self._running):
            self._end(name)
        for running in self._ending:
            running.thread.join()

    def _change(self) -> None:
        """Start and stop inputs that were added, changed, paused or removed."""
        mine = (record for record in self._records() if is_streamed(record.settings) == (self._stream is not None))
        active = {record.name: record for record in mine if not record.paused}
        for name in list(self._running):
            if name not in active or self._running[name].basis != _basis(active[name]):
                self._end(name)
        self._broken = {name: broken for name, broken in self._broken.items() if name in active and broken[0] == _basis(active[name])}
        self._ending = [running for running in self._ending if running.thread.is_alive()]
        ending = {running.reader.input.name for running in self._ending}
        for name, record in sorted(active.items()):
            if name not in self._running and name not in self._broken and name not in ending:
                self._start(record)

    def _start(self, record: InputRecord) -> None:
        try:
            reader = self._reader(record)
        except ConfigError as error:
            status = InputStatus("failing", self._clock_us(), str(error), error.hint, self._clock_us())
            self._broken[record.name] = _basis(record), status
            return
        self._running[record.name] = _Running(reader, _basis(record))

    def _reader(self, record: InputRecord) -> SessionReader:
        """Create the reader of an input. Raises ConfigError."""
        given = (record.name, record.kind, record.settings, self._context, self._installation)
        channel = self._kinds.load(record.kind).channel
        if self._stream is None:
            return InputReader(self._kinds.make(*given), channel, self._log, self._key, self._clock_us, self._clock)
        made = self._kinds.make_stream(*given)
        judge = RecordJudge.make_judge(record.name, channel, made.settings, self._key, restores=record.name == self._intake)
        return StreamReader(made, judge, self._stream.feed, self._log, self._stream.missing, self._clock_us, self._clock)

    def _end(self, name: str) -> None:
        running = self._running.pop(name)
        running.stop.set()
        self._ending.append(running)


def _basis(record: InputRecord) -> Any:  # noqa: ANN401  # compared only
    return record.kind, msgspec.json.encode(record.settings)
