"""The connection that runs all statements of the store, independent of the database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Protocol, TypeAlias, runtime_checkable

from lineage_bridge.errors import AbandonedError
from lineage_bridge.store.dialect import SQLITE, Dialect

_MOST_RENDERED = 4096
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""Values of a statement's placeholders: by position (`?`) or by name (`:name`)."""


class RowCursor(Protocol):
    """The rows that a statement returns, as tuples."""

    @property
    def rowcount(self) -> int:
        """How many rows an INSERT, UPDATE or DELETE changed."""

    def fetchone(self) -> Any:  # noqa: ANN401  # the statement decides the types of a row
        """The next row; None after the last."""

    def fetchmany(self, size: int) -> list[Any]:
        """The next rows, at most `size`."""

    def fetchall(self) -> list[Any]:
        """All remaining rows."""

    def __iter__(self) -> Iterator[Any]:
        """The remaining rows."""


class Driver(Protocol):
    """A connection of a database's own module, which runs statements in that database's SQL. `sqlite3.Connection` is one."""

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open."""

    def execute(self, sql: str, values: Values = (), /) -> RowCursor:
        """Run one statement."""

    def executemany(self, sql: str, values: Iterable[Values], /) -> RowCursor:
        """Run one statement for each of many values."""

    def interrupt(self) -> None:
        """Interrupt the running statement. May be called from another thread."""

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""


@runtime_checkable
class BulkDriver(Protocol):
    """A driver whose `execute` fetches all rows of a query at once, with extra methods to read many rows and to add many rows."""

    def scan(self, sql: str, values: Values = (), /) -> RowCursor:
        """Run a query, fetching its rows as they are read."""

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], /) -> None:
        """Add many rows to a table."""


class _Rendered(dict[str, str]):
    """Translates statements in portable SQL to the dialect of the database. Each statement is translated only once."""

    def __init__(self, dialect: Dialect) -> None:
        super().__init__()
        self.dialect = dialect

    def __missing__(self, sql: str) -> str:
        if len(self) >= _MOST_RENDERED:
            self.clear()
        rendered = self[sql] = self.dialect.render(sql)
        return rendered


class StoreConnection:
    """Runs statements written in the store's portable SQL (store/dialect.py). Transactions begin and end by statements."""

    __slots__ = ("_execute", "_executemany", "_rendered", "_scan", "dialect", "raw")

    def __init__(self, raw: Any, dialect: Dialect = SQLITE) -> None:  # noqa: ANN401 - a Driver with further methods
        """`raw` is the driver's connection. Use it directly only for operations that only one database has, such as copying a file."""
        driver: Driver = raw
        self.raw, self.dialect = raw, dialect
        self._execute, self._executemany = driver.execute, driver.executemany
        self._scan = raw.scan if isinstance(raw, BulkDriver) else driver.execute
        self._rendered = _Rendered(dialect)

    def execute(self, sql: str, values: Values = ()) -> RowCursor:
        """Run one statement."""
        return self._execute(self._rendered[sql], values)

    def executemany(self, sql: str, values: Iterable[Values]) -> RowCursor:
        """Run one statement for each of many values."""
        return self._executemany(self._rendered[sql], values)

    def scan(self, sql: str, values: Values = ()) -> RowCursor:
        """Run a query whose rows do not all fit in memory. They are fetched as they are read, within the query's transaction."""
        return self._scan(self._rendered[sql], values)

    def load(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table, in the way that is fastest in its database."""
        if isinstance(self.raw, BulkDriver):
            self.raw.load(table, columns, rows)
        else:
            self.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", rows)

    def roll_back(self) -> None:
        """End the transaction without its changes. SQLite has already done so by itself after some errors, such as a full disk."""
        if self.raw.in_transaction:
            self.execute("ROLLBACK")

    def interrupt(self) -> None:
        """Interrupt the running statement, and refuse later ones with AbandonedError. May be called from another thread."""
        self._execute = self._executemany = self._scan = _refuse
        self.raw.interrupt()

    def close(self) -> None:
        """Close the connection; an open transaction is rolled back."""
        self.raw.close()


def _refuse(*_: object) -> NoReturn:
    raise AbandonedError("the query was interrupted, because its caller no longer waits for the result")
