"""Reads how far jobs are behind, from the newest lag that their runs reported."""

from collections.abc import Iterable

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.lag import DatasetLag, StuckParts
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.facets.lag import KAFKA_LAG, read_lag
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_NEWEST = f"""SELECT s.last, f.text FROM (SELECT facet_set, last, last_event FROM assertion
WHERE node = ? AND job = node AND side = {int(Side.RUN)} AND day = ? AND last >= ? AND last < ?
ORDER BY last DESC, last_event DESC LIMIT 50) s
JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = '{KAFKA_LAG}'
JOIN facet f ON f.facet = c.facet AND f.deleted = 0 ORDER BY s.last DESC, s.last_event DESC LIMIT 1"""
"""Of the facets of a job's runs on one day, the newest fifty are searched: what reports a lag does so with every event."""


class Lags:
    """Reads lags over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes

    def newest(self, jobs: Iterable[Node], since: int, until: int) -> dict[int, dict[tuple[str, str], DatasetLag]]:
        """For each of these jobs the lag that it reported last within [since, until), by the namespace and name of the dataset. Jobs that
        reported none are left out.
        """
        found = {}
        for job in jobs:
            reports = (self._newest(name, since, until) for name in self.nodes.members(job.id))
            lags = {dataset: lag for report in sorted(filter(None, reports), key=_time) for dataset, lag in report.items()}
            if lags:
                found[job.id] = lags
        return found

    def _newest(self, job: int, since: int, until: int) -> dict[tuple[str, str], DatasetLag]:
        for day in range((until - 1) // DAY_US, since // DAY_US - 1, -1):
            for last, text in self.connection.execute(_NEWEST, (job, day, since, until)):
                facet, namespace = read_lag(text), self.nodes.by_id(job).namespace
                if facet:
                    return {
                        (facet.namespaces.get(topic, namespace), topic): DatasetLag(
                            last, rows, StuckParts(stuck.partitions, stuck.worst, stuck.rows) if stuck else None
                        )
                        for topic, rows in facet.topics.items()
                        for stuck in [facet.stuck.get(topic)]
                    }
        return {}


def _time(report: dict[tuple[str, str], DatasetLag]) -> int:
    return max((lag.at for lag in report.values()), default=0)
