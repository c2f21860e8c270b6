"""Traces a column to where it comes from, or to where it goes, statement by statement, and finds where statements are missing."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Coverage, Gap, Trace, TracedColumn, TracedFlow, TraceOptions
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.lineage.proofs import ProofKey, Proofs
from lineage_bridge.store.lineage.value_arrivals import is_indirect, value_arrivals
from lineage_bridge.store.query.annotations import descriptions
from lineage_bridge.store.query.columns import Column, Columns, ColumnStep, CurrentColumns, FlowColumns
from lineage_bridge.store.query.dropped_paths import FlowKey
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge
from lineage_bridge.store.query.nodes import Nodes


@dataclass
class Traced:
    """The columns, flows and gaps that a trace has found so far. A column has the canonical id of its dataset, or the id of a job."""

    distances: dict[Column, int] = field(default_factory=dict)
    ends: dict[Column, str] = field(default_factory=dict)
    steps: dict[tuple[int, str, int, str, int, int], list[ColumnStep]] = field(default_factory=dict)
    datasets: set[int] = field(default_factory=set)
    covered: set[FlowKey] = field(default_factory=set)
    gaps: dict[FlowKey, RawEdge] = field(default_factory=dict)
    truncated: str = ""
    hidden: int = 0


class Tracer:
    """Traces columns over one connection.

    `elapsed` returns the seconds since the question began. Flows are those as of `at_us` (None: now).
    """

    def __init__(
        self,
        connection: StoreConnection,
        nodes: Nodes,
        flows: Flows,
        limits: WalkLimits,
        elapsed: Callable[[], float],
        at_us: int | None,
    ) -> None:
        self.connection, self.nodes, self.flows, self.limits, self.elapsed = connection, nodes, flows, limits, elapsed
        self.at_us = at_us
        self.columns: Columns = CurrentColumns(connection, nodes.identities.row_kinds) if at_us is None else FlowColumns(flows)
        self.proofs = Proofs(connection, at_us)
        self._edges_of: dict[tuple[int, bool], dict[tuple[int, int, int, int], RawEdge]] = {}

    def trace(self, node: Node, options: TraceOptions) -> Trace:
        """Follow a column (all columns, if the field is empty) for `depth` hops."""
        up = options.direction == "upstream"
        found = Traced()
        frontier = self._begin(node, options, up=up)
        found.distances = dict.fromkeys(frontier, 0)
        hop = 0
        while frontier and hop < options.depth and not found.truncated:
            hop += 1
            next_columns = self._hop(frontier, found, options, up=up)
            frontier = sorted(next_columns.difference(found.distances))
            found.distances.update(dict.fromkeys(frontier, hop))
        return self._answer(node, options, found)

    @property
    def met(self) -> set[FlowKey]:
        """The flows that were read so far."""
        return {key for edges in self._edges_of.values() for key in edges}

    def _begin(self, node: Node, options: TraceOptions, *, up: bool) -> list[Column]:
        own = self.nodes.head(node.id)
        if options.field or node.kind == NodeKind.JOB:
            return [(own, options.field)]
        members = [(member, "") for member in self.nodes.members(own)]
        near = "target_field" if up else "source_field"
        named = {getattr(step, near) for steps in self._steps(members, options, up=up).values() for step in steps}
        return [(own, name) for name in sorted(named)]

    def _steps(self, columns: Collection[Column], options: TraceOptions, *, up: bool) -> dict[Column, list[ColumnStep]]:
        """The statements that the trace follows from each of these columns."""
        found = self.columns.into(columns) if up else self.columns.out_of(columns)
        self._load_edges({member for member, _ in columns}, up=up)
        return {column: [step for step in steps if self._counts(step, column[0], options, up=up)] for column, steps in found.items()}

    def _hop(self, frontier: Sequence[Column], found: Traced, options: TraceOptions, *, up: bool) -> set[Column]:
        """The columns that are one hop away from these. Also records the statements that lead to them."""
        self.nodes.expand(id_ for id_, _ in frontier)
        members = {id_: self.nodes.members(id_) for id_, _ in frontier}
        steps_of = self._steps(dict.fromkeys((member, field) for id_, field in frontier for member in members[id_]), options, up=up)
        far_ends = {step.source if up else step.target for steps in steps_of.values() for step in steps}
        self.nodes.load(self.nodes.expand(far_ends))
        further: set[Column] = set()
        for id_, field_name in frontier:
            self._cover(id_, found, up=up)
            for member in members[id_]:
                further.update(self._follow(steps_of[member, field_name], found, options, up=up))
        return further

    def _follow(self, steps: Iterable[ColumnStep], found: Traced, options: TraceOptions, *, up: bool) -> Iterator[Column]:
        """Record statements about one column, and yield the columns to which they lead."""
        together: dict[tuple[int, str, int, str, int, int], list[ColumnStep]] = {}
        for step in steps:
            together.setdefault(step[:6], []).append(step)
        for key, alike in sorted(together.items()):
            if self._over(found):
                found.hidden += 1
                continue
            found.steps[key] = alike
            far = (self.nodes.head(key[0]), key[1]) if up else (self.nodes.head(key[2]), key[3])
            if self._goes_on(far, alike, found, options, up=up):
                yield far

    def _counts(self, step: ColumnStep, member: int, options: TraceOptions, *, up: bool) -> bool:
        """Whether the trace follows a statement: it matches the options of the trace, and belongs to a flow that the trace follows."""
        if not (step.source_field or step.target_field):
            return False
        if is_indirect(step) and not options.indirect:
            return False
        return (step.source, step.target, step.job, step.origin) in self._edges(member, up=up)

    def _goes_on(self, far: Column, steps: list[ColumnStep], found: Traced, options: TraceOptions, *, up: bool) -> bool:
        end = ""
        if self.nodes.by_id(far[0]).kind == NodeKind.JOB:
            end = "job"
        elif not options.through_masking and all(step.masking for step in steps):
            end = "masked"
        elif up and not far[1]:
            end = "unknown column"
        if not end:
            found.ends.pop(far, None)
            return True
        if far not in found.distances:
            found.ends.setdefault(far, end)
        return False

    # datasets on the way without column lineage

    def _cover(self, dataset: int, found: Traced, *, up: bool) -> None:
        """Count the flows at a dataset that have column lineage, and record those that have none as gaps."""
        if dataset in found.datasets:
            return
        found.datasets.add(dataset)
        for member in self.nodes.members(dataset):
            for edge in self._edges(member, up=up).values():
                key = self.nodes.head(edge[0]), self.nodes.head(edge[1]), self.nodes.head(edge[2]), edge[3]
                if self._has_columns(edge):
                    found.covered.add(key)
                else:
                    found.gaps.setdefault(key, edge)

    def _has_columns(self, edge: RawEdge) -> bool:
        source, target, job, _, evidence, _ = edge
        if evidence == Evidence.EXPLICIT:
            statements = (row for carrier in {job, target} for row in self.flows.statements(job, carrier))
            return any((row[2] or job) == source and (row[0] or row[7]) == target and (row[1] or row[3]) for row in statements)
        return evidence == Evidence.COLUMN

    def _load_edges(self, ids: Iterable[int], *, up: bool) -> None:
        """Read the flows at many datasets at once, and all names of their ends."""
        fresh = {id_ for id_ in ids if (id_, up) not in self._edges_of}
        self._edges_of.update(((id_, up), {}) for id_ in fresh)
        near = 1 if up else 0
        for edge in self.flows.edges(fresh, Direction.UP if up else Direction.DOWN):
            self._edges_of[edge[near], up][edge[:4]] = edge
        self.nodes.expand(end for id_ in fresh for edge in self._edges_of[id_, up] for end in edge[:3])

    def _edges(self, node: int, *, up: bool) -> dict[tuple[int, int, int, int], RawEdge]:
        if (node, up) not in self._edges_of:
            self._load_edges([node], up=up)
        return self._edges_of[node, up]

    def _over(self, found: Traced) -> bool:
        if not found.truncated:
            if len(found.distances) >= self.limits.nodes:
                found.truncated = "nodes"
            elif len(found.steps) >= self.limits.edges:
                found.truncated = "edges"
            elif self.elapsed() > self.limits.seconds:
                found.truncated = "time"
        return bool(found.truncated)

    # the answer

    def _answer(self, node: Node, options: TraceOptions, found: Traced) -> Trace:
        self.nodes.load({end for steps in found.steps.values() for end in (steps[0].source, steps[0].target, steps[0].job)})
        starts = [at for at, hops in found.distances.items() if hops == 0]
        came = value_arrivals(starts, found.steps.values(), self.nodes.head, up=options.direction == "upstream")
        columns = [TracedColumn(self.nodes.by_id(at[0]), at[1], hops, "", came[at]) for at, hops in found.distances.items()]
        columns += [TracedColumn(self.nodes.by_id(at[0]), at[1], None, end, came[at]) for at, end in found.ends.items()]
        name = self.nodes.by_id
        open_gaps = [edge for key, edge in found.gaps.items() if key not in found.covered]
        gaps = (Gap(name(source), name(target), name(job), Origin(o), Evidence(e)) for source, target, job, o, e, _ in open_gaps)
        return Trace(
            origin=node,
            options=options,
            columns=tuple(sorted(columns, key=_column_order)),
            flows=tuple(self._flows(found.steps.values(), proofs=options.proofs)),
            coverage=Coverage(len(found.covered), len(open_gaps), tuple(sorted(gaps, key=_gap_order)[: options.gaps])),
            truncated=found.truncated,
            hidden=found.hidden,
        )

    def _flows(self, every: Iterable[list[ColumnStep]], *, proofs: bool) -> Iterator[TracedFlow]:
        described = self.connection.execute("SELECT EXISTS (SELECT 1 FROM annotation)").fetchone()[0]
        ordered = sorted(every)
        proven = self.proofs.newest(_proof_key(steps[0]) for steps in ordered) if proofs else {}
        for steps in ordered:
            step = steps[0]
            yield TracedFlow(
                self.nodes.by_id(step.source),
                step.source_field,
                self.nodes.by_id(step.target),
                step.target_field,
                self.nodes.by_id(step.job),
                Origin(step.origin),
                _transformations(steps),
                masked=all(row.masking for row in steps),
                indirect=all(is_indirect(row) for row in steps),
                proof=proven.get(_proof_key(step)),
                descriptions=descriptions(self.connection, steps, self.at_us) if described else (),
            )


def _transformations(steps: list[ColumnStep]) -> tuple[tuple[str, str, bool], ...]:
    if len(steps) == 1:
        return (steps[0][6:9],)
    return tuple(sorted({step[6:9] for step in steps}))


def _proof_key(step: ColumnStep) -> ProofKey:
    return step.job, step.carrier, step.lineage_set


def _column_order(column: TracedColumn) -> tuple[int, str, str, str]:
    return column.distance if column.distance is not None else 1_000, column.node.namespace, column.node.name, column.field


def _gap_order(gap: Gap) -> tuple[str, ...]:
    return gap.target.namespace, gap.target.name, gap.source.namespace, gap.source.name, gap.job.namespace, gap.job.name, gap.origin.name
