"""Runs rendered statements on a connection to PostgreSQL, with the interface of Python's module for SQLite. Errors are those of
the store.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import psycopg
from psycopg.pq import TransactionStatus

from lineage_bridge.errors import (
    AbandonedError,
    LineageBridgeError,
    StoreDamagedError,
    StoreError,
    StoreMissingError,
    StoreUnreachableError,
)
from lineage_bridge.store.connection import RowCursor, Values
from lineage_bridge.store.postgresql.dialect import Placed
from lineage_bridge.store.postgresql.watchdog import Watchdog

PORTION: Final = 500
"""How many rows of a scan are fetched at once."""
_CANCEL_S: Final = 10.0
_INTERRUPTED: Final = "the query was interrupted"
_CANCELLED: Final = "57014"
_DAMAGED: Final = ("XX001", "XX002")
"""data_corrupted and index_corrupted."""
_CONFLICT: Final = "40001"
"""serialization_failure: of a question, only when a replica has to remove what it reads."""
_DEADLOCK: Final = "40P01"
"""deadlock_detected: also of a question, while another session replaces the tables that it reads, or a replica does so."""
_NO_TABLE: Final = "42P01"
_UNREACHABLE: Final = ("08", "57P", "53300")
"""Beginnings of the codes of errors that end a connection: exceptions of connections, shutdowns, and too many connections."""
_HINTS: Final = {
    "25006": "name the server that takes writes; a replica only answers",
    "2BP01": "drop what depends on the graph's tables, such as views: they are computed again",
    "42501": "grant the user all rights in the schema that it works in, and that to create it if it does not exist",
    "42723": "drop the functions of this name in the schema, or name an empty schema: store_schema",
    "42P07": "name an empty schema, or a new one: store_schema",
    "55P03": "end the session that holds the graph's tables (pg_locks, pg_stat_activity); the server tries again by itself",
    _NO_TABLE: "the pipeline creates the graph's tables again, and folds the log into them",
    "53100": "free disk space on PostgreSQL's server",
}
"""What to do about errors, by their SQLSTATE (PostgreSQL's documentation, appendix A)."""


def store_error(error: psycopg.Error) -> LineageBridgeError:
    """Convert an error of the driver. The message is PostgreSQL's own, without its details, because these contain values."""
    code = error.sqlstate or ""
    words = " ".join((error.diag.message_primary or str(error)).split()) or type(error).__name__
    if code.startswith(_UNREACHABLE) or (not code and isinstance(error, psycopg.OperationalError | psycopg.InterfaceError)):
        return StoreUnreachableError(f"PostgreSQL does not answer: {words}", "check that the server runs, then try again")
    if code == _CONFLICT:
        return StoreUnreachableError(
            f"PostgreSQL's replica ended the question: {words}",
            "ask again; if it happens often, set hot_standby_feedback = on on the replica, or a longer max_standby_streaming_delay",
        )
    if code == _DEADLOCK:
        return StoreUnreachableError(f"PostgreSQL ended a statement that waited for another session: {words}", "try again")
    if code in _DAMAGED:
        return StoreDamagedError(
            f"PostgreSQL's data is damaged: {words}", "repair the database, or drop the schema: the graph is computed again from the log"
        )
    refused = StoreMissingError if code == _NO_TABLE else StoreError
    return refused(f"PostgreSQL refused a statement: {words}" + (f" ({code})" if code else ""), _HINTS.get(code, ""))


class _ServerRows:
    """The rows of a query that stay on the server and are fetched in portions. They are available until the transaction ends."""

    rowcount = -1

    def __init__(self, driver: "PostgresqlDriver", name: str) -> None:
        self._driver, self._name = driver, name
        self._rows: list[Any] = []
        self._ended = False

    def fetchone(self) -> Any:  # noqa: ANN401  # a row's types are the statement's
        """The next row; None after the last."""
        return next(iter(self.fetchmany(1)), None)

    def fetchmany(self, size: int) -> list[Any]:
        """The next rows, at most `size`."""
        while len(self._rows) < size and not self._ended:
            asked = max(size - len(self._rows), PORTION)
            portion = self._driver.execute(f"FETCH FORWARD {asked} FROM {self._name}").fetchall()
            self._rows += portion
            if len(portion) < asked:
                self._ended = True
                self._driver.execute(f"CLOSE {self._name}")
        rows, self._rows = self._rows[:size], self._rows[size:]
        return rows

    def fetchall(self) -> list[Any]:
        """All remaining rows."""
        return list(self)

    def __iter__(self) -> Iterator[Any]:
        """The remaining rows."""
        while rows := self.fetchmany(PORTION):
            yield from rows


class PostgresqlDriver:
    """A connection that runs rendered statements. Raises StoreError, and AbandonedError after `interrupt`."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]", watchdog: Watchdog | None = None) -> None:
        """`connection` is in autocommit mode: transactions begin and end by statements. `watchdog` watches it until it is closed."""
        self.connection, self._watchdog = connection, watchdog
        self._interrupted = False
        self._scans = 0

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, or may be."""
        return self.connection.info.transaction_status is not TransactionStatus.IDLE

    def execute(self, sql: str, values: Values = ()) -> RowCursor:
        """Run one rendered statement."""
        if self._interrupted:
            raise AbandonedError(_INTERRUPTED)
        cursor = psycopg.RawCursor(self.connection)
        try:
            if values:
                return cursor.execute(sql, _by_number(sql, values))
            return cursor.execute(sql, prepare=False if sql.startswith(("BEGIN", "FETCH", "CLOSE")) else None)
        except psycopg.Error as error:
            raise self._failure(error) from error

    def executemany(self, sql: str, values: Iterable[Values]) -> RowCursor:
        """Run one rendered statement for each of many values."""
        cursor = psycopg.RawCursor(self.connection)
        rows = [_by_number(sql, some) for some in values]
        try:
            cursor.executemany(sql, rows)
        except psycopg.Error as error:
            raise self._failure(error) from error
        return cursor

    def scan(self, sql: str, values: Values = ()) -> RowCursor:
        """Run a query whose rows stay on the server until they are fetched. Outside of a transaction, all are fetched at once."""
        if not self.in_transaction:
            return self.execute(sql, values)
        self._scans += 1
        name = f"scan_{self._scans}"
        try:
            psycopg.RawCursor(self.connection).execute(f"DECLARE {name} NO SCROLL CURSOR FOR {sql}", _by_number(sql, values), prepare=False)
        except psycopg.Error as error:
            raise self._failure(error) from error
        return _ServerRows(self, name)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table by COPY."""
        named = ", ".join(f'"{column}"' for column in columns)
        try:
            with psycopg.RawCursor(self.connection).copy(f'COPY "{table}" ({named}) FROM STDIN') as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.Error as error:
            raise self._failure(error) from error

    def interrupt(self) -> None:
        """Interrupt the running statement. May be called from another thread, and does not wait for the server."""
        self._interrupted = True
        threading.Thread(target=self._cancel, name="cancel", daemon=True).start()

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        if self._watchdog:
            self._watchdog.stop()
        self.connection.close()

    def _cancel(self) -> None:
        with suppress(psycopg.Error):
            self.connection.cancel_safe(timeout=_CANCEL_S)

    def _failure(self, error: psycopg.Error) -> LineageBridgeError:
        if self._interrupted and error.sqlstate == _CANCELLED:
            return AbandonedError(_INTERRUPTED)
        return store_error(error)


def _by_number(sql: str, values: Values) -> Sequence[Any]:
    if isinstance(values, Mapping):
        if not isinstance(sql, Placed):
            raise TypeError("internal error: a statement with named values was not translated for PostgreSQL")
        return [values[name] for name in sql.names]
    return values
