"""Determines which flows have ended, and which continue under another name.

A DROP of a dataset ends its flows, and so does an operator's statement; a RENAME continues them. Answers leave out ended flows.
"""

from collections.abc import Collection, Iterable, Iterator

from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.assertion_times import AssertionTimes
from lineage_bridge.store.query.dropped_paths import ALWAYS_US, NEVER_US, DroppedPaths, FlowKey
from lineage_bridge.store.query.drops import Drops
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge, RawPort, RawStatement
from lineage_bridge.store.query.nodes import Nodes

_TIME = 'CASE WHEN "last" <= ? THEN "last" ELSE "first" END'
_NOW = 2**63 - 1
_NAMED = "SELECT 1 FROM job_io WHERE job = ? AND dataset = ? AND side = ? AND origin = 1"


class Endings:
    """Decides whether a flow or port has ended, now or as of an earlier time.

    A flow has ended if an operator ended it; or if its target was dropped and exists again, but its job has not written it since; or if
    one of its ends is dropped and no path through it leads to an existing dataset. A flow that its job states again afterwards has not
    ended.

    If a job has written only partitions that were dropped since, its newest flow into one of them remains, provided that the dataset was
    read before the drop.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes, flows: Flows, times: AssertionTimes, at_us: int | None) -> None:
        self.connection, self.nodes, self.flows, self.times = connection, nodes, flows, times
        self.at_us = _NOW if at_us is None else at_us
        self.drops = Drops(connection, nodes, flows, times, self.at_us)
        self.dropped_paths = DroppedPaths(nodes, times, self.drops)
        has = nodes.identities.row_kinds.flows
        self.ordered, self._renames = has.endings, has.renames
        self._traces: dict[FlowKey, FlowKey | None] = {}

    @property
    def empty(self) -> bool:
        """Whether nothing was ever dropped or renamed, and no operator's end is in effect."""
        return not (self.drops.any or self._renames or self.ordered)

    def load(self, ids: Iterable[int]) -> None:
        """Look up when these datasets were dropped, all at once."""
        self.drops.load(ids)

    def touches(self, *ids: int) -> bool:
        """Whether flows at any of these nodes may have ended, because an operator ended flows or a node was dropped. The nodes must have
        been loaded.
        """
        return self.ordered or not self.drops.dropped.keys().isdisjoint(ids)

    def has_ended(self, source: int, target: int, job: int, origin: int) -> bool:
        """Whether a flow has ended."""
        if not self.touches(source, target):
            return False
        edge = source, target, job, origin
        return self._is_ended(edge) or (self.drops.any and any(self._ends_at(edge, direction) for direction in Direction))

    def leads_nowhere(self, edge: RawEdge, direction: Direction) -> bool:
        """Whether a walk in a direction leaves out a flow: the flow has ended, or its far end is dropped and leads to no existing
        dataset.
        """
        if not self.touches(edge[0], edge[1]):
            return False
        return self._is_ended(edge[:4]) or (self.drops.any and self._ends_at(edge[:4], direction))

    def _is_ended(self, edge: FlowKey) -> bool:
        """Whether an operator ended a flow, or its target was dropped, exists again, and its job has not written it since."""
        source, target, job, _ = edge
        if self.drops.last(target) is not None and not self.drops.is_gone(target) and not self._named_later(edge, Side.OUTPUT):
            return not (self.drops.is_part(target) and self._is_trace(edge))
        return self.ordered and any(not self._asserted_later(edge, *end) for end in self._stated_ends(job, (source, target)))

    def _is_trace(self, edge: FlowKey) -> bool:
        """Whether a flow into a dropped partition is the only remaining evidence that its job wrote the dataset, and the dataset was read
        before the drop.
        """
        source, target, job, origin = edge
        key = self.nodes.head(source), self.nodes.head(target), job, origin
        if key not in self._traces:
            self._traces[key] = self._newest_trace(key, self.drops.names(target))
        return self._traces[key] == edge and self._was_read(target)

    def _newest_trace(self, flow: FlowKey, names: tuple[int, ...]) -> FlowKey | None:
        """The newest of a job's flows into dropped partitions of one dataset; None if a flow into an existing partition has not ended."""
        self.load(names)
        edges = {edge[:4] for edge in self.flows.edges(names, Direction.UP) if edge[2:4] == flow[2:]}
        same = [edge for edge in sorted(edges) if self.nodes.head(edge[0]) == flow[0]]
        if any(self._named_later(edge, Side.OUTPUT) for edge in same):
            return None
        return max(same, key=lambda edge: (self.dropped_paths.last(edge), edge), default=None)

    def _was_read(self, target: int) -> bool:
        """Whether a job read a dropped partition, or its dataset as a whole, before the drop."""
        drop, names = self.drops.last(target) or 0, set(self.drops.names(target))
        onward = self.flows.edges(self.drops.around(target), Direction.DOWN)
        return any(edge[1] not in names and self.dropped_paths.first(edge[:4]) <= drop for edge in onward)

    def _ends_at(self, edge: FlowKey, direction: Direction) -> bool:
        """Whether a flow ends at its far end: the far end is dropped, and no path leads on from there."""
        far = direction.ahead((*edge, 0, 0))
        if not self.drops.is_gone(far) or self._named_later(edge, direction.far):
            return False
        return not self.dropped_paths.leads_on(far, direction, self.dropped_paths.time(edge, direction), self._edges)

    def has_ended_port(self, job: int, dataset: int, side: int, origin: int) -> bool:
        """Whether an input or output has ended."""
        if not self.touches(dataset):
            return False
        ends = (dataset, 0) if side == Side.INPUT else (0, dataset)
        stated_ends = [at for _, _, at in self._stated_ends(job, ends)] if self.ordered else []
        if any(not self._port_asserted_later(job, dataset, side, origin, at) for at in stated_ends):
            return True
        drop = self.drops.last(dataset)
        if drop is None or self._port_asserted_later(job, dataset, side, origin, drop):
            return False
        if self.drops.is_gone(dataset) or (side == Side.OUTPUT and self.drops.is_part(dataset)):
            return not self._has_flow(job, dataset, Side(side))
        return side == Side.OUTPUT

    def _has_flow(self, job: int, dataset: int, side: Side) -> bool:
        """Whether a job has a flow at a dropped dataset that has not ended."""
        edges = self._edges([dataset], Direction.DOWN if side is Side.INPUT else Direction.UP)
        return any(edge[2] == job and not self.has_ended(*edge[:4]) for edge in edges)

    def is_outdated(self, job: int, dataset: int, origin: int) -> bool:
        """Whether a dataset was dropped and exists again, and a job has not read it since."""
        drop = self.drops.last(dataset)
        if drop is None or self.drops.is_gone(dataset):
            return False
        return not self._port_asserted_later(job, dataset, int(Side.INPUT), origin, drop)

    def _edges(self, ids: Collection[int], direction: Direction) -> list[RawEdge]:
        """The flows and renames that lead further from these nodes. Flows that have ended for another reason than what lies beyond them are
        left out.
        """
        edges = list(self.flows.edges(ids, direction))
        self.load({end for edge in edges for end in edge[:2]})
        not_ended = (edge for edge in edges if not (self.touches(edge[0], edge[1]) and self._is_ended(edge[:4])))
        return [*not_ended, *self.renamed(ids, direction)]

    def _named_later(self, edge: FlowKey, side: Side) -> bool:
        """Whether a flow's job has named the flow's source (INPUT) or target (OUTPUT) after the last drop of that dataset; true if it was
        never dropped.
        """
        dataset = edge[0] if side is Side.INPUT else edge[1]
        drop = self.drops.last(dataset)
        return drop is None or self._asserted_later(edge, dataset, side, drop)

    def _stated_ends(self, job: int, ends: tuple[int, int]) -> list[tuple[int, Side, int]]:
        """The operators' statements that end a flow: about exactly this flow, all flows from its source, or all flows to its target."""
        source, target = ends
        rows = self.connection.execute(
            "SELECT source, target, at FROM ending WHERE job = ? AND ended = 1 AND at <= ? AND source IN (?, 0) AND target IN (?, 0)",
            (job, self.at_us, source, target),
        ).fetchall()
        return [(source, Side.INPUT, at) if row_source else (target, Side.OUTPUT, at) for row_source, _, at in rows]

    def _asserted_later(self, edge: tuple[int, int, int, int], dataset: int, side: Side, end: int) -> bool:
        _, _, job, origin = edge
        if origin == Origin.OBSERVED and self.connection.execute(_NAMED, (job, dataset, int(side))).fetchone():
            return self._port_asserted_later(job, dataset, side, origin, end)
        last = self.times.flow(*edge)
        return last is not None and last > end

    def _port_asserted_later(self, job: int, dataset: int, side: int, origin: int, end: int) -> bool:
        if origin == Origin.OBSERVED:
            return self.drops.named_later(job, dataset, side, end)
        last = self.times.port(job, dataset, int(side), origin)
        return last is not None and last > end

    def renamed(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The flows that renames create: from the earlier name to the later one, by the job that reported the rename."""
        here = "previous" if direction is Direction.DOWN else "dataset"
        for some in chunks(ids) if self._renames else ():
            sql = f"""SELECT DISTINCT previous, dataset, CASE job WHEN 0 THEN dataset ELSE job END FROM lifecycle
            WHERE {here} IN ({marks(some)}) AND change = 'RENAME' AND previous NOT IN (0, dataset) AND first <= ? ORDER BY 1, 2, 3"""
            for source, target, job in self.connection.execute(sql, (*some, self.at_us)).fetchall():
                yield source, target, job, int(Origin.OBSERVED), int(Evidence.RENAMED), 0

    def renamed_on(self, ids: Collection[int], direction: Direction, *, ended: bool) -> Iterator[RawEdge]:
        """The flows of renames. Flows to dropped datasets that lead to no existing dataset are left out, unless `ended` is set."""
        edges = list(self.renamed(ids, direction))
        self.load(direction.ahead(edge) for edge in edges)
        came = ALWAYS_US if direction is Direction.DOWN else NEVER_US
        for edge in edges:
            far = direction.ahead(edge)
            if ended or not self.drops.is_gone(far) or self.dropped_paths.leads_on(far, direction, came, self._edges):
                yield edge

    def renamed_last(self, source: int, target: int) -> int | None:
        """The time of the last report of a rename."""
        sql = f"SELECT max({_TIME}) FROM lifecycle WHERE dataset = ? AND previous = ? AND change = 'RENAME' AND first <= ?"
        found = self.connection.execute(sql, (self.at_us, target, source, self.at_us)).fetchone()
        return None if found is None or found[0] is None else int(found[0])


class FlowsWithoutEnded:
    """The flows at one point in time, without ended ones unless `ended` is set, and with the flows that renames create.

    `hidden` has the flows that were left out so far, `hidden_ports` the inputs and outputs as (job, dataset).
    """

    def __init__(self, flows: Flows, endings: Endings, *, ended: bool) -> None:
        self.flows, self.endings, self.ended = flows, endings, ended
        self.hidden: set[FlowKey] = set()
        self.hidden_ports: set[tuple[int, int]] = set()

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """
        return self.flows.edges(ids, direction) if self.endings.empty else self._not_ended(ids, direction)

    def _not_ended(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        edges = list(self.flows.edges(ids, direction))
        self.endings.load({*ids, *(end for edge in edges for end in edge[:2])})
        ordered, dropped = self.endings.ordered, self.endings.drops.dropped
        for edge in edges:
            untouched = not ordered and edge[0] not in dropped and edge[1] not in dropped
            if untouched or self.ended or not self.endings.leads_nowhere(edge, direction):
                yield edge
            else:
                self.hidden.add(edge[:4])
        yield from self.endings.renamed_on(ids, direction, ended=self.ended)

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """
        if self.endings.empty:
            yield from self.flows.ports(ids, side, limit)
            return
        self.endings.load(ids)
        for port in self.flows.ports(ids, side, limit):
            if self.ended or not self.endings.has_ended_port(*port):
                yield port
            else:
                self.hidden_ports.add(port[:2])

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names as inputs or as outputs (`side`)."""
        ports = self.flows.job_ports(job, side)
        if self.ended or self.endings.empty:
            return ports
        self.endings.load(port[1] for port in ports)
        return [port for port in ports if not self.endings.has_ended_port(*port)]

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name as inputs or as outputs (`side`), in no particular order."""
        ports = list(self.flows.jobs_ports(jobs, side))
        if self.ended or self.endings.empty:
            return iter(ports)
        self.endings.load(port[1] for port in ports)
        return (port for port in ports if not self.endings.has_ended_port(*port))

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job: in the columnLineage facet of an output (the carrier) or, if the carrier is the job itself, in
        its lineage facet.
        """
        return self.flows.statements(job, carrier)

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same datasets and jobs."""
        return self.flows.expand(ids)
