"""Opens connections to the graph store in PostgreSQL."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Dumper, Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.numeric import Int8Dumper
from psycopg.types.string import StrDumper, StrDumperUnknown

from lineage_bridge.config.store_address import SECRETS
from lineage_bridge.errors import ConfigError, StoreError, StoreUnreachableError
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.dialect import POSTGRESQL
from lineage_bridge.store.postgresql.driver import PostgresqlDriver, store_error
from lineage_bridge.store.postgresql.full_text import ReadOnce
from lineage_bridge.store.postgresql.ownership import GraphOwner, require_owner
from lineage_bridge.store.postgresql.schema import BESIDE, create, create_schema, require_replaceable, require_tables
from lineage_bridge.store.postgresql.watchdog import Watchdog
from lineage_bridge.store.postgresql.writer_lock import take_lock

MINIMUM = 150_000
"""The oldest supported version of the server, as PostgreSQL numbers versions: 150000 is 15.0."""
_PREPARED = 1_000
"""How many statements a connection keeps prepared."""
_DEFAULTS: Final = {
    "application_name": "lineage-bridge",
    "client_encoding": "UTF8",
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
    "tcp_user_timeout": "60000",
}
"""libpq's parameters where the address has none: a server that vanished is noticed within a minute."""
_LOCK_WAIT: Final = "30s"
"""How long a writer waits for a lock on a table that another session holds."""
_SESSION: Final = "; ".join(
    f"SET {name} = {value}"
    for name, value in {
        "jit": "off",
        "cursor_tuple_fraction": 1,
        "random_page_cost": 1.1,
        "statement_timeout": 0,
        "lock_timeout": 0,
        "idle_in_transaction_session_timeout": 0,
        "idle_session_timeout": 0,
    }.items()
)
"""Settings of a connection: no just-in-time compilation, as the store's queries are short; indexes are taken to be in memory or on a
solid-state disk; cursors are planned to be read to their end, as slowly as a client reads its answer, since whoever asks has limits of
its own.
"""
_WRITER: Final = f"{_SESSION}; SET lock_timeout = '{_LOCK_WAIT}'"
_READER: Final = f"{_SESSION}; SET default_transaction_read_only = on; SET default_transaction_isolation = 'repeatable read'"
"""The isolation level of readers: all statements of a transaction see the same state of the tables."""
_SIZE: Final = """SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND n.nspname = current_schema()"""


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
    adapters.register_dumper(ReadOnce, StrDumperUnknown)
    adapters.register_loader("numeric", _SumLoader)


@dataclass(frozen=True, repr=False)
class PostgresqlDatabase:
    """Implements StoreLocation for a schema in PostgreSQL: the one that `url` selects."""

    url: str
    schema: str = ""
    """Empty: the schema that the connection has by itself."""

    def connect(self) -> StoreConnection:
        """Open a connection that only reads; each of its transactions sees one state of the store."""
        return connect_reader(self.url, self.schema)

    def size_bytes(self) -> int:
        """The size of the tables and their indexes in bytes. Raises StoreError."""
        connection = self.connect()
        try:
            return int(connection.execute(_SIZE).fetchone()[0])
        finally:
            connection.close()

    def identity(self) -> object:
        """Always the same value, because a store in PostgreSQL is only changed by transactions, and never replaced as a file is."""
        return None

    def version(self, connection: StoreConnection) -> int | None:  # noqa: ARG002 - PostgreSQL has no number that tells it
        """None: each transaction may see another state."""
        return None

    def watched(self) -> AbstractContextManager[None]:
        """A context that does nothing, because PostgreSQL itself finds damage to its files."""
        return nullcontext()


def check_address(url: str) -> None:
    """Check an address of PostgreSQL without connecting. Raises ConfigError if it cannot be parsed or contains a secret."""
    if not SECRETS.isdisjoint(_parameters(url)):
        raise ConfigError("the address of PostgreSQL has a password", "put the password into a password file (PGPASSFILE) or PGPASSWORD")


def connect_writer(url: str, schema: str = "", *, alone_as: str = "", owner: GraphOwner | None = None) -> StoreConnection:
    """Open a connection that writes. A missing schema and its tables are created, and tables of an unexpected form are emptied.

    With `alone_as`, the connection holds the schema's lock under this name while it is open; only one connection at a time can hold it.
    With `owner`, nothing is changed in a schema that has another owner.

    Raises StoreUnreachableError for a server that cannot be reached, StoreLockedError while another connection holds the lock,
    StoreVersionError for tables of a newer version, StoreError for a schema with tables of another program or owner, and for a server that
    is too old or whose database is not in UTF-8, ConfigError for an invalid address.
    """

    def prepare(connection: "psycopg.Connection[Any]") -> None:
        if alone_as:
            take_lock(connection, schema, alone_as)
        if owner:
            require_owner(connection, schema, owner)
        create(connection, schema, str(owner or ""))

    return _prepared(url, _WRITER, schema, prepare, watched=bool(alone_as))


def connect_replacer(url: str, schema: str, *, alone_as: str, owner: GraphOwner | None = None) -> StoreConnection:
    """Open a connection that will replace the graph by another one. It is like a connection of `connect_writer`, but leaves the tables
    unchanged until the replacement.
    """

    def prepare(connection: "psycopg.Connection[Any]") -> None:
        take_lock(connection, schema, alone_as)
        if owner:
            require_owner(connection, schema, owner)
        require_replaceable(connection)
        create_schema(connection, schema)

    return _prepared(url, _WRITER, schema, prepare, watched=True)


def connect_beside(url: str, schema: str) -> StoreConnection:
    """Open a connection that writes into a second schema, whose tables will replace those of the graph. Raises the errors of
    `connect_writer`.
    """
    return _prepared(url, _WRITER, schema, lambda connection: create(connection, schema, mark=BESIDE), watched=True)


def connect_reader(url: str, schema: str = "") -> StoreConnection:
    """Open a connection that only reads; each of its transactions sees one state of the store.

    Raises StoreMissingError, and the errors of `connect_writer`.
    """
    return _prepared(url, _READER, schema, require_tables)


def _prepared(
    url: str, session: str, schema: str, prepare: Callable[["psycopg.Connection[Any]"], None], *, watched: bool = False
) -> StoreConnection:
    """Open a connection, and call `prepare` with it. If `prepare` raises, the connection is closed.

    With `watched`, the connection fails when the server stops answering.
    """
    connection = _connected(url, session)
    watchdog = Watchdog(connection, partial(_ask, url, connection)) if watched else None
    try:
        if watchdog:
            watchdog.start()
        if schema:
            connection.execute("SELECT set_config('search_path', quote_ident(%s), false)", (schema,))
        prepare(connection)
    except BaseException as error:
        if watchdog:
            watchdog.stop()
        connection.close()
        if isinstance(error, psycopg.Error):
            raise store_error(error) from error
        raise
    return StoreConnection(PostgresqlDriver(connection, watchdog), POSTGRESQL)


def _parameters(url: str) -> dict[str, Any]:
    """The parameters in an address. Raises ConfigError."""
    try:
        return conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        # Its message repeats parts of the address, which may be a password.
        raise ConfigError("the address of PostgreSQL is not valid", "write it as postgresql://user@host:5432/database") from None


def _connected(url: str, session: str) -> "psycopg.Connection[tuple[Any, ...]]":
    given = _parameters(url)
    try:
        defaults = {name: value for name, value in _DEFAULTS.items() if name not in given}
        connection = psycopg.connect(make_conninfo(url, **defaults), autocommit=True)
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise StoreUnreachableError(
            f"PostgreSQL cannot be reached: {reason}", "check that the server runs, that its address is right, and that the user exists"
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


def _ask(url: str, watched: "psycopg.Connection[Any]") -> None:
    """Check that the server of a connection answers on a new connection. Raises psycopg.Error if it does not."""
    defaults = {name: value for name, value in _DEFAULTS.items() if name not in _parameters(url)}
    same: dict[str, str | int] = {"host": watched.info.host, "port": watched.info.port, "target_session_attrs": "any", "connect_timeout": 5}
    with psycopg.connect(make_conninfo(url, **{**defaults, **same}), autocommit=True) as connection:
        connection.execute("SELECT 1")


def _require_server(connection: "psycopg.Connection[tuple[Any, ...]]") -> None:
    if connection.info.server_version < MINIMUM:
        raise StoreError(f"PostgreSQL {connection.info.server_version // 10_000} is too old", "use version 15 or newer")
    if (encoding := connection.info.parameter_status("server_encoding")) != "UTF8":
        raise StoreError(f"the database is in {encoding}", "use a database with the encoding UTF8")
