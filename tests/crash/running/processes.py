"""The API, the pipeline or the reader of inputs as a process of its own, wired as the product wires it.

Their disk or store can be told to fail.

`processes.py api | power | pipeline | inputs`, the settings in the environment. On standard input, a point to stop at, once, or "go" to go
on from there; on standard output a line of JSON when the point is reached. The process is killed when standard input ends.

`power` is the API over a disk that makes a kill as bad as a power loss.
"""

import json
import logging
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from lineage_bridge.config import load_settings
from lineage_bridge.eventlog.disk import LocalDisk
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.ports.graph_store import Batch, Budget, GraphStore
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.processes import listen

MARK = "durable"
CACHE_PAGES = 16


class Points:
    """The points at which the process can be stopped."""

    def __init__(self) -> None:
        self.requested = ""
        self.go = threading.Event()
        threading.Thread(target=self._listen, name="points", daemon=True).start()

    def _listen(self) -> None:
        for line in sys.stdin:
            if line.strip() == "go":
                self.go.set()
            else:
                self.go.clear()
                self.requested = line.strip()
        os.kill(os.getpid(), signal.SIGKILL)

    def reach(self, point: str, detail: str) -> None:
        """Report that a point is reached, and wait there, if it was requested."""
        if point == self.requested:
            self.requested = ""
            os.write(1, json.dumps({"point": point, "detail": detail}).encode() + b"\n")
            self.go.wait()


class StallingDisk(LocalDisk):
    """A disk on which an append can stand still at any of its steps."""

    def __init__(self, points: Points) -> None:
        self.points = points
        self.names: dict[int, str] = {}

    def create(self, path: Path) -> int:
        fd = super().create(path)
        self.names[fd] = path.name
        self.points.reach("create", f"a new segment {path.name} without a header")
        return fd

    def open(self, path: Path) -> int:
        fd = super().open(path)
        self.names[fd] = path.name
        return fd

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        if self.names[fd] == MARK:
            written = super().write(fd, pieces, byte)
            self.points.reach("shown", "an append that readers see and that was not acknowledged")
        elif self.points.requested == "part":
            data = b"".join(pieces)
            written = super().write(fd, [data[: len(data) // 2]], byte)
            self.points.reach("part", f"an append of {len(data)} bytes after {written} of them")
        else:
            written = super().write(fd, pieces, byte)
        return written

    def sync(self, fd: int) -> None:
        if self.names[fd] != MARK:
            self.points.reach("written", "an append between its write and its fsync")
        super().sync(fd)
        if self.names[fd] != MARK:
            self.points.reach("synced", "an append between its fsync and its answer")


class PowerDisk(LocalDisk):
    """A disk whose segments hold only what was synced, as a power loss leaves them. The mark is written through: readers look at it."""

    def __init__(self) -> None:
        self.held: dict[int, list[tuple[int, bytes]]] = {}

    def create(self, path: Path) -> int:
        fd = super().create(path)
        self.held[fd] = []
        return fd

    def open(self, path: Path) -> int:
        fd = super().open(path)
        self.held.pop(fd, None)
        if path.name != MARK:
            self.held[fd] = []
        return fd

    def write(self, fd: int, pieces: Sequence[bytes | memoryview], byte: int) -> int:
        if fd not in self.held:
            return super().write(fd, pieces, byte)
        data = b"".join(pieces)
        self.held[fd].append((byte, data))
        return len(data)

    def sync(self, fd: int) -> None:
        for byte, data in self.held.get(fd, []):
            assert os.pwrite(fd, data, byte) == len(data)
        if fd in self.held:
            self.held[fd] = []
        super().sync(fd)

    def truncate(self, fd: int, size: int) -> None:
        self.held[fd] = [(byte, data[: size - byte]) for byte, data in self.held.get(fd, []) if byte < size]
        super().truncate(fd, size)


class StallingStore:
    """A graph store on which a batch can stand still before its commit, or behind it before it is told, or fail before it."""

    def __init__(self, writer: GraphWriter, points: Points) -> None:
        self.writer, self.points = writer, points
        # What does not fit into so few pages is written to the write-ahead log before the commit.
        writer.connection.raw.execute(f"PRAGMA cache_size = {CACHE_PAGES}")

    def position(self, source: str) -> dict[int, int]:
        return self.writer.position(source)

    def apply(self, batch: Batch, budget: Budget) -> None:
        end = max(end for _, end in batch.ranges.values())
        with _before_commit(
            self.writer.connection.raw, lambda: self.points.reach("commit", f"write and commit of batch ending at place {end}")
        ):
            self.writer.apply(batch, budget)
        self.points.reach("committed", f"commit and report of batch ending at place {end}")

    def settle(self, budget: Budget) -> int:
        return self.writer.settle(budget)

    def check(self) -> None:
        self.writer.check()


@contextmanager
def _before_commit(connection: sqlite3.Connection, act: Callable[[], None]) -> Iterator[None]:
    """SQLite tells of each statement before it runs it."""

    def on_statement(statement: str) -> None:
        if statement == "COMMIT":
            act()

    connection.set_trace_callback(on_statement)
    try:
        yield
    finally:
        connection.set_trace_callback(None)


def main(part: str) -> None:
    settings = load_settings({}, os.environ, Path.cwd())
    logging.basicConfig(stream=sys.stderr, level="WARNING")
    points = Points()

    @contextmanager
    def store(path: Path, names: Names) -> Iterator[GraphStore]:
        writer = GraphWriter(path, names)
        yield StallingStore(writer, points)
        writer.close()

    # Each process is started dozens of times, and loads what is its own.
    if part == "pipeline":
        from lineage_bridge.wiring.pipeline import run_pipeline

        run_pipeline(settings, store)
    elif part == "inputs":
        from lineage_bridge.wiring.inputs import run_inputs

        run_inputs(settings)
    else:
        from lineage_bridge.wiring.api import serve_api

        with listen(settings) as listener:
            serve_api(settings, listener, PowerDisk() if part == "power" else StallingDisk(points))


if __name__ == "__main__":
    main(sys.argv[1])
