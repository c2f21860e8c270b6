"""Stores the audit trail in the state database."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from lineage_bridge.model.audit import NO_ENTRIES, AuditEntry, AuditHead, Change
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.state.database import StateDatabase

_COLUMNS: Final = "sequence, at_us, action, principal, origin, target, details, salt, commitment, digest"
_PORTION: Final = 1000


class AuditRepository:
    """Stores the audit trail in the state database. Implements `ports.AuditRepository`."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def append(self, make: Callable[[AuditHead], AuditEntry]) -> AuditEntry:
        """Store the entry that `make` returns for the current head."""
        with self._state.transaction() as connection:
            return _append(connection, make)

    def head(self) -> AuditHead:
        """The number and digest of the last entry."""
        with self._state.transaction() as connection:
            return _head(connection)

    def newest(self, limit: int, below: int | None = None, principal: str | None = None, action: str | None = None) -> list[AuditEntry]:
        """A page of entries of the audit trail, newest first."""
        sql = (
            f"SELECT {_COLUMNS} FROM audit WHERE (? IS NULL OR sequence < ?) AND (? IS NULL OR principal = ?)"
            " AND (? IS NULL OR action = ?) ORDER BY sequence DESC LIMIT ?"
        )
        values = (below, below, principal, principal, action, action, limit)
        with self._state.transaction() as connection:
            return [_entry(row) for row in connection.execute(sql, values).fetchall()]

    def all(self) -> Iterator[AuditEntry]:
        """All entries of the audit trail, oldest first, read in portions."""
        after = 0
        while True:
            with self._state.transaction() as connection:
                rows = connection.execute(
                    f"SELECT {_COLUMNS} FROM audit WHERE sequence > ? ORDER BY sequence LIMIT ?", (after, _PORTION)
                ).fetchall()
            yield from map(_entry, rows)
            if len(rows) < _PORTION:
                return
            after = rows[-1][0]

    def erase(self, is_erased: Callable[[Change], bool], make: Callable[[AuditHead], AuditEntry]) -> tuple[int, AuditEntry]:
        """Erase the content of entries and append the entry that records the erasure, in one transaction. Returns how many entries were
        erased, and the new entry.
        """
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT sequence, principal, origin, action, target, details FROM audit WHERE salt IS NOT NULL")
            erased = [(row[0],) for row in rows if is_erased(Change(*row[1:]))]
            connection.executemany(
                "UPDATE audit SET principal = NULL, origin = NULL, target = NULL, details = NULL, salt = NULL WHERE sequence = ?", erased
            )
            return len(erased), _append(connection, make)

    def overwrite(self) -> None:
        """Overwrite erased content in the database's files. Raises StoreError if that is impossible at the moment."""
        self._state.compact()


def _append(connection: StoreConnection, make: Callable[[AuditHead], AuditEntry]) -> AuditEntry:
    entry = make(_head(connection))
    principal, origin, _, target, details = entry.change or ("", "", "", "", "")
    values = (*entry[:3], principal, origin, target, details, entry.salt, entry.commitment, entry.digest)
    connection.execute(f"INSERT INTO audit ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
    return entry


def _head(connection: StoreConnection) -> AuditHead:
    row = connection.execute("SELECT sequence, digest FROM audit ORDER BY sequence DESC LIMIT 1").fetchone()
    return AuditHead(row[0], bytes(row[1])) if row else NO_ENTRIES


def _entry(row: Sequence[Any]) -> AuditEntry:
    sequence, at_us, action, principal, origin, target, details, salt, commitment, digest = row
    change = None if salt is None else Change(principal, origin, action, target, details)
    return AuditEntry(sequence, at_us, action, change, bytes(salt or b""), bytes(commitment), bytes(digest))
