"""What the processes of an installation run on: a disk that can be full, and a clock that can be set, both of their own."""

import errno
import os
import random
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyspark
from tests.servers import archives

from lineage_bridge.pipeline.streams.jars import ivy_for

DISK_MB = 256
_MOUNTED = "--mounted"
_SETTLED_S = 1.2
"""After so many seconds every process has read the clock's file again."""


def alone(program: str, arguments: Sequence[str]) -> int | None:
    """Run a program again where it may mount, seen by nobody else, and return its exit code; None if this is there already.

    Mounts last as long as the program. It needs Linux, and namespaces for the user. Raises OSError without them.
    """
    if _MOUNTED in arguments:
        return None
    own = ["unshare", "--map-root-user", "--mount"]
    if subprocess.run([*own, "true"], check=False).returncode:
        raise OSError(errno.EPERM, "no file system can be mounted here to be filled: allow namespaces of users, or run as root")
    return subprocess.run([*own, sys.executable, "-m", program, _MOUNTED, *arguments], check=False).returncode


class Disk:
    """A file system in memory, mounted at `folder`, that is as large as DISK_MB.

    While it is full, the kernel answers ENOSPC to every write of whoever writes there.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self._filler = folder, folder / "filler"
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m,mode=700", "none", folder], check=True)

    def fill(self, left: int) -> None:
        """Take all space but a few bytes."""
        with self._filler.open("ab") as file:
            while True:
                space = os.statvfs(self.folder)
                if (take := space.f_bavail * space.f_frsize - left) <= 0:
                    return
                try:
                    os.posix_fallocate(file.fileno(), file.tell(), take)
                except OSError as error:
                    assert error.errno == errno.ENOSPC  # noqa: PT017 - others wrote meanwhile
                file.seek(0, os.SEEK_END)

    def is_full(self) -> bool:
        """Whether the kernel refuses to write a page."""
        try:
            with (self.folder / "probe").open("wb") as file:
                file.write(bytes(1 << 16))
        except OSError as error:
            return error.errno == errno.ENOSPC
        finally:
            (self.folder / "probe").unlink(missing_ok=True)
        return False

    def empty(self) -> None:
        """Give the space back."""
        self._filler.unlink(missing_ok=True)

    def close(self) -> None:
        """Remove it, with all that is on it."""
        subprocess.run(["umount", "--lazy", self.folder], check=True)


class Clock:
    """The wall clock of processes that have its environment (libfaketime): so many seconds ahead of the machine's, or behind.

    Clocks that only go on, by which waiting is measured, stay as they are, as they do when an administrator sets the time. So does the
    clock of Spark's Java, which decides nothing by it: with libfaketime its threads would wait for ever. The reader of inputs is without it
    too: librdkafka waits by C's `cnd_timedwait`, which libfaketime does not know, so that each of its waits would last as long as the jump.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._put(0)
        probe = [sys.executable, "-c", "import time; print(time.time())"]
        self._put(86_400)
        shown = subprocess.run(probe, env={**os.environ, **self.environment}, capture_output=True, text=True, check=True).stdout
        assert float(shown) > time.time() + 80_000, "the clock of processes cannot be set here"
        self._put(0)

    @property
    def environment(self) -> Mapping[str, str]:
        """The variables by which a process gets this clock."""
        library = archives.installed("libfaketime") / "libfaketime/vendor/libfaketime/src/libfaketime.so.1"
        return {
            "LD_PRELOAD": str(library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_SKIP_CMDS": "java",
            "NO_FAKE_STAT": "1",
        }

    def jump(self, ahead_s: int) -> None:
        """Set it; returns when all have seen it."""
        self._put(ahead_s)
        time.sleep(_SETTLED_S)

    def _put(self, ahead_s: int) -> None:
        fresh = self._file.with_suffix(".new")
        fresh.write_text(f"{ahead_s:+d}\n")
        fresh.replace(self._file)


def jump_of(chance: random.Random) -> int:
    """Seconds to the past or the future: from minutes to weeks."""
    return chance.choice((-1, 1)) * chance.choice((120, 3_700, 90_000, 1_300_000)) + chance.randrange(60)


_SESSION = """
import sys
from pathlib import Path
from pyspark import SparkContext
from pyspark.sql import functions as F
from lineage_bridge.pipeline.session import start_session
session = start_session(Path(sys.argv[1]), master="local[2]", memory="1g")
session.range(10).mapInArrow(lambda batches: batches, "id long").agg(F.sum("id")).collect()
session.stop()
java = SparkContext._gateway.proc
SparkContext._gateway.shutdown()
java.stdin.close()
java.wait()
"""


def quick_java() -> Mapping[str, str]:
    """Variables by which Spark's Java starts in half the time: its classes are taken as an earlier start has left them in the user's cache.

    Java ignores them silently when it or Spark is another.
    """
    ivy, classes = ivy_for(os.environ), "spark.jsa"
    release = Path(ivy.java).resolve().parents[1] / "release"

    def make(home: Path) -> None:
        home.mkdir()
        environment = {**os.environ, "JDK_JAVA_OPTIONS": f"-XX:ArchiveClassesAtExit={home / classes}"}
        command = [sys.executable, "-c", _SESSION, str(home / "scratch")]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    pins = [Path(pyspark.__file__).with_name("version.py"), *([release] if release.exists() else [])]
    return {"JDK_JAVA_OPTIONS": f"-XX:SharedArchiveFile={archives.made('spark-classes', pins, make) / classes} -Xshare:auto"}
