"""Reads how much a run read or wrote from the counters in the statistics facets of an event."""

from lineage_bridge.graph.relations import Side
from lineage_bridge.openlineage import facets as standard
from lineage_bridge.openlineage.event import Dataset

STATISTICS = {"inputStatistics", "outputStatistics"}
"""The keys of the input and output facets whose counters become rows of `io_sample`."""


def merge_counters(dataset: Dataset, side: Side, counters: list[int | None]) -> None:
    """Merge the counters (rows, bytes, files) of one mention of a dataset into `counters` of the same event; of two, keep the larger."""
    facet = _statistics(dataset, side)
    if facet is None:
        return
    for number, stated in enumerate((facet.rowCount, facet.size, facet.fileCount)):
        highest = counters[number]
        if stated is not None and (highest is None or stated > highest):
            counters[number] = int(stated)


def _statistics(
    dataset: Dataset, side: Side
) -> standard.InputStatisticsInputDatasetFacet | standard.OutputStatisticsOutputDatasetFacet | None:
    if side is Side.INPUT:
        text = dataset.access.get("inputStatistics")
        return standard.read_as(standard.InputStatisticsInputDatasetFacet, "input", "inputStatistics", text) if text else None
    text = dataset.access.get("outputStatistics")
    return standard.read_as(standard.OutputStatisticsOutputDatasetFacet, "output", "outputStatistics", text) if text else None
