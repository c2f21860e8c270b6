"""The seam to the file system: what the log writer asks of a disk."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


class Disk(Protocol):
    """File operations of the log writer. Each raises OSError."""

    def create(self, path: Path) -> int:
        """A descriptor on an empty file, replacing one that exists."""

    def open(self, path: Path) -> int:
        """A descriptor for reading and writing; the file is made if there is none."""

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        """Write pieces one behind the other from `byte` on; how many bytes were written, which may be fewer."""

    def sync(self, fd: int) -> None:
        """Return when what was written will survive a power loss."""

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""

    def sync_directory(self, directory: Path) -> None:
        """Return when names made in or removed from the directory will survive a power loss."""


class LocalDisk:
    """The operating system's files."""

    def create(self, path: Path) -> int:
        """See Disk."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def open(self, path: Path) -> int:
        """See Disk."""
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        """See Disk."""
        return os.pwritev(fd, pieces, byte)

    def sync(self, fd: int) -> None:
        """See Disk. On macOS only F_FULLFSYNC reaches the medium."""
        if _FULL_SYNC is not None:
            fcntl.fcntl(fd, _FULL_SYNC)
        else:
            os.fdatasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """See Disk."""
        os.ftruncate(fd, size)

    def sync_directory(self, directory: Path) -> None:
        """See Disk."""
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
