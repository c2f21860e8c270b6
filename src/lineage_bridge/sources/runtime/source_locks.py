"""Locks that keep two processes from polling the same source at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class SourceLocks:
    """Locks sources, each by a file in `folder`. The operating system releases the locks of a process that ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def hold(self, source: str) -> Iterator[bool]:
        """Hold the lock of a source during a `with` block, without waiting for it; the value is False if another process holds it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self.folder / f"{source}.lock", timeout=0)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
