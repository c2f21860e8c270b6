"""Reads the change feed for the followers of targets."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from lineage_bridge.ports.graph_reader import GraphReader

OpenGraph = Callable[[], AbstractContextManager[GraphReader]]
NEWEST = "now"


def changes_behind(graph: OpenGraph, cursor: str) -> int:
    """How many changes of the graph there are after a cursor. Raises GoneError if these changes are no longer kept, StoreError."""
    with graph() as reader:
        return reader.history.changes(cursor, (), 1).behind


class CoveredGraph:
    """Opens readers of the graph, one at a time (each holds the lock `turn`), and stores the cursor of the newest change that the last
    reader could see.
    """

    def __init__(self, graph: OpenGraph, turn: AbstractContextManager[Any]) -> None:
        self._graph, self._turn = graph, turn
        self.cursor = ""

    @contextmanager
    def reader(self) -> Iterator[GraphReader]:
        """Open a reader. All its answers reflect the same state of the graph."""
        with self._turn, self._graph() as reader:
            self.cursor = reader.history.changes(NEWEST, (), 1).following
            yield reader
