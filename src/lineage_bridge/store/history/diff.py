"""Differences of the graph between two times: nodes and edges that appeared or disappeared, and edges whose label or evidence changed."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.model.differences import GraphChange
from lineage_bridge.model.graph import Edge, Node, Port, Walk
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.history.moment import GraphMoment
from lineage_bridge.store.query.flows import Direction
from lineage_bridge.store.query.nodes import Nodes

Key = TypeVar("Key")
Item = TypeVar("Item", Edge, Port, Node)
_Edges = Mapping[tuple[int, ...], Edge]
_Ports = Mapping[tuple[int, ...], Port]


def walks(before: Walk, after: Walk) -> Iterator[GraphChange]:
    """Compare two walks from the same node, at two times. Returns the nodes and edges that appeared, disappeared or changed."""
    yield from _nodes({node.id: node for node in before.nodes}, {node.id: node for node in after.nodes})
    yield from _edges(_by_ends(before.edges), _by_ends(after.edges))
    yield from _ports(_by_job(before.ports), _by_job(after.ports))


class JobDiff:
    """Compares the edges and ports of whole jobs between two times."""

    def __init__(self, before: GraphMoment, after: GraphMoment, nodes: Nodes) -> None:
        self.moments, self.nodes = (before, after), nodes
        self.seen: set[int] = set()

    def changes_of(self, job: Node) -> list[GraphChange]:
        """The changes of a job's edges and ports, and the job or datasets that appeared or disappeared."""
        edges = [_by_ends(self._flows(moment, job.id)) for moment in self.moments]
        ports = [_by_job(self._named(moment, job.id)) for moment in self.moments]
        found = [*_edges(edges[0], edges[1]), *_ports(ports[0], ports[1])]
        ends = {end for some in found if some.edge for end in (some.edge.source, some.edge.target)}
        touched = {job} | ends | {some.port.dataset for some in found if some.port} if found else set()
        new = sorted(touched - {self.nodes.by_id(id_) for id_ in self.seen}, key=lambda node: (node.kind, node.namespace, node.name))
        self.seen |= {node.id for node in new}
        there = [{node.id: node for node in new if self._is_there(moment, node.id)} for moment in self.moments]
        return [*_nodes(there[0], there[1]), *found]

    def _is_there(self, moment: GraphMoment, id_: int) -> bool:
        """Whether a node has a flow or a port at one of the two times."""
        flows = moment.flows
        if any(flows.job_ports(id_, side) for side in (Side.INPUT, Side.OUTPUT)):
            return True
        named = (next(iter(flows.ports([id_], side, 1)), None) for side in (Side.INPUT, Side.OUTPUT))
        return any(named) or any(next(iter(flows.edges([id_], direction)), None) for direction in Direction)

    def _flows(self, moment: GraphMoment, job: int) -> Iterator[Edge]:
        by_id, labels = self.nodes.by_id, moment.labels
        best: dict[tuple[int, int, int, int], int] = {}
        for source, target, origin, evidence in self._raw(moment, job):
            key = source or job, target or job, job, origin
            best[key] = min(best.get(key, evidence), evidence)
        for (source, target, _, origin), evidence in sorted(best.items()):
            label, last = labels.flow(source, target, job, origin)
            if not labels.endings.has_ended(source, target, job, origin):
                liveness = moment.alive(job, last, (source, int(Side.INPUT)), (target, int(Side.OUTPUT)))
                yield Edge(by_id(source), by_id(target), by_id(job), Origin(origin), Evidence(evidence), label, last, liveness=liveness)

    def _raw(self, moment: GraphMoment, job: int) -> Iterator[tuple[int, int, int, int]]:
        times = moment.labels.times
        for some in chunks(times.every_shape(job)):
            yield from times.connection.execute(
                f"""SELECT f.source, f.target, s.origin, f.evidence FROM shape_flow f JOIN shape s ON s.shape = f.shape
                WHERE f.shape IN ({marks(some)})""",
                some,
            )
        for pending in times.pending_of(job):
            yield from ((OWN if a == job else a, OWN if b == job else b, o, e) for a, b, _, o, e, hub in pending.edges if not hub)

    def _named(self, moment: GraphMoment, job: int) -> Iterator[Port]:
        for side in (Side.INPUT, Side.OUTPUT):
            for _, dataset, _, origin in moment.flows.job_ports(job, side):
                label, last = moment.labels.port(job, dataset, side, origin)
                liveness = moment.alive(job, last, (dataset, int(side)))
                yield Port(self.nodes.by_id(job), self.nodes.by_id(dataset), side, Origin(origin), label, last, liveness)


def _by_ends(edges: Iterable[Edge]) -> _Edges:
    return {(edge.source.id, edge.target.id, edge.job.id, edge.origin): edge for edge in edges}


def _by_job(ports: Iterable[Port]) -> _Ports:
    return {(port.job.id, port.dataset.id, port.side, port.origin): port for port in ports}


def _nodes(before: Mapping[int, Node], after: Mapping[int, Node]) -> Iterator[GraphChange]:
    for node in _ordered(after.keys() - before.keys(), after):
        yield GraphChange("appeared", node=node)
    for node in _ordered(before.keys() - after.keys(), before):
        yield GraphChange("disappeared", node=node)


def _ordered(ids: Iterable[int], nodes: Mapping[int, Node]) -> list[Node]:
    return sorted((nodes[id_] for id_ in ids), key=lambda node: (node.kind, node.namespace, node.name))


def _edges(before: _Edges, after: _Edges) -> Iterator[GraphChange]:
    for key in sorted(before.keys() | after.keys(), key=lambda key: _edge_order(after.get(key) or before[key])):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            yield GraphChange("disappeared" if new is None else "appeared", edge=new or old)
        elif (old.label, old.evidence) != (new.label, new.evidence):
            yield GraphChange("changed", edge=new, label_before=old.label, evidence_before=old.evidence)


def _ports(before: _Ports, after: _Ports) -> Iterator[GraphChange]:
    for key in sorted(before.keys() | after.keys(), key=lambda key: _port_order(after.get(key) or before[key])):
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            yield GraphChange("disappeared" if new is None else "appeared", port=new or old)
        elif old.label != new.label:
            yield GraphChange("changed", port=new, label_before=old.label)


def _edge_order(edge: Edge) -> tuple[str, ...]:
    ends = (edge.source, edge.target, edge.job)
    return (*(text for node in ends for text in (node.namespace, node.name)), str(int(edge.origin)))


def _port_order(port: Port) -> tuple[str, ...]:
    return port.job.namespace, port.job.name, str(int(port.side)), port.dataset.namespace, port.dataset.name, str(int(port.origin))
