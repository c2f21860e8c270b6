"""The migrations make exactly the tables that the code declares."""

import sqlite3
from pathlib import Path

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from lineage_bridge.graph.relations import RELATIONS
from lineage_bridge.store.migration import migrate, version
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.schema.tables import METADATA


def test_migrations_make_the_schema(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    assert version(path) is None
    migrate(path, GRAPH)
    assert version(path) == GRAPH.version
    migrate(path, GRAPH)
    engine = create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": lambda name, *_: not (name or "").startswith("node_search")})
        assert compare_metadata(context, METADATA) == []
        tables = set(inspect(connection).get_table_names())
    engine.dispose()
    assert {relation.name for relation in RELATIONS} <= tables


def test_rows_come_in_the_order_the_law_declares() -> None:
    for relation in RELATIONS:
        assert tuple(column.name for column in METADATA.tables[relation.name].columns) == relation.names


def test_a_store_of_an_older_schema_is_emptied_so_that_the_log_is_folded_again(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    migrate(path, GRAPH, "0001")
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO node VALUES (1, 1, 'kafka://k:9092', 'orders')")
        connection.execute("INSERT INTO position VALUES ('log', 0, 4096)")
    migrate(path, GRAPH)
    assert version(path) == GRAPH.version
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM node").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM position").fetchone() == (0,)
        assert connection.execute("SELECT count(*) FROM node_search").fetchone() == (0,)
