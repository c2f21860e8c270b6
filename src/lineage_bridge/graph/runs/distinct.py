"""How many distinct keys a dataset has, according to the counts that runs reported. Pure."""

from typing import Final, NamedTuple

from lineage_bridge.openlineage.facets import DataQualityMetricsFacet
from lineage_bridge.openlineage.facets.reading import read_as

METRICS: Final = "dataQualityMetrics"
"""The key of the facet in which runs state what they have counted."""


class DistinctCount(NamedTuple):
    """The number of different values that a column had `at` a time (UTC microseconds)."""

    at: int
    column: str
    number: int


def most_distinct(at: int, text: str) -> DistinctCount | None:
    """The column with the most different values in a facet that was stated at a time. If a single column is the key, it is that column.
    None if the facet has no such counts.
    """
    facet = read_as(DataQualityMetricsFacet, "dataset", METRICS, text.encode())
    metrics = facet.columnMetrics if facet else {}
    counts = [(-int(found.distinctCount), column) for column, found in metrics.items() if found.distinctCount is not None]
    if not counts:
        return None
    most, column = min(counts)
    return DistinctCount(at, column, -most)
