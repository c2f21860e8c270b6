"""One look at a time at each source, whichever process looks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


class SourceLocks:
    """A lock file for each source, in `folder`; the system takes it back from a process that ends."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @contextmanager
    def hold(self, source: str) -> Iterator[bool]:
        """Whether nobody else looks at a source; then nobody else does until the end. Does not wait."""
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
