"""Stores the reports of erasures in the state database, and erases in its other tables."""

import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Final

import msgspec

from lineage_bridge.errors import NotFoundError
from lineage_bridge.model.erasing.erasure import ErasureReport, FileCounts
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.state.database import StateDatabase

_ENCODER = msgspec.json.Encoder()
_REPORTS = msgspec.json.Decoder(ErasureReport)
_SAVE: Final = "INSERT INTO erasure (id, report) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET report = excluded.report"
_SAVE_FILE: Final = """INSERT INTO erasure_file (erasure, path, erased, masked) VALUES (?, ?, ?, ?)
ON CONFLICT (erasure, path) DO UPDATE SET erased = max(erased, excluded.erased), masked = max(masked, excluded.masked)"""

_DELETED: Final = {
    "pin": ("id", ("address", "name", "author")),
    "browser_session": ("digest", ("principal", "roles")),
    "api_key": ("id", ("name",)),
    "task": ("number", ("record",)),
    "outbox_message": ("number", ("body",)),
}
"""Tables whose rows are deleted if they contain what is erased: the key, and the columns that are searched."""
_MASKED: Final = {
    "api_key": ("id", ("namespaces", "note", "created_by")),
    "source_state": ("name", ("state",)),
    "input_state": ("name", ("ledger",)),
    "target_state": ("name", ("report",)),
    "target_feed": ("name", ("report",)),
}
"""Tables that keep their rows, with the columns in which what is erased is masked; so do the reports of erasures."""
_KEPT: Final = {
    "source": ("name", ("name", "settings")),
    "input": ("name", ("name", "settings")),
    "target": ("name", ("name", "settings")),
    "published": ("place", ("place", "key", "state", "visible", "detail")),
    "target_feed": ("name", ("state",)),
    "input_file": ("file_key", ("file_key", "stream")),
}
"""Tables that only an operator can change, with the columns that are searched."""
IsIn = Callable[[bytes], bool]
Mask = Callable[[bytes], bytes]
"""Masks what is erased in a text or in JSON, which can be read afterwards as before."""


class ErasureRepository:
    """Stores the reports of erasures. Safe for many processes and threads at once."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def save(self, report: ErasureReport) -> None:
        """Store a report; the counts of its files are stored by `count_file`."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE, (report.id, _ENCODER.encode(msgspec.structs.replace(report, files={}))))

    def count_file(self, erasure: str, path: str, counts: FileCounts) -> None:
        """Store what an erasure changes in a file. If an interrupted erasure is repeated and finds less, the earlier counts stay."""
        with self._state.transaction() as connection:
            connection.execute(_SAVE_FILE, (erasure, path, counts.erased, counts.masked))

    def record(self, erasure: str) -> ErasureReport:
        """The report of an erasure, by its id. Raises NotFoundError."""
        with self._state.transaction() as connection:
            row = connection.execute("SELECT report FROM erasure WHERE id = ?", (erasure,)).fetchone()
            if row is None:
                raise NotFoundError(f"there is no erasure {erasure!r}", "lineage-bridge erase list names them")
            return _with_files(connection, row[0])

    def records(self, limit: int = 100, offset: int = 0) -> list[ErasureReport]:
        """The reports of all erasures, the newest first."""
        with self._state.transaction() as connection:
            rows = connection.execute("SELECT report FROM erasure ORDER BY number DESC LIMIT ? OFFSET ?", (limit, offset)).fetchall()
            return [_with_files(connection, report) for (report,) in rows]


def erase_rows(state: StateDatabase, is_in: IsIn, mask: Mask, *, dry_run: bool) -> dict[str, int]:
    """Delete or mask what contains a person's identifier, in one transaction. Returns how many rows were changed, by table; with
    `dry_run`, how many would be.

    API keys and sessions that are named after the person end. What sources have read before is forgotten, so they send everything once
    more. The audit trail is not changed.
    """
    counts: dict[str, int] = {}
    with state.transaction() as connection:
        for table, (key, columns) in _DELETED.items():
            found = _rows_with(connection, table, key, columns, is_in)
            counts[table] = len(found)
            if not dry_run:
                connection.executemany(f"DELETE FROM {table} WHERE {key} = ?", [row[:1] for row in found])
        for name in _snapshots_with(connection, is_in):
            counts["source_state"] = counts.get("source_state", 0) + 1
            if not dry_run:
                connection.execute("UPDATE source_state SET snapshot = NULL WHERE name = ?", (name,))
        for table, (key, columns) in _MASKED.items():
            found = [
                (*masked, row[0])
                for row in _rows_with(connection, table, key, columns, is_in)
                if (masked := tuple(_masked(value, mask) for value in row[1:])) != row[1:]
            ]
            counts[table] = counts.get(table, 0) + len(found)
            if not dry_run:
                sets = ", ".join(f"{column} = ?" for column in columns)
                connection.executemany(f"UPDATE {table} SET {sets} WHERE {key} = ?", found)
        counts["erasure"] = _mask_reports(connection, mask, dry_run=dry_run)
    return {table: count for table, count in sorted(counts.items()) if count}


def drop_messages(state: StateDatabase, is_in: IsIn, *, dry_run: bool) -> dict[str, int]:
    """Delete the messages of sources that were not delivered yet and contain what is erased. Returns how many, as `erase_rows` does."""
    key, columns = _DELETED["outbox_message"]
    with state.transaction() as connection:
        found = _rows_with(connection, "outbox_message", key, columns, is_in)
        if not dry_run:
            connection.executemany("DELETE FROM outbox_message WHERE number = ?", [row[:1] for row in found])
    return {"outbox_message": len(found)} if found else {}


def rows_left(state: StateDatabase, is_in: IsIn) -> dict[str, int]:
    """How many rows still contain what is erased, by table, because only an operator can change them."""
    with state.transaction() as connection:
        counts = {table: len(_rows_with(connection, table, *searched, is_in)) for table, searched in _KEPT.items()}
    return {table: count for table, count in sorted(counts.items()) if count}


def _mask_reports(connection: StoreConnection, mask: Mask, *, dry_run: bool) -> int:
    """Mask who requested erasures, and where what they erased is left. Returns how many reports are changed."""
    count = 0
    for id_, stored in connection.execute("SELECT id, report FROM erasure").fetchall():
        report = _REPORTS.decode(stored)
        masked = msgspec.structs.replace(
            report,
            requested_by=_masked_text(report.requested_by, mask),
            error=_masked_text(report.error, mask),
            removed=[_masked_text(path, mask) for path in report.removed],
            left=[_masked_text(path, mask) for path in report.left],
        )
        count += masked != report
        if masked != report and not dry_run:
            connection.execute("UPDATE erasure SET report = ? WHERE id = ?", (_ENCODER.encode(masked), id_))
    return count


def _rows_with(connection: StoreConnection, table: str, key: str, columns: Sequence[str], is_in: IsIn) -> list[tuple[Any, ...]]:
    rows = connection.execute(f"SELECT {key}, {', '.join(columns)} FROM {table}")
    return [row for row in rows if any(is_in(_bytes(value)) for value in row[1:] if value is not None)]


def _snapshots_with(connection: StoreConnection, is_in: IsIn) -> list[str]:
    found = []
    for name, snapshot in connection.execute("SELECT name, snapshot FROM source_state WHERE snapshot IS NOT NULL"):
        with suppress(zlib.error):
            if is_in(zlib.decompress(snapshot)):
                found.append(name)
    return found


def _bytes(value: str | bytes) -> bytes:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else bytes(value)


def _masked(value: str | bytes | None, mask: Mask) -> str | bytes | None:
    if value is None:
        return None
    return _masked_text(value, mask) if isinstance(value, str) else mask(bytes(value))


def _masked_text(text: str, mask: Mask) -> str:
    return mask(_bytes(text)).decode("utf-8", "surrogatepass")


def _with_files(connection: StoreConnection, report: bytes) -> ErasureReport:
    found = _REPORTS.decode(report)
    rows = connection.execute("SELECT path, erased, masked FROM erasure_file WHERE erasure = ? ORDER BY path", (found.id,)).fetchall()
    return msgspec.structs.replace(found, files={path: FileCounts(erased, masked) for path, erased, masked in rows})
