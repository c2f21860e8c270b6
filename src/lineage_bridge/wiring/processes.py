"""Functions that all processes use: for logging, the clock, the state of other processes, the lock against a second process of the same
kind, and the listening socket.
"""

import json
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from lineage_bridge import tracing
from lineage_bridge.config import DataFolder, Settings
from lineage_bridge.config.log_format import log_formatter
from lineage_bridge.errors import UnavailableError

BACKLOG = 512
"""How many connections may wait to be accepted."""
_QUIET = {"alembic": logging.WARNING, "httpx": logging.WARNING, "pyspark": logging.ERROR, "uvicorn": logging.WARNING}


def version() -> str:
    """The version of this program."""
    return version_of("lineage-bridge")


def now_us() -> int:
    """The current time in UTC microseconds."""
    return time.time_ns() // 1000


def configure_telemetry(settings: Settings, program: str) -> None:
    """Log to standard error, with the name of this program on each line, and send traces if the settings say where. Raises ConfigError."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(_is_not_from_py4j)
    handler.setFormatter(log_formatter(settings.log_format, program))
    logging.basicConfig(handlers=[handler], level=settings.log_level.upper())
    for name, level in sorted(_QUIET.items()):
        logging.getLogger(name).setLevel(level)
    if settings.traces:
        tracing.start(settings.traces, settings.traces_share, program, version())


def _is_not_from_py4j(record: logging.LogRecord) -> bool:
    """Whether a log record comes from another library than py4j. py4j logs every lost connection, even under the root logger; the pipeline
    itself reports that Spark was lost.
    """
    return "py4j" not in record.pathname


def pipeline_status(paths: DataFolder) -> dict[str, Any] | None:
    """The status that the pipeline last wrote; None if it never ran or was stopped normally."""
    try:
        status = json.loads(paths.pipeline_status.read_bytes())
    except (OSError, ValueError):
        return None
    return status if isinstance(status, dict) else None


def is_alive(pid: int) -> bool:
    """Whether a process with this id runs."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end_with_parent(on_input: Callable[[], None] = lambda: None) -> None:
    """End this process when its parent process ends. The parent holds the other end of this process's standard input. When the parent
    writes to it, `on_input` is called.
    """

    def watch() -> None:
        while os.read(0, 1):
            on_input()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent", daemon=True).start()


@contextmanager
def alone_until_signal(lock_file: Path, taken: str) -> Iterator[threading.Event]:
    """A context manager that holds a lock and returns an event, which SIGTERM and SIGINT set. If another process holds the lock, raises
    UnavailableError with the message `taken`.
    """
    lock = FileLock(lock_file, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise UnavailableError(taken) from error
    try:
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        yield stop
    finally:
        lock.release()


def listen(settings: Settings) -> socket.socket:
    """Open a socket that listens at the address in the settings. Raises UnavailableError if another program uses the address."""
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
            f"choose another port, such as --port {settings.port % 65_535 + 1}, or stop the program that uses this one",
        ) from error
    return listener
