"""The interface by which all questions read flows, and its implementation for the current flows. store/history/past.py implements it for an
earlier time.
"""

from collections.abc import Collection, Iterable, Iterator
from enum import Enum
from typing import Protocol

from lineage_bridge.graph.relations import Side
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

RawEdge = tuple[int, int, int, int, int, int]
"""The source, target and job of a flow, its origin, its strongest evidence, and its hub (0: none)."""
RawPort = tuple[int, int, int, int]
"""The job and dataset of a port, its side and its origin."""
RawStatement = tuple[int, str, int, str, str, str, int, int, int, bytes]
"""The target, its field, the source and its field of a column flow; its type, subtype and masking; its carrier, origin and lineage set.
OWN stands for the carrier or the job."""


class Direction(Enum):
    """The direction in which a walk follows flows."""

    DOWN = "downstream"
    UP = "upstream"

    @property
    def near(self) -> Side:
        """The side (input or output of a job) by which a walk in this direction enters the job."""
        return Side.INPUT if self is Direction.DOWN else Side.OUTPUT

    @property
    def far(self) -> Side:
        """The side (input or output of a job) by which a walk in this direction leaves the job."""
        return Side.OUTPUT if self is Direction.DOWN else Side.INPUT

    def ahead(self, edge: RawEdge) -> int:
        """The id of the node that a walk in this direction reaches by following an edge."""
        return edge[1] if self is Direction.DOWN else edge[0]


class Flows(Protocol):
    """The flows at one point in time. An id stands for a single name; to look up all names of a node, use `expand`."""

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names as inputs or as outputs (`side`)."""

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name as inputs or as outputs (`side`), in no particular order."""

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job: in the columnLineage facet of an output (the carrier) or, if the carrier is the job itself, in
        its lineage facet.
        """

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same datasets and jobs."""


class CurrentFlows:
    """Looks up the current flows in the derived tables."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self._hubs = nodes.identities.row_kinds.flows.hubs

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """
        here, there = ("source", "target") if direction is Direction.DOWN else ("target", "source")
        for some in chunks(ids):
            flows = f"""SELECT source, target, job, origin, min(evidence), 0 FROM flow WHERE {here} IN ({marks(some)})
            GROUP BY {here}, {there}, job, origin ORDER BY {here}, {there}, job, origin"""
            yield from self.connection.execute(flows, some)
            if not self._hubs:
                continue
            hubs = f"""SELECT {"a.dataset, b.dataset" if direction is Direction.DOWN else "b.dataset, a.dataset"}, h.job, h.origin, 3, h.hub
            FROM hub_io a JOIN hub h ON h.hub = a.hub JOIN hub_io b ON b.hub = a.hub AND b.side = {int(direction.far)}
            WHERE a.dataset IN ({marks(some)}) AND a.side = {int(direction.near)} ORDER BY a.dataset, b.dataset, h.job, h.origin"""
            yield from self.connection.execute(hubs, some)

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """
        for some in chunks(ids):
            named = f"SELECT job, dataset, side, origin FROM job_io WHERE dataset IN ({marks(some)}) AND side = ? LIMIT ?"
            yield from self.connection.execute(named, (*some, int(side), limit))

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names as inputs or as outputs (`side`)."""
        return self.connection.execute(
            "SELECT job, dataset, side, origin FROM job_io WHERE job = ? AND side = ? ORDER BY dataset, origin", (job, int(side))
        ).fetchall()

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name as inputs or as outputs (`side`), in no particular order."""
        for some in chunks(jobs):
            named = f"SELECT job, dataset, side, origin FROM job_io WHERE job IN ({marks(some)}) AND side = ?"
            yield from self.connection.execute(named, (*some, int(side)))

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job: in the columnLineage facet of an output (the carrier) or, if the carrier is the job itself, in
        its lineage facet.
        """
        return self.connection.execute(
            """SELECT s.target, s.target_field, s.source, s.source_field, s.type, s.subtype, s.masking, j.carrier, j.origin,
            s.lineage_set
            FROM job_lineage_set j JOIN column_statement s ON s.lineage_set = j.lineage_set WHERE j.job = ? AND j.carrier = ?""",
            (job, carrier),
        ).fetchall()

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and the ids of all other names of the same datasets and jobs."""
        return self.nodes.expand(ids)
