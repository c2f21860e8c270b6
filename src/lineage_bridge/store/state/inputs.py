"""Inputs, and where they have got to: in the state database."""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from lineage_bridge.errors import StoreError
from lineage_bridge.store.state.database import StateDatabase

_SAVE: Final = """INSERT INTO input (name, kind, settings) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, settings = excluded.settings"""
_PAUSE: Final = "INSERT INTO input_state (name, paused) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused"
_LEDGER: Final = "INSERT INTO input_state (name, paused, ledger) VALUES (?, 0, ?) ON CONFLICT (name) DO UPDATE SET ledger = excluded.ledger"


@contextmanager
def _reported() -> Iterator[None]:
    """Raise StoreError where the database cannot be read: it was removed, or another process holds it."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise StoreError(f"the inputs in the state database cannot be read: {error}") from error


class InputRepository:
    """Implements `ports.InputRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """Name to kind and settings of the inputs that users added."""
        with _reported(), self._state.transaction() as connection:
            rows = connection.execute("SELECT name, kind, settings FROM input ORDER BY name").fetchall()
        return {name: (kind, json.loads(settings)) for name, kind, settings in rows}

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add an input, or replace its settings."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE, (name, kind, json.dumps(dict(settings))))

    def remove(self, name: str) -> None:
        """Delete an input that a user added. Where it had got to stays: one of the same name goes on there."""
        with self._state.transaction() as connection:
            connection.execute("DELETE FROM input WHERE name = ?", (name,))
            connection.execute("UPDATE input_state SET paused = 0 WHERE name = ?", (name,))

    def paused(self) -> frozenset[str]:
        """The names of the paused inputs."""
        with _reported(), self._state.transaction() as connection:
            return frozenset(name for (name,) in connection.execute("SELECT name FROM input_state WHERE paused <> 0"))

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume an input."""
        with self._state.transaction() as connection:
            connection.execute(_PAUSE, (name, int(paused)))

    def ledgers(self) -> dict[str, bytes]:
        """Name to what was last saved of an input's positions and counts."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, ledger FROM input_state WHERE ledger IS NOT NULL").fetchall()
        return {name: bytes(ledger) for name, ledger in rows}

    def save_ledger(self, name: str, ledger: bytes) -> None:
        """Save positions and counts of an input."""
        with self._state.transaction() as connection:
            connection.execute(_LEDGER, (name, ledger))
