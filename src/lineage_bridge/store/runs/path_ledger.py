"""Computes the ledger of a path, or of everything upstream: what each job read and wrote in a window, compared with a baseline."""

from collections.abc import Sequence
from itertools import pairwise

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.onset import Onset, onset, rows_by_start, width_of
from lineage_bridge.graph.runs.path_ledger import LedgerWindow, ReportedAmount, ledger, mark_divergence
from lineage_bridge.graph.runs.statistics import Amount
from lineage_bridge.model.graph import Node, Walk
from lineage_bridge.model.lineage import Ledger, LedgerHop, Paths
from lineage_bridge.model.statistics import StatisticsFilter, StatisticsPage
from lineage_bridge.store.query.flows import Flows
from lineage_bridge.store.runs.statistics import Statistics

_MOST_INPUTS = 20
"""How many inputs of an output that diverged from its baseline are searched for the time at which it diverged."""


class LedgerMaker:
    """Computes ledgers from the amounts that runs reported."""

    def __init__(self, flows: Flows, statistics: Statistics) -> None:
        self.flows, self.statistics = flows, statistics

    def ledger(self, found: Paths, number: int, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """The ledger of the `number`-th of the paths found, from 0; empty if there is no such path."""
        if number >= len(found.paths):
            return Ledger(found.source, found.target, (), window, baseline, (), len(found.paths), more=found.more)
        path = found.paths[number]
        edges = [(source, target, job) for (source, target), jobs in zip(_pairs(path.nodes), path.jobs, strict=True) for job in jobs]
        hops = self._hops(edges, window, baseline, factor)
        began = self._onset(hops, window, baseline)
        return Ledger(found.source, found.target, path.nodes, window, baseline, hops, len(found.paths), more=found.more, onset=began)

    def upstream(self, walk: Walk, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """The ledger of every hop upstream of a node, sources first. A hop whose ends have several names is listed once."""
        nodes = {node.id: node for node in walk.nodes}

        def canonical(node: Node) -> Node:
            return nodes.get(walk.canonical.get(node.id, node.id), node)

        edges = {(canonical(edge.source), canonical(edge.target), edge.job) for edge in walk.edges if edge.source.kind == edge.target.kind}
        ordered = sorted(edges, key=lambda edge: (-walk.distances.get(edge[1].id, 0), *(_name(end) for end in (edge[2], edge[1], edge[0]))))
        hops = self._hops(ordered, window, baseline, factor)
        ends = {edge[1] for edge in edges}
        sources = sorted({edge[0] for edge in edges} - ends, key=_name)
        first, began = sources[0] if sources else walk.origin, self._onset(hops, window, baseline)
        return Ledger(first, walk.origin, (), window, baseline, hops, 0, more=bool(walk.truncated), onset=began)

    def _hops(
        self, edges: Sequence[tuple[Node, Node, Node]], window: LedgerWindow, baseline: LedgerWindow, factor: float
    ) -> tuple[LedgerHop, ...]:
        amounts = [self._amounts(*edge, window, baseline) for edge in edges]
        entries = ledger(amounts, window.length / baseline.length, factor)
        marked = mark_divergence([((edge[1], edge[2]), entry) for edge, entry in zip(edges, entries, strict=True)])
        return tuple(LedgerHop(*edge, entry) for edge, entry in zip(edges, marked, strict=True))

    def _onset(self, hops: Sequence[LedgerHop], window: LedgerWindow, baseline: LedgerWindow) -> Onset | None:
        """The times between which a diverged output left its baseline: the last report with the ratio of the baseline, and the first one
        after it. Of several inputs, the latest change counts, because until then another input explained the output. None if the baseline
        does not begin before the window.
        """
        if baseline.since >= window.since:
            return None
        period = LedgerWindow(baseline.since, window.until)
        found = []
        for hop in [hop for hop in hops if hop.entry.diverged][:_MOST_INPUTS]:
            read, written = (
                self._rows(node, side, hop.job, period) for node, side in ((hop.source, Side.INPUT), (hop.target, Side.OUTPUT))
            )
            if read is None or written is None:
                return None
            if hop.entry.ratio_before is not None and (turned := onset(read, written, hop.entry.ratio_before)):
                found.append(turned)
        return max(found, default=None)

    def _rows(self, node: Node, side: Side, job: Node, period: LedgerWindow) -> dict[int, int] | None:
        """The rows that the runs of a job reported for a node, by the start of each time bucket; None if there are too many reports to
        read.
        """
        found = self._statistics(node, side, job, period, width_of(period))
        return None if found.truncated else rows_by_start(bucket for entry in found.series for bucket in entry.buckets)

    def _amounts(
        self, source: Node, target: Node, job: Node, window: LedgerWindow, baseline: LedgerWindow
    ) -> tuple[ReportedAmount, ReportedAmount, ReportedAmount, ReportedAmount]:
        return (
            self._reported(source, Side.INPUT, job, window),
            self._reported(target, Side.OUTPUT, job, window),
            self._reported(source, Side.INPUT, job, baseline),
            self._reported(target, Side.OUTPUT, job, baseline),
        )

    def _reported(self, node: Node, side: Side, job: Node, window: LedgerWindow) -> ReportedAmount:
        """The amounts that the runs of a job reported for a node, under any of its names."""
        series = self._statistics(node, side, job, window).series
        amount = sum((entry.amount for entry in series), start=Amount())
        return ReportedAmount(sum(entry.runs for entry in series), amount.rows, amount.bytes)

    def _statistics(self, node: Node, side: Side, job: Node, period: LedgerWindow, bucket_us: int = 0) -> StatisticsPage:
        names = frozenset(self.flows.expand([node.id]) - {job.id})
        which = StatisticsFilter(period.since, period.until, job.id, names, side, bucket_us=bucket_us, limit=len(names))
        return self.statistics.page(which)


def _pairs(nodes: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    return list(pairwise(nodes))


def _name(node: Node) -> tuple[str, str]:
    return node.namespace, node.name
