"""Reads the runs of the principal's own jobs, and what they read and wrote."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from lineage_bridge.graph.runs.distinct_keys import DistinctCount
from lineage_bridge.graph.runs.lag import DatasetLag
from lineage_bridge.model.graph import Node
from lineage_bridge.model.runs import Dependency, RunFilter, RunLineage, RunPage, RunRecord, RunTree
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage, StatisticsSeries
from lineage_bridge.ports.graph_reader import RunReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.paging import page_of

MOST_RUNS: Final = 5_000
"""The maximum number of child runs that are read, including those the principal may not see."""


class LimitedRuns:
    """Implements ports.RunReader: runs of jobs beyond the border are not found."""

    def __init__(self, runs: RunReader, border: Border) -> None:
        self._runs, self._border = runs, border

    def page(self, which: RunFilter) -> RunPage:
        """A page of runs of own jobs."""
        truncated = False

        def fetch(limit: int, offset: int) -> Sequence[RunRecord]:
            nonlocal truncated
            found = self._runs.page(replace(which, limit=limit, offset=offset))
            truncated = truncated or found.truncated
            return found.runs

        return RunPage(tuple(page_of(fetch, self._own, which.limit, which.offset)), truncated)

    def find(self, run_id: str) -> list[RunRecord]:
        """The runs with this id, one for each own job."""
        return self._own(self._runs.find(run_id))

    def latest(self, job: Node, *, with_datasets: bool) -> RunRecord | None:
        """The newest run of one of the principal's own jobs."""
        return self.latest_of([job], with_datasets=with_datasets).get(job.id)

    def latest_of(self, jobs: Iterable[Node], *, with_datasets: bool) -> dict[int, RunRecord]:
        """The newest run of each own job among these jobs."""
        every = list(jobs)
        self._border.load(every)
        found = self._runs.latest_of([job for job in every if self._border.is_own(job)], with_datasets=with_datasets)
        return {id_: self._record(record) for id_, record in found.items()}

    def tree(self, run: bytes, limit: int) -> RunTree:
        """The runs of own jobs inside a run, each with its depth; runs of other jobs on the way are left out."""
        found = self._runs.tree(run, MOST_RUNS)
        self._border.load(record.job for _, record in found.runs)
        own = [(depth, self._record(record)) for depth, record in found.runs if self._border.is_own(record.job)]
        return RunTree(tuple(own[:limit]), truncated=found.truncated or len(own) > limit)

    def lineage(self, run: bytes, direction: str, depth: int, limit: int) -> RunLineage:
        """The runs of own jobs upstream or downstream of a run, and the links between them; runs of other jobs on the way are left out."""
        found = self._runs.lineage(run, direction, depth, limit)
        self._border.load(record.job for _, record in found.runs)
        runs = [(hop, self._record(record)) for hop, record in found.runs if self._border.is_own(record.job)]
        ids = {record.run_id for _, record in runs} - {record.run_id for _, record in found.runs if not self._border.is_own(record.job)}
        links = [link for link in found.links if link.producer in ids and link.consumer in ids]
        return RunLineage(tuple(runs), tuple(replace(link, dataset=self._border.shown(link.dataset)) for link in links), found.truncated)

    def dependencies(self, run: bytes, job: Node, limit: int) -> list[Dependency]:
        """What a run of one of the principal's own jobs waits for, and what waits for it. Runs of jobs that are not the principal's own are
        shown without ids.
        """
        found = self._runs.dependencies(run, self._border.require_own(job), limit)
        for item in found:
            self._border.note_neighbours(job, item.job)
        shown = (
            replace(item, job=self._border.shown(item.job), run_id=item.run_id if self._border.is_own(item.job) else None) for item in found
        )
        return list(dict.fromkeys(shown))

    def statistics(self, which: StatisticsFilter) -> StatisticsPage:
        """The statistics of own jobs, and those of other jobs about own datasets."""
        truncated = False

        def fetch(limit: int, offset: int) -> Sequence[StatisticsSeries]:
            nonlocal truncated
            found = self._runs.statistics(replace(which, limit=limit, offset=offset))
            truncated = truncated or found.truncated
            return found.series

        return StatisticsPage(tuple(page_of(fetch, self._series, which.limit, which.offset)), truncated)

    def lags(self, jobs: Iterable[Node], since: int, until: int) -> dict[int, dict[tuple[str, str], DatasetLag]]:
        """The lags of own jobs."""
        every = list(jobs)
        self._border.load(every)
        return self._runs.lags([job for job in every if self._border.is_own(job)], since, until)

    def distinct(self, datasets: Iterable[Node], since: int, until: int) -> dict[int, DistinctCount]:
        """The numbers of own datasets."""
        every = list(datasets)
        self._border.load(every)
        return self._runs.distinct([dataset for dataset in every if self._border.is_own(dataset)], since, until)

    def _series(self, found: Sequence[StatisticsSeries]) -> list[StatisticsSeries]:
        border = self._border
        border.load(node for series in found for node in (series.job, series.dataset))
        kept = [series for series in found if border.touches(series.job, series.dataset)]
        for series in kept:
            border.note_neighbours(series.job, series.dataset)
        return [replace(series, job=border.shown(series.job), dataset=border.shown(series.dataset)) for series in kept]

    def _own(self, records: Sequence[RunRecord]) -> list[RunRecord]:
        self._border.load(record.job for record in records)
        return [self._record(record) for record in records if self._border.is_own(record.job)]

    def _record(self, record: RunRecord) -> RunRecord:
        """A run of one of the principal's own jobs. Its datasets are shown as neighbours; runs of jobs that are not the principal's own are
        shown without ids.
        """
        above = (record.parent_job, record.named_parent_job, record.root_job)
        named = [*record.inputs, *record.outputs, *(job for job in above if job)]
        for node in named:
            self._border.note_neighbours(record.job, node)
        names = self._border.all_shown(named)

        def job(node: Node | None) -> Node | None:
            return names[node.id] if node else None

        def run(id_: str | None, node: Node | None) -> str | None:
            return id_ if node and self._border.is_own(node) else None

        return replace(
            record,
            inputs=_in_order(names[node.id] for node in record.inputs),
            outputs=_in_order(names[node.id] for node in record.outputs),
            parent_job=job(record.parent_job),
            named_parent_job=job(record.named_parent_job),
            root_job=job(record.root_job),
            parent_run_id=run(record.parent_run_id, record.parent_job),
            root_run_id=run(record.root_run_id, record.root_job),
        )


def _in_order(nodes: Iterable[Node]) -> tuple[Node, ...]:
    return tuple(sorted(dict.fromkeys(nodes), key=lambda node: (node.namespace, node.name)))
