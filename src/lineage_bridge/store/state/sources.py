"""Stores sources, their states, and their undelivered messages in the state database."""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from lineage_bridge.model.sources import SourceState
from lineage_bridge.ports.sources import OutboxMessage
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.state.database import StateDatabase

_ENCODER = msgspec.json.Encoder()
_SAVE = """INSERT INTO source (name, kind, settings) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, settings = excluded.settings"""
_STATES = msgspec.json.Decoder(SourceState)


class SourceRepository:
    """Stores sources, their states and messages. Implements `ports.SourceRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each source that users added, by name."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, kind, settings FROM source ORDER BY name").fetchall()
        return {name: (kind, json.loads(settings)) for name, kind, settings in rows}

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add a source, or replace its settings."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE, (name, kind, json.dumps(dict(settings))))

    def remove(self, name: str) -> None:
        """Delete a source that a user added, and the state of any source of this name. Its undelivered messages are still delivered."""
        with self._state.transaction() as connection:
            for table in ("source", "source_state"):
                connection.execute(f"DELETE FROM {table} WHERE name = ?", (name,))

    def states(self) -> dict[str, SourceState]:
        """The state of each source, by name."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, state FROM source_state").fetchall()
        return {name: _STATES.decode(state) for name, state in rows}

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume polling of a source; a resumed one is due at once."""
        self._change(name, paused=paused, due_us=None)

    def make_due(self, name: str) -> None:
        """Make a source due for polling at once."""
        self._change(name, due_us=None)

    def snapshot(self, name: str) -> bytes | None:
        """The snapshot of a source's latest poll, as JSON."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT snapshot FROM source_state WHERE name = ?", (name,)).fetchone()
        return zlib.decompress(row[0]) if row and row[0] is not None else None

    def save_poll(self, name: str, state: SourceState, snapshot: bytes | None, messages: Sequence[tuple[str, bytes]]) -> bool:
        """Store the result of a poll: all of it or nothing. If a user paused the source meanwhile, it stays paused."""
        packed = pack(snapshot)
        with self._state.transaction() as connection:
            return write_poll(connection, name, state, packed, messages, polls=state.polls - 1)

    def pending_messages(self, limit: int) -> list[OutboxMessage]:
        """The oldest undelivered messages."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT number, path, body FROM outbox_message ORDER BY number LIMIT ?", (limit,)).fetchall()
        return [OutboxMessage(number, path, bytes(body)) for number, path, body in rows]

    def count_pending(self) -> int:
        """The number of messages that are not delivered yet."""
        with self._state.transaction() as connection:
            return int(connection.execute("SELECT count(*) FROM outbox_message").fetchone()[0])

    def remove_message(self, number: int) -> None:
        """Delete a message that was delivered."""
        with self._state.transaction() as connection:
            connection.execute("DELETE FROM outbox_message WHERE number = ?", (number,))

    def _change(self, name: str, **changes: Any) -> None:  # noqa: ANN401  # members of SourceState
        with self._state.transaction() as connection:
            found = connection.execute("SELECT state FROM source_state WHERE name = ?", (name,)).fetchone()
            state = msgspec.structs.replace(_STATES.decode(found[0]) if found else SourceState(), **changes)
            if found:
                connection.execute("UPDATE source_state SET state = ? WHERE name = ?", (_ENCODER.encode(state), name))
            else:
                connection.execute("INSERT INTO source_state VALUES (?, 0, ?, NULL)", (name, _ENCODER.encode(state)))


def pack(snapshot: bytes | None) -> bytes | None:
    """Encode a snapshot as it is stored."""
    return None if snapshot is None else zlib.compress(snapshot, 1)


def write_poll(
    connection: StoreConnection,
    name: str,
    state: SourceState,
    packed: bytes | None,
    messages: Sequence[tuple[str, bytes]],
    *,
    polls: int,
    begun: bool = False,
) -> bool:
    """Write the result of a poll, in the transaction of the caller. If a user paused the source meanwhile, it stays paused.

    Returns False, and writes nothing, if the stored number of polls of the source is not `polls`. With `begun`, this also happens if no
    part of this poll was written before.
    """
    found = connection.execute("SELECT polls, state FROM source_state WHERE name = ?", (name,)).fetchone()
    if (found[0] if found else 0) != polls or (begun and not found):
        return False
    paused = _STATES.decode(found[1]).paused if found else state.paused
    kept = _ENCODER.encode(msgspec.structs.replace(state, paused=paused))
    if found:
        connection.execute(
            "UPDATE source_state SET polls = ?, state = ?, snapshot = coalesce(?, snapshot) WHERE name = ?",
            (state.polls, kept, packed, name),
        )
    else:
        connection.execute("INSERT INTO source_state VALUES (?, ?, ?, ?)", (name, state.polls, kept, packed))
    connection.executemany(
        "INSERT INTO outbox_message (source, path, body) VALUES (?, ?, ?)", [(name, path, body) for path, body in messages]
    )
    return True
