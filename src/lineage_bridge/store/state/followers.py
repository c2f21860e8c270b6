"""Stores how far targets follow the change feed, in the state database."""

from typing import Final

import msgspec

from lineage_bridge.ports.continuous import FollowState
from lineage_bridge.ports.targets import PublicationReport
from lineage_bridge.store.state.database import StateDatabase

_BEGIN: Final = "INSERT INTO target_feed (name, state) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET state = excluded.state"
_ADVANCE: Final = "UPDATE target_feed SET state = ? WHERE name = ? RETURNING name"
_STATE: Final = msgspec.json.Decoder(FollowState)
_REPORT: Final = msgspec.json.Decoder(PublicationReport)


class FollowRepository:
    """Stores how far targets follow the change feed. Implements `ports.FollowRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def state(self, name: str) -> FollowState | None:
        """How far a target has followed the change feed; None if it does not follow it yet."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT state FROM target_feed WHERE name = ?", (name,)).fetchone()
        return _STATE.decode(row[0]) if row else None

    def begin(self, name: str, state: FollowState) -> None:
        """Store the first state of a target, or replace it."""
        with self._state.transaction() as connection:
            connection.execute(_BEGIN, (name, msgspec.json.encode(state)))

    def advance(self, name: str, state: FollowState) -> bool:
        """Replace the state of a target. Returns False, and stores nothing, if it no longer follows the change feed."""
        with self._state.transaction() as connection:
            return bool(connection.execute(_ADVANCE, (msgspec.json.encode(state), name)).fetchall())

    def report(self, name: str) -> PublicationReport | None:
        """The report of a target's last continuous publication; None before the first."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT report FROM target_feed WHERE name = ?", (name,)).fetchone()
        return _REPORT.decode(row[0]) if row and row[0] else None

    def save_report(self, name: str, report: PublicationReport) -> None:
        """Replace the report of a target that follows."""
        with self._state.transaction() as connection:
            connection.execute("UPDATE target_feed SET report = ? WHERE name = ?", (msgspec.json.encode(report), name))
