"""Drift: differences between the declared and the observed lineage of jobs."""

from collections.abc import Iterator, Sequence

from lineage_bridge.graph.relations import Origin, Side
from lineage_bridge.model.differences import Drift
from lineage_bridge.model.graph import Node
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.moment import GraphMoment
from lineage_bridge.store.query.co_occurrence import CoOccurrence
from lineage_bridge.store.query.flows import RawEdge, RawPort
from lineage_bridge.store.query.nodes import Nodes

_DECLARED = """SELECT DISTINCT n.id, n.namespace, n.name FROM run_shape p JOIN node n ON n.id = p.job
WHERE p.origin = 2 AND p.shape <> 0 AND n.kind = 2 AND n.namespace GLOB ? AND n.name GLOB ? AND {}
ORDER BY n.namespace, n.name LIMIT ? OFFSET ?"""
_FLOWS = """SELECT DISTINCT CASE f.source WHEN 0 THEN :job ELSE f.source END, CASE f.target WHEN 0 THEN :job ELSE f.target END, :job,
s.origin, f.evidence, 0
FROM (SELECT DISTINCT shape FROM job_shape WHERE job = :job) j JOIN shape s ON s.shape = j.shape JOIN shape_flow f ON f.shape = j.shape"""
_SINCE_FLOW = """SELECT min(j.first) FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = :origin
STRAIGHT_JOIN shape_flow f ON f.shape = j.shape AND f.source IN (:source, CASE :source WHEN :job THEN 0 ELSE :source END)
AND f.target IN (:target, CASE :target WHEN :job THEN 0 ELSE :target END) WHERE j.job = :job"""
_SINCE_PORT = """SELECT min(j.first) FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = :origin
STRAIGHT_JOIN shape_io i ON i.shape = j.shape AND i.side = :side AND i.dataset = :dataset WHERE j.job = :job"""
_OTHER = {int(Origin.DECLARED): int(Origin.OBSERVED), int(Origin.OBSERVED): int(Origin.DECLARED)}


class DriftFinder:
    """Compares the declared and the observed lineage of jobs within one read transaction. All names of a dataset count as one dataset."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, when: GraphMoment) -> None:
        self.connection, self.nodes, self.when = connection, nodes, when
        self.counted = CoOccurrence(connection, nodes)

    def jobs(self, namespace: str | None, name: str | None, limit: int, offset: int) -> list[Node]:
        """The jobs that have been declared, by globs, in the order of their names."""
        within = self.nodes.within
        sql = _DECLARED.format(within.by_position("n.namespace"))
        rows = self.connection.execute(sql, (namespace or "*", name or "*", *within.values, limit, offset)).fetchall()
        return [self.nodes.by_id(row[0]) for row in rows]

    def of_job(self, job: Node) -> list[Drift]:
        """The inputs, outputs and flows of a job that were declared and not observed, or observed and not declared.

        All names of a job count as one job. A difference is listed under the name that stated it; if that name declares nothing,
        under the first name that does.
        """
        names = self.nodes.members(job.id)
        ports = [port for name in names for side in (Side.INPUT, Side.OUTPUT) for port in self.when.flows.job_ports(name, side)]
        edges: list[RawEdge] = [edge for name in names for edge in self.connection.execute(_FLOWS, {"job": name}).fetchall()]
        declaring = {port[0] for port in ports if port[3] == Origin.DECLARED} | {edge[2] for edge in edges if edge[3] == Origin.DECLARED}
        first = min((self.nodes.by_id(name) for name in declaring), key=lambda node: (node.namespace, node.name), default=job)
        own = {job.id} | (set(names) - declaring if first.id == job.id else set())
        return sorted((found for found in (*self._ports(ports), *self._flows(edges)) if found.job.id in own), key=_order)

    def _ports(self, ports: Sequence[RawPort]) -> Iterator[Drift]:
        same = self._same(port[1] for port in ports)
        present = {(same[dataset], side, origin) for _, dataset, side, origin in ports}
        for job, dataset, side, origin in ports:
            if origin in _OTHER and (same[dataset], side, _OTHER[origin]) not in present:
                values = {"job": job, "dataset": dataset, "side": side, "origin": origin}
                what = "input" if side == Side.INPUT else "output"
                by_id = self.nodes.by_id
                yield Drift(by_id(job), Origin(origin), what, by_id(dataset), None, self._since(_SINCE_PORT, values))

    def _flows(self, edges: Sequence[RawEdge]) -> Iterator[Drift]:
        hidden = self.counted.not_counting(edges)
        has_ended = self.when.labels.endings.has_ended
        flows = sorted({edge[:4] for edge in edges if edge not in hidden and not has_ended(*edge[:4])})
        same = self._same(end for flow in flows for end in flow[:2])
        present = {(same[source], same[target], origin) for source, target, _, origin in flows}
        for source, target, job, origin in flows:
            if origin in _OTHER and (same[source], same[target], _OTHER[origin]) not in present:
                values = {"job": job, "source": source, "target": target, "origin": origin}
                by_id = self.nodes.by_id
                yield Drift(by_id(job), Origin(origin), "flow", by_id(source), by_id(target), self._since(_SINCE_FLOW, values))

    def _same(self, ids: Iterator[int]) -> dict[int, int]:
        met = set(ids)
        return {**{id_: id_ for id_ in met}, **self.nodes.canonical(met)}

    def _since(self, sql: str, values: dict[str, int]) -> int | None:
        found = self.connection.execute(sql, values).fetchone()[0]
        return None if found is None else int(found)


def _order(drift: Drift) -> tuple[str, ...]:
    ends = [end for end in (drift.node, drift.target) if end]
    return (drift.what, *(text for end in ends for text in (end.namespace, end.name)), str(int(drift.origin)))
