"""Makes the answers about the hops of a ledger: the amounts, and facts about their jobs and datasets, such as the newest run."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import UNSET

from lineage_bridge.api import serialization
from lineage_bridge.api.answering.lags import LagsByJob, lag_answer, read_lags
from lineage_bridge.api.schemas.ledger import ConsoleAnswer, DistinctAnswer, LedgerAmount, LedgerHopAnswer, LedgerSide
from lineage_bridge.graph.ids import DAY_US, NodeKind
from lineage_bridge.graph.runs.distinct_keys import DistinctCount
from lineage_bridge.graph.runs.path_ledger import AmountChange, LedgerWindow, ReportedAmount
from lineage_bridge.model.graph import Node
from lineage_bridge.model.lineage import Ledger, LedgerHop
from lineage_bridge.model.runs import RunRecord
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_reader import GraphReader
from lineage_bridge.projections.job_states import job_state
from lineage_bridge.projections.pointers.collectors import Side, collector, lag_collector
from lineage_bridge.projections.pointers.consoles import FACETS, ConsoleLink, console_links

_JOB_TYPE = "jobType"
_SECOND_US = 1_000_000


@dataclass(frozen=True)
class LedgerFacts:
    """What the hops of a ledger are answered with besides their amounts, read at once: by node id the newest observed run of each job, all
    names, the text of the jobType facet, the pages in consoles, and the number of different keys.
    """

    window: LedgerWindow
    now_us: int
    runs: Mapping[int, RunRecord]
    lags: LagsByJob
    names: Mapping[int, tuple[Node, ...]]
    job_types: Mapping[int, str]
    consoles: Mapping[int, tuple[ConsoleLink, ...]]
    distinct: Mapping[int, DistinctCount]

    @classmethod
    def read(cls, reader: GraphReader, ledger: Ledger, now_us: int) -> "LedgerFacts":
        """Read these facts for all hops of a ledger."""
        nodes = {node.id: node for hop in ledger.hops for node in (hop.source, hop.job, hop.target)}
        jobs = [node for node in nodes.values() if node.kind == NodeKind.JOB]
        newest = reader.runs.latest_of(jobs, with_datasets=False)
        names = {**{id_: (node,) for id_, node in nodes.items()}, **reader.nodes.names_of(nodes.values())}
        facets = {id_: reader.nodes.facets(node, keys=(*FACETS, _JOB_TYPE)) for id_, node in nodes.items()}
        return cls(
            window=ledger.window,
            now_us=now_us,
            runs={id_: run for id_, run in newest.items() if run.observed},
            lags=read_lags(reader.runs, jobs, ledger.window.since, ledger.window.until),
            names=names,
            job_types={id_: some[_JOB_TYPE] for id_, some in facets.items() if _JOB_TYPE in some},
            consoles={id_: console_links(names[id_], some) for id_, some in facets.items()},
            distinct=reader.runs.distinct(
                [node for node in nodes.values() if node.kind == NodeKind.DATASET],
                max(ledger.window.since, ledger.window.until - DAY_US),
                ledger.window.until,
            ),
        )

    def hop(self, hop: LedgerHop) -> LedgerHopAnswer:
        """Convert a hop of the ledger to its form in answers."""
        entry, run = hop.entry, self.runs.get(hop.job.id)
        rows = entry.read.rows
        rate = None if rows is None else rows * _SECOND_US / self.window.length
        lag = lag_answer(self.lags, hop.job, self.names[hop.source.id], rate)
        return LedgerHopAnswer(
            source=serialization.graph_node(hop.source),
            target=serialization.graph_node(hop.target),
            job=serialization.graph_node(hop.job),
            read=self._side(hop, "input", (entry.read, entry.read_before), entry.read_change),
            written=self._side(hop, "output", (entry.written, entry.written_before), entry.written_change),
            began=entry.began,
            ratio=UNSET if entry.ratio is None else entry.ratio,
            baseline_ratio=UNSET if entry.ratio_before is None else entry.ratio_before,
            diverged=entry.diverged,
            state=job_state(run, self.now_us) if run else UNSET,
            last_seen=serialization.time_text(run.last if run else None),
            lag=lag,
            lag_collector=(lag is UNSET and lag_collector(hop.job, hop.source, self.job_types.get(hop.job.id))) or UNSET,
            consoles=self._consoles(hop),
        )

    def _side(self, hop: LedgerHop, side: Side, amounts: tuple[ReportedAmount, ReportedAmount], change: AmountChange) -> LedgerSide:
        now, before = amounts
        counted = self.distinct.get((hop.source if side == "input" else hop.target).id)
        return LedgerSide(
            _amount(now),
            _amount(before),
            change.value,
            self._collector(hop, side, now) or UNSET,
            UNSET if counted is None else DistinctAnswer(counted.column, counted.number, format_time(counted.at)),
        )

    def _collector(self, hop: LedgerHop, side: Side, amount: ReportedAmount) -> str:
        """The kind of source, or `producer`, that could report the missing rows of a side of a hop; empty if rows were reported."""
        dataset = hop.source if side == "input" else hop.target
        return "" if amount.rows is not None else collector(hop.job, dataset, side, self.job_types.get(hop.job.id))

    def _consoles(self, hop: LedgerHop) -> list[ConsoleAnswer]:
        nodes = {node.id: node for node in (hop.job, hop.source, hop.target)}
        return [
            ConsoleAnswer(serialization.node_id_of(node), link.title, link.url)
            for node in nodes.values()
            for link in self.consoles.get(node.id, ())
        ]


def _amount(amount: ReportedAmount) -> LedgerAmount:
    rows, size = (UNSET if value is None else value for value in (amount.rows, amount.bytes))
    return LedgerAmount(amount.runs, rows, size)
