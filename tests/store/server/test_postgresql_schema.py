"""The graph's schema in PostgreSQL: it is created, kept apart from others, emptied if it is not as expected, and has one writer."""

import logging
from collections.abc import Iterator
from contextlib import closing, suppress

import psycopg
import pytest
from tests.events import KEY, dataset, records_of, run_event
from tests.store.reading import reader_of
from tests.store.server.postgresql import GraphDatabase
from tests.store.writing import NAMES, add, apply

from lineage_bridge.errors import StoreError, StoreLockedError, StoreMissingError, StoreVersionError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_reader, connect_writer
from lineage_bridge.store.postgresql.rebuild import SUFFIX, Rebuilding
from lineage_bridge.store.postgresql.schema import BESIDE, graph_tables
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.write import rebuild
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.servers
SCHEMA = "lineage_of_a_test"


@pytest.fixture
def database(graph_database: GraphDatabase) -> Iterator[PostgresqlDatabase]:
    """A schema that does not exist yet."""
    yield PostgresqlDatabase(graph_database.url, SCHEMA)
    for schema in (SCHEMA, SCHEMA + SUFFIX):
        _run(graph_database.url, f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def _run(url: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def opened(database: PostgresqlDatabase) -> StoreConnection:
    return connect_writer(database.url, database.schema)


def filled(database: PostgresqlDatabase) -> None:
    with closing(GraphWriter(opened(database), Names(KEY))) as writer:
        add(writer, run_event(inputs=[dataset("a")]))


def datasets(database: PostgresqlDatabase) -> int:
    with closing(ReaderPool(database)) as pool, pool.reader() as reader:
        return reader.nodes.count(NodeKind.DATASET)


def test_a_schema_is_created_by_the_first_that_writes(database: PostgresqlDatabase) -> None:
    with pytest.raises(StoreMissingError):
        database.connect()
    filled(database)
    assert datasets(database) == 1
    assert database.size_bytes() > 100_000
    filled(database)
    assert datasets(database) == 1, "tables that are as expected stay"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("ALTER TABLE {0}.node ALTER COLUMN kind TYPE INT", "the table node has other columns"),
        ("DROP TABLE {0}.flow", "the table flow is missing"),
        ("DROP INDEX {0}.node_by_name", "the index node_by_name is missing"),
        ("DROP INDEX {0}.position_key", "the index position_key is missing"),
        ("DROP TABLE {0}.alembic_version", "tables are missing"),
        ("UPDATE {0}.alembic_version SET version_num = '0001'", "it has schema 0001"),
        ("COMMENT ON TABLE {0}.alembic_version IS 'LineageBridge: the graph, computed from the event log, other'", "another build"),
    ],
)
def test_tables_that_are_not_as_expected_are_emptied(
    database: PostgresqlDatabase, change: str, reason: str, caplog: pytest.LogCaptureFixture
) -> None:
    filled(database)
    _run(database.url, change.format(SCHEMA))
    with caplog.at_level(logging.WARNING):
        opened(database).close()
    assert reason in caplog.text
    assert "computed again from the log" in caplog.text
    assert datasets(database) == 0
    caplog.clear()
    filled(database)
    assert (datasets(database), caplog.text) == (1, "")


def test_tables_that_somebody_else_put_beside_the_graph_stay(database: PostgresqlDatabase) -> None:
    filled(database)
    _run(database.url, f"CREATE TABLE {SCHEMA}.theirs (a INT); CREATE INDEX theirs_by_name ON {SCHEMA}.node (name)")
    opened(database).close()
    assert datasets(database) == 1
    _run(database.url, f"DROP TABLE {SCHEMA}.flow")
    opened(database).close()
    assert datasets(database) == 0
    assert _run(database.url, f"SELECT count(*) FROM {SCHEMA}.theirs") == [(0,)]
    assert _run(database.url, f"SELECT indexname FROM pg_indexes WHERE schemaname = '{SCHEMA}' AND indexname LIKE 'theirs%'") == []


def test_tables_that_a_question_reads_are_not_waited_for_long(database: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.store.postgresql.schema._DROP_WAIT", "100ms")
    filled(database)
    _run(database.url, f"DROP TABLE {SCHEMA}.flow")
    with closing(ReaderPool(database)) as pool, pool.reader() as reader:
        assert reader.nodes.count(NodeKind.DATASET) == 1
        with pytest.raises(StoreError, match="lock timeout"):
            opened(database)
        assert reader.nodes.count(NodeKind.DATASET) == 1
    opened(database).close()
    assert datasets(database) == 0


def test_tables_that_a_view_needs_are_not_dropped(database: PostgresqlDatabase) -> None:
    filled(database)
    _run(database.url, f"CREATE VIEW {SCHEMA}.names AS SELECT name FROM {SCHEMA}.node; DROP TABLE {SCHEMA}.flow")
    with pytest.raises(StoreError, match="depend") as error:
        opened(database)
    assert "drop what depends" in error.value.hint


@pytest.mark.parametrize("table", ["alembic_version (version_num VARCHAR(32))", "node (id INT)"])
def test_tables_of_another_program_are_refused_and_stay(database: PostgresqlDatabase, table: str) -> None:
    name = table.split(maxsplit=1)[0]
    _run(database.url, f"CREATE SCHEMA {SCHEMA}; CREATE TABLE {SCHEMA}.{table}; INSERT INTO {SCHEMA}.{name} VALUES (7)")
    with pytest.raises(StoreError) as error:
        opened(database)
    assert "store_schema" in error.value.hint
    with pytest.raises(StoreError):
        database.connect()
    assert [str(row[0]) for row in _run(database.url, f"SELECT * FROM {SCHEMA}.{name}")] == ["7"]


def test_tables_of_a_newer_version_are_refused_and_stay(database: PostgresqlDatabase) -> None:
    filled(database)
    _run(database.url, f"UPDATE {SCHEMA}.alembic_version SET version_num = '9999'")
    for connect in (connect_reader, connect_writer):
        with pytest.raises(StoreVersionError, match="9999"):
            connect(database.url, SCHEMA)
    assert _run(database.url, f"SELECT count(*) FROM {SCHEMA}.node WHERE name = 'a'") == [(1,)]


def test_a_second_writer_is_told_who_holds_the_schema(database: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.store.postgresql.writer_lock._WAIT", "100ms")
    first = connect_writer(database.url, SCHEMA, alone_as="the pipeline 17 on first.example")
    with pytest.raises(StoreLockedError, match=f"the pipeline 17 on first.example, connected from .* schema {SCHEMA}"):
        connect_writer(database.url, SCHEMA, alone_as="the pipeline 18 on second.example")
    connect_writer(database.url, f"{SCHEMA}{SUFFIX}", alone_as="the pipeline 18 on second.example").close()
    first.close()
    connect_writer(database.url, SCHEMA, alone_as="the pipeline 18 on second.example").close()


def test_a_store_is_checked_by_asking_its_database(database: PostgresqlDatabase) -> None:
    with closing(GraphWriter(opened(database), Names(KEY))) as writer:
        writer.check()
        (pid,) = writer.connection.execute("SELECT pg_backend_pid()").fetchone()
        _run(database.url, f"SELECT pg_terminate_backend({pid}, 10000)")
        with pytest.raises(StoreError, match="does not answer"):
            writer.check()


def test_a_graph_that_is_computed_again_takes_the_place_of_the_one_in_use(database: PostgresqlDatabase) -> None:
    with closing(GraphWriter(opened(database), Names(KEY))) as writer:
        apply(writer, records_of([run_event(outputs=[dataset("old")])]))
    with closing(ReaderPool(database)) as pool, closing(Rebuilding(database, "the replay")) as rebuilding:
        with closing(GraphWriter(rebuilding.beside(), NAMES, feed=False)) as fresh:
            apply(fresh, records_of([run_event(job=name, outputs=[dataset(name)]) for name in ("old", "new")]))
            before = {row.relation: (row.before, row.after) for row in rebuild.compare(database, fresh)}
            rebuild.refuse_loss(database, fresh, rebuild.compare(database, fresh))
            rebuild.seal(fresh, database)
            rebuilding.complete()
            expected = list(reader_of(fresh).whole.lines(frozenset(), now_us=0))
        assert before["node"] == (2, 4)
        with pool.reader() as reader:
            assert reader.nodes.count(NodeKind.DATASET) == 1
            assert not rebuilding.put_in_place(), "a question holds the tables"

            assert reader.nodes.count(NodeKind.DATASET) == 1
        assert rebuilding.put_in_place()
        with pool.reader() as reader:
            assert list(reader.whole.lines(frozenset(), now_us=0)) == expected
    assert _run(database.url, f"SELECT count(*) FROM pg_namespace WHERE nspname = '{SCHEMA}{SUFFIX}'") == [(0,)]
    with closing(GraphWriter(opened(database), Names(KEY))) as writer:
        assert writer.position("log") == {0: 1}
        assert list(reader_of(writer).whole.lines(frozenset(), now_us=0)) == expected


def test_indexes_can_be_built_by_a_session_that_works_in_no_schema(database: PostgresqlDatabase) -> None:
    filled(database)
    with closing(GraphWriter(opened(database), Names(KEY))) as writer:
        add(writer, run_event(inputs=[dataset("long" * 100)]))
    _run(database.url, f"SET search_path TO ''; REINDEX TABLE {SCHEMA}.node; ANALYZE {SCHEMA}.node")
    assert _run(database.url, f"SELECT count(*) FROM {SCHEMA}.node WHERE name LIKE 'longlong%'") == [(1,)]


def test_what_an_interrupted_replay_left_is_removed_by_the_next(database: PostgresqlDatabase) -> None:
    filled(database)
    left = Rebuilding(database, "the replay")
    with closing(GraphWriter(left.beside(), NAMES, feed=False)) as fresh:
        add(fresh, run_event(inputs=[dataset("left")]))
    left._current.close()
    with closing(Rebuilding(database, "the replay")) as rebuilding, closing(rebuilding.beside()) as beside:
        assert beside.execute("SELECT count(*) FROM node").fetchone() == (0,)
        assert graph_tables(beside.raw.connection, BESIDE)
        assert not graph_tables(beside.raw.connection)
    assert datasets(database) == 1
    with suppress(StoreMissingError), closing(connect_reader(database.url, SCHEMA + SUFFIX)):
        pytest.fail("the schema beside is left")
