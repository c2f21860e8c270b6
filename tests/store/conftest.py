"""Fixtures of the store's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events import KEY
from tests.store.server.postgresql import GraphDatabase, started

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.write.apply import GraphWriter


@pytest.fixture(scope="session")
def graph_database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphDatabase]:
    """A store in PostgreSQL, one for each worker of a run."""
    with started(tmp_path_factory.mktemp("graph-database")) as database:
        yield database


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.servers)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Path | StoreConnection:
    """Where a store of its own is: each test runs on both databases."""
    if request.param == "sqlite":
        return tmp_path / "graph.db"
    database: GraphDatabase = request.getfixturevalue("graph_database")
    return database.emptied()


@pytest.fixture
def writer(place: Path | StoreConnection) -> Iterator[GraphWriter]:
    """The writer of a store of its own."""
    made = GraphWriter(place, Names(KEY))
    yield made
    made.close()
