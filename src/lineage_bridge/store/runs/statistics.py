"""Sums what runs read and wrote, from the counters that they reported within a window."""

from collections import defaultdict
from collections.abc import Collection, Iterator
from dataclasses import replace
from itertools import islice

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.statistics import Sample, buckets, counting, increments, total
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage, StatisticsSeries
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.processing import ProcessingTypes

_RUNS = 5_000
"""The maximum number of runs that are read for a job."""
_SAMPLES = 200_000
"""The maximum number of samples of a job that are read."""
_JOBS = 1_000
"""The maximum number of jobs that are read for a dataset."""

_FEW_DATASETS = 20
"""If a question selects more datasets than this, only those that a job names are searched in its runs."""

_JOBS_OF = "SELECT job FROM job_io WHERE dataset = ? AND side = ? AND origin = 1 LIMIT ?"
_NAMED_BY = "SELECT dataset FROM job_io WHERE job = ? AND origin = 1"
_RUNS_OF = "SELECT asserted_by FROM run_shape WHERE job = ? AND origin = 1 AND last >= ? AND first < ? ORDER BY last DESC LIMIT ?"
_SAMPLES_OF = "SELECT dataset, side, time, rows, bytes, files, event FROM io_sample WHERE run = ? AND job = ? AND time < ?"
_IN_ORDER = "ORDER BY dataset, side, time"


class Statistics:
    """Sums reported amounts over one connection. Each run is counted separately, starting from its last report before the window."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self.processing = ProcessingTypes(connection)

    def page(self, which: StatisticsFilter) -> StatisticsPage:
        """A page of series, sorted by job, dataset and side."""
        cut = False
        found: list[StatisticsSeries] = []
        for job in self._jobs(which):
            series, more = self._of_job(job, which)
            found += series
            cut = cut or more
            if len(found) > which.offset + which.limit:
                break
        return StatisticsPage(tuple(found[which.offset : which.offset + which.limit]), cut)

    def _jobs(self, which: StatisticsFilter) -> list[int]:
        if which.job is not None:
            return [which.job]
        jobs = {self.nodes.by_id(job) for job in self._naming(which)}
        return [node.id for node in sorted(jobs, key=lambda node: (node.namespace, node.name))]

    def _naming(self, which: StatisticsFilter) -> Iterator[int]:
        """The jobs of a run, or those jobs that name one of the datasets."""
        if which.run is not None:
            yield from (row[0] for row in self.connection.execute("SELECT job FROM run WHERE run = ?", (which.run,)))
            return
        for dataset in sorted(which.datasets or ()):
            for side in (which.side,) if which.side is not None else (Side.INPUT, Side.OUTPUT):
                yield from (row[0] for row in self.connection.execute(_JOBS_OF, (dataset, int(side), _JOBS)))

    def _of_job(self, job: int, which: StatisticsFilter) -> tuple[list[StatisticsSeries], bool]:
        if which.datasets is not None and len(which.datasets) > _FEW_DATASETS:
            named = {row[0] for row in self.connection.execute(_NAMED_BY, (job,))}
            which = replace(which, datasets=which.datasets & named)
        runs = [which.run] if which.run is not None else self._runs(job, which)
        by_port: dict[tuple[int, int], dict[bytes, list[Sample]]] = defaultdict(lambda: defaultdict(list))
        read = 0
        for run in runs[:_RUNS]:
            for dataset, side, *sample in islice(_once(self._samples(run, job, which)), _SAMPLES - read):
                by_port[dataset, side][run].append(Sample(*sample))
                read += 1
        ports = sorted(by_port, key=lambda port: (self.nodes.by_id(port[0]).namespace, self.nodes.by_id(port[0]).name, port[1]))
        made = (self._series(job, port, by_port[port], which) for port in ports)
        return [series for series in made if series is not None], len(runs) > _RUNS or read >= _SAMPLES

    def _runs(self, job: int, which: StatisticsFilter) -> list[bytes]:
        rows = self.connection.execute(_RUNS_OF, (job, which.since, which.until, _RUNS + 1))
        return [row[0] for row in rows]

    def _samples(self, run: bytes, job: int, which: StatisticsFilter) -> Iterator[Row]:
        values = (run, job, which.until)
        if which.datasets is None:
            rows = self.connection.execute(f"{_SAMPLES_OF} {_IN_ORDER}", values)
            return (row for row in rows if which.side is None or row[1] == which.side)
        return self._samples_of(values, which.datasets, which.side)

    def _samples_of(self, values: Row, datasets: Collection[int], side: Side | None) -> Iterator[Row]:
        for dataset in sorted(datasets):
            for named in (Side.INPUT, Side.OUTPUT) if side is None else (side,):
                yield from self.connection.execute(
                    f"{_SAMPLES_OF} AND dataset = ? AND side = ? {_IN_ORDER}", (*values, dataset, int(named))
                )

    def _series(
        self, job: int, port: tuple[int, int], of_runs: dict[bytes, list[Sample]], which: StatisticsFilter
    ) -> StatisticsSeries | None:
        mode = self.processing.of_job(job).content_mode
        modes = {run: counting(samples, mode) for run, samples in of_runs.items()}
        changes = [change for run, samples in sorted(of_runs.items()) for change in increments(samples, modes[run])]
        within = [time for time, _ in changes if which.since <= time < which.until]
        if not within:
            return None
        width = which.bucket_us
        return StatisticsSeries(
            job=self.nodes.by_id(job),
            dataset=self.nodes.by_id(port[0]),
            side=Side(port[1]),
            amount=total(changes, which.since, which.until),
            runs=sum(any(which.since <= s.time < which.until for s in samples) for samples in of_runs.values()),
            samples=len(within),
            first=min(within),
            last=max(within),
            counting=tuple(sorted({mode.value for mode in modes.values()})),
            buckets=tuple(buckets(changes, which.since, which.until, width)) if width else (),
        )


def _once(rows: Iterator[Row]) -> Iterator[Row]:
    """Keep one sample for each event. If the producer's clock was far ahead, each copy of an event has its own sample, dated at the copy's
    arrival.
    """
    seen: set[Row] = set()
    for *sample, event in rows:
        port = (sample[0], sample[1], event)
        if port not in seen:
            seen.add(port)
            yield tuple(sample)
