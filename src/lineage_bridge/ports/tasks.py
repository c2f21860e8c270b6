"""The interfaces of tasks: their stored state, and users' operations on them."""

from collections.abc import Sequence
from typing import Protocol

from lineage_bridge.model.sources import SourceState
from lineage_bridge.model.tasks import ExtractionOptions, TaskFilter, TaskRecord


class TaskRepository(Protocol):
    """Stores tasks and the results of their steps. Safe for many threads at once."""

    def add(self, task: TaskRecord) -> None:
        """Store a new task. If there are then too many tasks, the oldest ended ones are deleted."""

    def record(self, task: str) -> TaskRecord | None:
        """The task with this id; None if there is none."""

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """The tasks that a filter selects, newest first."""

    def save(self, task: TaskRecord) -> None:
        """Store the state of a task."""

    def save_steps(
        self,
        task: TaskRecord,
        state: SourceState,
        snapshot: bytes | None,
        messages: Sequence[tuple[str, bytes]],
        *,
        polls: int,
        begun: bool,
    ) -> bool:
        """Store the result of a task's steps, all or nothing: task, source state, snapshot (None keeps the previous one), messages.

        Returns False, and stores nothing, if the source was removed or polled meanwhile: the stored number of polls must be `polls`, and if
        the task has `begun`, earlier steps of it must be stored.
        """

    def newest_message(self, source: str) -> int:
        """The number of the newest undelivered message of a source; 0 if all were delivered."""

    def count_pending(self, source: str, newest: int) -> int:
        """The number of a source's messages, up to the one numbered `newest`, that are not delivered yet."""

    def mark_interrupted(self, now_us: int) -> None:
        """Mark all unfinished tasks as interrupted, because their process has ended."""


class TaskService(Protocol):
    """Users' operations on tasks. Raises NotFoundError for an unknown task, ConfigError and RequestError for invalid requests."""

    def extract(self, options: ExtractionOptions) -> TaskRecord:
        """Start an extraction."""

    def enrich(self, name: str) -> list[TaskRecord]:
        """Start to read catalogs, each in a separate task. `name` is a source that reads a catalog, or a target whose catalog sources read;
        if it is empty, the catalogs of all sources that are not paused are read.
        """

    def resume(self, task_id: str, credentials: ExtractionOptions) -> TaskRecord:
        """Resume a stopped task. Credentials that came with its request must be sent again; the other options are ignored."""

    def cancel(self, task_id: str) -> TaskRecord:
        """Stop a task soon. The events that it has sent stay."""

    def record(self, task_id: str) -> TaskRecord:
        """A task and its progress."""

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """The tasks that a filter selects, newest first."""
