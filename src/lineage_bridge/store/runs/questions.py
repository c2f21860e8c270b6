"""Answers questions about runs."""

from collections.abc import Iterable

from lineage_bridge.graph.runs.distinct_keys import DistinctCount
from lineage_bridge.graph.runs.lag import DatasetLag
from lineage_bridge.model.graph import Node
from lineage_bridge.model.runs import Dependency, RunFilter, RunLineage, RunPage, RunRecord, RunTree
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.distinct_keys import DistinctCounts
from lineage_bridge.store.runs.lags import Lags
from lineage_bridge.store.runs.lineage import RunLineageFinder
from lineage_bridge.store.runs.lists import RunLists
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.runs.statistics import Statistics


class RunQuestions:
    """Implements ports.RunReader over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs) -> None:
        self.connection, self.nodes, self.runs = connection, nodes, runs
        self._lists = RunLists(connection, runs)

    def page(self, which: RunFilter) -> RunPage:
        """The runs that a filter selects by job, parent, state and time."""
        return self._lists.page(which)

    def find(self, run_id: str) -> list[RunRecord]:
        """The run with an id (as sent, or as a UUID). There is one record for each of its jobs."""
        return self.runs.find(run_id)

    def latest(self, job: Node, *, with_datasets: bool) -> RunRecord | None:
        """The newest run of a job; with `with_datasets`, the newest run that named a dataset."""
        return self.runs.latest(job.id, with_datasets=with_datasets)

    def latest_of(self, jobs: Iterable[Node], *, with_datasets: bool) -> dict[int, RunRecord]:
        """The newest run of each of these jobs that has one, by job id."""
        return self.runs.latest_of((job.id for job in jobs), with_datasets=with_datasets)

    def tree(self, run: bytes, limit: int) -> RunTree:
        """A run with all runs inside it."""
        return self._lists.tree(run, limit)

    def lineage(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """The runs that produced what a run read (`upstream`), or read what it produced (`downstream`)."""
        return RunLineageFinder(self.connection, self.nodes, self.runs).find(run, direction, depth, limit)

    def dependencies(self, run: bytes, job: Node, limit: int) -> list[Dependency]:
        """The runs and jobs that a run waits for, and those that wait for it."""
        return self._lists.dependencies(run, job.id, limit)

    def statistics(self, which: StatisticsFilter) -> StatisticsPage:
        """What runs read and wrote within a window."""
        return Statistics(self.connection, self.nodes).page(which)

    def lags(self, jobs: Iterable[Node], since: int, until: int) -> dict[int, dict[tuple[str, str], DatasetLag]]:
        """The lag that each of these jobs reported last within a window."""
        return Lags(self.connection, self.nodes).newest(jobs, since, until)

    def distinct(self, datasets: Iterable[Node], since: int, until: int) -> dict[int, DistinctCount]:
        """How many distinct keys each of these datasets has, as stated last within a window."""
        return DistinctCounts(self.connection, self.nodes).newest(datasets, since, until)
