"""What the pipeline tells of itself: a small file, replaced about every second, that other processes read."""

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
    """The pipeline at one moment. Times are UTC microseconds; `workers` are the Python workers that folded the last batch; `position` is
    "source/part" to place; `left` counts keys that wait to be derived.
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
    error: str | None = None


class StatusFile:
    """The status and the file it is written to. Safe for threads."""

    def __init__(self, path: Path, now_us: Callable[[], int]) -> None:
        self.path, self.now_us = path, now_us
        self.turn = threading.Lock()
        now = now_us()
        self.status = Status("starting", os.getpid(), now, now)

    def change(self, **values: object) -> None:
        """Change the status; the next `write` tells it."""
        with self.turn:
            self.status = replace(self.status, **values)  # type: ignore[arg-type]  # fields by name

    def write(self, **values: object) -> None:
        """Change the status and tell it, as of now."""
        self.change(**values, beat_us=self.now_us())
        replace_file(self.path, msgspec.json.encode(self.status))

    def remove(self) -> None:
        """Tell that no pipeline runs."""
        self.path.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Give a file new content: a reader sees the old or the new, never a part."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    fresh.write_bytes(content)
    fresh.replace(path)
