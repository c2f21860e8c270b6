"""The durable mark: how far the log is on disk for good, told to readers in other processes.

The file `durable` holds the mark and a check value. It is written in place after each sync of a segment, so it never
runs ahead of the records, not even after a power loss. A reader that meets a half-written mark sees it by the check
value and looks again. It is read and written with system calls, not mapped: on a full or failing disk, touching a
mapping ends the process instead of raising.
"""

import os
import struct
from pathlib import Path
from typing import Final

from lineage_bridge.errors import LogError
from lineage_bridge.eventlog.disk import Disk

_PAIR: Final = struct.Struct("<qq")
_CHECK: Final = 0x4C42_4D41_524B_5631
_TRIES: Final = 1000


def read_mark(directory: Path) -> int:
    """The end of the last durable record, 0 for an empty log or none at all. Raises LogError if the mark is damaged."""
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
    raise LogError(f"the durable mark of the log {directory} is damaged", "Start the log's writer: it sets it anew.")


class DurableMark:
    """The writer's side of the mark."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._disk = disk
        self._fd = disk.open(directory / "durable")

    def publish(self, end: int) -> None:
        """Let readers see the log up to `end`. Raises OSError; the mark is then what it was."""
        if self._disk.write(self._fd, (_PAIR.pack(end, end ^ _CHECK),), 0) != _PAIR.size:
            raise OSError("the durable mark was written in part")

    def settle(self) -> None:
        """Put the mark itself on disk for good. Raises OSError."""
        self._disk.sync(self._fd)

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._fd)
