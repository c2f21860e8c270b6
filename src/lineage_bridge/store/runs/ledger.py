"""The hop ledger of a path: what each job on the way read and wrote in a window, against a baseline."""

from itertools import pairwise

from lineage_bridge.graph.relations import Side
from lineage_bridge.graph.runs.ledger import LedgerWindow, Passed, ledger
from lineage_bridge.graph.runs.statistics import Amount
from lineage_bridge.model.graph import Node
from lineage_bridge.model.lineage import Ledger, LedgerHop, Paths
from lineage_bridge.model.statistics import StatisticsFilter
from lineage_bridge.store.query.flows import Flows
from lineage_bridge.store.runs.statistics import Statistics


class LedgerMaker:
    """Ledgers from the amounts that runs reported."""

    def __init__(self, flows: Flows, statistics: Statistics) -> None:
        self.flows, self.statistics = flows, statistics

    def ledger(self, found: Paths, number: int, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """The ledger of the `number`-th of the paths found, from 0; without hops if there is no such path."""
        if number >= len(found.paths):
            return Ledger(found.source, found.target, (), window, baseline, (), len(found.paths), more=found.more)
        path = found.paths[number]
        ways = [(source, target, job) for (source, target), jobs in zip(_pairs(path.nodes), path.jobs, strict=True) for job in jobs]
        amounts = [self._amounts(*way, window, baseline) for way in ways]
        entries = ledger(amounts, window.length / baseline.length, factor)
        hops = tuple(LedgerHop(*way, entry) for way, entry in zip(ways, entries, strict=True))
        return Ledger(found.source, found.target, path.nodes, window, baseline, hops, len(found.paths), more=found.more)

    def _amounts(
        self, source: Node, target: Node, job: Node, window: LedgerWindow, baseline: LedgerWindow
    ) -> tuple[Passed, Passed, Passed, Passed]:
        return (
            self._passed(source, Side.INPUT, job, window),
            self._passed(target, Side.OUTPUT, job, window),
            self._passed(source, Side.INPUT, job, baseline),
            self._passed(target, Side.OUTPUT, job, baseline),
        )

    def _passed(self, node: Node, side: Side, job: Node, window: LedgerWindow) -> Passed:
        """The amounts that the runs of a job reported for a node, under any of its names."""
        names = frozenset(self.flows.expand([node.id]) - {job.id})
        which = StatisticsFilter(window.since, window.until, job.id, names, side, limit=len(names))
        series = self.statistics.page(which).series
        amount = sum((entry.amount for entry in series), start=Amount())
        return Passed(sum(entry.runs for entry in series), amount.rows, amount.bytes)


def _pairs(nodes: tuple[Node, ...]) -> list[tuple[Node, Node]]:
    return list(pairwise(nodes))
