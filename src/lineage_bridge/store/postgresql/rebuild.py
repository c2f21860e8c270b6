"""Replaying a graph in PostgreSQL: it is computed in a second schema, which then replaces the first in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_writer
from lineage_bridge.store.postgresql.driver import store_error
from lineage_bridge.store.postgresql.schema import FUNCTIONS, drop, graph_tables, quoted

SUFFIX: Final = "_replay"
"""What the schema beside is named after that of the graph."""
_WAIT: Final = "500ms"
"""Shorter than the time after which PostgreSQL looks for deadlocks: a question that needs a table which this one has goes on."""


class Rebuilding:
    """Holds the lock of the graph's schema until it is closed, and removes the second schema then."""

    def __init__(self, database: PostgresqlDatabase, name: str) -> None:
        """`name` is shown to others as the holder of the lock. Raises as `connect_writer`."""
        self._database, self._beside = database, database.schema + SUFFIX
        self._current = connect_writer(database.url, database.schema, alone_as=name)
        self._connection: psycopg.Connection[Any] = self._current.raw.connection

    def beside(self) -> StoreConnection:
        """Open a connection that writes into the empty second schema. A crash may lose what it has written."""
        self._remove()
        connection = connect_writer(self._database.url, self._beside)
        connection.execute("SET synchronous_commit = off")
        return connection

    def complete(self) -> None:
        """Collect statistics about the tables of the second schema, from which PostgreSQL plans queries."""
        try:
            with self._connection.transaction(), _working_in(self._connection, self._beside):
                self._connection.execute(f"ANALYZE {', '.join(map(quoted, graph_tables(self._connection)))}")
        except psycopg.Error as error:
            raise store_error(error) from error

    def put_in_place(self) -> bool:
        """Replace the tables of the graph by those of the second schema, in one transaction; False if questions hold them at the
        moment.

        Questions that have begun see the old graph until they end.
        """
        try:
            with self._connection.transaction():
                self._connection.execute(f"SET LOCAL lock_timeout = '{_WAIT}'")
                if tables := graph_tables(self._connection):
                    self._connection.execute(f"LOCK TABLE {', '.join(map(quoted, tables))} IN ACCESS EXCLUSIVE MODE")
                drop(self._connection)
                self._move()
        except psycopg.errors.LockNotAvailable:
            return False
        except psycopg.Error as error:
            raise store_error(error) from error
        return True

    def close(self) -> None:
        """Remove the second schema, and release the lock."""
        try:
            self._remove()
        finally:
            self._current.close()

    def _move(self) -> None:
        schema, beside = quoted(self._database.schema), quoted(self._beside)
        with _working_in(self._connection, self._beside):
            tables = graph_tables(self._connection)
        for table in tables:
            self._connection.execute(f"ALTER TABLE {beside}.{quoted(table)} SET SCHEMA {schema}")
        for function in FUNCTIONS:
            self._connection.execute(f"ALTER FUNCTION {beside}.{function} SET SCHEMA {schema}")

    def _remove(self) -> None:
        try:
            with self._connection.transaction():
                if not self._connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self._beside,)).fetchone():
                    return
                with _working_in(self._connection, self._beside):
                    drop(self._connection)
                self._connection.execute(f"DROP SCHEMA {quoted(self._beside)}")
        except psycopg.Error as error:
            raise store_error(error) from error


@contextmanager
def _working_in(connection: "psycopg.Connection[Any]", schema: str) -> Iterator[None]:
    """Let statements of the transaction work in another schema."""
    before = connection.execute("SELECT current_setting('search_path')").fetchone()
    connection.execute("SELECT set_config('search_path', quote_ident(%s), true)", (schema,))
    yield
    connection.execute("SELECT set_config('search_path', %s, true)", before)
