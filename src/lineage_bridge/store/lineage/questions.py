"""Answers questions that follow flows (walks, impact, paths, ledgers and traces), now or as of an earlier time."""

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.graph.runs.path_ledger import LedgerWindow
from lineage_bridge.model.graph import Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.model.lineage import Impact, Ledger, Paths, Trace, TraceOptions
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.assertion_times import CurrentAssertionTimes
from lineage_bridge.store.history.moment import CurrentFacts, followed_flows, graph_moment, resolution
from lineage_bridge.store.lineage.impact import ImpactFinder
from lineage_bridge.store.lineage.trace import Tracer
from lineage_bridge.store.lineage.walk import Walker
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.failed_flows import FailedFlows
from lineage_bridge.store.runs.path_ledger import LedgerMaker
from lineage_bridge.store.runs.runs import Runs
from lineage_bridge.store.runs.statistics import Statistics


class LineageQuestions:
    """Implements ports.LineageReader over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs) -> None:
        self.connection, self.nodes, self.runs = connection, nodes, runs
        self._current = CurrentFacts(CurrentAssertionTimes(connection), FailedFlows(connection, nodes, runs))

    def walk(
        self,
        node: Node,
        direction: str,
        depth: int,
        limits: WalkLimits,
        *,
        now_us: int,
        columns: bool = False,
        at_us: int | None = None,
        ended: bool = False,
    ) -> Walk:
        """Follow flows from a node, hop by hop; flows that have ended are left out unless `ended` is set."""
        nodes = self.nodes.at(at_us)
        when = graph_moment(self.connection, nodes, self.runs, now_us, at_us, ended=ended, current=self._current)
        return Walker(when, nodes, limits, _stopwatch()).walk(node, direction, depth, columns=columns)

    def impact(
        self, origins: Sequence[Node], direction: str, depth: int, limits: WalkLimits, at_us: int | None = None, *, flows: bool = True
    ) -> Impact:
        """The nodes that a change of any of these nodes affects, or that any of these nodes depends on; with `flows`, also the flows that
        lead to them.
        """
        return replace(self._reacher(limits, at_us).impact(origins, direction, depth, flows=flows), resolution=resolution(at_us))

    def paths(self, source: Node, target: Node, depth: int, most: int, limits: WalkLimits, at_us: int | None = None) -> Paths:
        """The paths that data takes from one node to another, at most `most` of them."""
        return replace(self._reacher(limits, at_us).paths(source, target, depth, most), resolution=resolution(at_us))

    def _reacher(self, limits: WalkLimits, at_us: int | None) -> ImpactFinder:
        nodes = self.nodes.at(at_us)
        followed = followed_flows(self.connection, nodes, at_us)
        failed = FailedFlows(self.connection, nodes, self.runs, followed.pending)
        return ImpactFinder(nodes, followed, limits, _stopwatch(), failed)

    def ledger(self, paths: Paths, number: int, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """How much each hop of one of these paths read and wrote in a window, compared with a baseline window. `number` counts
        paths from 0.
        """
        return self._ledger_maker().ledger(paths, number, window, baseline, factor)

    def upstream_ledger(self, walk: Walk, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """How much each hop upstream of a node read and wrote in a window, compared with a baseline window."""
        return self._ledger_maker().upstream(walk, window, baseline, factor)

    def _ledger_maker(self) -> LedgerMaker:
        return LedgerMaker(followed_flows(self.connection, self.nodes).flows, Statistics(self.connection, self.nodes))

    def trace(self, node: Node, options: TraceOptions, limits: WalkLimits, at_us: int | None = None) -> Trace:
        """The columns from which a column is derived, or which are derived from it."""
        nodes = self.nodes.at(at_us)
        followed = followed_flows(self.connection, nodes, at_us)
        tracer = Tracer(self.connection, nodes, followed.flows, limits, _stopwatch(), at_us)
        trace = tracer.trace(node, options)
        gone = followed.gone({node.id for node in trace.nodes})
        return replace(trace, resolution=resolution(at_us), dropped=gone, ended=followed.left_out(tracer.met, ()))

    def job_ports(self, job: Node, *, now_us: int, at_us: int | None = None) -> list[Port]:
        """The inputs and outputs of a job, sorted by side and name."""
        return self.job_ports_of([job], now_us=now_us, at_us=at_us)[job.id]

    def job_ports_of(self, jobs: Iterable[Node], *, now_us: int, at_us: int | None = None) -> dict[int, list[Port]]:
        """The inputs and outputs of each of these jobs by its id, sorted by side and name."""
        when = graph_moment(self.connection, self.nodes.at(at_us), self.runs, now_us, at_us, current=self._current)
        by_id = {job.id: job for job in jobs}
        rows = [row for job in by_id for side in (Side.INPUT, Side.OUTPUT) for row in when.flows.job_ports(job, side)]
        self.nodes.load({dataset for _, dataset, _, _ in rows})
        ports: dict[int, list[Port]] = {job: [] for job in by_id}
        when.failed.load(by_id)
        for row in rows:
            job, dataset, side, origin = row
            label, last = when.labels.port(job, dataset, Side(side), origin)
            failed = when.failed.port(row)
            ports[job].append(Port(by_id[job], self.nodes.by_id(dataset), Side(side), Origin(origin), label, last, only_failed=failed))
        for some in ports.values():
            some.sort(key=lambda port: (port.side, port.dataset.namespace, port.dataset.name, port.origin))
        return ports

    def declared_flows(
        self, datasets: Collection[Node], limits: WalkLimits, *, now_us: int, at_us: int | None = None, ended: bool = False
    ) -> tuple[Edge, ...]:
        """The flows that these datasets declare for themselves: each flow has its dataset in place of the job."""
        nodes = self.nodes.at(at_us)
        when = graph_moment(self.connection, nodes, self.runs, now_us, at_us, ended=ended, current=self._current)
        return Walker(when, nodes, limits, _stopwatch()).declared_flows({dataset.id for dataset in datasets})


def _stopwatch() -> Callable[[], float]:
    """Make a function that returns the number of seconds since this call."""
    began = time.monotonic()
    return lambda: time.monotonic() - began
