"""A server that stops answering, with its connections open, does not hold a writer for ever; neither does a lock on its tables."""

import os
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import psutil
import psycopg
import pytest
from tests.servers import postgres

from lineage_bridge.errors import StoreError, StoreUnreachableError
from lineage_bridge.store.postgresql.connection import connect_writer

pytestmark = pytest.mark.servers


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with postgres.started(tmp_path_factory.mktemp("stopped")) as server:
        yield f"postgresql://{server.user}@{server.host}:{server.port}/{server.database}"


@contextmanager
def stopped(backend: int) -> Iterator[None]:
    """All processes of the server to which a backend belongs stand still."""
    server = psutil.Process(backend).parent()
    assert server is not None
    processes = [server, *server.children(recursive=True)]
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in processes:
            with suppress(ProcessLookupError):
                os.kill(process.pid, signal.SIGCONT)


def test_a_statement_fails_when_the_server_stops_answering(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("_PERIOD_S", 0.2), ("_ANSWER_S", 1.0)):
        monkeypatch.setattr(f"lineage_bridge.store.postgresql.watchdog.{name}", value)
    with closing(connect_writer(url, "watched", alone_as="the pipeline")) as connection:
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone()
        with stopped(backend), pytest.raises(StoreUnreachableError):
            connection.execute("SELECT 1")


def test_a_statement_that_takes_long_is_waited_for(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.store.postgresql.watchdog._PERIOD_S", 0.1)
    with closing(connect_writer(url, "watched", alone_as="the pipeline")) as connection:
        assert connection.execute("SELECT 7 FROM pg_sleep(2)").fetchone() == (7,)


def test_a_table_that_somebody_holds_is_not_waited_for_without_end(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.store.postgresql.connection._WRITER", "SET lock_timeout = '200ms'")
    with closing(connect_writer(url, "held", alone_as="the pipeline")) as connection, psycopg.connect(url) as other:
        other.execute("LOCK TABLE held.position")
        with pytest.raises(StoreError, match="lock timeout") as error:
            connection.execute("DELETE FROM position")
        assert "holds the graph's tables" in error.value.hint


def test_a_writer_waits_half_a_minute_for_a_lock(url: str) -> None:
    with closing(connect_writer(url, "watched", alone_as="the pipeline")) as connection:
        assert connection.execute("SHOW lock_timeout").fetchone() == ("30s",)
