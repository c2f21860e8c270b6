"""Stores inputs and their progress in the state database."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from lineage_bridge.graph.record_origin import EventPosition, StreamPartition
from lineage_bridge.ports.inputs import FilePosition
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.state.database import StateDatabase

_SAVE: Final = """INSERT INTO input (name, kind, settings) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, settings = excluded.settings"""
_PAUSE: Final = "INSERT INTO input_state (name, paused) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused"
_LEDGER: Final = "INSERT INTO input_state (name, paused, ledger) VALUES (?, 0, ?) ON CONFLICT (name) DO UPDATE SET ledger = excluded.ledger"
_FILE: Final = """INSERT INTO input_file (name, file_key, stream, life, at, number, mark) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name, file_key) DO UPDATE
SET stream = excluded.stream, life = excluded.life, at = excluded.at, number = excluded.number, mark = excluded.mark"""
_FILES: Final = "SELECT stream, life, at, number, mark FROM input_file WHERE name = ? AND file_key = ?"


class InputRepository:
    """Stores inputs and their progress. Implements `ports.InputRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each input that users added, by name."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, kind, settings FROM input ORDER BY name").fetchall()
        return {name: (kind, json.loads(settings)) for name, kind, settings in rows}

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add an input, or replace its settings."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE, (name, kind, json.dumps(dict(settings))))

    def remove(self, name: str) -> None:
        """Delete an input that a user added. Its progress is kept, so that a later input of the same name continues there."""
        with self._state.transaction() as connection:
            connection.execute("DELETE FROM input WHERE name = ?", (name,))
            connection.execute("UPDATE input_state SET paused = 0 WHERE name = ?", (name,))

    def paused(self) -> frozenset[str]:
        """The names of the paused inputs."""
        with self._state.transaction() as connection:
            return frozenset(name for (name,) in connection.execute("SELECT name FROM input_state WHERE paused <> 0"))

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume an input."""
        with self._state.transaction() as connection:
            connection.execute(_PAUSE, (name, int(paused)))

    def ledgers(self) -> dict[str, bytes]:
        """The last saved positions and counts of each input, by name."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, ledger FROM input_state WHERE ledger IS NOT NULL").fetchall()
        return {name: bytes(ledger) for name, ledger in rows}

    def save_ledger(self, name: str, ledger: bytes, files: Sequence[FilePosition] = (), *, replaces: bool = False) -> None:
        """Save positions and counts of an input, and the positions of changed files. With `replaces`, the positions of all other files are
        deleted.
        """
        with self._state.transaction() as connection:
            _save_files(connection, name, files, replaces=replaces)
            connection.execute(_LEDGER, (name, ledger))

    def file_positions(self, name: str, keys: Sequence[str]) -> list[FilePosition]:
        """The saved positions of files with these keys, at most one for each key."""
        with self._state.transaction() as connection:
            rows = [row for key in keys for row in connection.execute(_FILES, (name, key))]
        return [FilePosition(StreamPartition(stream, life, ""), EventPosition(at, number), mark) for stream, life, at, number, mark in rows]

    def save_files(self, name: str, files: Sequence[FilePosition], *, replaces: bool) -> None:
        """Save only the positions of files, in the way of `save_ledger`."""
        with self._state.transaction() as connection:
            _save_files(connection, name, files, replaces=replaces)


def _save_files(connection: StoreConnection, name: str, files: Sequence[FilePosition], *, replaces: bool) -> None:
    if replaces:
        connection.execute("DELETE FROM input_file WHERE name = ?", (name,))
    rows = [(name, where.file_key, where.stream, where.life, *position, mark) for where, position, mark in files]
    connection.executemany(_FILE, rows)
