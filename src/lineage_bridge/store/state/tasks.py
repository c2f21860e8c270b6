"""Stores tasks and the results of their steps in the state database."""

from collections.abc import Sequence

import msgspec

from lineage_bridge.model.sources import SourceState
from lineage_bridge.model.tasks import FAILED, PENDING, RUNNING, TaskFilter, TaskRecord
from lineage_bridge.store.state.database import StateDatabase
from lineage_bridge.store.state.sources import pack, write_poll

MOST_KEPT = 500
"""The maximum number of tasks that are stored."""
_ENCODER = msgspec.json.Encoder()
_RECORDS = msgspec.json.Decoder(TaskRecord)


class TaskRepository:
    """Implements `ports.TaskRepository`. Keeps the newest `most_kept` tasks, and all tasks that have not ended."""

    def __init__(self, state: StateDatabase, most_kept: int = MOST_KEPT) -> None:
        self._state, self._most_kept = state, most_kept

    def add(self, task: TaskRecord) -> None:
        """Store a new task. If there are then more than `most_kept` tasks, the oldest ended tasks are deleted."""
        with self._state.transaction() as connection:
            connection.execute(
                "INSERT INTO task (id, kind, status, record) VALUES (?, ?, ?, ?)", (task.id, task.kind, task.status, _ENCODER.encode(task))
            )
            connection.execute(
                "DELETE FROM task WHERE number <= (SELECT max(number) FROM task) - ? AND status NOT IN (?, ?)",
                (self._most_kept, PENDING, RUNNING),
            )

    def record(self, task: str) -> TaskRecord | None:
        """The task with this id. None if there is none."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT record FROM task WHERE id = ?", (task,)).fetchone()
        return _RECORDS.decode(row[0]) if row else None

    def records(self, which: TaskFilter) -> list[TaskRecord]:
        """The tasks that a filter selects, newest first."""
        with self._state.transaction() as connection:
            rows = connection.execute(
                "SELECT record FROM task WHERE ? IN ('', kind) AND ? IN ('', status) ORDER BY number DESC LIMIT ? OFFSET ?", which
            ).fetchall()
        return [_RECORDS.decode(record) for (record,) in rows]

    def save(self, task: TaskRecord) -> None:
        """Store the state of a task."""
        with self._state.transaction() as connection:
            connection.execute("UPDATE task SET status = ?, record = ? WHERE id = ?", (task.status, _ENCODER.encode(task), task.id))

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
        """Store the result of a task's steps, all or nothing."""
        packed = pack(snapshot)
        with self._state.transaction() as connection:
            if not write_poll(connection, task.source, state, packed, messages, polls=polls, begun=begun):
                return False
            connection.execute("UPDATE task SET status = ?, record = ? WHERE id = ?", (task.status, _ENCODER.encode(task), task.id))
        return True

    def newest_message(self, source: str) -> int:
        """The number of the newest undelivered message of a source; 0 if all were delivered."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT max(number) FROM outbox_message WHERE source = ?", (source,)).fetchone()
        return int(row[0] or 0)

    def count_pending(self, source: str, newest: int) -> int:
        """The number of a source's messages, up to the one numbered `newest`, that are not delivered yet."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT count(*) FROM outbox_message WHERE source = ? AND number <= ?", (source, newest)).fetchone()
        return int(row[0])

    def mark_interrupted(self, now_us: int) -> None:
        """Mark all unfinished tasks as interrupted, because their process has ended."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT record FROM task WHERE status IN (?, ?)", (PENDING, RUNNING)).fetchall()
            for (row,) in rows:
                task = msgspec.structs.replace(_RECORDS.decode(row), status=FAILED, error="interrupted", interrupted=True, ended_us=now_us)
                connection.execute("UPDATE task SET status = ?, record = ? WHERE id = ?", (task.status, _ENCODER.encode(task), task.id))
