"""Questions that are answered from a replica: it may lag, a question says the position that it needs, and no event is lost of sight."""

import socket
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.crash.damage import client_of, event
from tests.servers import postgres
from tests.servers.postgres import Postgres
from tests.store.server.postgresql import GraphDatabase, address_of

from lineage_bridge.config import Settings
from lineage_bridge.errors import ConfigError, StoreUnreachableError
from lineage_bridge.eventlog.reader import LogReader
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.graph.log_record import OffsetRange, StoredRecord
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.ports.log import LOG_SOURCE
from lineage_bridge.store.postgresql.connection import PostgresqlDatabase, connect_writer
from lineage_bridge.store.reader import StoreReader
from lineage_bridge.store.write.apply import GraphWriter
from lineage_bridge.wiring.shared import note_store, question_readers, state_database

pytestmark = pytest.mark.servers
SCHEMA = "followed"


@pytest.fixture(scope="module")
def replica(graph_database: GraphDatabase, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    with postgres.replica(graph_database.server, tmp_path_factory.mktemp("replica")) as server:
        yield server


@pytest.fixture
def settings(graph_database: GraphDatabase, replica: Postgres, tmp_path: Path) -> Settings:
    graph_database.server.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return Settings(data_dir=tmp_path, store=graph_database.url, store_schema=SCHEMA, store_replica=address_of(replica))


def catch_up(primary: Postgres, replica: Postgres) -> None:
    """Wait until the replica has applied all that was written."""
    ((written,),) = primary.execute("SELECT pg_current_wal_lsn()")
    replica.wait_for_rows(f"SELECT 1 WHERE pg_last_wal_replay_lsn() >= '{written}'")


def pause(replica: Postgres) -> None:
    """Keep the replica from applying more."""
    replica.execute("SELECT pg_wal_replay_pause()")
    replica.wait_for_rows("SELECT 1 WHERE pg_get_wal_replay_pause_state() = 'paused'")


def fold(settings: Settings) -> int:
    """Fold the log into the graph of the primary, as the pipeline does. Returns the end of the log."""
    names, log = Names(state_database(settings).key()), LogReader(settings.paths.log)
    with closing(GraphWriter(connect_writer(settings.store, SCHEMA), names)) as store:
        start, end = store.position(LOG_SOURCE).get(0, 0), log.durable_end()
        records = [StoredRecord(LOG_SOURCE, 0, offset, record) for offset, record in log.read(start, end)]
        store.apply(Batch({(LOG_SOURCE, 0): OffsetRange(start, end)}, dict(flat(fold_records(records, names)))), Budget(10**9))
        while store.settle(Budget(10**9)):
            pass
    return end


def ask(client: TestClient, **more: str) -> int:
    """The status of a question about a dataset that the events write."""
    return client.get("/api/v1/graph/neighbourhood", params={"namespace": "ns", "name": "d8", "wait": "0", **more}).status_code


def test_questions_are_answered_from_the_replica_and_may_say_the_position_that_they_need(
    settings: Settings, graph_database: GraphDatabase, replica: Postgres
) -> None:
    with client_of(settings) as client:
        client.post("/api/v1/lineage", content=event(1)).raise_for_status()
        fold(settings)
        catch_up(graph_database.server, replica)
        assert client.get("/api/v1/ready").json()["lag"]["caught_up"]

        pause(replica)
        written = client.post("/api/v1/lineage", content=event(7))
        fold(settings)
        assert client.get("/api/v1/ready").json()["parts"]["store"]["detail"].startswith("answers lag: ")
        assert ask(client) == 404
        position = written.json()["position"]
        late = client.get("/api/v1/search", params={"q": "d8", "min_position": position, "wait": "0"})
        assert (late.status_code, late.headers["Retry-After"]) == (503, "1")
        assert "has not reached the requested position" in late.text

        replica.execute("SELECT pg_wal_replay_resume()")
        assert ask(client, min_position=position, wait="30") == 200
        assert ask(client) == 200


def test_offsets_that_the_replica_does_not_know_yet_are_not_issued_again(settings: Settings, replica: Postgres) -> None:
    pause(replica)
    with client_of(settings) as client:
        client.post("/api/v1/lineage", content=event(1)).raise_for_status()
    end = fold(settings)
    for segment in settings.paths.log.iterdir():
        segment.unlink()
    with client_of(settings) as client:
        client.post("/api/v1/lineage", content=event(2)).raise_for_status()
    replica.execute("SELECT pg_wal_replay_resume()")
    log = LogReader(settings.paths.log)
    (offset,) = [offset for offset, _ in log.read(0, log.durable_end())]
    assert offset >= end


def ask_until_refused(reader: StoreReader, primary: Postgres) -> None:
    """Ask on while the primary removes a row that the question may read."""
    reader.nodes.namespaces()
    primary.execute(f"DELETE FROM {SCHEMA}.node WHERE id = -1")
    primary.execute(f"VACUUM {SCHEMA}.node")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        reader.nodes.namespaces()


def test_a_question_whose_rows_the_replica_removes_can_be_repeated(
    settings: Settings, graph_database: GraphDatabase, replica: Postgres
) -> None:
    connect_writer(settings.store, SCHEMA).close()
    graph_database.server.execute(f"INSERT INTO {SCHEMA}.node VALUES (-1, 1, 'ns', 'gone', 0)")
    catch_up(graph_database.server, replica)
    with question_readers(settings) as pool:
        with pytest.raises(StoreUnreachableError) as error, pool.reader() as reader:
            ask_until_refused(reader, graph_database.server)
        assert "replica ended the question" in str(error.value)
        assert "hot_standby_feedback" in error.value.hint
        with pool.reader() as reader:
            reader.nodes.namespaces()


def test_a_replica_that_does_not_answer_is_named_while_events_are_accepted(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"postgresql://graph@127.0.0.1:{silent.getsockname()[1]}/lineage?connect_timeout=2"
    with client_of(settings.model_copy(update={"store_replica": address})) as client:
        assert client.post("/api/v1/lineage", content=event(1)).status_code == 201
        assert "PostgreSQL cannot be reached" in client.get("/api/v1/ready").json()["parts"]["store"]["detail"]
        answer = client.get("/api/v1/search", params={"q": "d1"})
        assert (answer.status_code, answer.json()["error"]["code"], answer.headers["Retry-After"]) == (503, "store_unreachable", "1")


def test_a_replica_of_no_database_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="store_replica is set"):
        note_store(Settings(data_dir=tmp_path, store_replica="postgresql://replica/lineage"))


def test_a_replica_has_the_schema_of_its_database(settings: Settings) -> None:
    with question_readers(settings) as pool:
        assert isinstance(pool.location, PostgresqlDatabase)
        assert (pool.location.url, pool.location.schema) == (settings.store_replica, SCHEMA)
