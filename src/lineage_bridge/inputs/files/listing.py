"""Finds the files to read: new files, and files that have changed since they were read."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from lineage_bridge.inputs.files.store import FileStore, FoundFile
from lineage_bridge.inputs.input import Positions
from lineage_bridge.openlineage.secrets import mask_text
from lineage_bridge.ports.inputs import FilePosition

if TYPE_CHECKING:
    from lineage_bridge.inputs.files.open_file import OpenFile

PAGE: Final = 100
"""How many files one query of the log covers."""
MOST_TASKS, MOST_SETTLED, MOST_WAITING = 20_000, 100_000, 10_000
"""The maximum number of files in memory: waiting, completely read, or with an incomplete last record. For other files, the log is queried
again."""
MOST_PROBLEMS, REPORTED_S = 10, 3600.0
NOT_ENDED: Final = "~"
"""Prefix of the version of a file whose incomplete last record was validated. If such a file changes, it is read again from the start."""
_INCOMPLETE_S: Final = 60.0
"""Seconds after which an incomplete last record is reported."""


class Task(NamedTuple):
    """A file to read. `position`: up to where the log has the file. `is_recent`: the file changed so recently that a further change might
    not change its version. `is_settled`: the file has not changed for so long that its last record counts as complete.
    """

    file: FoundFile
    position: FilePosition | None
    is_recent: bool
    is_settled: bool

    @property
    def bytes_left(self) -> int:
        """The approximate number of bytes to read."""
        at = self.position.at.offset if self.position else 0
        return max(0, self.file.size - at) or self.file.size


class _Waiting(NamedTuple):
    """A file whose last record is incomplete: its size, the offset of the record, and the time since which it has been incomplete."""

    path: str
    version: str
    at: int
    size: int
    since: float


class FileListing:
    """Lists a store periodically. `problems` are the files and folders that could not be read."""

    def __init__(self, store: FileStore, positions: Positions) -> None:
        self._store, self._positions, self._settings = store, positions, store.settings
        self.is_known = False
        self.due_at = 0.0
        self._tasks: deque[Task] = deque()
        self._task_bytes = 0
        self._beyond = (0, 0)
        self._settled: dict[str, str] = {}
        self._waiting: dict[str, _Waiting] = {}
        self._missed: dict[str, tuple[str, int]] = {}
        self._failures: list[str] = []
        self._vanished: deque[tuple[float, str]] = deque(maxlen=MOST_PROBLEMS)

    def next(self) -> Task | None:
        """The next file to read; None if there is none until the next listing."""
        if not self._tasks and (self._beyond[0] or time.monotonic() >= self.due_at):
            self._list()
        if not self._tasks:
            return None
        task = self._tasks.popleft()
        self._task_bytes -= task.bytes_left
        return task

    @property
    def waiting(self) -> tuple[int, int]:
        """The numbers of files and bytes that wait to be read. The file that is being read does not count."""
        files, size = self._beyond
        incomplete = [found.size for found in self._waiting.values()]
        return files + len(self._tasks) + len(incomplete), size + self._task_bytes + sum(incomplete)

    @property
    def problems(self) -> tuple[str, ...]:
        """Files and folders that could not be read, one sentence each."""
        now = time.monotonic()
        old = [found for found in self._waiting.values() if now - found.since >= _INCOMPLETE_S]
        incomplete = [f"{found.path}: the last record, of {found.size} bytes from byte {found.at} on, is incomplete" for found in old]
        vanished = [text for since, text in self._vanished if now - since < REPORTED_S]
        every = [*vanished, *self._store.problems, *self._failures, *incomplete]
        more = [f"and {len(every) - MOST_PROBLEMS} more"] if len(every) > MOST_PROBLEMS else []
        return (*every[:MOST_PROBLEMS], *more)

    def missed(self, task: Task) -> None:
        """Record that a file could not be opened, because it was renamed or deleted meanwhile."""
        if len(self._missed) < MOST_WAITING:
            self._missed[task.file.key] = task.file.path, task.bytes_left

    def failed(self, task: Task, error: OSError) -> None:
        """Record that a file could not be read. The file is tried again after the next listing."""
        if len(self._failures) < MOST_WAITING:
            self._failures.append(f"{task.file.path} cannot be read: {error_text(error)}")

    def finished(self, opened: "OpenFile") -> FilePosition | None:
        """Record that a file was read completely, and return the note to store about it."""
        file = opened.task.file
        before = self._waiting.pop(file.key, None)
        if opened.rest_bytes:
            if len(self._waiting) < MOST_WAITING:
                same = before is not None and before.version == file.version
                since = before.since if before is not None and same else time.monotonic()
                self._waiting[file.key] = _Waiting(file.path, file.version, opened.rest_at, opened.rest_bytes, since)
        elif opened.is_judged or not opened.task.is_recent:
            self._settle(file)
        return opened.note()

    def _settle(self, file: FoundFile) -> None:
        if len(self._settled) >= MOST_SETTLED:
            self._settled.clear()
        self._settled[file.key] = file.version

    def _list(self) -> None:
        """List the store, and queue the files to read. Raises SourceError."""
        began = time.monotonic()
        self._failures, beyond, beyond_bytes = [], 0, 0
        gone = {key: (found.path, found.size) for key, found in self._waiting.items()} | self._missed
        self._missed = {}
        for page in _pages(self._changed(gone)):
            for task in self._tasks_of(page):
                if len(self._tasks) < MOST_TASKS:
                    self._tasks.append(task)
                    self._task_bytes += task.bytes_left
                else:
                    beyond, beyond_bytes = beyond + 1, beyond_bytes + task.bytes_left
        self._beyond, self.is_known = (beyond, beyond_bytes), True
        if not self._store.problems:
            self._report_gone(gone)
        took = time.monotonic() - began
        self.due_at = began + max(self._settings.refresh_s, 5 * took)

    def _changed(self, gone: dict[str, tuple[str, int]]) -> Iterator[FoundFile]:
        """The files that have changed, or may have changed, since they were read."""
        now = time.monotonic()
        for file in self._store.files():
            gone.pop(file.key, None)
            if not file.size or self._settled.get(file.key) == file.version:
                continue
            waiting = self._waiting.get(file.key)
            is_same = waiting is not None and waiting.version == file.version
            if waiting is None or not is_same or now - waiting.since >= self._settings.settle_s:
                yield file

    def _tasks_of(self, page: Sequence[FoundFile]) -> Iterator[Task]:
        known = {found.where.file_key: found for found in self._positions.files([file.key for file in page])}
        now, wall_ns = time.monotonic(), time.time_ns()
        for file in page:
            position = known.get(file.key)
            if position and position.mark.partition("|")[0].removeprefix(NOT_ENDED) == file.version:
                self._settle(file)
                continue
            waiting = self._waiting.get(file.key)
            since = waiting.since if waiting and waiting.version == file.version else now
            is_recent = wall_ns - file.changed_ns < self._store.precision_s * 1e9
            yield Task(file, position, is_recent, now - since >= self._settings.settle_s)

    def _report_gone(self, gone: dict[str, tuple[str, int]]) -> None:
        """Report files that were deleted before they were read completely."""
        for key, (path, size) in sorted(gone.items()):
            self._waiting.pop(key, None)
            self._vanished.append((time.monotonic(), f"{path} was deleted before {size} of its bytes were read"))


def _pages(files: Iterator[FoundFile]) -> Iterator[list[FoundFile]]:
    while page := list(islice(files, PAGE)):
        yield page


def error_text(error: OSError) -> str:
    """The message of an error, without secrets."""
    return mask_text(error.strerror or str(error))[:300]
