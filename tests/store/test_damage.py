"""Damaged stores, and stores whose tables are not those of their schema."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.events import KEY, dataset, facet, run_event
from tests.store.writing import add

from lineage_bridge.errors import StoreDamagedError, StoreVersionError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.events import EventFilter
from lineage_bridge.store.damage import is_sound, set_aside, suspicion
from lineage_bridge.store.migration import Schema, empty_database, migrate, upgrade
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.schema.sqlite import GRAPH
from lineage_bridge.store.state.database import STATE, StateDatabase
from lineage_bridge.store.tables_hash import tables_hash
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.pipeline import open_store

NAMES = Names(KEY)


def filled(path: Path) -> None:
    writer = GraphWriter(path, NAMES)
    add(writer, run_event(outputs=[dataset("orders", documentation=facet(description="Orders"))]))
    writer.close()
    assert count(path)


def count(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM node").fetchone()[0])


@pytest.mark.parametrize("schema", [GRAPH, STATE], ids=lambda schema: schema.name)
def test_the_recorded_hash_is_that_of_the_newest_tables(schema: Schema) -> None:
    assert tables_hash(empty_database(schema)) == schema.tables


def everything_in(path: Path) -> dict[str, list[Any]]:
    """The statements that made the tables and indexes of a database, and the rows of each table."""
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name").fetchall()
        rows = {name: connection.execute(f'SELECT * FROM "{name}"').fetchall() for kind, name, *_ in made if kind == "table"}
    return {"": made, **rows}


@pytest.mark.parametrize("schema", [GRAPH, STATE], ids=lambda schema: schema.name)
def test_a_new_database_is_what_the_migrations_make(tmp_path: Path, schema: Schema) -> None:
    migrate(tmp_path / "new.db", schema)
    upgrade(tmp_path / "migrated.db", schema, schema.version)
    assert everything_in(tmp_path / "new.db") == everything_in(tmp_path / "migrated.db"), "run `record` of tools/migration.py"


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE run_event RENAME COLUMN day TO date",
        "ALTER TABLE run_event ADD COLUMN more INTEGER",
        "DROP TABLE namespace_claim",
        "CREATE TABLE more (id INTEGER)",
        "DROP INDEX flow_back",
    ],
)
def test_a_store_with_other_tables_is_not_read_and_computed_again(tmp_path: Path, change: str) -> None:
    path = tmp_path / "graph.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(change)
        connection.commit()
    pool = ReaderPool(path)
    with pytest.raises(StoreVersionError, match="does not have the tables"), pool.reader():
        pass
    with open_store(path, NAMES) as store:
        assert store.position("log") == {}
    assert count(path) == 0
    with pool.reader() as reader:
        assert reader.progress.position() == {}
    pool.close()


@pytest.mark.parametrize("content", [b"garbage" * 1000, b"SQLite format 3\0" + bytes(range(256)) * 40])
def test_a_file_that_is_no_database_is_set_aside(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "graph.db"
    path.write_bytes(content)
    pool = ReaderPool(path)
    with pytest.raises((StoreDamagedError, StoreVersionError)), pool.reader():
        pass
    with open_store(path, NAMES) as store:
        assert store.position("log") == {}
    assert (tmp_path / "graph.db.damaged").read_bytes() == content
    assert not suspicion(path).exists()
    with pool.reader() as reader:
        assert reader.progress.position() == {}
    pool.close()


def test_damage_that_a_question_meets_makes_the_pipeline_start_anew(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'node'").fetchone()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    path.write_bytes(content)
    assert not is_sound(path)
    pool = ReaderPool(path)
    with pytest.raises(StoreDamagedError), pool.reader() as reader:
        reader.nodes.count(NodeKind.JOB)
    assert suspicion(path).exists()
    with open_store(path, NAMES) as store:
        assert store.position("log") == {}
    assert not suspicion(path).exists()
    with pool.reader() as reader:
        assert reader.progress.position() == {}
    pool.close()


def test_what_lies_beside_a_damaged_store_goes_with_it(tmp_path: Path) -> None:
    for name in ("graph.db", "graph.db-wal", "graph.db-shm"):
        (tmp_path / name).write_text(name)
    (tmp_path / "graph.db.damaged-journal").write_text("of an earlier one")
    set_aside(tmp_path / "graph.db")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        f"graph.db.damaged{suffix}": f"graph.db{suffix}" for suffix in ("", "-wal", "-shm")
    }


def test_a_damaged_state_database_names_the_command_that_puts_a_copy_back(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = StateDatabase(path)
    assert state.copy_to(tmp_path / "copy")
    assert StateDatabase(tmp_path / "copy").key() == state.key()
    path.write_bytes(b"garbage" * 1000)
    with pytest.raises(StoreDamagedError) as error:
        StateDatabase(path)
    assert "restore --state" in error.value.hint
    assert not state.copy_to(tmp_path / "copy")
    assert StateDatabase(tmp_path / "copy").key()


@pytest.mark.parametrize(
    "statement",
    ["UPDATE alembic_version SET version_num = CAST(x'9e9e' AS TEXT)", "UPDATE node SET name = CAST(x'9e9e' AS TEXT)"],
)
def test_text_that_is_none_is_damage(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "graph.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    pool = ReaderPool(path)
    with pytest.raises(StoreDamagedError), pool.reader() as reader:
        reader.nodes.matching(NodeKind.JOB, None, None, 10, 0)
    with open_store(path, NAMES) as store:
        assert store.position("log") == {}
    pool.close()


@pytest.mark.parametrize("statement", ["UPDATE node SET id = id + 1 WHERE kind = 1", "UPDATE facet SET facet = x'00'"])
def test_verification_says_that_what_relations_refer_to_is_missing(tmp_path: Path, statement: str) -> None:
    path = tmp_path / "graph.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(statement).rowcount == 1
        connection.commit()
    pool = ReaderPool(path)
    with pytest.raises(StoreDamagedError, match="that it refers to are missing"), pool.reader() as reader:
        list(reader.whole.differences(NAMES, lambda _: None))
    assert suspicion(path).exists()
    pool.close()


def test_an_event_whose_position_in_the_log_is_unknown_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE event_record SET time = time + 1")
        connection.commit()
    pool = ReaderPool(path)
    with pytest.raises(StoreDamagedError, match="is in the log"), pool.reader() as reader:
        reader.events.page(EventFilter())
    assert suspicion(path).exists()
    pool.close()
