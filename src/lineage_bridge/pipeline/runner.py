"""The pipeline's process: holds the lock, runs the stream, says how it fares, and ends when Spark ends.

It never mends itself: whoever started it starts it again, and the store's position is where it goes on.
"""

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from lineage_bridge.config import Paths, Settings
from lineage_bridge.errors import LineageBridgeError, StoreLockedError, UnavailableError
from lineage_bridge.pipeline.serve import Limits, Serve, warm_up
from lineage_bridge.pipeline.session import start_session
from lineage_bridge.pipeline.status import StatusFile
from lineage_bridge.ports import LOG_SOURCE, Batch, GraphStore

TICK_S = 0.2
BEATS_PER_WRITE = 5
STOP_S = 20.0
log = logging.getLogger(__name__)


def run_pipeline(
    settings: Settings, open_store: Callable[[], AbstractContextManager[GraphStore]], key: bytes, now_us: Callable[[], int]
) -> None:
    """Run until a signal (SIGTERM, SIGINT) asks to stop. Raises StoreLockedError when another pipeline runs in the data folder,
    UnavailableError when Spark cannot start, dies, or its query fails; the status file tells the same.
    """
    paths = settings.paths
    stop = threading.Event()
    _stop_on_signals(stop)
    with ExitStack() as stack:
        stack.enter_context(_exclusive(paths))
        status = StatusFile(paths.pipeline_status, now_us)
        status.write()
        try:
            _run(settings, stack.enter_context(open_store()), key, status, stop)
        except (LineageBridgeError, PySparkException, Py4JError, OSError) as error:
            status.write(state="failed", error=_told(error))
            if isinstance(error, LineageBridgeError):
                raise
            raise UnavailableError(f"the pipeline failed: {_told(error)}", f"{paths.logs / 'spark.log'} has more") from error
        status.remove()


def _run(settings: Settings, store: GraphStore, key: bytes, status: StatusFile, stop: threading.Event) -> None:
    paths = settings.paths
    scratch = _fresh_scratch(paths.spark)
    log.info("starting Spark (%s, %s)", settings.spark_master, settings.spark_memory)
    session, java = _start_spark(settings, scratch)
    try:
        _stop_on_signals(stop)
        status.write(spark_pid=java.pid)
        if stop.is_set():
            return
        limits = Limits(settings.batch_bytes, settings.batch_frames, settings.derived_rows, settings.trigger_ms)
        serve = Serve(store, key, limits, _counter(status))
        warm_up(session, key)
        query = serve.start(session, paths.log, scratch)
        status.write(state="running", position={f"{LOG_SOURCE}/{part}": at for part, at in store.position(LOG_SOURCE).items()})
        log.info("running, Spark is process %d", java.pid)
        _watch(query, java, serve, status, stop)
        _stop_query(query, java)
    finally:
        _end_spark(session, java)
        shutil.rmtree(scratch, ignore_errors=True)


def _watch(query: StreamingQuery, java: "subprocess.Popen[bytes]", serve: Serve, status: StatusFile, stop: threading.Event) -> None:
    """Beat until asked to stop. Raises UnavailableError when Spark or its query ends before."""
    settler = _Settler(serve, status, stop)
    settler.start()
    beats = 0
    while not stop.wait(TICK_S):
        if not _is_active(query, java):
            failure = query.exception()
            raise UnavailableError(f"the query ended: {_told(failure) if failure else 'without a reason'}")
        if settler.failure is not None:
            raise UnavailableError(f"deriving failed: {_told(settler.failure)}") from settler.failure
        beats += 1
        if beats % BEATS_PER_WRITE == 0:
            status.write()
    settler.join(STOP_S)


def _is_active(query: StreamingQuery, java: "subprocess.Popen[bytes]") -> bool:
    """Ask Spark. A Java process that hangs does not answer, so the beat stays away. Raises UnavailableError when the process has ended."""
    active = False
    with suppress(Py4JError, OSError):
        active = java.poll() is None and query.isActive
    if not active:
        with suppress(subprocess.TimeoutExpired):
            java.wait(timeout=1)
    if java.returncode is not None:
        raise UnavailableError(f"Spark (process {java.pid}) ended: {_ending(java.returncode)}")
    return active


class _Settler(threading.Thread):
    """Derives what batches leave, in the pauses between them, so that the beat never waits for the store."""

    def __init__(self, serve: Serve, status: StatusFile, stop: threading.Event) -> None:
        super().__init__(name="settler", daemon=True)
        self.serve, self.status, self.stop = serve, status, stop
        self.failure: Exception | None = None

    def run(self) -> None:
        """Until the pipeline stops, or deriving fails."""
        settled = -1
        while not self.stop.wait(TICK_S):
            batches = self.status.status.batches
            if settled == batches:
                continue
            try:
                left = self.serve.settle()
            except Exception as error:  # noqa: BLE001 the boundary of a poll loop: the main thread reports it and ends the process
                self.failure = error
                return
            self.status.change(left=left)
            settled = -1 if left else batches


def _counter(status: StatusFile) -> Callable[[Batch, list[int]], None]:
    def done(batch: Batch, workers: list[int]) -> None:
        position = {f"{source}/{part}": end for (source, part), (_, end) in sorted(batch.spans.items())}
        now = status.status
        status.change(batches=now.batches + 1, workers=workers, position={**now.position, **position})

    return done


@contextmanager
def _exclusive(paths: Paths) -> Iterator[None]:
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


def _fresh_scratch(folder: Path) -> Path:
    """A folder of this process alone. What killed pipelines left beside it goes; a JVM of theirs that still ends cannot reach ours."""
    shutil.rmtree(folder, ignore_errors=True)
    scratch = folder / str(os.getpid())
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


def _start_spark(settings: Settings, scratch: Path) -> tuple[SparkSession, "subprocess.Popen[bytes]"]:
    """The session and its Java process, which says what it says to a file of its own."""
    said = settings.paths.logs / "spark.log"
    said.parent.mkdir(parents=True, exist_ok=True)
    with _output_to(said):
        session = start_session(scratch, master=settings.spark_master, memory=settings.spark_memory)
    gateway = session.sparkContext._gateway  # noqa: SLF001  # Spark has no public way to its own process
    if gateway is None:
        raise UnavailableError("Spark started without a process of its own", "a remote Spark Connect session cannot run the pipeline")
    return session, gateway.proc


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """What programs started within write goes to a file: a fresh one, the last one is kept as `.1`."""
    with suppress(FileNotFoundError):
        path.replace(path.with_name(f"{path.name}.1"))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    kept = [os.dup(1), os.dup(2)]
    with path.open("ab") as file:
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            yield
        finally:
            for number, old in zip((1, 2), kept, strict=True):
                os.dup2(old, number)
                os.close(old)


def _stop_query(query: StreamingQuery, java: "subprocess.Popen[bytes]") -> None:
    if java.poll() is None:
        log.info("stopping")
        query.stop()


def _end_spark(session: SparkSession, java: "subprocess.Popen[bytes]") -> None:
    """Stop the session if its process lives and listens; end the process in any case."""
    stopper = threading.Thread(target=_quietly_stop, args=(session,), daemon=True)
    if java.poll() is None:
        stopper.start()
        stopper.join(STOP_S)
    if java.stdin:
        java.stdin.close()
    deadline = time.monotonic() + 5
    while java.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    if java.poll() is None:
        java.kill()
        java.wait()


def _quietly_stop(session: SparkSession) -> None:
    with suppress(PySparkException, Py4JError, OSError):
        session.stop()


def _stop_on_signals(stop: threading.Event) -> None:
    """Spark takes SIGINT for itself when it starts, so this is called before and after."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())


def _ending(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def _told(error: BaseException) -> str:
    """The first line of an error that says anything."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
