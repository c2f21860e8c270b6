"""The graph store in a real PostgreSQL: tests share the tables of one server, which each finds empty."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.servers import postgres

from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import connect_writer
from lineage_bridge.store.schema.tables import METADATA

TABLES = (*METADATA.tables, "node_search", "node_search_text")


def address_of(server: postgres.Postgres) -> str:
    """The address of a database, as the setting `store` has it."""
    return f"postgresql://{server.user}@{server.host}:{server.port}/{server.database}"


class GraphDatabase:
    """A database with the tables of a graph store. One test at a time uses it."""

    def __init__(self, server: postgres.Postgres) -> None:
        self.server, self.url = server, address_of(server)

    def emptied(self) -> StoreConnection:
        """A connection that writes, to tables without rows."""
        connection = connect_writer(self.url)
        # Far faster than other tables, or than TRUNCATE.
        connection.execute("; ".join(f'DELETE FROM "{table}"' for table in TABLES))
        return connection


@contextmanager
def started(folder: Path) -> Iterator[GraphDatabase]:
    """A server over fresh data."""
    with postgres.started(folder) as server:
        yield GraphDatabase(server)
