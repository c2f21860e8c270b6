from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.api.support import Server, running
from tests.events import KEY
from tests.sources.flink.stand import Stand, standing

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter


@pytest.fixture
def stand() -> Iterator[Stand]:
    with standing() as started:
        yield started


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    GraphWriter(tmp_path / "empty.db", Names(KEY)).close()
    with running(tmp_path, tmp_path / "empty.db") as started:
        yield started
