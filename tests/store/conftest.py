"""Fixtures of the store's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.events import KEY

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter


@pytest.fixture
def writer(tmp_path: Path) -> Iterator[GraphWriter]:
    """The writer of a store of its own."""
    made = GraphWriter(tmp_path / "graph.db", Names(KEY))
    yield made
    made.close()
