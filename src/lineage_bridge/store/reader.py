"""Readers of the store. A reader works within one read transaction, so all its answers have the same position."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, LifoQueue

from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.damage import file_identity, suspected_on_damage
from lineage_bridge.store.history.questions import HistoryQuestions
from lineage_bridge.store.lineage.questions import LineageQuestions
from lineage_bridge.store.query.events import Events
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.query.progress import StoreProgress
from lineage_bridge.store.query.search import Search
from lineage_bridge.store.query.within import NamespaceCondition
from lineage_bridge.store.runs.processing import ProcessingTypes
from lineage_bridge.store.runs.questions import RunQuestions
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.schema.sqlite import connect_reader
from lineage_bridge.store.whole.inventory import Inventory
from lineage_bridge.store.whole.reader import WholeGraph


class StoreReader:
    """Implements ports.GraphReader over one connection, inside one read transaction.

    All its parts share one cache of nodes and runs.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes | None = None, processing: ProcessingTypes | None = None) -> None:
        """With `processing`, whether jobs stream is read from there: a store of earlier facts may not know it yet."""
        self.nodes = nodes or Nodes(connection)
        runs = Runs(connection, self.nodes, processing)
        self.progress = StoreProgress(connection)
        self.search = Search(connection, self.nodes)
        self.lineage = LineageQuestions(connection, self.nodes, runs)
        self.runs = RunQuestions(connection, self.nodes, runs)
        self.history = HistoryQuestions(connection, self.nodes, runs)
        self.events = Events(connection, self.nodes, runs)
        self.inventory = Inventory(connection, self.nodes, runs, self._with_nodes)
        self.whole = WholeGraph(connection, StoreReader)
        self._connection = connection

    def interrupt(self) -> None:
        """Abort the running query, and refuse later ones. May be called from another thread."""
        self._connection.interrupt()

    def within(self, namespaces: Collection[str]) -> "StoreReader":
        """A reader in the same transaction whose lists contain only what is in these namespaces."""
        return StoreReader(self._connection, Nodes(self._connection, within=NamespaceCondition(namespaces)))

    def _with_nodes(self, nodes: Nodes) -> "StoreReader":
        """A reader in the same transaction, with a node cache of its own."""
        return StoreReader(self._connection, nodes)


class ReaderPool:
    """Readers over a store file; connections are reused. Safe for many threads at once."""

    def __init__(self, path: Path, size: int = 16) -> None:
        self.path = path
        self._idle: LifoQueue[StoreConnection] = LifoQueue(size)
        self._file: tuple[int, int] | None = None

    @contextmanager
    def reader(self) -> Iterator[StoreReader]:
        """A reader within one read transaction. Raises StoreMissingError, StoreVersionError, StoreDamagedError."""
        with suspected_on_damage(self.path):
            connection = self._connection()
            try:
                connection.execute("BEGIN")
                yield StoreReader(connection)
                connection.execute("ROLLBACK")
            except BaseException:
                connection.close()
                raise
        if self._idle.full():
            connection.close()
        else:
            self._idle.put_nowait(connection)

    def _connection(self) -> StoreConnection:
        """A connection to the file that is there now: it may have been replaced since the last query."""
        file = file_identity(self.path)
        if file != self._file:
            self.close()
            self._file = file
        try:
            return self._idle.get_nowait()
        except Empty:
            return connect_reader(self.path)

    def close(self) -> None:
        """Close the idle connections."""
        while not self._idle.empty():
            self._idle.get_nowait().close()
