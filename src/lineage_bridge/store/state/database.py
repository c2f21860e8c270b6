"""The state database: what is not computed from the log, and therefore outlives every rebuild of the graph."""

import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from lineage_bridge.errors import StoreDamagedError, StoreError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import copy_database, damage_reported, is_sound
from lineage_bridge.store.migration import Schema, migrate, version

KEY_BYTES = 32
STATE = Schema("state database", Path(__file__).parent / "migrations", "0011")
BUSY_S = 30
"""How many seconds to wait for the locks of other connections."""
EARLIER_NAME = "control.db"
"""The name of the file in earlier versions."""
RESTORE = "lineage-bridge restore --state"
"""The command that restores the last copy of the database."""


class StateDatabase:
    """The state database at `path`, created when it is first opened. Safe in many processes and threads at once.

    `random_bytes` makes the installation's key. Raises StoreVersionError for a file of a later version, StoreDamagedError for a damaged
    file. Also raises StoreDamagedError if the file is missing but a copy of it exists: a new, empty file would soon replace the copy.
    """

    def __init__(self, path: Path, random_bytes: Callable[[int], bytes] = secrets.token_bytes) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        if _is_lost(path):
            raise StoreDamagedError(
                f"the database {path} is missing, but its last copy {copy_of(path)} is there",
                f"stop the server, then restore the copy: {RESTORE}; to begin without it, move the copy away",
            )
        try:
            if version(path) != STATE.version:
                _carry_over(path.with_name(EARLIER_NAME), path)
                migrate(path, STATE)
        except StoreDamagedError as error:
            raise StoreDamagedError(
                str(error), f"stop the server, then restore the copy that was made when it last started: {RESTORE}"
            ) from error
        with self.transaction() as connection:
            connection.execute("INSERT INTO installation (one, key) VALUES (1, ?) ON CONFLICT DO NOTHING", (random_bytes(KEY_BYTES),))

    def copy_to(self, copy: Path) -> bool:
        """Copy the database into a file, which is replaced as a whole. Returns False, without copying, if the database is damaged."""
        if not is_sound(self.path):
            return False
        copy_database(self.path, copy)
        return True

    def compact(self) -> None:
        """Rewrite the database file, so that neither it nor the files that SQLite keeps beside it contain deleted content. Raises
        StoreError if another program uses it.
        """
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)) as raw, damage_reported(self.path):
                raw.execute("VACUUM")
                is_busy, _, _ = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.OperationalError as error:
            raise StoreError(f"the state database cannot be compacted: {error}", "try again when fewer programs use it") from error
        if is_busy:
            raise StoreError("the state database cannot be compacted: it is being read", "try again when fewer programs use it")

    def key(self) -> bytes:
        """The installation's key, with which node ids are hashed. It is created once."""
        with self.transaction() as connection:
            return bytes(connection.execute("SELECT key FROM installation").fetchone()[0])

    def editions(self) -> list[str]:
        """The editions of the demo that were loaded and not removed, sorted. Each time the demo is loaded, its runs get new ids: a new
        edition.
        """
        with self.transaction() as connection:
            return [edition for (edition,) in connection.execute("SELECT edition FROM demo_edition ORDER BY edition")]

    def add_edition(self, edition: str) -> None:
        """Record that an edition of the demo is being loaded."""
        with self.transaction() as connection:
            connection.execute("INSERT INTO demo_edition (edition) VALUES (?) ON CONFLICT DO NOTHING", (edition,))

    def drop_editions(self, editions: list[str]) -> None:
        """Delete the records of editions of the demo that were removed."""
        with self.transaction() as connection:
            connection.executemany("DELETE FROM demo_edition WHERE edition = ?", [(edition,) for edition in editions])

    @contextmanager
    def transaction(self) -> Iterator[StoreConnection]:
        """Run a transaction that writes; it is rolled back if the block raises.

        Raises StoreError if the database cannot be used: it was removed, the disk fails, or another process holds the lock.
        """
        try:
            with closing(sqlite3.connect(self.path, timeout=BUSY_S, isolation_level=None)) as raw, damage_reported(self.path):
                connection = StoreConnection(raw)
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
        except sqlite3.OperationalError as error:
            raise StoreError(
                f"the state database cannot be used: {error}", "check that the disk is not full and that the file can be written"
            ) from error


def copy_of(path: Path) -> Path:
    """The file with the last intact copy of a state database."""
    return path.with_name(f"{path.name}.copy")


def _is_lost(path: Path) -> bool:
    return not path.exists() and not path.with_name(EARLIER_NAME).exists() and copy_of(path).exists()


@retry(retry=retry_if_exception_type(sqlite3.OperationalError), stop=stop_after_delay(BUSY_S), wait=wait_fixed(0.05), reraise=True)
def _carry_over(earlier: Path, path: Path) -> None:
    """Rename the file of an earlier version, unless there is a file with the new name already.

    Only the renaming itself changes the state, and it is atomic. Before it, SQLite's write-ahead log is written into the file. SQLite
    refuses to write the log into the file while another connection is open, so this is tried again for a while.
    """
    if path.exists() or not earlier.exists():
        return
    with (
        suppress(FileNotFoundError),
        closing(sqlite3.connect(f"{earlier.absolute().as_uri()}?mode=rw", uri=True, timeout=BUSY_S, isolation_level=None)) as old,
    ):
        old.execute("PRAGMA journal_mode = DELETE")
        old.execute("BEGIN EXCLUSIVE")
        if not path.exists():
            earlier.rename(path)
        old.execute("ROLLBACK")
