"""Reads how many distinct keys datasets have, from what runs stated last."""

from collections.abc import Iterable

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.distinct_keys import METRICS, DistinctCount, most_distinct
from lineage_bridge.model.graph import Node
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_SIDES = (Side.INPUT, Side.OUTPUT, Side.SELF, Side.INPUT_ACCESS, Side.OUTPUT_ACCESS)
_NEWEST = f"""SELECT s.last, f.text FROM (SELECT facet_set, last, last_event FROM assertion
WHERE node = ? AND side = ? AND day = ? AND last >= ? AND last < ? ORDER BY last DESC, last_event DESC LIMIT 50) s
JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = '{METRICS}'
JOIN facet f ON f.facet = c.facet AND f.deleted = 0 ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
"""Of what was stated about a dataset on one day, in one role, the newest fifty are searched."""


class DistinctCounts:
    """Reads the counts that runs reported, over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes

    def newest(self, datasets: Iterable[Node], since: int, until: int) -> dict[int, DistinctCount]:
        """For each of these datasets, by id, the count that was stated last within [since, until); datasets without one are left out."""
        found = ((dataset.id, self._newest(self.nodes.members(dataset.id), since, until)) for dataset in datasets)
        return {id_: count for id_, count in found if count is not None}

    def _newest(self, names: Iterable[int], since: int, until: int) -> DistinctCount | None:
        every = list(names)
        for day in range((until - 1) // DAY_US, since // DAY_US - 1, -1):
            stated = (
                self.connection.execute(_NEWEST, (name, int(side), day, since, until)).fetchone() for name in every for side in _SIDES
            )
            counts = [count for row in stated if row and (count := most_distinct(*row))]
            if counts:
                return max(counts)
        return None
