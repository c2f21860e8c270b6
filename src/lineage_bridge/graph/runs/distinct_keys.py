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
    None if the facet has no such counts. What is no count (negative, a fraction, more than 2^63-1) is ignored.
    """
    facet = read_as(DataQualityMetricsFacet, "dataset", METRICS, text.encode())
    metrics = facet.columnMetrics if facet else {}
    stated = ((found.distinctCount, column) for column, found in metrics.items())
    counts = [(-int(count), column) for count, column in stated if count is not None and 0 <= count < 2**63 and count == int(count)]
    if not counts:
        return None
    most, column = min(counts)
    return DistinctCount(at, column, -most)
