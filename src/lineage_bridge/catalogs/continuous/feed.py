"""The change feed as targets follow it."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from lineage_bridge.ports.graph_reader import GraphReader

OpenGraph = Callable[[], AbstractContextManager[GraphReader]]
NEWEST = "now"


def changes_behind(graph: OpenGraph, cursor: str) -> int:
    """How many changes of the graph there are after a cursor. Raises GoneError if that is no longer known, StoreError."""
    with graph() as reader:
        return reader.history.changes(cursor, (), 1).behind


class CoveredGraph:
    """Opens readers, each when it has `turn`, and remembers the cursor of the newest change that the last of them saw."""

    def __init__(self, graph: OpenGraph, turn: AbstractContextManager[Any]) -> None:
        self._graph, self._turn = graph, turn
        self.cursor = ""

    @contextmanager
    def reader(self) -> Iterator[GraphReader]:
        """A reader, whose questions all see one moment."""
        with self._turn, self._graph() as reader:
            self.cursor = reader.history.changes(NEWEST, (), 1).following
            yield reader
