"""Connections to the graph store in PostgreSQL. The only module that imports the driver."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from lineage_bridge.errors import StoreError
from lineage_bridge.store.connection import RowCursor, StoreConnection, Values
from lineage_bridge.store.postgresql.dialect import POSTGRESQL, Placed
from lineage_bridge.store.postgresql.schema import create

MINIMUM = 150_000
"""The oldest version of the server, as it numbers them."""
_PREPARED = 1_000
"""How many statements a connection keeps prepared."""


class _BoolDumper(Dumper):
    """Truth as 0 and 1: the store's columns are integers."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _SumLoader(Loader):
    """The sum of integers, which PostgreSQL gives as a decimal."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def _adapt(adapters: AdaptersMap) -> None:
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _BoolDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_loader("numeric", _SumLoader)


class PostgresqlDriver:
    """A connection that runs rendered statements, in the way of Python's module for SQLite."""

    def __init__(self, connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
        """`connection` is in autocommit mode: transactions begin and end by statements."""
        self.connection = connection

    def execute(self, sql: str, values: Values = ()) -> RowCursor:
        """Run one rendered statement."""
        cursor = psycopg.RawCursor(self.connection)
        if values:
            return cursor.execute(sql, _by_number(sql, values))
        return cursor.execute(sql, prepare=False if sql.startswith("BEGIN") else None)

    def executemany(self, sql: str, values: Iterable[Values]) -> RowCursor:
        """Run one rendered statement for each of many values."""
        cursor = psycopg.RawCursor(self.connection)
        cursor.executemany(sql, [_by_number(sql, some) for some in values])
        return cursor

    def interrupt(self) -> None:
        """Interrupt the running statement. May be called from another thread."""
        self.connection.cancel_safe()

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.connection.close()


def connect_writer(url: str) -> StoreConnection:
    """A connection that writes; missing tables are created.

    Raises StoreError for a server that is too old or cannot be reached, StoreVersionError for tables of another version.
    """
    connection = _connected(url)
    try:
        create(connection)
    except BaseException:
        connection.close()
        raise
    return StoreConnection(PostgresqlDriver(connection), POSTGRESQL)


def _connected(url: str) -> "psycopg.Connection[tuple[Any, ...]]":
    try:
        connection = psycopg.connect(url, autocommit=True)
    except psycopg.OperationalError as error:
        reason = str(error).strip()
        raise StoreError(f"PostgreSQL cannot be reached: {reason}", "check that the server runs and that its address is right") from error
    if connection.info.server_version < MINIMUM:
        connection.close()
        raise StoreError(f"PostgreSQL {connection.info.server_version // 10_000} is too old", "use version 15 or newer")
    connection.prepared_max = _PREPARED
    _adapt(connection.adapters)
    return connection


def _by_number(sql: str, values: Values) -> Sequence[Any]:
    if isinstance(values, Mapping):
        if not isinstance(sql, Placed):
            raise TypeError("a statement with named values is not rendered")
        return [values[name] for name in sql.names]
    return values
