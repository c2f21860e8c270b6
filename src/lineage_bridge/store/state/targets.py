"""Stores targets, and what was published to them, in the state database."""

import json
from collections.abc import Iterable, Mapping
from typing import Any, Final

import msgspec

from lineage_bridge.ports.targets import LedgerEntry, PublicationReport
from lineage_bridge.store.state.database import StateDatabase

_SAVE: Final = """INSERT INTO target (name, kind, settings) VALUES (?, ?, ?)
ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, settings = excluded.settings"""
_PAUSE: Final = "INSERT INTO target_state (name, paused) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET paused = excluded.paused"
_REPORT: Final = (
    "INSERT INTO target_state (name, paused, report) VALUES (?, 0, ?) ON CONFLICT (name) DO UPDATE SET report = excluded.report"
)
_COLUMNS: Final = "key, state, ours, fingerprint, visible, revision, changed_us, detail"
_CHANGED: Final = ", ".join(f"{column} = excluded.{column}" for column in _COLUMNS.split(", ")[1:])
# The column `place` contains the destination.
_RECORD: Final = f"""INSERT INTO published (place, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (place, key) DO UPDATE SET {_CHANGED}"""
_DECODER: Final = msgspec.json.Decoder(PublicationReport)


class TargetRepository:
    """Stores targets and their reports. Implements `ports.TargetRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def added(self) -> dict[str, tuple[str, dict[str, Any]]]:
        """The kind and settings of each target that users added, by name."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT name, kind, settings FROM target ORDER BY name").fetchall()
        return {name: (kind, json.loads(settings)) for name, kind, settings in rows}

    def save(self, name: str, kind: str, settings: Mapping[str, Any]) -> None:
        """Add a target, or replace its settings."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE, (name, kind, json.dumps(dict(settings))))

    def remove(self, name: str) -> None:
        """Delete a target that a user added, its last reports, and how far it follows the change feed."""
        with self._state.transaction() as connection:
            connection.execute("DELETE FROM target WHERE name = ?", (name,))
            connection.execute("DELETE FROM target_state WHERE name = ?", (name,))
            connection.execute("DELETE FROM target_feed WHERE name = ?", (name,))

    def paused(self) -> frozenset[str]:
        """The names of the paused targets."""
        with self._state.transaction() as connection:
            return frozenset(name for (name,) in connection.execute("SELECT name FROM target_state WHERE paused <> 0"))

    def pause(self, name: str, *, paused: bool) -> None:
        """Pause or resume a target."""
        with self._state.transaction() as connection:
            connection.execute(_PAUSE, (name, int(paused)))

    def report(self, name: str) -> PublicationReport | None:
        """The report of a target's last plan or publication; None before the first."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT report FROM target_state WHERE name = ?", (name,)).fetchone()
        return _DECODER.decode(row[0]) if row and row[0] else None

    def save_report(self, name: str, report: PublicationReport) -> None:
        """Replace the report of a target."""
        with self._state.transaction() as connection:
            connection.execute(_REPORT, (name, msgspec.json.encode(report)))


class PublicationLedger:
    """Stores what was published to destinations. Implements `ports.PublicationLedger`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def entries(self, destination: str) -> dict[str, LedgerEntry]:
        """All entries of a destination, by key."""
        with self._state.transaction() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM published WHERE place = ?", (destination,)).fetchall()
        return {row[0]: _entry(row) for row in rows}

    def page(self, destination: str, after: str, limit: int) -> list[LedgerEntry]:
        """A page of a destination's entries after a key, sorted by key."""
        sql = f"SELECT {_COLUMNS} FROM published WHERE place = ? AND key > ? ORDER BY key LIMIT ?"
        with self._state.transaction() as connection:
            return [_entry(row) for row in connection.execute(sql, (destination, after, limit)).fetchall()]

    def counts(self, destination: str) -> dict[str, int]:
        """The number of a destination's entries in each state."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT state, count(*) FROM published WHERE place = ? GROUP BY state ORDER BY state", (destination,))
            return dict(rows.fetchall())

    def record(self, destination: str, entries: Iterable[LedgerEntry], forgotten: Iterable[str] = ()) -> None:
        """Store some entries and delete those with the keys in `forgotten`, in one transaction."""
        with self._state.transaction() as connection:
            connection.executemany(_RECORD, [(destination, *entry) for entry in entries])
            connection.executemany("DELETE FROM published WHERE place = ? AND key = ?", [(destination, key) for key in forgotten])


def _entry(row: tuple[Any, ...]) -> LedgerEntry:
    key, state, ours, *rest = row
    return LedgerEntry(key, state, bool(ours), *rest)
