"""What a store holds, table by table: for what only a test looks at."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from lineage_bridge.store.connection import RowCursor, StoreConnection, Values
from lineage_bridge.store.schema.tables import METADATA
from lineage_bridge.store.write.apply import GraphWriter

FEED = {"change", "change_epoch"}
"""Tables that depend on how a store came to be, and may differ between equal ones."""

Rows = set[tuple[object, ...]]


def execute(store: GraphWriter, sql: str, values: Values = ()) -> RowCursor:
    """Run one statement, to look at rows or to damage them."""
    return store.connection.execute(sql, values)


def contents(store: GraphWriter, table: str) -> Rows:
    """The rows of one table."""
    return set(execute(store, f'SELECT * FROM "{table}"'))


def tables_of(store: GraphWriter) -> dict[str, Rows]:
    """Every table but the change feed, with its rows."""
    return _tables(store.connection)


def tables_in(file: Path) -> dict[str, Rows]:
    """The same of a file that no writer has open. Its integrity is checked."""
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return _tables(StoreConnection(connection))


def _tables(connection: StoreConnection) -> dict[str, Rows]:
    return {name: set(connection.execute(f'SELECT * FROM "{name}"')) for name in sorted(METADATA.tables.keys() - FEED)}


def copy_to(store: GraphWriter, file: Path) -> None:
    """Copy a store to a file, as a backup does."""
    with closing(sqlite3.connect(file)) as copy:
        store.connection.raw.backup(copy)


def rows_written(store: GraphWriter, write: Callable[[], object]) -> int:
    """How many rows something writes, temporary ones included."""
    before: int = store.connection.raw.total_changes
    write()
    after: int = store.connection.raw.total_changes
    return after - before
