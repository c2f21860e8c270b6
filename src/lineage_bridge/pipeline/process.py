"""Starts and stops Spark's Java process, with its scratch folder and its log file."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped]  # py4j ships no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from lineage_bridge.errors import UnavailableError
from lineage_bridge.pipeline.cluster.package import make_package
from lineage_bridge.pipeline.session import is_local, start_session

STOP_S, KILL_S = 20.0, 5.0
SPARK_ERRORS: tuple[type[Exception], ...] = (PySparkException, Py4JError, OSError)
"""The errors that a call to Spark raises if it fails or if Spark's process has ended."""
_RAISED = re.compile(r"^(?:Caused by: )?(?!py4j\.|java\.)([A-Za-z_][\w.]*: \S.*)$", re.MULTILINE)
_CALL = re.compile(r"\AAn error occurred while calling \S+\n:\s*")
"""The start of an error message that only says that Java raised it."""
_QUERY = "=== Streaming Query ==="
"""The start of the part of an error message that describes the query instead of the failure."""


class SparkProcess:
    """A Spark session and the Java process in which it runs. The process works in `folder`; its output goes to `log_path`. With `ship`, the
    executors of a cluster get LineageBridge from here.
    """

    def __init__(
        self,
        folder: Path,
        log_path: Path,
        *,
        master: str,
        memory: str,
        driver_host: str = "",
        jars: Sequence[Path] = (),
        ship: bool = False,
    ) -> None:
        self.scratch = _fresh(folder)
        log_path.parent.mkdir(parents=True, exist_ok=True)
        package = make_package(self.scratch) if ship and not is_local(master) else None
        with _output_to(log_path):
            self.session: SparkSession = start_session(
                self.scratch, master=master, memory=memory, driver_host=driver_host, jars=jars, package=package
            )
        gateway = self.session.sparkContext._gateway  # noqa: SLF001 - Spark has no public way to its own process
        if gateway is None:
            raise UnavailableError("Spark runs outside of LineageBridge's processes", "unset SPARK_REMOTE and SPARK_CONNECT_MODE")
        self.java: subprocess.Popen[bytes] = gateway.proc
        # When the Java process dies, Spark's Python side would print a traceback; the error that `check` raises is clearer.
        listener = self.session.sparkContext._accumulatorServer  # noqa: SLF001 - as above
        listener.handle_error = _pass_over  # type: ignore[method-assign,assignment]  # of this one object

    def check(self) -> None:
        """Check that the process is running. Raises UnavailableError if it has ended."""
        if self.java.poll() is not None:
            raise UnavailableError(
                f"Spark (process {self.java.pid}) ended: {_ending(self.java.returncode)}", "see logs/spark.log in the data folder"
            )

    def end(self) -> None:
        """End the process. If it is alive and responds, the session is stopped before."""
        if self.java.poll() is None:
            stopper = threading.Thread(target=self._stop, name="stopper", daemon=True)
            stopper.start()
            stopper.join(STOP_S)
        if self.java.stdin:
            self.java.stdin.close()
        deadline = time.monotonic() + KILL_S
        while self.java.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        if self.java.poll() is None:
            self.java.kill()
            self.java.wait()
        shutil.rmtree(self.scratch, ignore_errors=True)

    def _stop(self) -> None:
        with suppress(*SPARK_ERRORS):
            self.session.stop()


def _pass_over(request: object, address: object) -> None:
    """A context manager that ignores errors of a broken connection to the Java process."""


def _fresh(folder: Path) -> Path:
    """Create a folder for this process only, because a Java process that a killed pipeline left behind may still write to the earlier one.
    Deletes earlier folders.
    """
    shutil.rmtree(folder, ignore_errors=True)
    scratch = folder / str(os.getpid())
    scratch.mkdir(parents=True, exist_ok=True)
    return scratch


@contextmanager
def _output_to(path: Path) -> Iterator[None]:
    """Send the output of programs that are started in a `with` block to a new file. The previous file is kept as `.1`."""
    with suppress(FileNotFoundError):
        path.replace(path.with_name(f"{path.name}.1"))
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    saved = [os.dup(1), os.dup(2)]
    with path.open("ab") as file:
        try:
            for number in (1, 2):
                os.dup2(file.fileno(), number)
            yield
        finally:
            for number, old in zip((1, 2), saved, strict=True):
                os.dup2(old, number)
                os.close(old)


def _ending(code: int) -> str:
    return f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


def text_of(error: Exception) -> str:
    """The message of an error, or its type if the message cannot be read. The message of a Java error is fetched from the Java process,
    which may have ended.
    """
    try:
        return str(error) or type(error).__name__
    except SPARK_ERRORS:
        return type(error).__name__


def gist(text: str) -> str:
    """The most informative line of an error's text: the root error if there is a Python traceback, otherwise the first line."""
    text = _CALL.sub("", text.partition(_QUERY)[0])
    raised = _RAISED.findall(text) if "Traceback" in text else []
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return str(raised[-1]) if raised else lines[0] if lines else ""
