"""A schema in PostgreSQL belongs to one installation: nobody else's pipeline or replay changes it, whatever state its tables are in."""

from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import psycopg
import pytest
from tests.events import KEY, dataset, run_event
from tests.store.server.postgresql import GraphDatabase
from tests.store.writing import NAMES, add

from lineage_bridge.config import Settings
from lineage_bridge.errors import StoreError, StoreLockedError, StoreUnreachableError, StoreVersionError
from lineage_bridge.eventlog.writer import LogWriter
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_writer
from lineage_bridge.store.postgresql.log_identity import owner_of
from lineage_bridge.store.postgresql.ownership import GraphOwner, key_digest
from lineage_bridge.store.postgresql.rebuild import SUFFIX, Rebuilding
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.erasing.erasing import erase
from lineage_bridge.wiring.erasing.files import GRAPH
from lineage_bridge.wiring.erasing.requests import erasure_requests, waiting_requests
from lineage_bridge.wiring.pipeline import open_database
from lineage_bridge.wiring.shared import state_database

pytestmark = pytest.mark.servers
SCHEMA = "owned_by_a_test"
OURS = GraphOwner(key_digest(KEY), "0a")
COPY = GraphOwner(key_digest(KEY), "0b")
STRANGER = GraphOwner(key_digest(b"another"), "0a")
NO_INDEX = "DROP INDEX {0}.node_by_name"
NO_VERSION = "DROP TABLE {0}.alembic_version"
EARLIER = "UPDATE {0}.alembic_version SET version_num = '0001'"


@pytest.fixture
def database(graph_database: GraphDatabase) -> Iterator[PostgresqlDatabase]:
    """A schema with a graph of OURS, which has one dataset."""
    database = PostgresqlDatabase(graph_database.url, SCHEMA)
    with closing(GraphWriter(connect_writer(database.url, SCHEMA, owner=OURS), NAMES)) as writer:
        add(writer, run_event(inputs=[dataset("a")]))
    yield database
    for schema in (SCHEMA, SCHEMA + SUFFIX):
        run(database, f"DROP SCHEMA IF EXISTS {schema} CASCADE")


def run(database: PostgresqlDatabase, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(database.url, autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchall() if cursor.description else []


def rows(database: PostgresqlDatabase, schema: str = SCHEMA) -> int:
    ((count,),) = run(database, f"SELECT count(*) FROM {schema}.node WHERE name = 'a'")
    assert isinstance(count, int)
    return count


@pytest.mark.parametrize("change", ["", NO_INDEX, NO_VERSION, EARLIER])
def test_another_installation_changes_nothing(database: PostgresqlDatabase, change: str) -> None:
    if change:
        run(database, change.format(SCHEMA))
    for owner, reason in ((STRANGER, "another key"), (COPY, "another log")):
        with pytest.raises(StoreError, match=reason):
            connect_writer(database.url, SCHEMA, alone_as="the pipeline", owner=owner)
    with pytest.raises(StoreError, match="another key"):
        Rebuilding(database, "the replay", STRANGER)
    assert rows(database) == 1


def test_the_owner_goes_on(database: PostgresqlDatabase) -> None:
    connect_writer(database.url, SCHEMA, alone_as="the pipeline", owner=OURS).close()
    assert rows(database) == 1


def test_a_graph_without_an_owner_is_nobodys(database: PostgresqlDatabase) -> None:
    run(database, f"COMMENT ON TABLE {SCHEMA}.flow IS 'LineageBridge: the graph, computed from the event log'")
    with pytest.raises(StoreError, match=r"the table flow .* does not name the installation"):
        connect_writer(database.url, SCHEMA, owner=OURS)
    assert rows(database) == 1


@pytest.mark.parametrize("change", ["", NO_INDEX, NO_VERSION, EARLIER])
def test_a_replay_leaves_the_graph_until_its_own_takes_its_place(database: PostgresqlDatabase, change: str) -> None:
    if change:
        run(database, change.format(SCHEMA))
    with pytest.raises(StoreError, match="another log"):
        Rebuilding(database, "the replay", COPY)
    with closing(Rebuilding(database, "the replay", OURS)) as rebuilding:
        with closing(GraphWriter(rebuilding.beside(), NAMES, feed=False)) as fresh:
            add(fresh, run_event(inputs=[dataset("b")]))
        assert rows(database) == 1
        rebuilding.complete()
        assert rebuilding.put_in_place()
    assert rows(database) == 0
    connect_writer(database.url, SCHEMA, owner=OURS).close()
    with pytest.raises(StoreError, match="another log"):
        connect_writer(database.url, SCHEMA, owner=COPY)
    assert run(database, f"SELECT count(*) FROM {SCHEMA}.node WHERE name = 'b'") == [(1,)]


def test_a_replay_refuses_tables_that_it_could_not_replace(database: PostgresqlDatabase) -> None:
    run(database, f"COMMENT ON TABLE {SCHEMA}.flow IS NULL")
    with pytest.raises(StoreError, match="the table flow of another program"):
        Rebuilding(database, "the replay", OURS)
    run(database, f"UPDATE {SCHEMA}.alembic_version SET version_num = '9999'")
    with pytest.raises(StoreVersionError):
        Rebuilding(database, "the replay", OURS)
    assert rows(database) == 1


def test_a_replay_does_not_begin_while_a_view_would_be_in_its_way(database: PostgresqlDatabase) -> None:
    run(database, f"CREATE VIEW {SCHEMA}.names AS SELECT name FROM {SCHEMA}.node")
    with pytest.raises(StoreError, match="views use the graph's tables: names"):
        Rebuilding(database, "the replay", OURS)
    run(database, f"DROP VIEW {SCHEMA}.names")
    Rebuilding(database, "the replay", OURS).close()


def test_a_replay_ends_when_its_lock_is_lost(database: PostgresqlDatabase) -> None:
    with suppress(StoreError), closing(Rebuilding(database, "the replay", OURS)) as rebuilding:
        rebuilding.check()
        run(database, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'the replay'")
        with pytest.raises(StoreUnreachableError):
            rebuilding.check()


def test_functions_that_are_left_without_tables_are_dropped(database: PostgresqlDatabase) -> None:
    tables = ", ".join(f"{SCHEMA}.{name}" for (name,) in run(database, f"SELECT tablename FROM pg_tables WHERE schemaname = '{SCHEMA}'"))
    run(database, f"DROP TABLE {tables}")
    connect_writer(database.url, SCHEMA, owner=OURS).close()
    assert rows(database) == 0


def test_a_graph_in_the_schema_beside_stays(database: PostgresqlDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.store.postgresql.writer_lock._WAIT", "100ms")
    other = connect_writer(database.url, SCHEMA + SUFFIX, alone_as="the pipeline of another", owner=STRANGER)
    with closing(GraphWriter(other, NAMES)) as writer:
        add(writer, run_event(inputs=[dataset("a")]))
        with pytest.raises(StoreLockedError, match="the pipeline of another"):
            Rebuilding(database, "the replay", OURS)
    with pytest.raises(StoreError, match="holds another graph"):
        Rebuilding(database, "the replay", OURS)
    assert rows(database, SCHEMA + SUFFIX) == 1


def test_a_restored_copy_of_the_data_folder_does_not_write_the_graph_of_the_original(database: PostgresqlDatabase, tmp_path: Path) -> None:
    original, copy = (Settings(data_dir=tmp_path / name, store=database.url, store_schema=SCHEMA) for name in ("original", "copy"))
    run(database, f"DROP SCHEMA {SCHEMA} CASCADE")
    for found in (original, copy):
        found.paths.data_dir.mkdir()
    with open_database(original, database, KEY) as store:
        assert store.position("log") == {}
    assert original.paths.graph_elsewhere.exists()
    with pytest.raises(StoreError, match="another log") as error, open_database(copy, database, KEY):
        pass
    assert "drop the schema" in error.value.hint
    copy.paths.graph_owner.write_text("log unreadable")
    with pytest.raises(StoreError, match="does not contain the identity of a log"), open_database(copy, database, KEY):
        pass
    assert copy.paths.graph_owner.read_text() == "log unreadable"
    with open_database(original, database, KEY):
        pass


def test_an_emptied_graph_keeps_nothing_and_is_begun_again(database: PostgresqlDatabase) -> None:
    run(database, f"CREATE TABLE {SCHEMA}.of_another_program AS SELECT 1 AS kept")
    with closing(Rebuilding(database, "an erasure", OURS)) as rebuilding:
        rebuilding.empty()
    tables = run(database, f"SELECT tablename FROM pg_tables WHERE schemaname = '{SCHEMA}'")
    assert tables == [("of_another_program",)]
    with closing(GraphWriter(connect_writer(database.url, SCHEMA, owner=OURS), NAMES)) as writer:
        assert rows(database) == 0
        add(writer, run_event(inputs=[dataset("a")]))
    assert rows(database) == 1


def test_an_erasure_leaves_nothing_of_a_graph_in_postgresql(database: PostgresqlDatabase, tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, store=database.url, store_schema=SCHEMA)
    owner = owner_of(settings.paths.graph_owner, state_database(settings).key())
    run(database, f"DROP SCHEMA {SCHEMA} CASCADE")
    body = run_event(inputs=[dataset("a", owners={"name": "ada@example.com"})])
    with LogWriter(settings.paths.log) as log:
        log.append([LogRecord(RecordKind.EVENT, event_id(body), 5, "http", "", b"", body)])
    with closing(GraphWriter(connect_writer(database.url, SCHEMA, owner=owner), NAMES)) as writer:
        add(writer, body)
    assert rows(database) == 1
    erasure_requests(settings).request("person", "ada@example.com", "", False)
    (request,) = waiting_requests(settings.paths)
    report = erase(settings, request)
    assert (report.status, report.erased, GRAPH in report.removed) == ("done", 1, True)
    assert any("PostgreSQL" in line for line in report.elsewhere)
    assert run(database, f"SELECT tablename FROM pg_tables WHERE schemaname = '{SCHEMA}'") == []
