"""The process that reads inputs, and what the API needs for them."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

import msgspec
from filelock import FileLock, Timeout

from lineage_bridge.config import Settings
from lineage_bridge.config.tls import trusted_by_clients
from lineage_bridge.errors import StoreError, UnavailableError
from lineage_bridge.eventlog.archive.progress import added, saved_progress
from lineage_bridge.eventlog.archive.reader import ArchiveReader
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.graph.record_origin import EventPlace, StreamPartition
from lineage_bridge.inputs.intake_client import IntakeClient
from lineage_bridge.inputs.ledger import InputLedger
from lineage_bridge.inputs.manager import InputManager, StreamSide
from lineage_bridge.inputs.service import InputService, read_report
from lineage_bridge.model.sources import InputProgress, InputRecord
from lineage_bridge.pipeline.status import replace_file
from lineage_bridge.ports.inputs import InputsReport
from lineage_bridge.ports.streams import StreamFeed
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.wiring.access import internal_credentials
from lineage_bridge.wiring.processes import is_alive, now_us
from lineage_bridge.wiring.shared import source_context, state_database


def input_progress(settings: Settings, ledger: InputLedger, name: str) -> InputProgress | None:
    """What the log and the archive have of an input."""
    return added(ledger.progress(name), saved_progress(settings.paths.archive, name))


def streamed_places(settings: Settings, name: str) -> dict[StreamPartition, EventPlace]:
    """Where the archive ends in each partition of an input."""
    archive = ArchiveReader(settings.paths.archive)
    ends = {of.where: archive.end(of.source, of.partition) for of in archive.partitions() if of.input == name}
    return {where: EventPlace.at(end) for where, end in ends.items()}


def intake_client(settings: Settings) -> IntakeClient:
    """A client of the API that writes the log of this data folder, whatever server commands call."""
    settings = settings.model_copy(update={"url": ""})
    return IntakeClient(settings.address, partial(internal_credentials, settings), partial(trusted_by_clients, settings))


def input_service(settings: Settings, progress: Callable[[str], InputProgress | None] = lambda _: None) -> InputService:
    """What users can do with inputs. Raises ConfigError for an invalid input in the settings file."""
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
    lock = FileLock(settings.paths.inputs_lock, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(f"another process reads the inputs of {settings.data_dir}") from error
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    path = settings.paths.inputs_report

    def report(current: InputsReport) -> None:
        replace_file(path, msgspec.json.encode(current))

    with lock, intake_client(settings) as client:
        manager = InputManager(
            service.configured,
            client,
            report,
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
    """Read the inputs of the stream until `stop`, in the pipeline's process, into `feed`; `missing` as StreamReader has it."""
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
            lambda report: replace_file(path, msgspec.json.encode(report)),
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


def _report(path: Path) -> InputsReport | None:
    """What the process that reads inputs reported last in a file; None if it does not run."""
    try:
        found = read_report(path.read_bytes())
    except OSError:
        return None
    return found if found and is_alive(found.pid) else None
