"""The interface by which commands on the server's own machine read the whole graph."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol

from lineage_bridge.graph.facts.names import Names
from lineage_bridge.model.verification import Difference
from lineage_bridge.ports.analysis import GraphTables

if TYPE_CHECKING:
    from lineage_bridge.ports.graph_reader import GraphReader


class WholeGraphReader(Protocol):
    """Reads the whole store, to export, verify or analyse it."""

    def lines(self, only: frozenset[str], *, now_us: int) -> Iterator[bytes]:
        """The graph as sorted NDJSON lines of some types (all if empty), with labels as of `now_us`."""

    def differences(self, names: Names, on_progress: Callable[[str], None]) -> Iterator[Difference]:
        """Compare each derived table with what follows from the facts. `on_progress` is called with the name of each step."""

    def tables(self) -> GraphTables:
        """The graph as plain tables."""

    def record_addresses(self, source: str, partition: int) -> Iterator[tuple[int, bytes]]:
        """The offset and event id of each record of a log that the graph knows: accepted events and quarantined records."""

    def erased_runs(self) -> list[bytes]:
        """The runs that were erased."""

    def refolded(self, names: Names, at_us: int | None, without: frozenset[bytes]) -> "AbstractContextManager[GraphReader]":
        """A reader of the graph folded again as of `at_us` (now, if None), without the runs in `without`."""
