from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.support import Server, running
from tests.events import KEY
from tests.sources import scripted

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter


@pytest.fixture
def scripts() -> dict:
    """What scripted sources see, by system."""
    scripted.SCRIPTS.clear()
    scripted.SEEN.clear()
    scripted.NOTICED.clear()
    scripted.CLOSED.clear()
    return scripted.SCRIPTS


@pytest.fixture
def graph(tmp_path: Path) -> Iterator[Server]:
    """A server that folds what it is sent."""
    GraphWriter(tmp_path / "empty.db", Names(KEY)).close()
    with running(tmp_path, tmp_path / "empty.db") as started:
        yield started
