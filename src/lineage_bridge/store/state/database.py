"""The control store: what is not computed from the log, and therefore outlives every rebuilding of the graph."""

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lineage_bridge.errors import StoreVersionError

KEY_BYTES = 32
MIGRATIONS = (
    "CREATE TABLE installation (one INTEGER PRIMARY KEY CHECK (one = 1), key BLOB NOT NULL)",
    "CREATE TABLE demo_edition (edition TEXT PRIMARY KEY)",
    "CREATE TABLE source (name TEXT PRIMARY KEY, kind TEXT NOT NULL, settings TEXT NOT NULL)",
    "CREATE TABLE source_state (name TEXT PRIMARY KEY, polls INTEGER NOT NULL, state BLOB NOT NULL, snapshot BLOB)",
    "CREATE TABLE source_parcel (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, path TEXT NOT NULL, body BLOB NOT NULL)",
    "CREATE TABLE task (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE, kind TEXT NOT NULL, status TEXT NOT NULL, record BLOB)",
)
"""Step n brings a file from version n, its `user_version`, to n + 1."""


class Control:
    """The control store at `path`, made when it is first opened; safe in many processes and threads at once.

    `fresh` makes that many random bytes. Raises StoreVersionError for a file of a later version.
    """

    def __init__(self, path: Path, fresh: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self.transaction() as connection:
            _migrate(connection, path)
            connection.execute("INSERT OR IGNORE INTO installation VALUES (1, ?)", (fresh(KEY_BYTES),))

    def key(self) -> bytes:
        """The installation's key, made once: node ids are hashed under it."""
        with self.transaction() as connection:
            return bytes(connection.execute("SELECT key FROM installation").fetchone()[0])

    def editions(self) -> list[str]:
        """The editions of the demo that were loaded and not removed, sorted."""
        with self.transaction() as connection:
            return [edition for (edition,) in connection.execute("SELECT edition FROM demo_edition ORDER BY edition")]

    def add_edition(self, edition: str) -> None:
        """Remember that an edition of the demo is being loaded."""
        with self.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO demo_edition VALUES (?)", (edition,))

    def drop_editions(self, editions: list[str]) -> None:
        """Forget editions of the demo that were removed."""
        with self.transaction() as connection:
            connection.executemany("DELETE FROM demo_edition WHERE edition = ?", [(edition,) for edition in editions])

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One transaction that writes; nothing of it is kept if it raises."""
        with closing(sqlite3.connect(self.path, timeout=30, isolation_level=None)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
            connection.execute("COMMIT")


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version > len(MIGRATIONS):
        raise StoreVersionError(
            f"the control store {path} has version {version}, this version knows {len(MIGRATIONS)}",
            "install the version that wrote it",
        )
    for step in MIGRATIONS[version:]:
        connection.execute(step)
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
