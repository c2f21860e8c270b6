"""Runs `serve`: starts the API, the pipeline, the observer, the reader of inputs and the publisher, restarts any that ends, and stops them
in order.

The supervisor opens the listening socket and passes it to the API. So while the API restarts, clients wait and are not refused.
"""

import json
import logging
import math
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.errors import LogError, UnavailableError
from lineage_bridge.pipeline.status import replace_file
from lineage_bridge.wiring.erasing.server import ErasureProcess
from lineage_bridge.wiring.processes import BACKLOG, listen
from lineage_bridge.wiring.shared import log_reader, note_store

TICK_S = 0.1
FIRST_PAUSE_S, LONGEST_PAUSE_S, HEALTHY_S = 1.0, 30.0, 60.0
STOPPED_S = 10.0
COMMAND = (sys.executable, "-m", "lineage_bridge.cli.main")
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Program:
    """A program to keep running: its command, the file descriptors it inherits, and how many seconds it may take to stop."""

    name: str
    command: Sequence[str]
    descriptors: tuple[int, ...] = ()
    grace_s: float = 30.0


class Child:
    """The process of a program. The supervisor holds the write end of the process's standard input, so that the process notices when
    the supervisor ends.
    """

    def __init__(self, program: Program, environment: Mapping[str, str]) -> None:
        self.program, self.environment = program, dict(environment)
        self.process: subprocess.Popen[bytes] | None = None
        self.failures, self.started, self.due = 0, 0.0, 0.0
        self.stopped_at: float | None = None

    def start_if_due(self, now: float) -> None:
        """Start the process if it is due; if it has ended, schedule its restart. `now` is in seconds of a monotonic clock."""
        if self.process is None:
            if now >= self.due:
                self._start(now)
        elif self.process.poll() is not None:
            self._ended(self.process, now)
        else:
            self._watch(self.process, now)

    def _watch(self, process: "subprocess.Popen[bytes]", now: float) -> None:
        """Kill the process if it was stopped (SIGSTOP) and does not continue in time: a stopped process does not answer, and does not end
        by itself.
        """
        if not is_stopped(process.pid):
            self.stopped_at = None
        elif self.stopped_at is None:
            self.stopped_at = now
            log.warning("%s is suspended; it is restarted if it does not continue within %g s", self.program.name, STOPPED_S)
        elif now - self.stopped_at >= STOPPED_S:
            process.kill()

    def stop(self, kill_now: threading.Event, until: float = math.inf) -> None:
        """Terminate the process and wait for it. Kill it after its grace period, at `until`, or as soon as `kill_now` is set."""
        if self.process is None:
            return
        self.process.terminate()
        deadline = min(time.monotonic() + self.program.grace_s, until)
        while self.process.poll() is None and time.monotonic() < deadline and not kill_now.is_set():
            time.sleep(TICK_S / 2)
        if self.process.poll() is None:
            log.warning("%s did not stop in time and is killed", self.program.name)
            self.process.kill()
        self.process.wait()
        self._release(self.process)

    def _start(self, now: float) -> None:
        # In a session of its own: Ctrl+C in a terminal then reaches only the supervisor, which stops the programs in order.
        self.process = subprocess.Popen(  # noqa: S603  # our own program
            self.program.command,
            stdin=subprocess.PIPE,
            pass_fds=self.program.descriptors,
            env=self.environment,
            start_new_session=True,
        )
        self.started = now
        log.debug("%s is process %d", self.program.name, self.process.pid)

    def _ended(self, process: "subprocess.Popen[bytes]", now: float) -> None:
        self.failures = 1 if now - self.started >= HEALTHY_S else self.failures + 1
        wait = pause(self.failures)
        self.due = now + wait
        log.warning("%s ended (%s); it is restarted in %g s", self.program.name, ending(process.returncode), wait)
        self._release(process)

    def _release(self, process: "subprocess.Popen[bytes]") -> None:
        self.stopped_at = None
        if process.stdin:
            process.stdin.close()
        self.process = None


def is_stopped(pid: int) -> bool:
    """Whether a child process was stopped by a signal, and has not continued."""
    try:
        state = os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return state is not None


def pause(failures: int) -> float:
    """The number of seconds to wait before a restart, after this many failures in quick succession."""
    return min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** (failures - 1))


def ending(code: int) -> str:
    """Describe in words how a process ended, from its exit code."""
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def supervise(
    programs: Sequence[Program],
    environment: Mapping[str, str],
    stop: threading.Event,
    kill_now: threading.Event,
    stop_timeout_s: float = math.inf,
    erasures: ErasureProcess | None = None,
) -> None:
    """Keep all programs running until `stop` is set, then stop them in their order, and kill those that run after `stop_timeout_s`.

    While requested `erasures` are carried out, no program runs.
    """
    children = [Child(program, environment) for program in programs]
    try:
        while not stop.wait(TICK_S):
            if erasures and erasures.is_due():
                log.info("something is to be erased: all programs are stopped meanwhile")
                for child in children:
                    child.stop(kill_now)
                erasures.run(stop)
                continue
            for child in children:
                child.start_if_due(time.monotonic())
    finally:
        log.info("stopping")
        if erasures:
            erasures.close()
        until = time.monotonic() + stop_timeout_s
        for child in children:
            child.stop(kill_now, until)


def programs(listener: int) -> list[Program]:
    """The programs that `serve` runs, in the order in which they are stopped; `listener` is the descriptor of the API's listening socket.

    The process that reads inputs is stopped while the API still answers its requests: later, its requests would wait at the socket, which
    stays open.
    """
    return [
        Program("inputs", (*COMMAND, "inputs", "--attached")),
        Program("publisher", (*COMMAND, "publisher", "--attached")),
        Program("api", (*COMMAND, "api", "--attached", "--fd", str(listener)), (listener,)),
        Program("pipeline", (*COMMAND, "pipeline", "--attached")),
        Program("observe", (*COMMAND, "observe", "--attached")),
    ]


PrintMessages = Callable[[Settings, threading.Event, bool], None]
"""Prints messages for the user, in a thread. Arguments: the settings with the actual port, a stop event, and whether the log was empty."""


def serve(settings: Settings, print_messages: PrintMessages) -> None:
    """Run everything until SIGTERM or SIGINT. A second signal kills what still runs.

    Raises UnavailableError if another server uses the data folder, or if the address is in use; ConfigError if the settings of the store
    are invalid.
    """
    stop, kill_now = threading.Event(), threading.Event()
    _stop_on_signals(stop, kill_now)
    paths = settings.paths
    with _exclusive(paths), listen(settings) as listener:
        note_store(settings)
        settings = settings.model_copy(update={"port": listener.getsockname()[1], "url": ""})
        write_status(settings)
        empty = _is_empty(settings)
        threading.Thread(target=print_messages, args=(settings, stop, empty), name="banner", daemon=True).start()
        try:
            environment = {**os.environ, **settings.environment()}
            erasures = ErasureProcess(paths, (*COMMAND, "erase", "resume", "--attached"), environment)
            supervise(programs(listener.fileno()), environment, stop, kill_now, settings.stop_timeout_s, erasures)
        finally:
            paths.serve_status.unlink(missing_ok=True)


@contextmanager
def answering(settings: Settings) -> Iterator[str]:
    """A context manager that keeps the process running that answers questions for the API. It returns the path of that process's socket.

    The supervisor holds the socket: while the process restarts, questions wait and are not refused.
    """
    stop, kill_now = threading.Event(), threading.Event()
    with TemporaryDirectory(prefix="lineage-bridge-") as folder, socket.socket(socket.AF_UNIX) as listener:
        path = os.path.join(folder, "questions")  # noqa: PTH118 - the address of a socket, no file
        listener.bind(path)
        listener.listen(BACKLOG)
        program = Program("questions", (*COMMAND, "questions", "--fd", str(listener.fileno())), (listener.fileno(),), 1.0)
        thread = threading.Thread(target=supervise, args=([program], {**os.environ, **settings.environment()}, stop, kill_now))
        thread.start()
        try:
            yield path
        finally:
            stop.set()
            thread.join()


def _is_empty(settings: Settings) -> bool:
    """Whether the log has no records. If the durable mark is damaged, the API repairs it when it opens the log."""
    try:
        return log_reader(settings).durable_end() == 0
    except LogError:
        return False


def write_status(settings: Settings) -> None:
    """Write the address of this server to a file, so that a second server on the same data can name it in its error."""
    started = datetime.now(timezone.utc).isoformat()
    where = {
        "pid": os.getpid(),
        "host": settings.host,
        "port": settings.port,
        "scheme": urlsplit(settings.address).scheme,
        "started_at": started,
    }
    replace_file(settings.paths.serve_status, json.dumps(where).encode())


@contextmanager
def _exclusive(paths: DataFolder) -> Iterator[None]:
    paths.data_dir.mkdir(parents=True, exist_ok=True)
    lock = FileLock(paths.serve_lock, timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(
            f"LineageBridge is already running{_holder(paths)}", "stop it, or give this one its own data folder"
        ) from error
    try:
        yield
    finally:
        lock.release()


def _holder(paths: DataFolder) -> str:
    try:
        where = json.loads(paths.serve_status.read_bytes())
        host = f"[{where['host']}]" if ":" in where["host"] else where["host"]
        return f" at {where.get('scheme', 'http')}://{host}:{where['port']} (process {where['pid']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _stop_on_signals(stop: threading.Event, kill_now: threading.Event) -> None:
    def on_signal(*_: object) -> None:
        if stop.is_set():
            kill_now.set()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
