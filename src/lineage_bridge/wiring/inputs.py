"""Sets up the process that reads inputs, the API's service for inputs, and the log that received events are written to."""

import logging
import os
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from lineage_bridge.api.position_tokens import Position, encode
from lineage_bridge.config import Settings
from lineage_bridge.config.log_format import REQUEST_ID
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.errors import ConfigError, StoreError
from lineage_bridge.eventlog.archive.progress import added, saved_progress
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.ingest.ingest import ANY_SIZE, RecordLimits
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.inputs.intake_client import IntakeClient
from lineage_bridge.inputs.kafka.settings import EARLIEST, KafkaInputSettings
from lineage_bridge.inputs.kinds import KINDS
from lineage_bridge.inputs.manager import InputManager, StreamSide
from lineage_bridge.inputs.openmetadata import translated
from lineage_bridge.inputs.service import InputService, read_report
from lineage_bridge.inputs.settings import STREAM, JobPatterns
from lineage_bridge.inputs.topic_record import size_of
from lineage_bridge.model.sources import InputProgress, InputRecord
from lineage_bridge.pipeline.status import replace_file
from lineage_bridge.ports.inputs import InputsReport
from lineage_bridge.ports.log import LOG_SOURCE, EventLog, OffsetLog
from lineage_bridge.ports.streams import StreamFeed
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.wiring.processes import alone_until_signal, is_alive, now_us
from lineage_bridge.wiring.shared import internal_credentials, source_context, state_database

_log = logging.getLogger(__name__)
if TYPE_CHECKING:
    from lineage_bridge.inputs.kafka.topic_log import TopicLog

_INTAKE: Final = 'set `intake` to the name of an input in the settings file with kind = "kafka", form = "stream" and a single topic'


def input_progress(settings: Settings, ledger: InputLedger, name: str) -> InputProgress | None:
    """Count the events of an input in the log and the archive."""
    return added(ledger.progress(name), saved_progress(settings.paths.archive, name))


def streamed_positions(settings: Settings, name: str) -> dict[StreamPartition, EventPosition]:
    """The position at which the archive ends, for each partition of an input."""
    archive = ArchiveReader(settings.paths.archive)
    ends = {of.where: archive.end(of.source, of.partition) for of in archive.partitions() if of.input == name}
    return {where: EventPosition.at(end) for where, end in ends.items()}


def intake_client(settings: Settings) -> IntakeClient:
    """A client of the API that writes the log of this data folder, even if the settings name another server for commands."""
    settings = settings.model_copy(update={"url": ""})
    return IntakeClient(settings.address, partial(internal_credentials, settings), partial(trusted_by_clients, settings))


def input_service(settings: Settings, progress: Callable[[str], InputProgress | None] = lambda _: None) -> InputService:
    """The service for users' operations on inputs. Raises ConfigError for an invalid input in the settings file."""
    state = state_database(settings)
    key = state.key()
    service = InputService(
        settings.inputs,
        InputRepository(state),
        now_us,
        source_context(settings),
        progress=progress,
        report=partial(_report, settings.paths.inputs_report),
        streams=partial(_report, settings.paths.streams_report),
        installation=graph_id(key),
        key=key,
    )
    service.check_file()
    return service


def run_inputs(settings: Settings) -> None:
    """Read the inputs until a signal. Raises UnavailableError when another process reads them."""
    service, key = input_service(settings), state_database(settings).key()
    path = settings.paths.inputs_report

    with (
        alone_until_signal(settings.paths.inputs_lock, f"another process reads the inputs of {settings.data_dir}") as stop,
        intake_client(settings) as client,
    ):
        manager = InputManager(
            service.configured,
            client,
            partial(_write_report, path),
            pid=os.getpid(),
            key=key,
            installation=graph_id(key),
            clock_us=now_us,
            clock=time.monotonic,
            context=source_context(settings),
        )
        try:
            manager.run(stop)
        finally:
            path.unlink(missing_ok=True)


def read_streams(settings: Settings, feed: StreamFeed, missing: Callable[[], str], stop: threading.Event) -> None:
    """Read the inputs of the form `stream` into `feed` until `stop`, in the pipeline's process. `missing` is passed to StreamReader."""
    service, key, path = input_service(settings), state_database(settings).key(), settings.paths.streams_report
    known: list[InputRecord] = []

    def records() -> list[InputRecord]:
        with suppress(StoreError):  # the state database is just being replaced
            known[:] = service.configured()
        return known

    with intake_client(settings) as client:
        manager = InputManager(
            records,
            client,
            partial(_write_report, path),
            pid=os.getpid(),
            key=key,
            installation=graph_id(key),
            clock_us=now_us,
            clock=time.monotonic,
            context=source_context(settings),
            stream=StreamSide(feed, missing),
            intake=settings.intake,
        )
        try:
            manager.run(stop)
        finally:
            path.unlink(missing_ok=True)


def _write_report(path: Path, report: InputsReport) -> None:
    """Write the state of the inputs to the file that the API reads. If the disk is full, the last report remains, and reading continues."""
    try:
        replace_file(path, msgspec.json.encode(report))
    except OSError as error:
        _log.warning("the state of the inputs cannot be written to %s: %s", path, error.strerror)


def _report(path: Path) -> InputsReport | None:
    """Read the last report of the process that reads inputs; None if it does not run."""
    try:
        found = read_report(path.read_bytes())
    except OSError:
        return None
    return found if found and is_alive(found.pid) else None


def intake_settings(settings: Settings) -> KafkaInputSettings | None:
    """The input to whose topic received events are written; None if they are written to the log. Raises ConfigError."""
    name = settings.intake
    if not name:
        return None
    if name not in settings.inputs:
        raise ConfigError(f"intake: the settings file has no input {name!r}", _INTAKE)
    kind, given = translated(name, dict(settings.inputs[name]))
    if kind != "kafka" or given.get("form") != STREAM:
        raise ConfigError(f"intake: input {name} is not of the kind `kafka` and the form `stream`", _INTAKE)
    found: KafkaInputSettings = KINDS.make_stream(name, kind, given, source_context(settings)).settings
    if len(found.topics) != 1 or found.globs or found.exclude_topics:
        raise ConfigError(f"intake: input {name} must read exactly one topic", _INTAKE)
    if found.namespaces or found.jobs != JobPatterns() or found.start != EARLIEST:
        raise ConfigError(f"intake: input {name} must read all events of its topic", "remove its settings `namespaces`, `jobs` and `start`")
    return found


@dataclass(frozen=True)
class ReceivedLog:
    """The log that received events are written to: the embedded log in `folder`, or a topic instead if the settings name one."""

    folder: Path
    writer: OffsetLog
    topic: "TopicLog | None" = None

    @property
    def log(self) -> EventLog:
        """The log that received events are written to."""
        return self.topic or self.writer

    def state(self) -> str:
        """Whether events can be written: HEALTHY, or the reason why not."""
        from lineage_bridge.api.services import HEALTHY  # noqa: PLC0415  # loads the web server

        if not os.access(self.folder, os.W_OK):
            return f"the server cannot write to the folder {self.folder}"
        return self.topic.problem if self.topic and self.topic.problem else HEALTHY

    def limits(self) -> RecordLimits:
        """The maximum size of a record."""
        return RecordLimits(self.topic.most_bytes, size_of) if self.topic else ANY_SIZE

    def topic_ends(self) -> Position:
        """The end of each partition of the topic; empty if there is no topic."""
        return self.topic.ends() if self.topic else {}

    def token(self) -> str:
        """The position at the end of the topic, as a token; empty if there is no topic."""
        return encode(self.topic_ends()) if self.topic else ""

    def ends(self) -> Position:
        """The position after the last accepted event."""
        return {(LOG_SOURCE, 0): self.writer.end(), **self.topic_ends()}


def received_log(settings: Settings, writer: OffsetLog, stack: ExitStack) -> ReceivedLog:
    """Create the writer of received events, which `stack` closes. Raises ConfigError."""
    found, folder = intake_settings(settings), settings.paths.log
    if found is None:
        return ReceivedLog(folder, writer)
    from lineage_bridge.inputs.kafka.topic_log import TopicLog  # noqa: PLC0415  # loads Kafka's client

    topic = TopicLog(found, writer, most_pending=settings.pending_bytes, request=REQUEST_ID.get)
    stack.callback(topic.close)
    return ReceivedLog(folder, writer, topic)
