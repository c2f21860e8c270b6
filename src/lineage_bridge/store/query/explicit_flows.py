"""Leaves out flows that are only inferred by co-occurrence under one name of a job, if the job states its flows explicitly under another
name.
"""

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from lineage_bridge.graph.relations import Evidence, Side
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge, RawPort, RawStatement
from lineage_bridge.store.query.nodes import Nodes

_MANY = 500


class ExplicitFlows:
    """Decides whether explicit lineage under another name of a job hides an implicit flow of the job."""

    def __init__(self, flows: Flows, nodes: Nodes) -> None:
        self.flows, self.nodes = flows, nodes
        self._hidden: dict[tuple[int, int], bool] = {}

    @property
    def empty(self) -> bool:
        """Whether no job has several names. Only aliases of operators give a job several names."""
        return not self.nodes.identities.row_kinds.names.job_aliases

    def kept(self, edges: Iterable[RawEdge]) -> Iterator[RawEdge]:
        """Those of these edges that are not hidden, in the same order."""
        if self.empty:
            yield from edges
            return
        rest = iter(edges)
        while some := list(islice(rest, _MANY)):
            guessed = {edge[2] for edge in some if edge[4] == Evidence.CO_OCCURRENCE}
            joined = self.nodes.canonical(guessed) if guessed else {}
            yield from (edge for edge in some if edge[2] not in joined or not self._is_hidden(edge))

    def _is_hidden(self, edge: RawEdge) -> bool:
        """Whether another name of the job states explicitly which flows lead to the edge's target."""
        _, target, job, _, evidence, _ = edge
        if evidence != Evidence.CO_OCCURRENCE:
            return False
        if (job, target) not in self._hidden:
            others = set(self.nodes.members(job)) - {job}
            into = self.flows.edges(self.nodes.members(target), Direction.UP)
            self._hidden[job, target] = any(other[2] in others and other[4] == Evidence.EXPLICIT for other in into)
        return self._hidden[job, target]


class FlowsPreferExplicit:
    """The flows at a point in time, without implicit flows of a job that are hidden by explicit lineage under another name of the job."""

    def __init__(self, flows: Flows, nodes: Nodes) -> None:
        self.flows, self.stated = flows, ExplicitFlows(flows, nodes)

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that a walk in this direction follows from these nodes, sorted by the nodes' ids. For each node, a combination of
        source, target, job and origin occurs once.
        """
        return self.stated.kept(self.flows.edges(ids, direction))

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets as inputs or as outputs (`side`). At most `limit` rows for each portion of datasets that is
        looked up at once.
        """
        return iter(self.flows.ports(ids, side, limit))

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
