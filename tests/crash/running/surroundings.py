"""What the processes of an installation run on: a disk of their own that can be full, and a clock of their own that can be wrong."""

import errno
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

DISK_MB = 256
_MOUNTED = "--mounted"


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


class Clock:
    """The wall clock of the Python processes that are started with `environment`."""

    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def environment(self) -> dict[str, str]:
        """The variables of a process that has this clock."""
        path = os.environ.get("PYTHONPATH", "")
        own = str(Path(__file__).with_name("clock"))
        return {"TORTURE_CLOCK": str(self._file), "PYTHONPATH": f"{own}{os.pathsep}{path}" if path else own}

    def be_off(self, seconds: int) -> None:
        """Be ahead of the machine's clock by so many seconds, or behind it."""
        written = self._file.with_suffix(".new")
        written.write_text(str(seconds), encoding="ascii")
        written.replace(self._file)


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
