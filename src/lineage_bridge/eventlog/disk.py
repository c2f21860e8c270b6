"""The file operations that the log writer needs, as a protocol, so that tests can replace the disk."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

_PIECES: Final = min(1024, os.sysconf("SC_IOV_MAX"))
_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)


class Disk(Protocol):
    """File operations of the log writer. Each raises OSError."""

    def create(self, path: Path) -> int:
        """Create an empty file, replacing an existing one, and return its descriptor."""

    def open(self, path: Path) -> int:
        """Open a file for reading and writing, create it if it does not exist, and return its descriptor."""

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        """Write the pieces one after the other from `byte` on. Returns the number of bytes written, which may be fewer than given."""

    def sync(self, fd: int) -> None:
        """Make everything that was written to the file durable, so that it survives a power loss."""

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""

    def sync_directory(self, directory: Path) -> None:
        """Make the creation and removal of files in the directory durable, so that it survives a power loss."""


def is_linked(fd: int, path: Path) -> bool:
    """Whether an open file is still the file at `path`. It may have been deleted or replaced."""
    try:
        return os.path.samestat(os.fstat(fd), path.stat())
    except OSError:
        return False


class LocalDisk:
    """Implements Disk with the file operations of the operating system."""

    def create(self, path: Path) -> int:
        """Create an empty file, replacing an existing one, and return its descriptor."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)

    def open(self, path: Path) -> int:
        """Open a file for reading and writing, create it if it does not exist, and return its descriptor."""
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        """Write the pieces one after the other from `byte` on. Returns the number of bytes written, which may be fewer than given."""
        return os.pwritev(fd, pieces, byte)

    def sync(self, fd: int) -> None:
        """Make everything that was written to the file durable. On macOS, only F_FULLFSYNC writes through to the storage medium."""
        if _FULL_SYNC is not None:
            fcntl.fcntl(fd, _FULL_SYNC)
        else:
            os.fdatasync(fd)

    def truncate(self, fd: int, size: int) -> None:
        """Cut the file to `size` bytes."""
        os.ftruncate(fd, size)

    def sync_directory(self, directory: Path) -> None:
        """Make the creation and removal of files in the directory durable."""
        fd = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file that only its owner may read. After a crash, it has either the old or the new content.

    Raises OSError.
    """
    disk, new = LocalDisk(), path.with_name(f"{path.name}.new")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        disk.sync(file.fileno())
    new.replace(path)
    disk.sync_directory(path.parent)


def write_all(disk: Disk, fd: int, pieces: Sequence[bytes], byte: int) -> None:
    """Write all pieces. If only a part is written, the rest is tried again, so that the system reports the cause. Raises OSError."""
    for first in range(0, len(pieces), _PIECES):
        rest: list[bytes | memoryview] = list(pieces[first : first + _PIECES])
        while rest:
            written = disk.write(fd, rest, byte)
            if written <= 0:
                raise OSError(f"a write at byte {byte} wrote nothing")
            byte += written
            rest = _behind(rest, written)


def _behind(pieces: list[bytes | memoryview], written: int) -> list[bytes | memoryview]:
    """The rest of the pieces after the first `written` bytes."""
    for index, piece in enumerate(pieces):
        if written < len(piece):
            return [memoryview(piece)[written:], *pieces[index + 1 :]]
        written -= len(piece)
    return []
