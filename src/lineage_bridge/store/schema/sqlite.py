"""Opens SQLite connections to the graph store."""

import logging
import sqlite3
from collections.abc import Callable
from pathlib import Path

from lineage_bridge.errors import StoreError, StoreMissingError, StoreVersionError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import damage_reported
from lineage_bridge.store.dialect import SQLITE, Dialect
from lineage_bridge.store.migration import Schema, empty_database, has_expected_tables, migrate, version

MINIMUM = (3, 35, 0)
GRAPH = Schema("graph store", Path(__file__).parent / "migrations", "0007")
"""The schema that this code reads and writes."""
STATEMENTS = 1_024
"""The maximum number of prepared statements that a connection keeps. Statements about chunks of ids differ by the length of the chunk."""
_log = logging.getLogger(__name__)

_WRITER = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -262144;
PRAGMA wal_autocheckpoint = 8192;
PRAGMA busy_timeout = 10000;
"""
_READER = """
PRAGMA query_only = ON;
PRAGMA temp_store = MEMORY;
PRAGMA cache_size = -8192;
PRAGMA mmap_size = 0;
PRAGMA busy_timeout = 5000;
"""


def connect_writer(path: Path, dialect: Dialect = SQLITE) -> StoreConnection:
    """Open the only connection that writes. Transactions begin and end by statements. Only one thread at a time may use the connection.

    A file whose tables differ from its schema's is emptied. Raises StoreDamagedError.
    """
    _require_sqlite()
    migrate(path, GRAPH)
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS)
    with damage_reported(path):
        connection.executescript(_WRITER)
        if not has_expected_tables(connection, GRAPH):
            _log.warning("%s does not have the tables of schema %s; it is emptied and computed again from the log", path, GRAPH.version)
            empty_database(GRAPH).backup(connection)
    return StoreConnection(connection, dialect)


def connect_reader(path: Path) -> StoreConnection:
    """Open a connection that only reads. Raises StoreMissingError, StoreVersionError or StoreDamagedError."""
    _require_sqlite()
    found = version(path)
    if found is None:
        raise StoreMissingError(f"there is no graph store at {path}", "start the server, which creates it: lineage-bridge serve")
    if found != GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} {path} has schema {found}, but this version reads {GRAPH.version}",
            "start the server, which computes it again from the log",
        )
    connection = sqlite3.connect(
        f"file:{path}?mode=ro", uri=True, timeout=30, isolation_level=None, check_same_thread=False, cached_statements=STATEMENTS
    )
    with damage_reported(path):
        connection.executescript(_READER)
        if not has_expected_tables(connection, GRAPH):
            connection.close()
            raise StoreVersionError(
                f"the {GRAPH.name} {path} does not have the tables of schema {GRAPH.version}",
                "start the server: the pipeline computes the graph again from the log",
            )
    return StoreConnection(connection)


def _require_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old",
            f"use a Python built with SQLite {'.'.join(map(str, MINIMUM))} or newer",
        )


def skip_durability(connection: StoreConnection) -> None:
    """Make writing faster, at the risk that a crash damages the file."""
    connection.raw.executescript("PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF;")


def replace_content(target: StoreConnection, source: StoreConnection, pages: int, on_progress: Callable[[int, int], None]) -> None:
    """Replace the content of one file by that of another in one transaction. `on_progress` is called with the pages left and their total.

    The content is copied into the target's write-ahead log, `pages` at a time: readers see the old content until the copy is complete.
    """
    source.raw.backup(target.raw, pages=pages, progress=lambda _, left, total: on_progress(left, total), sleep=0.01)
    # A reader of the old content may use the write-ahead log for a while; the next writer then truncates it.
    target.raw.execute("PRAGMA busy_timeout = 500")
    target.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def leave_one_file(connection: StoreConnection) -> None:
    """Write all content into the database file itself."""
    connection.raw.execute("PRAGMA journal_mode = DELETE")


def data_version(connection: StoreConnection) -> int:
    """A number that changes, as this connection sees it, when another connection commits to the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])
