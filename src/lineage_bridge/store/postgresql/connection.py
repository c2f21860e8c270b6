"""Opens connections to the graph store in PostgreSQL."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper

from lineage_bridge.errors import ConfigError, StoreError, StoreUnreachableError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.dialect import POSTGRESQL
from lineage_bridge.store.postgresql.driver import PostgresqlDriver, store_error
from lineage_bridge.store.postgresql.schema import create, require_tables

MINIMUM = 150_000
"""The oldest supported version of the server, as PostgreSQL numbers versions: 150000 is 15.0."""
_PREPARED = 1_000
"""How many statements a connection keeps prepared."""
_DEFAULTS: Final = {
    "application_name": "lineage-bridge",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""libpq's parameters where the address has none: a server that vanished is noticed within a minute."""
_SESSION: Final = "SET jit = off; SET cursor_tuple_fraction = 1"
"""Settings of a connection: no just-in-time compilation, as the store's queries are short; cursors are planned to be read to their end."""
_READER: Final = f"{_SESSION}; SET default_transaction_read_only = on; SET default_transaction_isolation = 'repeatable read'"
"""The isolation level of readers: all statements of a transaction see the same state of the tables."""


class _BoolDumper(Dumper):
    """Sends Python's booleans as 0 and 1, because the store's columns are integers."""

    oid = Int8Dumper.oid

    def dump(self, obj: bool) -> Buffer:
        return b"1" if obj else b"0"


class _SumLoader(Loader):
    """Reads sums of integers, which PostgreSQL returns as decimals, as integers."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data)
        return float(text) if b"." in text else int(text)


def _adapt(adapters: AdaptersMap) -> None:
    adapters.register_dumper(int, Int8Dumper)
    adapters.register_dumper(bool, _BoolDumper)
    adapters.register_dumper(str, StrDumper)
    adapters.register_loader("numeric", _SumLoader)


@dataclass(frozen=True, repr=False)
class PostgresqlDatabase:
    """Implements StoreLocation for a schema in PostgreSQL: the one that `url` selects."""

    url: str

    def connect(self) -> StoreConnection:
        """See `connect_reader`."""
        return connect_reader(self.url)

    def identity(self) -> object:
        """Always the same: a store in PostgreSQL is never replaced by another one, only changed by transactions."""
        return None

    def watched(self) -> AbstractContextManager[None]:
        """Does nothing: PostgreSQL finds damage of its files itself."""
        return nullcontext()


def connect_writer(url: str) -> StoreConnection:
    """A connection that writes; missing tables are created.

    Raises StoreUnreachableError for a server that cannot be reached, StoreVersionError for tables of another version, StoreError for a
    server that is too old or whose database is not in UTF-8, ConfigError for an address that is none.
    """
    return _prepared(url, _SESSION, create)


def connect_reader(url: str) -> StoreConnection:
    """A connection that only reads; each of its transactions sees one state of the store.

    Raises StoreMissingError, and the errors of `connect_writer`.
    """
    return _prepared(url, _READER, require_tables)


def _prepared(url: str, session: str, prepare: Callable[["psycopg.Connection[Any]"], None]) -> StoreConnection:
    """A new connection, after `prepare` was called with it. If `prepare` raises, the connection is closed."""
    connection = _connected(url, session)
    try:
        prepare(connection)
    except BaseException as error:
        connection.close()
        if isinstance(error, psycopg.Error):
            raise store_error(error) from error
        raise
    return StoreConnection(PostgresqlDriver(connection), POSTGRESQL)


def _connected(url: str, session: str) -> "psycopg.Connection[tuple[Any, ...]]":
    try:
        given = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Its message repeats parts of the address, which may be a password.
        raise ConfigError("the address of PostgreSQL cannot be read", "write it as postgresql://user@host:5432/database") from None
    try:
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
        connection = psycopg.connect(make_conninfo(url, **defaults), autocommit=True)
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise StoreUnreachableError(
            f"PostgreSQL cannot be reached: {reason}", "check that the server runs, that its address is right and that it knows the user"
        ) from error
    try:
        _require_server(connection)
        connection.execute(session)
    except psycopg.Error as error:
        connection.close()
        raise store_error(error) from error
    except BaseException:
        connection.close()
        raise
    connection.prepared_max = _PREPARED
    _adapt(connection.adapters)
    return connection


def _require_server(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    if connection.info.server_version < MINIMUM:
        raise StoreError(f"PostgreSQL {connection.info.server_version // 10_000} is too old", "use version 15 or newer")
    if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
        raise StoreError(f"the database is in {encoding}", "use a database with the encoding UTF8")
