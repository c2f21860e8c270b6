"""PostgreSQL, from a wheel that holds its programs (or those on the PATH), with a log that changes can be read from."""

import csv
import io
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

import psutil

from tests.ports import HOST, free_ports
from tests.servers import archives
from tests.servers.process import STOP_S, Process, running

USER, DATABASE = "postgres", "shop"
# It refuses to be root; so when the tests are, it is this user, who has nothing.
NOBODY = "nobody"
SETTINGS = {
    "listen_addresses": HOST,
    "unix_socket_directories": "",
    "wal_level": "logical",
    "max_wal_senders": "8",
    "max_replication_slots": "8",
    "fsync": "off",
    "shared_buffers": "32MB",
    "log_timezone": "UTC",
    "timezone": "UTC",
}


@dataclass(frozen=True)
class Postgres:
    """A database that is ready. Anyone on loopback can log in as USER, with any password."""

    port: int
    programs: Path
    host: str = HOST
    user: str = USER
    password: str = "postgres"
    database: str = DATABASE

    def execute(self, sql: str, database: str = DATABASE) -> list[list[str]]:
        """The rows of the last statement, every value as text and NULL as ''. Fails with the server's words."""
        done = self._psql(sql, database)
        assert done.returncode == 0, done.stderr
        return list(csv.reader(io.StringIO(done.stdout)))

    def wait_for_rows(self, sql: str, seconds: float = 60.0) -> list[list[str]]:
        """The rows of a query once there are some; the table itself may yet come."""
        deadline = time.monotonic() + seconds
        while True:
            done = self._psql(sql, DATABASE)
            if done.returncode == 0 and done.stdout:
                return list(csv.reader(io.StringIO(done.stdout)))
            assert time.monotonic() < deadline, done.stderr
            time.sleep(0.1)

    def takes_queries(self) -> bool:
        """Whether it answers yet."""
        return self._psql("SELECT 1", "postgres").returncode == 0

    def _psql(self, sql: str, database: str) -> "subprocess.CompletedProcess[str]":
        command = [str(self.programs / "psql"), "--no-psqlrc", "--quiet", "--csv", "--tuples-only", "--set=ON_ERROR_STOP=1", "--file=-"]
        target = ["--host", HOST, "--port", str(self.port), "--username", USER, "--dbname", database]
        return subprocess.run([*command, *target], input=sql, capture_output=True, text=True, check=False)


def _wheel() -> Path | None:
    """Where the wheel is installed; None if there is none for this machine, or pip cannot fetch it and has printed the reason."""
    try:
        return archives.installed("postgres")
    except subprocess.CalledProcessError:
        return None


def _programs(wheel: Path | None) -> Path:
    """The folder of PostgreSQL's programs: those of the wheel, or else those on the PATH. Fails when there are none."""
    if wheel:
        (postgres,) = wheel.glob("*/pginstall/bin/postgres")
        return postgres.parent
    found = shutil.which("postgres")
    assert found, "there is no wheel of PostgreSQL for this machine, and none on the PATH"
    return Path(found).resolve().parent


@contextmanager
def _home(folder: Path) -> Iterator[tuple[Path, Path, str]]:
    """A folder for the data, the programs, and the user to run them as."""
    wheel = _wheel()
    if os.getuid() != 0:
        yield folder, _programs(wheel), ""
        return
    # Nobody may look into the folders of root; so programs and data are put where all may.
    with tempfile.TemporaryDirectory(prefix="lineage-bridge-postgres-") as name:
        home = Path(name)
        if wheel:
            shutil.copytree(wheel, home / "wheel", ignore=shutil.ignore_patterns("pginstall?*", "include"))
        shutil.chown(home, NOBODY)
        yield home, _programs(home / "wheel" if wheel else None), NOBODY


@contextmanager
def replica(primary: Postgres, folder: Path) -> Iterator[Postgres]:
    """A replica that follows a database. It ends what is asked of it at once when it has to remove what is read."""
    with _home(folder) as (home, programs, user):
        data = home / "data"
        source = (
            "--host",
            HOST,
            "--port",
            str(primary.port),
            "--username",
            USER,
            "--checkpoint=fast",
            "--no-sync",
            "--write-recovery-conf",
        )
        with running("pg_basebackup", [programs / "pg_basebackup", "--pgdata", data, *source], home, user=user) as copying:
            assert copying.guard.wait(STOP_S) == 0, copying.log_tail()
        (port,) = free_ports(1)
        settings = {**SETTINGS, "port": port, "max_standby_streaming_delay": "0"}
        with running(
            "postgres", [programs / "postgres", "-D", data, *(f"--{n}={v}" for n, v in settings.items())], home, user=user
        ) as process:
            following = Postgres(port, programs)
            process.wait_until(following.takes_queries)
            yield following


@dataclass(frozen=True)
class Restarted:
    """A database that a test stops, and starts again over the same data."""

    postgres: Postgres
    data: Path
    _run: Callable[[], AbstractContextManager[Process]]
    _running: ExitStack

    def start(self) -> None:
        """Return once it takes queries."""
        self._running.enter_context(self._run()).wait_until(self.postgres.takes_queries)

    def stop(self) -> None:
        """End all connections, and the server."""
        self._running.close()

    def kill(self) -> None:
        """End all of its processes at once, as a machine does that loses its power; what it has written stays."""
        server = psutil.Process(int((self.data / "postmaster.pid").read_text().split()[0]))
        for process in [server, *server.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._running.close()


@contextmanager
def started(folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Postgres]:
    """A database over fresh data. `settings` are set instead of those of SETTINGS."""
    with restarted(folder, settings) as server:
        yield server.postgres


@contextmanager
def restarted(folder: Path, settings: Mapping[str, str] = MappingProxyType({})) -> Iterator[Restarted]:
    """A database over fresh data that can be stopped."""
    with _home(folder) as (home, programs, user):
        data = home / "data"
        options = ("--username", USER, "--auth", "trust", "--encoding", "UTF8", "--no-locale", "--no-sync")
        with running("initdb", [programs / "initdb", "--pgdata", data, *options], home, user=user) as making:
            assert making.guard.wait(STOP_S) == 0, making.log_tail()
        (port,) = free_ports(1)
        flags = [f"--{name}={value}" for name, value in {**SETTINGS, **settings, "port": port}.items()]
        run = partial(running, "postgres", [programs / "postgres", "-D", data, *flags], home, user=user)
        with ExitStack() as process:
            server = Restarted(Postgres(port, programs), data, run, process)
            server.start()
            server.postgres.execute(f"CREATE DATABASE {DATABASE}", "postgres")
            yield server
