"""Analysis of the whole graph: what it reads and what it found."""

from collections.abc import Iterator
from typing import Protocol

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.model.analysis import FindingsSummary, GraphTable


class GraphTables(Protocol):
    """Reads the whole graph, within one read transaction, as plain tables."""

    def rows(self, table: GraphTable) -> Iterator[Row]:
        """The rows of a table, in any order."""


class FindingsReader(Protocol):
    """Reads the findings of the last analysis."""

    summary: FindingsSummary

    def lines(self, part: str, limit: int, offset: int) -> list[bytes]:
        """Lines of a part (impact, cycle, orphan, unused), each a JSON object."""

    def every(self, part: str) -> Iterator[bytes]:
        """All lines of a part, read once."""
