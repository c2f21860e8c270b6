"""Checks co-occurrence by datasets instead of names: a run's column lineage may use another name of an input than its inputs do.

Flows are computed per run from ids of names. Which names denote one dataset is only known when a question is answered, so co-occurrence is
checked again here. A flow by co-occurrence does not count if, in every run that has the flow, column lineage states the sources of the
flow's target and mentions the flow's source; the names of both are compared as groups.
"""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.pending_shapes import PendingShapes
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge, RawPort, RawStatement
from lineage_bridge.store.query.nodes import Nodes

_MANY = 500
_MOST_SHAPES = 64
_SHAPES = f"""SELECT DISTINCT f.shape FROM shape_flow f JOIN shape s ON s.shape = f.shape AND s.origin = :origin
WHERE f.source = :source AND f.target = :target AND f.evidence >= {int(Evidence.CO_OCCURRENCE)}
AND EXISTS (SELECT 1 FROM job_shape j WHERE j.job = :job AND j.shape = f.shape) LIMIT {_MOST_SHAPES + 1}"""
_HAD = "SELECT 1 FROM run_shape WHERE job = ? AND shape = ? AND current_since <= ? LIMIT 1"
_LINEAGE = "SELECT carrier, lineage_set FROM shape_lineage_set WHERE shape = ?"
_SOURCES = "SELECT DISTINCT source FROM column_statement WHERE lineage_set IN ({})"


class _Stated(NamedTuple):
    """The canonical nodes whose origin a shape's column lineage states, and those that it mentions as sources."""

    targets: frozenset[int]
    sources: frozenset[int]


class CoOccurrence:
    """Decides which flows by co-occurrence count, over one connection; now or, with `pending`, as of the time of `pending`. Caches what it
    has loaded.
    """

    def __init__(self, connection: StoreConnection, nodes: Nodes, pending: PendingShapes | None = None) -> None:
        self.connection, self.nodes, self.pending = connection, nodes, pending
        self._stated: dict[int, _Stated] = {}
        self._counts: dict[RawEdge, bool] = {}

    @cached_property
    def empty(self) -> bool:
        """Whether all flows count: no dataset has several names, or no run states column lineage."""
        identities = self.nodes.identities
        return not identities.row_kinds.flows.column_lineage or not identities.may_join

    def not_counting(self, edges: Iterable[RawEdge]) -> set[RawEdge]:
        """Those of these flows that do not count. Only flows at datasets with several names are checked."""
        if self.empty:
            return set()
        guessed = [edge for edge in edges if edge[4] in (Evidence.CO_OCCURRENCE, Evidence.STITCHED)]
        several = self.nodes.canonical({end for edge in guessed for end in edge[:2]}) if guessed else {}
        return {edge for edge in guessed if (edge[0] in several or edge[1] in several) and not self._does_count(edge)}

    def _does_count(self, edge: RawEdge) -> bool:
        if edge not in self._counts:
            ends = self.nodes.head(edge[0]), self.nodes.head(edge[1])
            self._counts[edge] = any(not (ends[0] in stated.sources and ends[1] in stated.targets) for stated in self._holding(edge))
        return self._counts[edge]

    def _holding(self, edge: RawEdge) -> list[_Stated]:
        """The column lineage of the shapes that have a flow. It is empty for a flow in very many shapes; such a flow always counts."""
        source, target, job, origin, _, hub = edge
        values = {"source": source, "target": target, "job": job, "origin": origin}
        shapes = [hub, hub ^ 1] if hub else [row[0] for row in self.connection.execute(_SHAPES, values).fetchall()]
        if len(shapes) > _MOST_SHAPES:
            return [_Stated(frozenset(), frozenset())]
        if self.pending is None:
            return [self._stated_by(shape) for shape in shapes if not hub or self._is_shape(shape)]
        at_us = self.pending.at_us
        held = [self._stated_by(shape) for shape in shapes if self.connection.execute(_HAD, (job, shape, at_us)).fetchone()]
        pending = [p for p in self.pending.of_job(job) if any(found[:4] == edge[:4] and found[5] == hub for found in p.edges)]
        return held + [self._read(p.shape.lineage_sets) for p in pending]

    def _is_shape(self, shape: int) -> bool:
        return self.connection.execute("SELECT 1 FROM shape WHERE shape = ?", (shape,)).fetchone() is not None

    def _stated_by(self, shape: int) -> _Stated:
        if shape not in self._stated:
            self._stated[shape] = self._read(self.connection.execute(_LINEAGE, (shape,)).fetchall())
        return self._stated[shape]

    def _read(self, lineage_sets: Iterable[tuple[int, bytes]]) -> _Stated:
        rows = list(lineage_sets)
        sources: set[int] = set()
        for some in batches(sorted({lineage_set for _, lineage_set in rows})):
            sources.update(row[0] for row in self.connection.execute(_SOURCES.format(marks(some)), some))
        heads = self.nodes.head
        return _Stated(frozenset(heads(carrier) for carrier, _ in rows), frozenset(heads(source) for source in sources - {OWN}))


class FlowsByGroup:
    """The flows at a point in time, without those flows by co-occurrence that `CoOccurrence` rules out."""

    def __init__(self, flows: Flows, counted: CoOccurrence) -> None:
        self.flows, self.counted = flows, counted

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """
        edges = self.flows.edges(ids, direction)
        return edges if self.counted.empty else self._counting(edges)

    def _counting(self, edges: Iterator[RawEdge]) -> Iterator[RawEdge]:
        while some := list(islice(edges, _MANY)):
            hidden = self.counted.not_counting(some)
            yield from (edge for edge in some if edge not in hidden) if hidden else some

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """
        return self.flows.ports(ids, side, limit)

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names as inputs or as outputs (`side`)."""
        return self.flows.job_ports(job, side)

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name as inputs or as outputs (`side`), in no particular order."""
        return self.flows.jobs_ports(jobs, side)

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job: in the columnLineage facet of an output (the carrier) or, if the carrier is the job itself, in
        its lineage facet.
        """
        return self.flows.statements(job, carrier)

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same datasets and jobs."""
        return self.flows.expand(ids)
