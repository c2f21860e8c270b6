"""A lock that allows one writer per log folder. The kernel releases it when the process ends, however it ends."""

import os
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from lineage_bridge.errors import LogLockedError


class DirectoryLock:
    """An exclusive lock on the file `lock` of a folder, acquired within `timeout_s` seconds; the file contains the holder's process id.

    Raises LogLockedError, which names the folder and the holder.
    """

    def __init__(self, directory: Path, timeout_s: float = 0.0) -> None:
        path = directory / "lock"
        self._lock = FileLock(path, timeout=timeout_s, thread_local=False)
        try:
            self._lock.acquire()
        except Timeout as error:
            raise LogLockedError(
                f"the event log in {directory} is already written by {_holder(path)}",
                "stop that process, or give this one its own data folder",
            ) from error
        with suppress(OSError):  # if the disk is full, the holder's id is missing, which only affects the error message
            path.write_text(f"{os.getpid()}\n", encoding="ascii")

    def release(self) -> None:
        """Release the lock. The lock file is not deleted."""
        self._lock.release()


def _holder(path: Path) -> str:
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        text = ""
    return f"process {text}" if text.isdecimal() else "another process"
