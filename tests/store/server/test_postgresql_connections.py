"""Connections to PostgreSQL: readers, scans, interruptions, and what its errors become."""

import threading
from collections.abc import Iterator
from contextlib import closing

import pytest
from psycopg.adapt import PyFormat
from tests.events import KEY, dataset, run_event
from tests.store.server.postgresql import GraphDatabase
from tests.store.writing import add

from lineage_bridge.errors import AbandonedError, ConfigError, StoreError, StoreMissingError, StoreUnreachableError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_reader, connect_writer
from lineage_bridge.store.postgresql.driver import PORTION
from lineage_bridge.store.reader import ReaderPool
from lineage_bridge.store.write.apply import GraphWriter

pytestmark = pytest.mark.servers
SECRET = "hunter%zz2"
INVALID_OID = 0
"""A parameter of this type has the one that its statement needs."""
ENDLESS = "number (a) AS (SELECT CAST(1 AS BIGINT) UNION ALL SELECT a + 1 FROM number)"


@pytest.fixture
def written(graph_database: GraphDatabase) -> Iterator[GraphWriter]:
    with closing(GraphWriter(graph_database.emptied(), Names(KEY))) as writer:
        yield writer


@pytest.fixture
def pool(graph_database: GraphDatabase) -> Iterator[ReaderPool]:
    with closing(ReaderPool(PostgresqlDatabase(graph_database.url))) as pool:
        yield pool


@pytest.fixture
def reading(graph_database: GraphDatabase) -> Iterator[StoreConnection]:
    """A connection that reads."""
    graph_database.emptied().close()
    with closing(connect_reader(graph_database.url)) as connection:
        yield connection


def backend(connection: StoreConnection) -> int:
    return int(connection.execute("SELECT pg_backend_pid()").fetchone()[0])


def test_a_reader_sees_one_moment(written: GraphWriter, pool: ReaderPool) -> None:
    add(written, run_event(inputs=[dataset("a")]))
    with pool.reader() as before:
        assert before.nodes.count(NodeKind.DATASET) == 1
        add(written, run_event(inputs=[dataset("b")]))
        assert before.nodes.count(NodeKind.DATASET) == 1
    with pool.reader() as after:
        assert after.nodes.count(NodeKind.DATASET) == 2


def test_a_reader_cannot_write(reading: StoreConnection) -> None:
    reading.execute("BEGIN")
    with pytest.raises(StoreError, match="read-only transaction"):
        reading.execute("DELETE FROM node")


def test_a_connection_that_broke_while_it_was_idle_is_replaced(written: GraphWriter, pool: ReaderPool) -> None:
    with pool.reader() as reader:
        broken = backend(reader._connection)
    written.connection.execute("SELECT pg_terminate_backend(CAST(? AS INT), 10000)", (broken,))
    with pool.reader() as reader:
        assert backend(reader._connection) != broken


def test_a_connection_that_breaks_under_a_question_is_reported(written: GraphWriter, pool: ReaderPool) -> None:
    question = pool.reader()
    reader = question.__enter__()
    written.connection.execute("SELECT pg_terminate_backend(CAST(? AS INT), 10000)", (backend(reader._connection),))
    with pytest.raises(StoreUnreachableError):
        reader.nodes.count(NodeKind.DATASET)
    with pytest.raises(StoreUnreachableError):
        question.__exit__(None, None, None)


def test_a_batch_whose_connection_broke_is_reported_and_counts_for_nothing(graph_database: GraphDatabase) -> None:
    with closing(GraphWriter(graph_database.emptied(), Names(KEY))) as broken, closing(connect_writer(graph_database.url)) as other:
        other.execute("SELECT pg_terminate_backend(CAST(? AS INT), 10000)", (backend(broken.connection),))
        with pytest.raises(StoreUnreachableError):
            add(broken, run_event(inputs=[dataset("a")]))
        assert other.execute("SELECT count(*) FROM node").fetchone() == (0,)


def test_a_running_statement_is_interrupted_and_later_ones_are_refused(reading: StoreConnection) -> None:
    threading.Timer(0.3, reading.interrupt).start()
    with pytest.raises(AbandonedError):
        reading.execute("SELECT pg_sleep(60)")
    for run in (reading.execute, reading.scan):
        with pytest.raises(AbandonedError):
            run("SELECT 1")


def test_an_interruption_ends_a_scan(reading: StoreConnection) -> None:
    reading.execute("BEGIN")
    rows = reading.scan(f"WITH RECURSIVE {ENDLESS} SELECT a FROM number")
    assert rows.fetchone() == (1,)
    reading.interrupt()
    with pytest.raises(AbandonedError):
        rows.fetchmany(2 * PORTION)


def test_a_scan_has_all_rows_and_keeps_a_portion(reading: StoreConnection) -> None:
    count = 2 * PORTION + 1
    sql = "SELECT a FROM generate_series(1, CAST(:count AS BIGINT)) a"
    for begun in (False, True):
        if begun:
            reading.execute("BEGIN")
        rows = reading.scan(sql, {"count": count})
        assert rows.fetchone() == (1,)
        assert rows.fetchmany(PORTION) == [(number,) for number in range(2, PORTION + 2)]
        assert rows.fetchall() == [(number,) for number in range(PORTION + 2, count + 1)]
        assert (rows.fetchone(), rows.fetchmany(2)) == (None, [])


def test_scans_beside_each_other_and_other_statements_have_their_own_rows(reading: StoreConnection) -> None:
    reading.execute("BEGIN")
    first, second = (reading.scan("SELECT a FROM generate_series(?, 2000) a", (start,)) for start in (1, 1001))
    assert [(a, b) for (a,), (b,), _ in zip(first, second, range(3), strict=False)] == [(1, 1001), (2, 1002), (3, 1003)]
    assert reading.execute("SELECT 7").fetchone() == (7,)
    assert first.fetchone() is not None


def test_what_postgresql_refuses_is_an_error_of_the_store(reading: StoreConnection) -> None:
    with pytest.raises(StoreError, match=r'relation "nothing" does not exist \(42P01\)'):
        reading.execute("SELECT * FROM nothing")


def test_a_question_in_a_deadlock_with_whoever_replaces_the_tables_can_be_repeated(graph_database: GraphDatabase, pool: ReaderPool) -> None:
    def ask() -> None:
        with pool.reader() as reader:
            reader._connection.execute("SELECT count(*) FROM event_record")
            waiting.start()
            graph_database.server.wait_for_rows("SELECT 1 FROM pg_locks WHERE NOT granted")
            reader.nodes.count(NodeKind.DATASET)

    graph_database.emptied().close()
    with closing(connect_writer(graph_database.url)) as replacing:
        replacing.execute("SET deadlock_timeout = '1h'")
        replacing.execute("BEGIN")
        replacing.execute("LOCK TABLE node")
        waiting = threading.Thread(target=replacing.execute, args=("LOCK TABLE event_record",))
        with pytest.raises(StoreUnreachableError, match="deadlock") as error:
            ask()
        waiting.join()
        replacing.execute("ROLLBACK")
    assert "again" in error.value.hint
    with pool.reader() as reader:
        assert reader.nodes.count(NodeKind.DATASET) == 0


def test_a_schema_without_tables_is_missing(graph_database: GraphDatabase) -> None:
    with pytest.raises(StoreMissingError):
        connect_reader(f"{graph_database.url}?options=-csearch_path%3Dno_such_schema")


@pytest.mark.parametrize("connect", [connect_reader, connect_writer])
def test_a_password_is_in_no_error(graph_database: GraphDatabase, connect: type) -> None:
    _, _, place = graph_database.url.partition("@")
    with pytest.raises(ConfigError) as error:
        connect(f"postgresql://user:{SECRET}@{place}")
    assert "hunter" not in f"{error.value}{error.value.hint}{error.value.__cause__}"
    with pytest.raises(StoreUnreachableError) as refused:
        connect(f"postgresql://user:hunter2@{place}nowhere")
    assert "hunter" not in f"{refused.value}{refused.value.hint}{refused.value.__cause__}"
    assert "hunter" not in repr(PostgresqlDatabase(f"postgresql://user:hunter2@{place}"))


def test_the_query_of_a_search_is_read_once_and_not_for_each_row(reading: StoreConnection) -> None:
    search = reading.dialect.full_text
    query = search.query_value("node_search", search.phrase("orders"))
    (given,) = reading.execute("SELECT CAST(CAST(? AS tsquery) AS TEXT)", (query,)).fetchone()
    assert "'1ord'" in given
    dumper = reading.raw.connection.adapters.get_dumper(type(query), PyFormat.TEXT)
    assert dumper.oid == INVALID_OID


def test_few_names_wait_to_be_sorted_into_the_indexes_of_search(reading: StoreConnection) -> None:
    sql = "SELECT reloptions FROM pg_class WHERE relname IN ('node_search_by_words', 'node_search_text_by_words')"
    assert reading.execute(sql).fetchall() == [(["gin_pending_list_limit=256"],)] * 2
