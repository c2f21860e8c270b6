"""Stores sessions of browsers in the state database. Of a session's cookie, only a digest is stored."""

import json
from collections.abc import Collection, Mapping
from typing import Final

from lineage_bridge.model.access import BrowserSession, LoginIdentity
from lineage_bridge.store.state.database import StateDatabase

_COLUMNS: Final = "digest, principal, issuer, roles, created_us, used_us, expires_us"


class BrowserSessionRepository:
    """Stores sessions of browsers. Implements `ports.SessionRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def records(self) -> list[BrowserSession]:
        """All sessions, oldest first."""
        with self._state.transaction() as connection:
            rows = connection.execute(f"SELECT {_COLUMNS} FROM browser_session ORDER BY created_us, digest").fetchall()
        return [
            BrowserSession(bytes(digest), LoginIdentity(principal, issuer, tuple(json.loads(roles))), *times)
            for digest, principal, issuer, roles, *times in rows
        ]

    def replace(self, ended: Collection[bytes], session: BrowserSession | None = None) -> None:
        """Delete sessions, and store a new one."""
        with self._state.transaction() as connection:
            connection.executemany("DELETE FROM browser_session WHERE digest = ?", [(digest,) for digest in sorted(ended)])
            if session:
                who, times = session.identity, (session.created_us, session.used_us, session.expires_us)
                values = (session.digest, who.principal, who.issuer, json.dumps(who.roles), *times)
                connection.execute(f"INSERT INTO browser_session ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def note_uses(self, uses: Mapping[bytes, int]) -> None:
        """Store when sessions were last used."""
        with self._state.transaction() as connection:
            values = [(used_us, digest) for digest, used_us in sorted(uses.items())]
            connection.executemany("UPDATE browser_session SET used_us = ? WHERE digest = ?", values)
