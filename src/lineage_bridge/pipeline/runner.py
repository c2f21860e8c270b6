"""The pipeline's process: holds the lock, runs the stream, reports its status, and ends when Spark ends.

The process does not recover from failures itself: its parent process restarts it, and the new process continues at the store's position.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from typing import Final

from filelock import FileLock, Timeout
from pyspark.sql.streaming.query import StreamingQuery

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import LineageBridgeError, StoreLockedError, UnavailableError
from lineage_bridge.eventlog.erasing.erased_ids import ErasedIds
from lineage_bridge.graph.relations import EVENT_RECORD
from lineage_bridge.pipeline.cluster.executors import check_executors
from lineage_bridge.pipeline.process import SPARK_ERRORS, STOP_S, SparkProcess, gist, text_of
from lineage_bridge.pipeline.serve import Limits, Serve, warm_up
from lineage_bridge.pipeline.status import StatusFile
from lineage_bridge.pipeline.streams.feed import SparkFeed
from lineage_bridge.pipeline.streams.retention_thread import RetentionThread
from lineage_bridge.pipeline.streams.stream_thread import NO_STREAMS, Streams, StreamThread, run_streams
from lineage_bridge.ports.graph_store import Batch, GraphStore, Retention
from lineage_bridge.ports.log import LOG_SOURCE

TICK_S, BEAT_S = 0.2, 1.0
SPARK_LOG = "spark.log"
_ARRIVAL: Final = EVENT_RECORD.names.index("arrival")
log = logging.getLogger(__name__)


def run_pipeline(
    settings: Settings,
    open_store: Callable[[], AbstractContextManager[GraphStore]],
    key: bytes,
    now_us: Callable[[], int],
    streams: Streams = NO_STREAMS,
    retention: Retention | None = None,
) -> None:
    """Run until SIGTERM or SIGINT. While Spark starts, a signal ends the process at once with SystemExit.

    `streams` are the inputs of the form `stream`, which are read while the log is folded. `retention` is what removes old events and runs,
    if any may go.

    Raises StoreLockedError if another pipeline runs in the data folder, UnavailableError if Spark cannot start or dies, or if its query
    fails. The status file contains the same error.
    """
    paths = settings.paths
    _on_signals(_leave)
    with ExitStack() as stack:
        stack.enter_context(exclusive(paths))
        status = StatusFile(paths.pipeline_status, now_us)
        status.write()
        try:
            _run(settings, stack.enter_context(open_store()), key, status, (streams, retention))
        except Exception as error:  # the boundary of the poll loop: the status file must report every failure
            raise _failed(error, status, paths) from error
        except SystemExit:
            status.remove()
            raise
        status.remove()


def _run(settings: Settings, store: GraphStore, key: bytes, status: StatusFile, beside: tuple[Streams, Retention | None]) -> None:
    paths, (streams, retention) = settings.paths, beside
    with ExitStack() as stack:
        with _beating(status):
            log.info("starting Spark (%s, %s)", settings.spark_master, settings.spark_memory)
            spark = SparkProcess(
                paths.spark,
                paths.logs / SPARK_LOG,
                master=settings.spark_master,
                memory=settings.spark_memory,
                driver_host=settings.spark_driver_host,
                jars=streams.jars,
                ship=settings.spark_ship,
            )
            stack.callback(spark.end)
            # Spark installs its own SIGINT handler when it starts.
            _on_signals(_leave)
            status.change(spark_pid=spark.java.pid)
            limits = Limits(settings.batch_bytes, settings.batch_frames, settings.derived_rows, settings.trigger_ms)
            serve = Serve(store, key, limits, _counter(status))
            stack.callback(serve.close)
            check_executors(spark.session, settings.spark_master, spark.scratch)
            warm_up(spark.session, key)
            query = serve.start(spark.session, paths.log, spark.scratch)
        stop = threading.Event()
        _on_signals(stop.set)
        status.write(
            state="running", position={f"{LOG_SOURCE}/{partition}": offset for partition, offset in store.position(LOG_SOURCE).items()}
        )
        log.info("running, Spark is process %d", spark.java.pid)
        feed = SparkFeed(spark.session, serve, paths.archive, key, ErasedIds(paths.log))
        stream_thread = stack.enter_context(run_streams(streams, feed))
        if retention is not None:
            retention_thread = RetentionThread(retention, store, serve.store_lock, status, stop)
            retention_thread.start()
            stack.callback(retention_thread.join, STOP_S)
            stack.callback(stop.set)
        _watch(query, spark, (_Settler(serve, status, stop), stream_thread), status, stop)
        # Whoever stops the pipeline may have stopped Spark's process, too. All acknowledged events are in the log.
        with suppress(*SPARK_ERRORS):
            query.stop()


def _watch(
    query: StreamingQuery, spark: SparkProcess, parts: "tuple[_Settler, StreamThread]", status: StatusFile, stop: threading.Event
) -> None:
    """Write the status every second until `stop` is set. Raises UnavailableError or the query's exception on failure."""
    settler, stream_thread = parts
    settler.start()
    beat = time.monotonic()
    while not stop.wait(TICK_S):
        if not _is_active(query, spark):
            failure = query.exception()
            raise failure or UnavailableError("Spark's query ended without a reason", "see logs/spark.log in the data folder")
        for what, cause in (("computing derived tables", settler.failure), ("reading inputs", stream_thread.failure)):
            if isinstance(cause, LineageBridgeError):
                raise cause
            if cause is not None:
                raise UnavailableError(
                    f"{what} failed: {cause!r}", "the supervisor restarts the pipeline; if it repeats, report it"
                ) from cause
        if time.monotonic() - beat >= BEAT_S:
            beat = time.monotonic()
            status.write()
    settler.join(STOP_S)


def _is_active(query: StreamingQuery, spark: SparkProcess) -> bool:
    """Ask Spark whether the query is active. If Spark's process hangs, this call blocks, so no status is written. Raises
    UnavailableError if the process has ended.
    """
    spark.check()
    with suppress(*SPARK_ERRORS):
        if query.isActive:
            return True
    # Just after the process is killed, calls fail before it counts as ended.
    time.sleep(TICK_S)
    spark.check()
    return False


class _Settler(threading.Thread):
    """Computes, between the batches, the derived values that the batches left for later. It runs in a thread, so that status updates never
    wait for the store.
    """

    def __init__(self, serve: Serve, status: StatusFile, stop: threading.Event) -> None:
        super().__init__(name="settler", daemon=True)
        self.serve, self.status, self.stop = serve, status, stop
        self.failure: Exception | None = None

    def run(self) -> None:
        """Run until the pipeline stops or deriving fails."""
        settled = -1
        while not self.stop.wait(TICK_S):
            batches = self.status.status.batches
            try:
                self.serve.check()
                if settled == batches:
                    continue
                left = self.serve.settle()
            except Exception as error:  # noqa: BLE001 - the boundary of a poll loop: the main thread reports it and ends the process
                self.failure = error
                return
            self.status.change(left=left)
            settled = -1 if left else batches


def _counter(status: StatusFile) -> Callable[[Batch, list[int], int], None]:
    def done(batch: Batch, workers: list[int], took_us: int) -> None:
        position = {f"{source}/{partition}": end for (source, partition), (_, end) in sorted(batch.ranges.items())}
        now, committed_us = status.status, status.now_us()
        arrivals = [row[_ARRIVAL] for row in batch.rows.get(EVENT_RECORD.name, ())]
        waited = {"freshness_us": max(0, committed_us - min(arrivals))} if arrivals else {}
        status.change(
            batches=now.batches + 1,
            events=now.events + len(arrivals),
            commit_us=now.commit_us + took_us,
            committed_us=committed_us,
            workers=workers,
            position={**now.position, **position},
            **waited,
        )

    return done


@contextmanager
def _beating(status: StatusFile) -> Iterator[None]:
    """A context manager that writes the status every second, from a thread."""
    done = threading.Event()

    def beat() -> None:
        while not done.wait(BEAT_S):
            status.write()

    thread = threading.Thread(target=beat, name="beat", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def exclusive(paths: DataFolder) -> Iterator[None]:
    """Hold the lock that allows only one pipeline per data folder. Raises StoreLockedError if another process holds it."""
    paths.data_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(paths.pipeline_lock, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        holder = paths.pipeline_lock.read_text(encoding="ascii", errors="replace").strip()
        raise StoreLockedError(
            f"another pipeline (process {holder or 'unknown'}) already runs in {paths.data_dir}",
            "stop it, or give this one its own data folder",
        ) from error
    try:
        paths.pipeline_lock.write_text(f"{os.getpid()}\n", encoding="ascii")
        yield
    finally:
        lock.release()


def _on_signals(act: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: act())


def _leave() -> None:
    raise SystemExit(0)


def _failed(error: Exception, status: StatusFile, paths: DataFolder) -> LineageBridgeError:
    """Report a failure: its summary in the status file, its full text in Spark's log. Returns the error to raise."""
    log_path, text = paths.logs / SPARK_LOG, text_of(error)
    status.write(state="failed", error=gist(text))
    with suppress(OSError), log_path.open("a", encoding="utf-8") as file:
        file.write(f"\n{text}\n")
    if isinstance(error, LineageBridgeError):
        return error
    return UnavailableError(f"the pipeline failed: {gist(text)}", f"the full error is in {log_path}")
