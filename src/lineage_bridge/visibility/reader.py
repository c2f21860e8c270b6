"""The reader of the graph that a limited principal gets. Each kind of question has a class with a rule for each of its methods."""

from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NoReturn

from lineage_bridge.errors import RefusedError
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.model.access import Visibility
from lineage_bridge.model.verification import Difference
from lineage_bridge.ports.analysis import GraphTables
from lineage_bridge.ports.graph_reader import GraphReader, ProgressReader
from lineage_bridge.visibility.border import Beyond, Border
from lineage_bridge.visibility.events import LimitedEvents
from lineage_bridge.visibility.history import LimitedHistory
from lineage_bridge.visibility.inventory import LimitedInventory
from lineage_bridge.visibility.lineage import LimitedLineage
from lineage_bridge.visibility.nodes import LimitedNodes, LimitedSearch
from lineage_bridge.visibility.runs import LimitedRuns

OpenGraph = Callable[[], AbstractContextManager[GraphReader]]


class LimitedReader:
    """Implements ports.GraphReader for a principal who sees a part of the graph. `own` are the namespaces of that part."""

    def __init__(self, reader: GraphReader, visibility: Visibility, own: frozenset[str], beyond: Beyond | None = None) -> None:
        self._reader, self._visibility, self._own = reader, visibility, own
        self._lists = lists = reader.within(own)
        border = self._border = Border(reader.nodes, visibility, own, beyond)
        self.nodes = LimitedNodes(reader.nodes, lists.nodes, border)
        self.search = LimitedSearch(lists.search)
        self.lineage = LimitedLineage(reader.lineage, border)
        self.runs = LimitedRuns(reader.runs, border)
        self.history = LimitedHistory(reader.history, lists.history, border)
        self.events = LimitedEvents(reader.events, lists.events, border)
        self.inventory = LimitedInventory(reader.inventory, lists.inventory, border, self._limited)
        self.whole = NoWholeGraph()

    @property
    def progress(self) -> ProgressReader:
        """How far the store has applied the log. This is the same for all principals."""
        return self._reader.progress

    def within(self, namespaces: Collection[str]) -> GraphReader:
        """A reader whose lists only contain nodes that are both in these namespaces and in the principal's."""
        return LimitedReader(self._reader, self._visibility, self._own & frozenset(namespaces))

    def interrupt(self) -> None:
        """Abort the running statement, and refuse later ones."""
        self._reader.interrupt()

    def _limited(self, reader: GraphReader) -> GraphReader:
        """Wrap a reader of a portion of the graph, with the same limits and the same places."""
        return LimitedReader(reader, self._visibility, self._own, self._border.beyond)


class NoWholeGraph:
    """Implements ports.WholeGraphReader for limited principals. They may not read the whole graph, so every method raises RefusedError."""

    def lines(self, only: frozenset[str], *, now_us: int) -> Iterator[bytes]:
        """Raises RefusedError, because the principal is limited."""
        _refuse(only, now_us)

    def differences(self, names: Names, on_progress: Callable[[str], None]) -> Iterator[Difference]:
        """Raises RefusedError, because the principal is limited."""
        _refuse(names, on_progress)

    def tables(self) -> GraphTables:
        """Raises RefusedError, because the principal is limited."""
        _refuse()

    def record_addresses(self, source: str, partition: int) -> Iterator[tuple[int, bytes]]:
        """Raises RefusedError, because the principal is limited."""
        _refuse(source, partition)

    def erased_runs(self) -> list[bytes]:
        """Raises RefusedError, because the principal is limited."""
        _refuse()

    def refolded(self, names: Names, at_us: int | None, without: frozenset[bytes]) -> AbstractContextManager[GraphReader]:
        """Raises RefusedError, because the principal is limited."""
        _refuse(names, at_us, without)


def _refuse(*_: object) -> NoReturn:
    raise RefusedError(
        403,
        "limited",
        "principals that are limited to namespaces may not read the whole graph",
        "ask about datasets and jobs in your namespaces",
    )


def limited(graph: OpenGraph, visibility: Callable[[], Visibility | None]) -> OpenGraph:
    """Wrap the function `graph`, which opens readers: they are limited to what the current principal may see (None: everything)."""

    @contextmanager
    def open_reader() -> Iterator[GraphReader]:
        limits = visibility()
        with graph() as reader:
            yield reader if limits is None else LimitedReader(reader, limits, limits.owned(reader.nodes.namespaces()))

    return open_reader
