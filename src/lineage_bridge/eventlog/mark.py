"""The durable mark: the position up to which the log is durable, published to readers in other processes.

The file `durable` contains the mark and a check value. It is written in place after each sync of a segment, so the mark never lies beyond
the durable records, not even after a power loss. A reader detects a half-written mark by the check value and reads again. The file is read
and written with system calls, not memory-mapped: on a full or failing disk, access to a mapping kills the process instead of raising an
error.
"""

import os
import struct
from pathlib import Path
from typing import Final

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.disk import Disk, is_linked

_PAIR: Final = struct.Struct("<qq")
_CHECK: Final = 0x4C42_4D41_524B_5631
_TRIES: Final = 1000


def read_mark(directory: Path) -> int:
    """The end of the last durable record, 0 if the log is empty or does not exist. Raises LogError if the mark is damaged."""
    try:
        fd = os.open(directory / "durable", os.O_RDONLY)
    except FileNotFoundError:
        return 0
    try:
        return _read_pair(fd, directory)
    finally:
        os.close(fd)


def _read_pair(fd: int, directory: Path) -> int:
    for _ in range(_TRIES):
        data = os.pread(fd, _PAIR.size, 0)
        if not data:
            return 0
        if len(data) == _PAIR.size:
            value, check = _PAIR.unpack(data)
            if value ^ _CHECK == check:
                return int(value)
    raise LogError(f"the durable mark of the log {directory} is damaged", "start the server, which writes the mark again")


def write_mark(directory: Path, end: int) -> None:
    """Write the durable mark of a copied log that nobody reads yet."""
    (directory / "durable").write_bytes(_PAIR.pack(end, end ^ _CHECK))


class DurableMark:
    """Writes the durable mark, for the one process that writes the log."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._disk = disk
        self._path = directory / "durable"
        self._fd = disk.open(self._path)

    def publish(self, end: int) -> None:
        """Make the log readable up to `end`. If it raises OSError, the mark is unchanged."""
        if not is_linked(self._fd, self._path):
            fd = self._disk.open(self._path)
            os.close(self._fd)
            self._fd = fd
        if self._disk.write(self._fd, (_PAIR.pack(end, end ^ _CHECK),), 0) != _PAIR.size:
            raise OSError("the file `durable` of the log was only partly written")

    def heal(self, end: int) -> None:
        """Write `end` again if the file has another value because it was damaged or deleted. Raises OSError."""
        if not is_linked(self._fd, self._path) or os.pread(self._fd, _PAIR.size + 1, 0) != _PAIR.pack(end, end ^ _CHECK):
            self.publish(end)

    def settle(self) -> None:
        """Make the file of the durable mark survive a power loss. Raises OSError."""
        self._disk.sync(self._fd)

    def close(self) -> None:
        """Close the file that holds the durable mark."""
        os.close(self._fd)
