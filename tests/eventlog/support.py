"""Records, and disks that fail, for the tests of the log."""

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Event

from hypothesis import strategies as st

import lineage_bridge
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.eventlog.segment import list_segments, segment_path
from lineage_bridge.graph.log_record import LogRecord, RecordKind


def record_of(number: int, body: bytes = b'{"a": 1}') -> LogRecord:
    """An event record told apart by its number."""
    return LogRecord(RecordKind.EVENT, number.to_bytes(16, "big"), 1_700_000_000_000_000 + number, "http", "ann", b"", body)


def number_of(record: LogRecord) -> int:
    return int.from_bytes(record.event_id, "big")


def newest_segment(directory: Path) -> Path:
    return segment_path(directory, list_segments(directory)[-1])


def flip(path: Path, byte: int) -> None:
    data = bytearray(path.read_bytes())
    data[byte] ^= 0x10
    path.write_bytes(data)


records = st.builds(
    LogRecord,
    st.sampled_from(RecordKind),
    st.binary(min_size=16, max_size=16),
    st.integers(-(2**63), 2**63 - 1),
    st.text(max_size=30),
    st.text(st.characters(), max_size=30),
    st.binary(max_size=50),
    st.binary(max_size=300),
)


def opened_name(fd: int) -> str:
    """The name of the file behind a descriptor."""
    return Path(f"/proc/self/fd/{fd}").readlink().name


class FaultyDisk(LocalDisk):
    """A disk with `room` bytes left, and operations that fail while they are named in `faults`. Counts its calls."""

    def __init__(self) -> None:
        self.room: int | None = None
        self.faults: dict[str, int] = {}
        self.calls: dict[str, int] = {}

    def _enter(self, operation: str) -> None:
        self.calls[operation] = self.calls.get(operation, 0) + 1
        if operation in self.faults:
            number = self.faults[operation]
            raise OSError(number, os.strerror(number))

    def create(self, path: Path) -> int:
        self._enter("create")
        return super().create(path)

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        self._enter("publish" if opened_name(fd) == "durable" else "write")
        data = b"".join(pieces)
        growth = max(0, byte + len(data) - os.fstat(fd).st_size)
        if self.room is None or growth <= self.room:
            self.room = None if self.room is None else self.room - growth
            return super().write(fd, [data], byte)
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        some, self.room = data[: len(data) - growth + self.room], 0
        return super().write(fd, [some], byte)

    def sync(self, fd: int) -> None:
        self._enter("sync")
        super().sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self._enter("truncate")
        if self.room is not None:
            self.room += os.fstat(fd).st_size - size
        super().truncate(fd, size)

    def sync_directory(self, directory: Path) -> None:
        self._enter("sync_directory")
        super().sync_directory(directory)


class SlowDisk(LocalDisk):
    """A disk whose syncs wait for `go`, and which says when one has come."""

    def __init__(self) -> None:
        self.go = Event()
        self.go.set()
        self.waiting = Event()
        self.syncs = 0

    def sync(self, fd: int) -> None:
        self.syncs += 1
        self.waiting.set()
        assert self.go.wait(30)
        super().sync(fd)


def child_environment() -> dict[str, str]:
    """An environment in which a child process imports this project as we do."""
    roots = [str(Path(lineage_bridge.__file__).parents[1]), str(Path(__file__).parents[2])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
