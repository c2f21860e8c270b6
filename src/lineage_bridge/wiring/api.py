"""Sets up and runs the API's process."""

import gc
import logging
import signal
import socket
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from lineage_bridge.access.authentication import Authenticators
from lineage_bridge.access.networks import Networks
from lineage_bridge.api.position_tokens import Position, covers
from lineage_bridge.catalogs.continuous.feed import changes_behind
from lineage_bridge.config import Settings
from lineage_bridge.config.tls import server_certificate
from lineage_bridge.errors import StoreMissingError
from lineage_bridge.eventlog.check import LogCheck
from lineage_bridge.eventlog.compressed.compressor import LogCompressor
from lineage_bridge.eventlog.disk import Disk as LogDisk
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds, ErasureGuard
from lineage_bridge.eventlog.recovery import Recovery
from lineage_bridge.eventlog.watch import LogWatch
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import graph_id
from lineage_bridge.ingest.masking import prepare_masking_beside
from lineage_bridge.inputs.input_ledger import InputLedger
from lineage_bridge.model.tasks import GraphSize
from lineage_bridge.ports.continuous import ContinuousTarget
from lineage_bridge.projections.whole_graph import graph_stats
from lineage_bridge.sources.runtime.extraction import ExtractionContext
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.sources.runtime.tasks import TaskService
from lineage_bridge.store.probe import Probe
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.state.inputs import InputRepository
from lineage_bridge.store.state.pins import PinStore
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.tasks import TaskRepository
from lineage_bridge.store.whole.analysis import Findings
from lineage_bridge.wiring.access import asks_for_keys, authenticator, key_service
from lineage_bridge.wiring.audit import audit_trail, publish_head
from lineage_bridge.wiring.backup import StateCopies
from lineage_bridge.wiring.disk import disk_space, store_bytes
from lineage_bridge.wiring.erasing.requests import erasure_requests
from lineage_bridge.wiring.inputs import input_progress, input_service, received_log, streamed_positions
from lineage_bridge.wiring.log import START_S, applied_offset
from lineage_bridge.wiring.logins import browser_logins
from lineage_bridge.wiring.people import people
from lineage_bridge.wiring.processes import is_alive, now_us, pipeline_status, version
from lineage_bridge.wiring.shared import (
    all_records,
    graph_database,
    question_lanes,
    question_readers,
    readers,
    source_context,
    state_database,
)
from lineage_bridge.wiring.sources import source_service
from lineage_bridge.wiring.targets.publishing import target_service

if TYPE_CHECKING:
    from lineage_bridge.api.app import Application
    from lineage_bridge.api.services import LogHealth


DRAIN_S = 10
RELOAD_S = 5
SWITCH_S = 0.0005
_LOCAL_DISK = LocalDisk()
_log = logging.getLogger(__name__)


@contextmanager
def api(settings: Settings, log_disk: LogDisk = _LOCAL_DISK, questions: str | None = None) -> "Iterator[Application]":
    """Create the API over the log, which it alone writes, and the graph. Raises LogLockedError if another process writes the log.

    `questions` is the path of the socket where another process answers questions; without it, this one does.
    """
    from lineage_bridge.api.answering.relay import Relay  # noqa: PLC0415  # loads the web server
    from lineage_bridge.api.app import create_app  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.guard import AccessPolicy  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.limits.body_memory import BodyMemory  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.limits.rates import IngestRates  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.readiness import store_progress  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.services import LOOPBACK, DiskSpace, Services  # noqa: PLC0415  # of the same part

    paths, database = settings.paths, graph_database(settings)
    with ExitStack() as stack:
        written = stack.enter_context(readers(settings))
        pool = stack.enter_context(question_readers(settings)) if settings.store_replica else written
        writer = LogWriter(
            paths.log,
            floor=applied_offset(written, paths, START_S if database else None),
            segment_bytes=settings.segment_bytes,
            max_pending_bytes=settings.pending_bytes,
            lock_timeout_s=1.0,
            disk=log_disk,
        )
        stack.enter_context(writer)
        _report(writer.recovery)
        if settings.compress_log:
            stack.callback(LogCompressor(paths.log).close)
        stack.callback(StateCopies(settings).close)
        watch = LogWatch(paths.log, paths.archive)
        stack.callback(watch.close)
        records, service, key = all_records(settings), source_service(settings), state_database(settings).key()
        repository, streamed = InputRepository(state_database(settings)), partial(streamed_positions, settings)
        guarded = ErasureGuard(writer, ErasedIds(paths.log))
        received = received_log(settings, guarded, stack)
        ledger = InputLedger(guarded, records.log.read, repository, uuid.uuid4().hex, streamed)
        stack.callback(ledger.close)
        graph = graph_id(key)
        known, external = people(settings), settings.external
        known.start(stack)
        keys = authenticator(settings, stack)
        logged_in = browser_logins(settings, known, stack)
        access = AccessPolicy(
            Authenticators(keys, known.tokens, known.proxy),
            required=asks_for_keys(settings),
            allowed_hosts=LOOPBACK | {_bracketed(settings.host), *([external.host] if external else [])} if settings.is_local else None,
            is_insecure=settings.insecure_open and not settings.is_local,
            browsers=logged_in.browsers,
            proxies=Networks(settings.trusted_proxy.addresses),
            external=external,
        )
        prepare_masking_beside()
        targets = target_service(settings, partial(changes_behind, written.reader))
        yield create_app(
            Services(
                log=received.log,
                records=records,
                graph=pool.reader,
                clock_us=now_us,
                pipeline=lambda: pipeline_status(paths),
                is_alive=is_alive,
                disk=lambda: DiskSpace(*disk_space(paths.log, records)),
                log_state=received.state,
                version=version(),
                graph_id=graph,
                key=key,
                keys=key_service(settings, keys.recheck),
                audit=audit_trail(settings, partial(publish_head, writer)),
                sources=service,
                inputs=input_service(settings, partial(input_progress, settings, ledger)),
                input_log=ledger,
                targets=targets,
                tasks=_tasks(stack, settings, service, pool, received.ends, partial(_size, graph, pool), targets.configured),
                pins=PinStore(state_database(settings)),
                erasures=erasure_requests(settings),
                findings=lambda: Findings(paths.analysis),
                is_graph_suspect=paths.graph_suspect.exists if database is None else lambda: False,
                log_health=lambda: _log_health(watch.found()),
                access=access,
                logins=logged_in.logins,
                issuer_problems=known.problems,
                lanes=question_lanes(settings),
                rates=IngestRates(settings.ingest_requests_per_s, settings.ingest_bytes_per_s),
                bodies=BodyMemory(settings.body_memory_bytes),
                questions=Relay(questions, received.token) if questions else None,
                store_bytes=partial(store_bytes, paths, Probe(database.size_bytes).answer if database else None),
                progress=Probe(partial(store_progress, pool.reader)).answer if database else None,
                store_kind="SQLite" if database is None else "PostgreSQL",
                log_requests=settings.log_requests,
                record_limits=received.limits,
                topic_ends=received.topic_ends,
                intake=settings.intake,
            )
        )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _report(recovery: Recovery) -> None:
    """Write to the process's log what the recovery of the event log did."""
    if recovery.healed:
        _log.warning("the header of the log's last segment was damaged and has been rewritten")
    if recovery.saved:
        _log.error("the log's durable mark was lost; %d bytes after the last record were moved to %s", recovery.cut_bytes, recovery.saved)
    elif recovery.cut_bytes:
        _log.warning("%d bytes of an unacknowledged write were cut off the end of the log", recovery.cut_bytes)


def _log_health(found: LogCheck | None) -> "LogHealth":
    """Convert the result of a check of the log to the form in answers; None while the log is being checked."""
    from lineage_bridge.api.services import LogHealth  # noqa: PLC0415  # loads the web server

    if found is None:
        return LogHealth(checked=False)
    return LogHealth(True, len(found.damage), len(found.new), found.unreadable_bytes, str(found))


def _tasks(
    stack: ExitStack,
    settings: Settings,
    service: SourceService,
    pool: ReaderPool,
    written: Callable[[], Position],
    size: Callable[[], GraphSize],
    targets: Callable[[], Iterable[ContinuousTarget]],
) -> TaskService:
    """The task service of this process. Closing `stack` stops its tasks."""
    state, allowed = state_database(settings), source_context(settings)
    repository = SourceRepository(state)

    def has_folded(end: Position) -> bool:
        try:
            with pool.reader() as reader:
                return covers(reader.progress.position(), end) and not reader.progress.settling()
        except StoreMissingError:
            return not any(end.values())

    context = ExtractionContext(
        TaskRepository(state),
        repository,
        MetadataCache(service.records, repository, allowed),
        allowed,
        SourceLocks(settings.paths.turns).hold,
        now_us,
        written,
        has_folded,
        size,
    )
    tasks = TaskService(service, context, lambda: str(uuid.uuid4()), targets)
    stack.callback(tasks.close)
    return tasks


def _size(graph: str, pool: ReaderPool) -> GraphSize:
    """The current size of the graph, with its id."""
    try:
        with pool.reader() as reader:
            counted = graph_stats(reader, now_us())
    except StoreMissingError:
        return GraphSize(graph, 0, 0)
    return GraphSize(graph, counted.node_count, counted.edge_count)


def serve_api(settings: Settings, listener: socket.socket, log_disk: LogDisk = _LOCAL_DISK, questions: str | None = None) -> None:
    """Answer requests on `listener` until a signal. Requests that are running then are finished first. `questions` is passed to `api`.

    With a certificate in the settings, connections are encrypted; its file is checked for changes every few seconds.
    """
    from lineage_bridge.api.connections.limits import ConnectionLimits  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.connections.protocol import limited  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.web.handshakes import EndingServer, ServerConfig  # noqa: PLC0415  # of the same part

    limits = ConnectionLimits(
        settings.max_connections,
        settings.max_connections_per_address,
        settings.head_bytes,
        settings.head_timeout_s,
        settings.body_timeout_s,
        settings.body_bytes_per_s,
        shared=ConnectionLimits.networks(settings.trusted_proxy.addresses),
    )
    # Threads that compute yield Python's lock sooner to the one that accepts events.
    sys.setswitchinterval(SWITCH_S)
    certificate = server_certificate(settings)

    async def reload_certificate() -> None:
        if certificate:
            certificate.reload()

    with api(settings, log_disk, questions) as app:
        config = ServerConfig(
            app,
            http=limited(limits),
            ssl_context_factory=(lambda *_: certificate.context) if certificate else None,
            callback_notify=reload_certificate,
            timeout_notify=RELOAD_S,
            log_config=None,
            access_log=False,
            # The address of a client is that of its connection, whatever headers say.
            proxy_headers=False,
            timeout_graceful_shutdown=DRAIN_S,
            server_header=False,
        )
        config.handshake_s = settings.head_timeout_s
        server = EndingServer(config, app.end_streams)
        # uvicorn raises the signal once more when it is done; also, a signal may come before uvicorn handles signals.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        gc.freeze()  # what is loaded stays until the end, so no collection of garbage has to pass through it
        server.run(sockets=[listener])
