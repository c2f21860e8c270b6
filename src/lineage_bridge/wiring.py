"""The only place where parts meet: settings in, running objects out.

The two parts that are heavy to load, Spark and the web server, are imported by the function that runs them: the API never loads Spark,
the pipeline never a web server, and the command line neither.
"""

import json
import logging
import os
import shutil
import signal
import socket
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from importlib.metadata import version as version_of
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import platformdirs
from filelock import FileLock, Timeout

from lineage_bridge.config import SECRETS_FILE, SECRETS_KEY, SECRETS_KEY_FILE, Paths, Settings
from lineage_bridge.demo.events import run_ids
from lineage_bridge.errors import RequestError, StoreError, StoreMissingError, UnavailableError
from lineage_bridge.eventlog.disk import Disk as LogDisk
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.facts.events import Names
from lineage_bridge.graph.ids import DAY_US, NodeKind, graph_id, node_id
from lineage_bridge.model.tasks import GraphSize
from lineage_bridge.ports import LOG_SOURCE, Counted, GraphReader, GraphStore
from lineage_bridge.sources.common.settings import Secrets
from lineage_bridge.sources.confluent.environment import in_environment
from lineage_bridge.sources.runtime.extraction import ExtractionContext
from lineage_bridge.sources.runtime.metadata_cache import MetadataCache
from lineage_bridge.sources.runtime.outbox import OutboxDispatcher
from lineage_bridge.sources.runtime.poller import Poller
from lineage_bridge.sources.runtime.sealed_secrets import SealedFile
from lineage_bridge.sources.runtime.service import SourceService
from lineage_bridge.sources.runtime.source_locks import SourceLocks
from lineage_bridge.sources.runtime.tasks import TaskService
from lineage_bridge.store.derive.verify import Difference, verify
from lineage_bridge.store.query.reader import ReaderPool
from lineage_bridge.store.state.database import Control
from lineage_bridge.store.state.sources import SourceRepository
from lineage_bridge.store.state.tasks import TaskRepository
from lineage_bridge.store.whole.analysis import Findings, write_findings
from lineage_bridge.store.whole.export import Export
from lineage_bridge.store.whole.tables import Estate
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.store.write.asof import folded_again

if TYPE_CHECKING:
    from fastapi import FastAPI

    from lineage_bridge.api.schemas.graphs import GraphStats

DRAIN_S = 10
BACKLOG = 512
PAGE = 4096
_LOCAL_DISK = LocalDisk()


_FORMAT = "%(asctime)s %(levelname)-7s {part}: %(message)s"
_QUIET = {"alembic": logging.WARNING, "httpx": logging.WARNING, "pyspark": logging.ERROR, "uvicorn": logging.WARNING}


def version() -> str:
    """This program's version."""
    return version_of("lineage-bridge")


def now_us() -> int:
    """The time now in UTC microseconds."""
    return time.time_ns() // 1000


def tell_logs(settings: Settings, part: str) -> None:
    """Write what this process logs to standard error, each line naming the part."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_is_worth_telling)
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper(), format=_FORMAT.format(part=part))
    for name, level in sorted(_QUIET.items()):
        logging.getLogger(name).setLevel(level)


def _is_worth_telling(record: logging.LogRecord) -> bool:
    """Not what Spark's bridge says of connections, under its own name or none: the pipeline says itself when Spark is gone."""
    return "py4j" not in record.pathname


# the pipeline's process


@contextmanager
def open_store(path: Path, names: Names, *, stitch: bool = True) -> Iterator[GraphStore]:
    """The graph store at `path`, to write; with `stitch`, flows between runs that belong together are inferred."""
    writer = GraphWriter(path, names, stitch=stitch)
    try:
        yield writer
    finally:
        writer.close()


def run_pipeline(settings: Settings, store: Callable[[Path, Names], AbstractContextManager[GraphStore]] | None = None) -> None:
    """Run the stream from the log to the store until a signal. Raises as `pipeline.runner.run_pipeline` does."""
    from lineage_bridge.pipeline.runner import run_pipeline as run  # noqa: PLC0415  # loads Spark

    key = control(settings).key()
    _check_key(settings.paths, key)
    open_ = store or partial(open_store, stitch=settings.stitch_siblings)
    run(settings, lambda: open_(settings.paths.graph, Names(key)), key, now_us)


def replay(settings: Settings, to: Path | None, *, anyway: bool, told: Callable[[str, int, int], None]) -> list[Counted]:
    """Fold the log again into a fresh store, and put it in place of the graph; or leave it at `to`. The rows of both, by relation.

    `told` hears of each step, and of the bytes done and left. Raises StoreLockedError while a pipeline runs, StoreError when the log
    holds less than the graph in use knows (unless `anyway`), UnavailableError when Spark fails, RequestError when `to` exists.
    """
    from lineage_bridge.pipeline.replayer import alone, run_replay  # noqa: PLC0415  # loads Spark

    if to is not None and to.exists():
        raise RequestError(f"{to} exists", "name a file that does not")
    paths, key = settings.paths, control(settings).key()
    part = paths.replayed if to is None else to.with_name(f"{to.name}.part")
    scratch = paths.spark if to is None else to.with_name(f"{to.name}.spark")
    with ExitStack() as stack:
        if to is None:
            stack.enter_context(alone(settings))
        else:
            stack.callback(shutil.rmtree, scratch, ignore_errors=True)
        stack.callback(rebuild.remove, part)
        fresh = rebuild.open_fresh(part, Names(key), stitch=settings.stitch_siblings)
        stack.callback(fresh.close)
        run_replay(settings, fresh, key, scratch, lambda progress: told("folding", progress.done, progress.left))
        counted = rebuild.compare(paths.graph, fresh)
        if to is not None:
            rebuild.seal(fresh)
            rebuild.publish(fresh, part, to)
            return counted
        if not anyway:
            rebuild.refuse_loss(paths.graph, fresh, counted)
        rebuild.seal(fresh, paths.graph)
        rebuild.put_in_place(fresh, paths.graph, lambda left, total: told("putting in place", (total - left) * PAGE, left * PAGE))
    return counted


def _check_key(paths: Paths, key: bytes) -> None:
    """Raise StoreError when the graph's ids were made with another key: the control store was lost or belongs to another graph."""
    with readers(paths) as pool, suppress(StoreMissingError), pool.reader() as graph:
        for kind in (NodeKind.DATASET, NodeKind.JOB):
            for node in graph.nodes(kind, None, None, 1, 0):
                if node.id != node_id(key, kind, node.namespace, node.name):
                    raise StoreError(
                        f"{paths.graph} was not made with the key in {paths.control}",
                        "put the right one back, or remove the graph: it is computed again from the log",
                    )


# the API's process


@contextmanager
def api(settings: Settings, log_disk: LogDisk = _LOCAL_DISK) -> "Iterator[FastAPI]":
    """The API over the log, which it alone writes, and the graph. Raises LogLockedError when another process writes the log."""
    from lineage_bridge.api.app import create_app  # noqa: PLC0415  # loads the web server
    from lineage_bridge.api.routes.graphs.whole_graph import stats  # noqa: PLC0415  # of the same part
    from lineage_bridge.api.services import HEALTHY, LOOPBACK, Disk, Services  # noqa: PLC0415  # of the same part

    paths = settings.paths
    with ExitStack() as stack:
        pool = stack.enter_context(readers(paths))
        writer = LogWriter(
            paths.log,
            floor=_floor(pool),
            segment_bytes=settings.segment_bytes,
            max_pending_bytes=settings.pending_bytes,
            lock_timeout_s=1.0,
            disk=log_disk,
        )
        stack.enter_context(writer)
        frames, desk, graph = log_reader(settings), sources(settings), graph_id(control(settings).key())
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        yield create_app(
            Services(
                log=writer,
                frames=frames,
                graph=pool.reader,
                clock_us=now_us,
                pipeline=lambda: pipeline_status(paths),
                is_alive=is_alive,
                disk=lambda: Disk(frames.disk_bytes(), shutil.disk_usage(paths.log).free),
                log_state=lambda: HEALTHY if os.access(paths.log, os.W_OK) else f"{paths.log} cannot be written",
                version=version(),
                graph_id=graph,
                sources=desk,
                tasks=_tasks(stack, settings, desk, pool, writer, partial(_size, graph, pool, stats)),
                findings=lambda: Findings(paths.analysis),
                allowed_hosts=LOOPBACK | {host},
            )
        )


def _tasks(
    stack: ExitStack, settings: Settings, desk: SourceService, pool: ReaderPool, log: LogWriter, size: Callable[[], GraphSize]
) -> TaskService:
    """The tasks of this process, which end with `stack`."""
    kept, hidden = control(settings), secrets(settings)
    book = SourceRepository(kept)

    def folded(place: int) -> bool:
        try:
            with pool.reader() as reader:
                return reader.position().get((LOG_SOURCE, 0), 0) >= place and not reader.settling()
        except StoreMissingError:
            return place == 0

    world = ExtractionContext(
        TaskRepository(kept),
        book,
        MetadataCache(desk.records, book, hidden),
        hidden,
        SourceLocks(settings.paths.turns).hold,
        now_us,
        log.end,
        folded,
        size,
    )
    tasks = TaskService(desk, world, lambda: str(uuid.uuid4()))
    stack.callback(tasks.close)
    return tasks


def _size(graph: str, pool: ReaderPool, stats: "Callable[[GraphReader, int], GraphStats]") -> GraphSize:
    """The one graph, and how large it is now."""
    try:
        with pool.reader() as reader:
            counted = stats(reader, now_us())
    except StoreMissingError:
        return GraphSize(graph, 0, 0)
    return GraphSize(graph, counted.node_count, counted.edge_count)


def serve_api(settings: Settings, listener: socket.socket, log_disk: LogDisk = _LOCAL_DISK) -> None:
    """Answer on `listener` until a signal; requests under way are finished first."""
    import uvicorn  # noqa: PLC0415  # the web server

    from lineage_bridge.api.protocol import Protocol  # noqa: PLC0415  # of the same part

    with api(settings, log_disk) as app:
        server = uvicorn.Server(
            uvicorn.Config(
                app,
                loop="uvloop",
                http=Protocol,
                log_config=None,
                access_log=False,
                timeout_graceful_shutdown=DRAIN_S,
                server_header=False,
            )
        )
        # uvicorn raises the signal once more when it is done, and it may come before uvicorn listens to it.
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: setattr(server, "should_exit", True))
        server.run(sockets=[listener])


def listen(settings: Settings) -> socket.socket:
    """A socket that listens at the address of the settings. Raises UnavailableError when another program does."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise UnavailableError(
            f"{settings.host}:{settings.port} cannot be used: {error.strerror}",
            f"choose another port, as --port {settings.port % 65_535 + 1}, or stop the program that listens there",
        ) from error
    return listener


def _floor(pool: ReaderPool) -> int:
    """The store's place in the log: no place up to it may be given to another frame."""
    try:
        with pool.reader() as graph:
            return graph.position().get((LOG_SOURCE, 0), 0)
    except StoreMissingError:
        return 0


# the process that observes


def sources(settings: Settings) -> SourceService:
    """What users can do with sources. Raises ConfigError for a source of the settings file that cannot be."""
    around = in_environment(os.environ)
    desk = SourceService(settings.sources, SourceRepository(control(settings)), secrets(settings), around)
    desk.check_file()
    return desk


def run_sources(settings: Settings) -> None:
    """Poll the sources when they are due until a signal. Raises UnavailableError when another process does."""
    desk, book = sources(settings), SourceRepository(control(settings))
    lock = FileLock(settings.paths.observe_lock, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(f"another process polls the sources of {settings.data_dir}") from error
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with lock, OutboxDispatcher(settings.address) as delivery:
        Poller(desk.records, book, delivery, now_us, secrets(settings), SourceLocks(settings.paths.turns).hold).run(stop)


# what several processes look at


def sealed(settings: Settings) -> SealedFile:
    """The file of sealed secrets."""
    key_file = os.environ.get(SECRETS_KEY_FILE) or platformdirs.user_config_path("lineage-bridge") / "secrets.key"
    return SealedFile(
        Path(os.environ.get(SECRETS_FILE) or settings.paths.secrets).expanduser(),
        Path(key_file).expanduser(),
        os.environ.get(SECRETS_KEY, ""),
    )


def secrets(settings: Settings) -> Secrets:
    """Where this process looks up secrets."""
    return Secrets(sealed(settings).secret)


def control(settings: Settings) -> Control:
    """The control store, made if there is none."""
    return Control(settings.paths.control)


def log_reader(settings: Settings) -> LogReader:
    """The log, to read."""
    return LogReader(settings.paths.log)


@contextmanager
def readers(paths: Paths) -> Iterator[ReaderPool]:
    """Readers of the graph, which need not be there yet."""
    pool = ReaderPool(paths.graph)
    try:
        yield pool
    finally:
        pool.close()


@contextmanager
def graph(settings: Settings) -> Iterator[GraphReader]:
    """One moment of the graph. Raises StoreMissingError before there is one."""
    with readers(settings.paths) as pool, pool.reader() as reader:
        yield reader


@contextmanager
def export_lines(settings: Settings, at_us: int | None, only: frozenset[str], *, demo: bool) -> Iterator[Iterator[bytes]]:
    """The graph as lines (store/whole/export.py), now or as of a time in UTC microseconds, with or without what the demo says."""
    kept = control(settings)
    without = frozenset() if demo else frozenset(run for edition in kept.editions() for run in run_ids(edition))
    with readers(settings.paths) as pool, pool.reader() as reader, ExitStack() as stack:
        connection = reader.connection
        if at_us is not None or without:
            connection = stack.enter_context(folded_again(connection, Names(kept.key()), at_us, without))
        yield Export(connection, now_us() if at_us is None else at_us).lines(only)


def differences(settings: Settings, told: Callable[[str], None] = lambda _: None) -> list[Difference]:
    """Each derived table of the graph, compared with what the facts say (store/derive/verify.py). `told` hears of each step."""
    with readers(settings.paths) as pool, pool.reader() as reader:
        return list(verify(reader.connection, Names(control(settings).key()), told))


def analyse(settings: Settings, unused_days: int) -> Findings:
    """Measure the whole graph on Spark, and keep what was found. Raises UnavailableError when Spark fails."""
    from lineage_bridge.pipeline.analyse import write_estate  # noqa: PLC0415  # loads Spark
    from lineage_bridge.pipeline.analyser import run_analysis  # noqa: PLC0415  # as above

    paths, began = settings.paths, now_us()
    with TemporaryDirectory(dir=paths.data_dir, prefix="analysing-") as scratch:
        folder = Path(scratch)
        with readers(paths) as pool, pool.reader() as reader:
            write_estate(Estate(reader.connection), folder)
            position = reader.position()
        found = run_analysis(settings, folder, unused_before_us=began - unused_days * DAY_US)
    write_findings(paths.analysis, found, position, began, unused_days)
    return last_analysis(settings)


def last_analysis(settings: Settings) -> Findings:
    """What the last analysis found. Raises NotFoundError."""
    return Findings(settings.paths.analysis)


def pipeline_status(paths: Paths) -> dict[str, Any] | None:
    """What the pipeline last told of itself; None if it never did, or was stopped in order."""
    try:
        status: dict[str, Any] = json.loads(paths.pipeline_status.read_bytes())
    except (FileNotFoundError, ValueError):
        return None
    return status


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end_with_parent() -> None:
    """Ask this process to stop when the one that started it, and holds the other end of its standard input, has ended."""

    def watch() -> None:
        while os.read(0, 1):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()
