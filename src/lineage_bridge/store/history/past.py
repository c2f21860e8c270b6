"""Finds the flows of an earlier time in the stored rows: those of shapes that were current then, and those of shapes that were replaced
since.
"""

from collections.abc import Collection, Iterable, Iterator

from lineage_bridge.graph.relations import Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.pending_shapes import PendingShapes, side_of
from lineage_bridge.store.query.flows import Direction, RawEdge, RawPort, RawStatement
from lineage_bridge.store.query.nodes import Nodes

_HAD_SHAPE = "run_shape p ON p.job = w.job AND p.shape = f.shape AND p.origin = w.origin AND p.current_since <= ?"
_HELD = f"""CASE WHEN w.source = w.job OR w.target = w.job THEN EXISTS (
    SELECT 1 FROM job_shape j STRAIGHT_JOIN shape_flow f ON f.shape = j.shape AND f.evidence = w.evidence
    AND f.source IN (w.source, CASE w.source WHEN w.job THEN 0 ELSE w.source END)
    AND f.target IN (w.target, CASE w.target WHEN w.job THEN 0 ELSE w.target END)
    STRAIGHT_JOIN {_HAD_SHAPE} WHERE j.job = w.job)
ELSE EXISTS (
    SELECT 1 FROM shape_flow f STRAIGHT_JOIN {_HAD_SHAPE}
    WHERE f.source = w.source AND f.target = w.target AND f.evidence = w.evidence) END"""
"""Whether a run or statement that has the flow now already had its shape at that time."""
_FEW_SHAPES = 64
_IN_MANY_SHAPES = f"""SELECT n.id FROM node n WHERE n.id IN ({{}})
AND (SELECT count(*) FROM (SELECT 1 FROM shape_io i WHERE i.dataset = n.id AND i.side = ? LIMIT {_FEW_SHAPES + 1}) s) > {_FEW_SHAPES}"""
_PORT_HELD = f"EXISTS (SELECT 1 FROM shape_io f STRAIGHT_JOIN {_HAD_SHAPE} WHERE f.dataset = w.dataset AND f.side = w.side)"
_PORT_OF_MANY_HELD = f"""EXISTS (SELECT 1 FROM job_shape j
STRAIGHT_JOIN shape_io f ON f.shape = j.shape AND f.dataset = w.dataset AND f.side = w.side
STRAIGHT_JOIN {_HAD_SHAPE} WHERE j.job = w.job)"""


class FlowsAt:
    """The flows as of `at_us`. Whether a flow existed then is exact."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, at_us: int) -> None:
        self.connection, self.nodes, self.at_us = connection, nodes, at_us
        self.pending = PendingShapes(connection, at_us)
        self._looked_up: tuple[Direction, tuple[int, ...]] | None = None
        self._jobs: set[int] = set()
        self._hubs = nodes.identities.row_kinds.flows.hubs

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """
        for some in chunks(ids):
            near_ids = dict.fromkeys(some)
            edges: dict[RawEdge, None] = dict.fromkeys(self._current(some, direction))
            edges.update(
                (edge, None)
                for pending_shape in self.pending.of_jobs(self._jobs_at(some, direction))
                for edge in pending_shape.edges
                if (edge[0] if direction is Direction.DOWN else edge[1]) in near_ids
            )
            yield from _strongest(edges, direction)

    def _current(self, some: list[int], direction: Direction) -> Iterator[RawEdge]:
        here = "source" if direction is Direction.DOWN else "target"
        flows = f"SELECT source, target, job, origin, evidence, 0 FROM flow w WHERE {here} IN ({marks(some)}) AND {_HELD}"
        yield from self.connection.execute(flows, (*some, self.at_us, self.at_us))
        if not self._hubs:
            return
        ends = "a.dataset, b.dataset" if direction is Direction.DOWN else "b.dataset, a.dataset"
        hubs = f"""SELECT {ends}, h.job, h.origin, 3, h.hub FROM hub_io a JOIN hub h ON h.hub = a.hub
        JOIN hub_io b ON b.hub = a.hub AND b.side = {int(direction.far)}
        WHERE a.dataset IN ({marks(some)}) AND a.side = {int(direction.near)}
        AND EXISTS (SELECT 1 FROM run_shape p
        WHERE p.job = h.job AND p.shape IN (h.hub, h.hub + 1 - 2 * (h.hub & 1)) AND p.current_since <= ?)"""
        yield from self.connection.execute(hubs, (*some, self.at_us))

    def _jobs_at(self, some: list[int], direction: Direction) -> set[int]:
        """The jobs that may ever have had a flow at these datasets."""
        key = direction, tuple(some)
        if key != self._looked_up:
            named = f"""SELECT job FROM job_io WHERE dataset IN ({marks(some)}) AND side = {int(direction.near)}
            UNION SELECT job FROM mentioned_node WHERE node IN ({marks(some)})"""
            self._looked_up, self._jobs = key, {row[0] for row in self.connection.execute(named, (*some, *some))}.union(some)
        return self._jobs

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """
        for some in chunks(ids):
            near_ids = set(some)
            found: set[RawPort] = set(self._ports_at(some, side, limit))
            jobs = self._jobs_at(some, Direction.DOWN if side == Side.INPUT else Direction.UP)
            self.pending.load(jobs)
            for job, dataset, origin in self._pending_ports(jobs, side):
                if dataset in near_ids:
                    found.add((job, dataset, int(side), origin))
            yield from sorted(found)

    def _ports_at(self, some: list[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The ports of a dataset, looked up by its own shapes if they are few, otherwise by the shapes of its jobs."""
        many = {row[0] for row in self.connection.execute(_IN_MANY_SHAPES.format(marks(some)), (*some, int(side)))}
        for held, datasets in ((_PORT_HELD, set(some) - many), (_PORT_OF_MANY_HELD, many)):
            for few in chunks(datasets):
                named = f"SELECT job, dataset, side, origin FROM job_io w WHERE dataset IN ({marks(few)}) AND side = ? AND {held} LIMIT ?"
                yield from self.connection.execute(named, (*few, int(side), self.at_us, limit))

    def _pending_ports(self, jobs: Iterable[int], side: Side) -> Iterator[tuple[int, int, int]]:
        for job in jobs:
            for pending_shape in self.pending.of_job(job):
                for dataset in side_of(pending_shape.shape, side):
                    yield job, dataset, pending_shape.shape.origin

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names as inputs or as outputs (`side`)."""
        found: set[RawPort] = set(
            self.connection.execute(
                f"SELECT job, dataset, side, origin FROM job_io w WHERE job = ? AND side = ? AND {_PORT_HELD}",
                (job, int(side), self.at_us),
            )
        )
        found.update((job, dataset, int(side), origin) for _, dataset, origin in self._pending_ports([job], side))
        return sorted(found, key=lambda port: (port[1], port[3]))

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name as inputs or as outputs (`side`), in no particular order."""
        for job in jobs:
            yield from self.job_ports(job, side)

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job: in the columnLineage facet of an output (the carrier) or, if the carrier is the job itself, in
        its lineage facet.
        """
        lineage_sets: set[tuple[bytes, int]] = set(
            self.connection.execute(
                f"""SELECT lineage_set, origin FROM job_lineage_set w WHERE job = ? AND carrier = ? AND EXISTS (
                SELECT 1 FROM shape_lineage_set f STRAIGHT_JOIN {_HAD_SHAPE}
                WHERE f.lineage_set = w.lineage_set AND f.carrier = w.carrier)""",
                (job, carrier, self.at_us),
            )
        )
        for pending_shape in self.pending.of_job(job):
            lineage_sets |= {
                (lineage_set, pending_shape.shape.origin) for on, lineage_set in pending_shape.shape.lineage_sets if on == carrier
            }
        rows = """SELECT target, target_field, source, source_field, type, subtype, masking, ?, ?, lineage_set
        FROM column_statement WHERE lineage_set = ?"""
        return [
            row for lineage_set, origin in sorted(lineage_sets) for row in self.connection.execute(rows, (carrier, origin, lineage_set))
        ]

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same datasets and jobs."""
        return self.nodes.expand(ids)


def _strongest(edges: Iterable[RawEdge], direction: Direction) -> Iterator[RawEdge]:
    """Keep each flow (source, target, job, origin) once, with its strongest evidence. Flows are sorted by the end at which the search
    began; single flows come before those of hubs.
    """
    best: dict[tuple[int, int, int, int, bool], RawEdge] = {}
    for edge in edges:
        key = *edge[:4], bool(edge[5])
        best[key] = min(best.get(key, edge), edge)
    down = direction is Direction.DOWN
    yield from sorted(best.values(), key=lambda edge: (edge[5] != 0, edge if down else (edge[1], edge[0], *edge[2:])))
