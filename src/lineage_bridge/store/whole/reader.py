"""Reads the whole store, in order to export, verify, analyse or fold it again."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.model.verification import Difference
from lineage_bridge.ports.analysis import GraphTables
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.verify import verify
from lineage_bridge.store.whole.export import Export
from lineage_bridge.store.whole.tables import WholeGraphTables
from lineage_bridge.store.write.asof import folded_again

_ADDRESSES = """SELECT "offset", event FROM event_record WHERE source = ? AND partition = ?
UNION SELECT "offset", event FROM quarantine WHERE source = ? AND partition = ?"""


class WholeGraph:
    """Implements ports.WholeGraphReader over one connection. `open_reader` makes a reader over another connection."""

    def __init__(self, connection: StoreConnection, open_reader: Callable[[StoreConnection], GraphReader]) -> None:
        self.connection, self.open_reader = connection, open_reader

    def lines(self, only: frozenset[str], *, now_us: int) -> Iterator[bytes]:
        """The graph as sorted NDJSON lines of some types (all if empty), with labels as of `now_us`."""
        return Export(self.connection, now_us).lines(only)

    def differences(self, names: Names, on_progress: Callable[[str], None] = lambda _: None) -> Iterator[Difference]:
        """Compare each derived table with a computation from the facts. `on_progress` is called with the name of each step."""
        return verify(self.connection, names, on_progress)

    def tables(self) -> GraphTables:
        """The graph as plain rows, for computations over all of it."""
        return WholeGraphTables(self.connection)

    def record_addresses(self, source: str, partition: int) -> Iterator[tuple[int, bytes]]:
        """The offset and event id of each record of a partition that was folded: accepted events and quarantined records."""
        for offset, event in self.connection.scan(_ADDRESSES, (source, partition, source, partition)):
            yield offset, bytes(event)

    def erased_runs(self) -> list[bytes]:
        """The runs that were erased."""
        return [bytes(run) for (run,) in self.connection.execute("SELECT run FROM erased")]

    @contextmanager
    def refolded(self, names: Names, at_us: int | None, without: frozenset[bytes]) -> Iterator[GraphReader]:
        """A reader of the graph folded again as of `at_us` (now, if None), without the runs in `without`."""
        with folded_again(self.connection, names, at_us, without) as connection:
            yield self.open_reader(connection)
