"""Stores API keys in the state database. Of a key's secret, only a digest is stored."""

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from lineage_bridge.model.access import AccessScope, ApiKey
from lineage_bridge.store.damage import damage_reported
from lineage_bridge.store.state.database import BUSY_S, StateDatabase

_COLUMNS: Final = "id, name, digest, scopes, namespaces, note, created_us, created_by, expires_us, revoked_us, used_us"
_ALL: Final = f"SELECT {_COLUMNS} FROM api_key ORDER BY name, created_us, id"
_ADD: Final = f"INSERT INTO api_key ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_BUSY: Final = 5
"""SQLite's error code SQLITE_BUSY."""
_ACTIVE: Final = "name = ? AND revoked_us IS NULL AND (expires_us IS NULL OR expires_us > ?)"


class ApiKeyRepository:
    """Stores API keys. Implements `ports.KeyRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def records(self) -> list[ApiKey]:
        """All API keys, including expired and revoked ones."""
        with self._state.transaction() as connection:
            return [_key(row) for row in connection.execute(_ALL).fetchall()]

    def add(self, key: ApiKey, expire_others_us: int | None = None) -> bool:
        """Store an API key. If `expire_others_us` is given, other keys of the same name expire then. Returns whether the key was stored."""
        with self._state.transaction() as connection:
            found = connection.execute(f"SELECT 1 FROM api_key WHERE {_ACTIVE}", (key.name, key.created_us)).fetchone()
            if (found is not None) != (expire_others_us is not None):
                return False
            connection.execute(
                f"UPDATE api_key SET expires_us = min(coalesce(expires_us, ?), ?) WHERE {_ACTIVE}",
                (expire_others_us, expire_others_us, key.name, key.created_us),
            )
            connection.execute(_ADD, _row(key))
        return True

    def revoke(self, name: str, now_us: int) -> int:
        """Revoke the keys with this name or id. Returns how many of them were not revoked before."""
        with self._state.transaction() as connection:
            sql = "UPDATE api_key SET revoked_us = ? WHERE (name = ? OR id = ?) AND revoked_us IS NULL"
            return connection.execute(sql, (now_us, name, name)).rowcount

    def note_uses(self, uses: Mapping[str, int]) -> None:
        """Store when keys were last used."""
        with self._state.transaction() as connection:
            connection.executemany("UPDATE api_key SET used_us = ? WHERE id = ?", [(used_us, id_) for id_, used_us in sorted(uses.items())])


class WatchedKeys:
    """Implements `ports.KeyChanges`. Keeps a connection open, because SQLite tells an open connection whether another one has changed the
    file.

    Only the first call may wait for a process that writes to the file.
    """

    def __init__(self, state: StateDatabase) -> None:
        self._path = state.path
        self._connection = sqlite3.connect(state.path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
        self._version: int | None = None
        self._lock = threading.Lock()

    def changed_keys(self) -> Sequence[ApiKey] | None:
        """All keys if the file has changed since the last call, else None."""
        with self._lock, damage_reported(self._path):
            try:
                (version,) = self._connection.execute("PRAGMA data_version").fetchone()
                if version == self._version:
                    return None
                keys = [_key(row) for row in self._connection.execute(_ALL)]
            except sqlite3.OperationalError as error:
                # Another connection is writing: its changes are not committed yet. In Python 3.10, errors have no code.
                if getattr(error, "sqlite_errorcode", _BUSY) == _BUSY and self._version is not None:
                    return None
                raise
            if self._version is None:
                self._connection.execute("PRAGMA busy_timeout = 0")
            self._version = version
            return keys

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _key(row: Sequence[Any]) -> ApiKey:
    id_, name, digest, scopes, limits, *rest = row
    namespaces, teams = _limits(json.loads(limits))
    key = ApiKey(id_, name, bytes(digest), frozenset(map(AccessScope, scopes.split())), namespaces, *rest)
    return replace(key, teams=teams) if teams else key


def _limits(stored: list[str] | dict[str, list[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Decode the limits of a key, stored as an object with namespaces and teams, or as a list of namespaces for keys without teams."""
    if isinstance(stored, list):
        return tuple(stored), ()
    return tuple(stored["namespaces"]), tuple(stored["teams"])


def _row(key: ApiKey) -> tuple[Any, ...]:
    limits = {"namespaces": key.namespaces, "teams": key.teams} if key.teams else key.namespaces
    scopes, namespaces = " ".join(sorted(key.scopes)), json.dumps(limits)
    times = (key.expires_us, key.revoked_us, key.used_us)
    return (key.id, key.name, key.digest, scopes, namespaces, key.note, key.created_us, key.created_by, *times)
