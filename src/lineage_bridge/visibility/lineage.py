"""Answers questions that follow flows across the border."""

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.runs.onset import Onset
from lineage_bridge.graph.runs.path_ledger import AmountChange, LedgerWindow, ReportedAmount
from lineage_bridge.model.graph import Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.model.lineage import (
    Gap,
    HiddenCounts,
    Impact,
    ImpactFlow,
    Ledger,
    LedgerHop,
    Path,
    Paths,
    Trace,
    TracedColumn,
    TraceOptions,
)
from lineage_bridge.ports.graph_reader import LineageReader
from lineage_bridge.visibility.border import Border
from lineage_bridge.visibility.flows import flow_of, shown_columns, shown_edges, shown_ports, shown_walk, unique

_UNSEEN: Final = ReportedAmount(0, None, None)


class LimitedLineage:
    """Implements ports.LineageReader. Questions start at own nodes; other nodes are not found. `clock` counts seconds."""

    def __init__(self, lineage: LineageReader, border: Border, clock: Callable[[], float] = time.monotonic) -> None:
        self._lineage, self._border, self._clock = lineage, border, clock
        self._paths: list[tuple[Paths, Paths]] = []
        self._walks: list[tuple[Walk, Walk]] = []

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
        """A walk that goes through nodes beyond the border as places, if it leads back to own nodes."""
        self._border.require_own(node)
        found = self._lineage.walk(node, direction, depth, limits, now_us=now_us, columns=columns, at_us=at_us, ended=ended)
        shown = shown_walk(self._border, found)
        self._walks.append((shown, found))
        return shown

    def impact(
        self, origins: Sequence[Node], direction: str, depth: int, limits: WalkLimits, at_us: int | None = None, *, flows: bool = True
    ) -> Impact:
        """The affected nodes, and the flows between them: own nodes and neighbours are listed, other nodes are only counted. If the limits
        of the walk do not suffice to find all neighbours, `truncated` names the limit, and the remaining neighbours are only counted.
        """
        found = self._lineage.impact([self._border.require_own(node) for node in origins], direction, depth, limits, at_us, flows=flows)
        cut = self._note_neighbours(origins, direction, depth, limits, at_us)
        self._border.load(item.node for item in found.affected)
        named = [item for item in found.affected if self._border.has_name(item.node)]
        names = self._border.all_shown(item.node for item in named)
        unnamed = [item.node for item in found.affected if not self._border.has_name(item.node)]
        hidden = [node.kind for node in unique(unnamed, self._border.group)]
        beyond = HiddenCounts(hidden.count(NodeKind.DATASET), hidden.count(NodeKind.JOB))
        affected = unique((replace(item, node=names[item.node.id]) for item in named), lambda item: item.node.id)
        ways = self._impact_flows(found.flows)
        return replace(found, affected=tuple(affected), beyond=beyond, flows=ways, truncated=found.truncated or cut)

    def _impact_flows(self, flows: Sequence[ImpactFlow]) -> tuple[ImpactFlow, ...]:
        """The flows at own nodes whose nodes all have names."""
        border = self._border
        kept = [flow for flow in flows if border.touches(*flow_of(flow)) and all(map(border.has_name, flow_of(flow)))]
        names = border.all_shown(node for flow in kept for node in flow_of(flow))
        return tuple(replace(f, source=names[f.source.id], target=names[f.target.id], job=names[f.job.id]) for f in kept)

    def paths(self, source: Node, target: Node, depth: int, most: int, limits: WalkLimits, at_us: int | None = None) -> Paths:
        """Paths between two of the principal's own nodes. Nodes between them may be shown as places."""
        for end in (source, target):
            self._border.require_own(end)
        found = self._lineage.paths(source, target, depth, most, limits, at_us)
        self._note_neighbours([source], "downstream", depth, limits, at_us)
        names = self._border.all_shown(node for path in found.paths for node in (*path.nodes, *(job for jobs in path.jobs for job in jobs)))
        paths = tuple(
            Path(tuple(names[node.id] for node in path.nodes), tuple(tuple(names[job.id] for job in jobs) for jobs in path.jobs))
            for path in found.paths
        )
        dropped = frozenset(id_ for id_ in found.dropped if id_ in names and names[id_].id == id_)
        shown = replace(found, paths=paths, dropped=dropped)
        self._paths.append((shown, found))
        return shown

    def _note_neighbours(self, nodes: Sequence[Node], direction: str, depth: int, limits: WalkLimits, at_us: int | None) -> str:
        """Record which nodes are neighbours of own nodes, by a walk from each of `nodes`. (Impacts and paths do not show that, because they
        have each node only under its canonical name.) All these walks together have the time limit of a single walk. Returns the limit
        because of which neighbours may be missing, if any.
        """
        began, cut = self._clock(), ""
        for node in unique(nodes, self._border.group):
            left = limits.seconds - (self._clock() - began)
            if left <= 0:
                return cut or "time"
            # Labels are not used here, so the current time does not matter.
            walk = self._lineage.walk(node, direction, depth, replace(limits, seconds=left), now_us=at_us or 0, at_us=at_us)
            shown_walk(self._border, walk)
            cut = cut or walk.truncated
        return cut

    def ledger(self, paths: Paths, number: int, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """The amounts at the hops of a path that `paths` returned, for hops whose job or one of whose datasets is the principal's own."""
        found = next(found for shown, found in self._paths if shown is paths)
        ledger = self._lineage.ledger(found, number, window, baseline, factor)
        nodes = paths.paths[number].nodes if number < len(paths.paths) else ()
        hops = tuple(map(self._hop, ledger.hops))
        return replace(ledger, nodes=nodes, hops=hops, onset=_shown_onset(ledger, hops))

    def upstream_ledger(self, walk: Walk, window: LedgerWindow, baseline: LedgerWindow, factor: float) -> Ledger:
        """The amounts at the hops of a walk that `walk` returned, for hops whose job or one of whose datasets is the principal's own."""
        found = next(found for shown, found in self._walks if shown is walk)
        ledger = self._lineage.upstream_ledger(found, window, baseline, factor)
        hops = [self._hop(hop) for hop in ledger.hops if self._border.touches(hop.source, hop.target, hop.job)]
        names = self._border.all_shown((ledger.source, ledger.target))
        source, target = names[ledger.source.id], names[ledger.target.id]
        return replace(ledger, source=source, target=target, hops=tuple(hops), onset=_shown_onset(ledger, hops))

    def _hop(self, hop: LedgerHop) -> LedgerHop:
        border, entry = self._border, hop.entry
        if not border.touches(hop.source, hop.job):
            entry = replace(entry, read=_UNSEEN, read_before=_UNSEEN, read_change=AmountChange.UNKNOWN)
        if not border.touches(hop.target, hop.job):
            entry = replace(entry, written=_UNSEEN, written_before=_UNSEEN, written_change=AmountChange.UNKNOWN)
        if entry is not hop.entry:
            entry = replace(entry, began=False, diverged=False)
        names = border.all_shown((hop.source, hop.target, hop.job))
        return LedgerHop(names[hop.source.id], names[hop.target.id], names[hop.job.id], entry)

    def trace(self, node: Node, options: TraceOptions, limits: WalkLimits, at_us: int | None = None) -> Trace:
        """A trace of columns of own datasets. Datasets beyond the border are shown without columns."""
        border = self._border
        found = self._lineage.trace(border.require_own(node), options, limits, at_us)
        gaps = [gap for gap in found.coverage.gaps if border.touches(gap.source, gap.target, gap.job)]
        for gap in gaps:
            border.note_flow((gap.source, gap.target, gap.job))
        flows = [flow if border.is_own(flow.job) else replace(flow, proof=None) for flow in shown_columns(border, found.flows)]
        met = {end.id for flow in flows for end in flow_of(flow)}
        columns: dict[tuple[int, str], TracedColumn] = {}
        for column in self._columns(found.columns, met):
            same = columns.setdefault((column.node.id, column.field), column)
            columns[column.node.id, column.field] = replace(same, arrival=min(same.arrival, column.arrival))
        coverage = replace(found.coverage, gaps=tuple(map(self._gap, gaps)))
        shown = replace(found, columns=tuple(columns.values()), flows=tuple(flows), coverage=coverage)
        return replace(shown, dropped=found.dropped & {end.id for end in shown.nodes})

    def _columns(self, columns: Iterable[TracedColumn], met: Collection[int]) -> Iterator[TracedColumn]:
        for column in columns:
            if self._border.is_own(column.node):
                yield column
            elif (place := self._border.known(column.node)) is not None and place.id in met:
                yield replace(column, node=place, field="")

    def _gap(self, gap: Gap) -> Gap:
        names = self._border.all_shown((gap.source, gap.target, gap.job))
        return replace(gap, source=names[gap.source.id], target=names[gap.target.id], job=names[gap.job.id])

    def job_ports(self, job: Node, *, now_us: int, at_us: int | None = None) -> list[Port]:
        """All inputs and outputs of one of the principal's own jobs; of another job, only the datasets that are the principal's own."""
        return self.job_ports_of([job], now_us=now_us, at_us=at_us)[job.id]

    def job_ports_of(self, jobs: Iterable[Node], *, now_us: int, at_us: int | None = None) -> dict[int, list[Port]]:
        """The inputs and outputs of several jobs, by the rule of `job_ports`; nodes beyond the border are places."""
        behind = {job.id: self._border.behind(job) for job in jobs}
        found = self._lineage.job_ports_of(behind.values(), now_us=now_us, at_us=at_us)
        return {id_: shown_ports(self._border, found[job.id]) for id_, job in behind.items()}

    def declared_flows(
        self, datasets: Collection[Node], limits: WalkLimits, *, now_us: int, at_us: int | None = None, ended: bool = False
    ) -> tuple[Edge, ...]:
        """The flows that datasets declare for themselves: at own nodes, and those that lead on to own nodes."""
        behind = [self._border.behind(dataset) for dataset in datasets]
        return shown_edges(self._border, self._lineage.declared_flows(behind, limits, now_us=now_us, at_us=at_us, ended=ended))


def _shown_onset(ledger: Ledger, hops: Sequence[LedgerHop]) -> Onset | None:
    """When the ratio left its baseline, if the principal may see every hop that diverged; otherwise None, because a hidden hop may have
    diverged first.
    """
    diverged = [sum(hop.entry.diverged for hop in some) for some in (ledger.hops, hops)]
    return ledger.onset if diverged[0] == diverged[1] else None
