"""Leaves out the flows that are only implied under one name of a job, if another name of the job states its flows explicitly."""

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
        """Whether no job has several names: only an operator's alias gives it some."""
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
    """The flows at a point in time, without the implicit flows of a job that explicit lineage under another name of the job hides."""

    def __init__(self, flows: Flows, nodes: Nodes) -> None:
        self.flows, self.stated = flows, ExplicitFlows(flows, nodes)

    def edges(self, ids: Collection[int], direction: Direction) -> Iterator[RawEdge]:
        """The edges that lead on from these nodes, ordered by the nodes' ids; each (source, target, job, origin) once for each node."""
        return self.stated.kept(self.flows.edges(ids, direction))

    def ports(self, ids: Collection[int], side: Side, limit: int) -> Iterator[RawPort]:
        """The jobs that name these datasets on a side; at most `limit` rows for each chunk of datasets."""
        return iter(self.flows.ports(ids, side, limit))

    def job_ports(self, job: int, side: Side) -> list[RawPort]:
        """The datasets that a job names on a side."""
        return self.flows.job_ports(job, side)

    def jobs_ports(self, jobs: Collection[int], side: Side) -> Iterator[RawPort]:
        """The datasets that jobs name on a side, in no order."""
        return self.flows.jobs_ports(jobs, side)

    def statements(self, job: int, carrier: int) -> list[RawStatement]:
        """The column statements of a job's columnLineage facet of one output; with the job as carrier, those of its lineage facet."""
        return self.flows.statements(job, carrier)

    def expand(self, ids: Iterable[int]) -> set[int]:
        """These ids, and those of all other names of the same datasets and jobs."""
        return self.flows.expand(ids)
