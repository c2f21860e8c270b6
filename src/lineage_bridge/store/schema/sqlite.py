"""SQLite connections to the graph store."""

import sqlite3
from pathlib import Path

from lineage_bridge.errors import StoreError, StoreMissingError, StoreVersionError
from lineage_bridge.store.migration import Schema, migrate, version

MINIMUM = (3, 35, 0)
GRAPH = Schema("graph store", Path(__file__).parent / "migrations", "0003")
"""The schema that this code reads and writes."""

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
PRAGMA cache_size = -65536;
PRAGMA mmap_size = 1073741824;
PRAGMA busy_timeout = 5000;
"""


def connect_writer(path: Path) -> sqlite3.Connection:
    """The one connection that writes; transactions are begun by hand. It may be used from any one thread at a time."""
    _require_sqlite()
    migrate(path, GRAPH)
    connection = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
    connection.executescript(_WRITER)
    return connection


def connect_reader(path: Path) -> sqlite3.Connection:
    """A connection that only reads. Raises StoreMissingError or StoreVersionError."""
    _require_sqlite()
    found = version(path)
    if found is None:
        raise StoreMissingError(f"there is no graph store at {path}", "start the server once: lineage-bridge serve")
    if found != GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} {path} has schema {found}, this version reads {GRAPH.version}", "start the server to migrate it"
        )
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=30, isolation_level=None, check_same_thread=False)
    connection.executescript(_READER)
    return connection


def _require_sqlite() -> None:
    if sqlite3.sqlite_version_info < MINIMUM:
        raise StoreError(
            f"SQLite {sqlite3.sqlite_version} is too old",
            f"use a Python built with SQLite {'.'.join(map(str, MINIMUM))} or newer",
        )
