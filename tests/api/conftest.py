from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.support import Server, running
from tests.events import KEY

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store without a row, to copy: making one takes longer than most tests."""
    path = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(path, Names(KEY)).close()
    return path


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store) as started:
        yield started
