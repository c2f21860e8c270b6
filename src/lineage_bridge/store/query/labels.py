"""Computes the labels of edges and ports from the shapes that contain them."""

from collections.abc import Collection
from typing import Protocol

from lineage_bridge.graph.flows.labels import HORIZON_US, NEWEST_RUNS, Label, freshness, is_superseded
from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.store.history.assertion_times import AssertionTimes
from lineage_bridge.store.query.endings import Endings
from lineage_bridge.store.query.flows import Flows
from lineage_bridge.store.runs.heartbeats import Heartbeats


class CompleteRuns(Protocol):
    """The newest runs of a job, from which labels are computed."""

    def is_streaming(self, job: int) -> bool:
        """Whether the runs of the job are streaming: they do not end by themselves."""

    def newest_complete(self, job: int, side: Side, limit: int) -> list[frozenset[int]]:
        """The datasets that each of the newest COMPLETE runs named as inputs or outputs (`side`), newest run first. Runs that named none
        are skipped.
        """

    def newest_naming(self, job: int, side: Side) -> frozenset[int]:
        """The datasets that the latest run named on a side. Runs that named none on this side are skipped."""


class Labels:
    """Computes labels as of `now_us`. Values that are the same for all edges of a job are computed once."""

    def __init__(
        self, flows: Flows, runs: CompleteRuns, now_us: int, times: AssertionTimes, endings: Endings, heartbeats: Heartbeats
    ) -> None:
        self.flows, self.runs, self.now_us, self.times, self.endings, self.heartbeats = flows, runs, now_us, times, endings, heartbeats
        self._complete: dict[tuple[int, Side], list[frozenset[int]]] = {}
        self._newest: dict[tuple[int, Side], frozenset[int]] = {}
        self._named: dict[tuple[int, Side], frozenset[int]] = {}

    def alike(self, jobs: Collection[int]) -> dict[int, tuple[Label, int | None]]:
        """For each job whose flows and ports all have the same label: this label, and the time of the job's last event. Exceptions, which
        may have other labels: flows between two nodes of a hub, renames, and edges that a drop or an operator may have ended.
        """
        if self.endings.ordered:
            return {}
        self.times.load(jobs)
        alone = ((job, self.times.alone(job)) for job in jobs)
        return {job: (freshness(found.last, self.now_us), found.last) for job, found in alone if found}

    def flow(self, source: int, target: int, job: int, origin: int) -> tuple[Label, int | None]:
        """The label of a flow, and the time (UTC microseconds) of the last event of any run that asserted it."""
        last = self.times.flow(source, target, job, origin)
        return self._ends(source, target, job, origin, last), last

    def renamed(self, source: int, target: int) -> tuple[Label, int | None]:
        """The label of a rename, and the time of its last report."""
        return Label.CURRENT, self.endings.renamed_last(source, target)

    def hub_pair(self, hub: int, source: int, target: int, job: int, origin: int) -> tuple[Label, int | None]:
        """The label of a flow between two nodes of a hub, and the time of the last event that asserted it."""
        last = self.times.hub(job, hub)
        return self._ends(source, target, job, origin, last), last

    def _ends(self, source: int, target: int, job: int, origin: int, last: int | None) -> Label:
        self.endings.load((source, target))
        if self.endings.has_ended(source, target, job, origin):
            return Label.ENDED
        fresh = self._freshness(last, job, source, origin)
        if origin != Origin.OBSERVED or self.times.alone(job):
            return fresh
        if source != job and self.superseded(job, source, Side.INPUT, last):
            return Label.SUPERSEDED
        return Label.SUPERSEDED if target != job and self.superseded(job, target, Side.OUTPUT, last) else fresh

    def _freshness(self, last: int | None, job: int, source: int, origin: int) -> Label:
        """The label CURRENT or STALE. A flow from a dataset that was dropped and created again, and has not been read since, is stale."""
        fresh = freshness(last, self.now_us)
        outdated = fresh is Label.CURRENT and self.endings.drops.any and self.endings.is_outdated(job, source, origin)
        return Label.STALE if outdated else fresh

    def port(self, job: int, dataset: int, side: Side, origin: int) -> tuple[Label, int | None]:
        """The label of an input or output, and the time of the last event of any run that named it."""
        last = self.times.port(job, dataset, int(side), origin)
        self.endings.load([dataset])
        if self.endings.has_ended_port(job, dataset, int(side), origin):
            return Label.ENDED, last
        if origin == Origin.OBSERVED and self.superseded(job, dataset, side, last):
            return Label.SUPERSEDED, last
        return self._freshness(last, job, dataset if side == Side.INPUT else job, origin), last

    def superseded(self, job: int, dataset: int, side: Side, last: int | None) -> bool:
        """Whether the job's newest runs named other datasets on this side, and not this one."""
        if self.times.alone(job):
            return False
        if self.runs.is_streaming(job):
            silent = last is None or last < self.now_us - HORIZON_US
            gone = silent and dataset not in self.newest(job, side)
        else:
            gone = is_superseded([dataset], self.complete(job, side))
        return gone and dataset in self.named(job, side) and self._is_gone_under_all_names(job, dataset, side)

    def _is_gone_under_all_names(self, job: int, dataset: int, side: Side) -> bool:
        """Whether a dataset that is superseded under one name is superseded under all its names."""
        names = self.flows.expand([dataset])
        if len(names) == 1:
            return True
        if self.runs.is_streaming(job):
            return self.newest(job, side).isdisjoint(names)
        return is_superseded(names, self.complete(job, side))

    def named(self, job: int, side: Side) -> frozenset[int]:
        """The datasets that a job ever named as inputs or outputs (`side`). Datasets that only column lineage names are not among them."""
        if (job, side) not in self._named:
            self._named[job, side] = frozenset(port[1] for port in self.flows.job_ports(job, side))
        return self._named[job, side]

    def complete(self, job: int, side: Side) -> list[frozenset[int]]:
        """The datasets that the job's newest complete runs named on a side."""
        if (job, side) not in self._complete:
            self._complete[job, side] = self.runs.newest_complete(job, side, NEWEST_RUNS)
        return self._complete[job, side]

    def newest(self, job: int, side: Side) -> frozenset[int]:
        """The datasets that the job's newest run named on a side. Runs that named none on this side are skipped."""
        if (job, side) not in self._newest:
            self._newest[job, side] = self.runs.newest_naming(job, side)
        return self._newest[job, side]
