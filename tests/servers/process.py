"""Starting a server's process, waiting until it answers, and stopping it whatever happens."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from lineage_bridge.pipeline.streams.jars import ivy_for
from tests.ports import HOST
from tests.serving import bare_environment

GUARD = Path(__file__).with_name("guard.py")
START_S, STOP_S = 180.0, 30.0
# Servers of tests live for minutes: a fast start matters, a fast run does not.
QUICK = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Djava.net.preferIPv4Stack=true")
LOG = """\
rootLogger.level = INFO
rootLogger.appenderRef.out.ref = OUT
appender.out.type = Console
appender.out.name = OUT
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{HH:mm:ss.SSS} %p %c{1}: %m%n%ex
"""


@dataclass(frozen=True)
class Process:
    """A server's process and the file that it writes its log to."""

    name: str
    guard: "subprocess.Popen[bytes]"
    log: Path

    def wait_until(self, ready: Callable[[], bool], seconds: float = START_S) -> None:
        """Return once `ready` is true; fail with the end of the log if the process ends before, or time is up."""
        deadline = time.monotonic() + seconds
        while not ready():
            assert self.guard.poll() is None, f"{self.name} ended with {self.guard.returncode}:\n{self.log_tail()}"
            assert time.monotonic() < deadline, f"{self.name} was not ready after {seconds:.0f} s:\n{self.log_tail()}"
            time.sleep(0.1)

    def has_logged(self, text: str) -> bool:
        """Whether the log holds a text."""
        return text in self.log.read_text(encoding="utf-8", errors="replace")

    def log_tail(self, lines: int = 60) -> str:
        """The end of the log."""
        return "\n".join(self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-lines:])


@contextmanager
def running(
    name: str, command: Sequence[str | Path], folder: Path, *, environment: Mapping[str, str] | None = None, user: str = ""
) -> Iterator[Process]:
    """A command that runs, as `user` if one is named, with its log in `folder`; it ends with the context, or with this process."""
    log = folder / f"{name}.log"
    guarded = [sys.executable, "-I", "-S", str(GUARD), user, *map(str, command)]
    with log.open("wb") as output:
        guard = subprocess.Popen(
            guarded,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={**bare_environment(), **(environment or {})},
            start_new_session=True,
        )
    assert guard.stdin
    with ExitStack() as ending:
        ending.callback(guard.wait, STOP_S)
        ending.callback(guard.stdin.close)
        yield Process(name, guard, log)


def java(heap: str, *options: str) -> list[str]:
    """The start of a command line: the Java that Spark would start too, made for a short life."""
    return [ivy_for(os.environ).java, f"-Xmx{heap}", *QUICK, *options]


def log_settings(folder: Path) -> str:
    """The option that makes a Java server log to standard output."""
    settings = folder / "log4j2.properties"
    settings.write_text(LOG, encoding="utf-8")
    return f"-Dlog4j2.configurationFile={settings}"


def class_path(archives: Sequence[Path]) -> str:
    """Archives as a Java class path."""
    return os.pathsep.join(map(str, archives))


def properties(folder: Path, name: str, settings: Mapping[str, object]) -> Path:
    """A Java properties file of the settings."""
    file = folder / f"{name}.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()), encoding="utf-8")
    return file


def listens(port: int) -> bool:
    """Whether something on loopback takes connections at the port."""
    with socket.socket() as connection:
        connection.settimeout(1)
        return connection.connect_ex((HOST, port)) == 0


def answers(url: str) -> bool:
    """Whether a GET is answered with success."""
    try:
        return httpx.get(url, timeout=5, verify=False).is_success
    except httpx.HTTPError:
        return False
