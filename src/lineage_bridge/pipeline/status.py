"""The pipeline's status: a small file, replaced about every second, that other processes read."""

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

import msgspec

State = Literal["starting", "running", "failed"]


@dataclass(frozen=True)
class Status:
    """The status of the pipeline. Times are UTC microseconds.

    `workers`: process ids of the Python workers that folded the last batch. `position` maps "source/partition" to offset. `left`: the
    number of keys still to be derived. Since its start, the pipeline has committed `batches` with `events` records of events; the commits
    took `commit_us`. The last commit was at `committed_us`; its oldest event had then waited for `freshness_us`. `retention`: what the last
    pass of retention removed, or the running one so far, and when it finished.
    """

    state: State
    pid: int
    started_us: int
    beat_us: int
    spark_pid: int | None = None
    workers: list[int] = field(default_factory=list)
    batches: int = 0
    position: Mapping[str, int] = field(default_factory=dict)
    left: int = 0
    events: int = 0
    commit_us: int = 0
    committed_us: int = 0
    freshness_us: int = 0
    retention: Mapping[str, int] = field(default_factory=dict)
    error: str | None = None


class StatusFile:
    """The status of the pipeline, and the file to which it is written. Thread-safe."""

    def __init__(self, path: Path, now_us: Callable[[], int]) -> None:
        self.path, self.now_us = path, now_us
        self.lock = threading.Lock()
        now = now_us()
        self.status = Status("starting", os.getpid(), now, now)

    def change(self, **values: object) -> None:
        """Change the status in memory; the next `write` stores it in the file."""
        with self.lock:
            self.status = replace(self.status, **values)  # type: ignore[arg-type]  # fields by name

    def write(self, **values: object) -> None:
        """Change the status and write it to the file with the current time."""
        self.change(**values, beat_us=self.now_us())
        replace_file(self.path, msgspec.json.encode(self.status))

    def remove(self) -> None:
        """Delete the file, which means that no pipeline runs."""
        self.path.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Replace the content of a file atomically: a reader sees the old or the new content, never a part. Raises OSError; the old content
    then stays.
    """
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        fresh.write_bytes(content)
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise
