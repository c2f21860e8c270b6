"""The interfaces for the analysis of the whole graph: what it reads, and its findings."""

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
        """A page of the lines in one part (impact, cycle, orphan, unused). Each line is a JSON object."""

    def every(self, part: str) -> Iterator[bytes]:
        """All lines in one part of the findings, read once."""
