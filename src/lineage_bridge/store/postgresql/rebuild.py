"""Replays a graph in PostgreSQL. It is computed in a second schema, which then replaces the first in one transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import psycopg

from lineage_bridge.errors import StoreError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_beside, connect_replacer
from lineage_bridge.store.postgresql.driver import store_error
from lineage_bridge.store.postgresql.ownership import GraphOwner
from lineage_bridge.store.postgresql.schema import BESIDE, FUNCTIONS, drop, graph_tables, mark_tables, quoted
from lineage_bridge.store.postgresql.writer_lock import take_lock

SUFFIX: Final = "_replay"
"""The second schema has the name of the graph's schema, followed by this."""
_WAIT: Final = "500ms"
"""Shorter than the time after which PostgreSQL looks for deadlocks: a question that needs a table which this one has goes on."""


class Rebuilding:
    """Holds the locks of the graph's schema and of a second schema, and deletes the second schema when it is closed. The graph in use is
    unchanged until `put_in_place`.
    """

    def __init__(self, database: PostgresqlDatabase, name: str, owner: GraphOwner | None = None) -> None:
        """`name` is shown to others as the holder of the locks. `owner` will own the new graph. Raises the errors of `connect_replacer`."""
        self._database, self._beside, self._owner = database, database.schema + SUFFIX, owner
        self._current = connect_replacer(database.url, database.schema, alone_as=name, owner=owner)
        self._connection: psycopg.Connection[Any] = self._current.raw.connection
        try:
            take_lock(self._connection, self._beside, name)
            self._remove()
        except psycopg.Error as error:
            self._current.close()
            raise store_error(error) from error
        except BaseException:
            self._current.close()
            raise

    def beside(self) -> StoreConnection:
        """A connection that writes into the empty second schema. What it writes may be lost in a crash."""
        connection = connect_beside(self._database.url, self._beside)
        connection.execute("SET synchronous_commit = off")
        return connection

    def check(self) -> None:
        """Check that the locks are still held. Raises StoreError if the connection that holds them is gone."""
        self._current.execute("SELECT 1")

    def complete(self) -> None:
        """Collect statistics about the tables of the second schema, from which PostgreSQL plans queries."""
        try:
            with self._connection.transaction(), _working_in(self._connection, self._beside):
                self._connection.execute(f"ANALYZE {', '.join(map(quoted, graph_tables(self._connection, BESIDE)))}")
        except psycopg.Error as error:
            raise store_error(error) from error

    def put_in_place(self) -> bool:
        """Replace the tables of the graph by those of the second schema, in one transaction. Returns False, without changes, while
        questions hold locks on the tables. Questions that have begun see the old graph until they end.
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

    def empty(self) -> None:
        """Remove the graph: its tables are made again, empty, by the next connection that writes. Raises StoreError if questions hold the
        tables.
        """
        try:
            with self._connection.transaction():
                self._connection.execute(f"SET LOCAL lock_timeout = '{_WAIT}'")
                drop(self._connection)
        except psycopg.Error as error:
            raise store_error(error) from error

    def close(self) -> None:
        """Remove the second schema, and release the lock."""
        try:
            self._remove()
        finally:
            self._current.close()

    def _move(self) -> None:
        schema, beside = quoted(self._database.schema), quoted(self._beside)
        with _working_in(self._connection, self._beside):
            tables = graph_tables(self._connection, BESIDE)
        for table in tables:
            self._connection.execute(f"ALTER TABLE {beside}.{quoted(table)} SET SCHEMA {schema}")
        for function in FUNCTIONS:
            self._connection.execute(f"ALTER FUNCTION {beside}.{function} SET SCHEMA {schema}")
        mark_tables(self._connection, str(self._owner or ""))

    def _remove(self) -> None:
        try:
            with self._connection.transaction():
                if not self._connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", (self._beside,)).fetchone():
                    return
                with _working_in(self._connection, self._beside):
                    if graph_tables(self._connection):
                        raise StoreError(
                            f"the schema {self._beside} of PostgreSQL holds another graph", "name another schema for this one: store_schema"
                        )
                    drop(self._connection, BESIDE)
                self._connection.execute(f"DROP SCHEMA {quoted(self._beside)}")
        except psycopg.Error as error:
            raise store_error(error) from error


@contextmanager
def _working_in(connection: "psycopg.Connection[Any]", schema: str) -> Iterator[None]:
    """A context manager in which the statements of the transaction use another schema."""
    before = connection.execute("SELECT current_setting('search_path')").fetchone()
    connection.execute("SELECT set_config('search_path', quote_ident(%s), true)", (schema,))
    yield
    connection.execute("SELECT set_config('search_path', %s, true)", before)
