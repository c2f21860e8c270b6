"""Walks: follows flows hop by hop, with a set of visited nodes and limits. A job's inputs do not lead to its outputs; only its flows do."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from lineage_bridge.graph.flows.labels import Label
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.relations import Evidence, Origin, Side
from lineage_bridge.graph.statements.lineage_sets import NO_SOURCE, LineageStatement
from lineage_bridge.model.graph import ColumnEdge, Edge, Node, Port, Walk, WalkLimits
from lineage_bridge.store.history.moment import GraphMoment, resolution
from lineage_bridge.store.query.annotations import descriptions
from lineage_bridge.store.query.columns import ColumnStep
from lineage_bridge.store.query.dropped_paths import Arrivals, FlowKey
from lineage_bridge.store.query.flows import Direction, Flows, RawEdge, RawPort, RawStatement
from lineage_bridge.store.query.nodes import Nodes

_ORIGINS = {int(origin): origin for origin in Origin}
_EVIDENCE = {int(evidence): evidence for evidence in Evidence}
_SIDES = {int(side): side for side in Side}
_RENAMED = int(Evidence.RENAMED)
_ENDS = (Side.INPUT, Side.OUTPUT)
_MOST_NAMES = 20
"""If a job has at most this many inputs (or outputs), a walk checks whether they are names of the same dataset."""


@dataclass
class FoundEdges:
    """The nodes and edges that a walk in one direction has reached so far."""

    distances: dict[int, int] = field(default_factory=dict)
    edges: dict[tuple[int, int, int, int], RawEdge] = field(default_factory=dict)
    ports: set[RawPort] = field(default_factory=set)
    cut: set[FlowKey] = field(default_factory=set)
    truncated: str = ""
    hidden: int = 0


class Walker:
    """Follows flows at one point in time. `elapsed` returns the seconds since the walk began."""

    def __init__(self, when: GraphMoment, nodes: Nodes, limits: WalkLimits, elapsed: Callable[[], float]) -> None:
        self.when, self.flows, self.nodes, self.limits, self.elapsed = when, when.flows, nodes, limits, elapsed
        self._alike: dict[int, tuple[Label, int | None]] = {}
        self._streams: set[int] = set()
        self._narrow: set[int] = set()
        self._doubtful: set[int] = set()
        self._dropped = when.labels.endings.drops.dropped

    def walk(self, node: Node, direction: str, depth: int, *, columns: bool) -> Walk:
        """Follow flows from a node upstream, downstream, or in both directions: the union of the two walks."""
        down = self._follow(node, depth, Direction.DOWN) if direction != Direction.UP.value else FoundEdges()
        up = self._follow(node, depth, Direction.UP) if direction != Direction.DOWN.value else FoundEdges()
        raw = sorted({**up.edges, **down.edges}.values())
        distances = {**down.distances, **up.distances}
        for id_, distance in down.distances.items():
            distances[id_] = min(distances[id_], distance)
        ports = sorted(self._ports_in_effect(down, Direction.DOWN) | self._ports_in_effect(up, Direction.UP))
        jobs = {edge[2] for edge in raw} | {port[0] for port in ports}
        self.nodes.load(jobs.union(distances, (edge[0] for edge in raw), (edge[1] for edge in raw), (port[1] for port in ports)))
        self._alike = self.when.labels.alike(jobs)
        self._doubtful = self.when.failed.doubtful(jobs)
        self._streams = self.when.labels.heartbeats.streams(jobs) if self.when.at_us is None else set()
        self._narrow = self._one_to_one({edge[2] for edge in raw if edge[4] == Evidence.CO_OCCURRENCE and not edge[5]})
        members = self.nodes.group(node)[1]
        return Walk(
            origin=node,
            members=members,
            direction=direction,
            depth=depth,
            nodes=tuple(sorted((self.nodes.by_id(id_) for id_ in distances), key=lambda n: (n.kind, n.namespace, n.name))),
            distances=distances,
            canonical=self.nodes.canonical(distances),
            edges=tuple(map(self._edge, raw)),
            ports=tuple(map(self._port, ports)),
            columns=tuple(self._columns(raw)) if columns else (),
            truncated=up.truncated or down.truncated,
            hidden=up.hidden + down.hidden,
            at=self.when.at_us,
            resolution=resolution(self.when.at_us),
            dropped=self.when.gone(distances),
            ended=self.when.left_out({**up.edges, **down.edges}.keys(), up.cut | down.cut),
        )

    def declared_flows(self, datasets: set[int]) -> tuple[Edge, ...]:
        """The flows that datasets declare for themselves."""
        found = FoundEdges()
        self._hop(self.flows.expand(datasets), found, self.when.arrivals(Direction.UP))
        raw = sorted(edge for edge in found.edges.values() if edge[2] in datasets)
        self.nodes.load({id_ for edge in raw for id_ in edge[:3]})
        self._alike = self.when.labels.alike(datasets)
        self._doubtful = self.when.failed.doubtful(datasets)
        return tuple(map(self._edge, raw))

    def _follow(self, node: Node, depth: int, direction: Direction) -> FoundEdges:
        """Follow flows in one direction, breadth first."""
        arrivals = self.when.arrivals(direction)
        found = FoundEdges(distances=dict.fromkeys(self.flows.expand([node.id]), 0))
        frontier = set(found.distances)
        hop = 0
        if node.kind == NodeKind.JOB and depth:
            hop, frontier = 1, frontier | self._own_ports(sorted(frontier), direction, found)
        while frontier and hop < depth and not found.truncated:
            hop += 1
            far_ends, again = self._hop(frontier, found, arrivals)
            frontier = {id_ for id_ in self.flows.expand(far_ends) if id_ not in found.distances}
            found.distances.update(dict.fromkeys(frontier, hop))
            frontier |= self.flows.expand(again)
        return found

    def _own_ports(self, names: Iterable[int], direction: Direction, found: FoundEdges) -> set[int]:
        """The outputs (down) or inputs (up) of a job, under any of its names, at which a walk from the job begins."""
        rows = [row for name in names for row in self.flows.job_ports(name, direction.far)]
        found.ports |= set(rows)
        far_ends = self.flows.expand(row[1] for row in rows)
        found.distances.update({id_: 1 for id_ in far_ends if id_ not in found.distances})
        return far_ends

    def _ports_in_effect(self, found: FoundEdges, direction: Direction) -> set[RawPort]:
        """The inputs and outputs at reached nodes; at dropped datasets, only those of jobs whose flows lead further."""
        ports = found.ports
        if not self.when.arrivals(direction).any:
            return ports
        gone = {id_ for id_ in self.when.gone({port[1] for port in ports}) if found.distances.get(id_)}
        near = 0 if direction is Direction.DOWN else 1
        leading = {(edge[2], self.nodes.head(edge[near])) for edge in found.edges.values()}
        side = int(direction.near)
        return {port for port in ports if port[2] != side or port[1] not in gone or (port[0], self.nodes.head(port[1])) in leading}

    def _hop(self, frontier: set[int], found: FoundEdges, arrivals: Arrivals) -> tuple[set[int], set[int]]:
        """The nodes that flows from these nodes lead to; also dropped datasets that were reached before, if the walk can now continue from
        them.
        """
        far_ends: set[int] = set()
        again: set[int] = set()
        direction = arrivals.direction
        found.ports.update(self.flows.ports(frontier, direction.near, self.limits.edges))
        end = 1 if direction is Direction.DOWN else 0
        for edge in self.flows.edges(frontier, direction):
            if found.truncated or self._over(found, far_ends):
                found.hidden += 1
                continue
            key = edge[:4]
            if arrivals.any and (edge[0] in self._dropped or edge[1] in self._dropped):
                if not arrivals.passes(edge):
                    found.cut.add(key)
                    continue
                if arrivals.improve(edge):
                    again.add(edge[end])
            if key not in found.edges:
                found.edges[key] = edge
            far_ends.add(edge[end])
        return far_ends, again

    def _over(self, found: FoundEdges, far_ends: set[int]) -> bool:
        if len(found.distances) + len(far_ends) >= self.limits.nodes:
            found.truncated = "nodes"
        elif len(found.edges) >= self.limits.edges:
            found.truncated = "edges"
        elif self.elapsed() > self.limits.seconds:
            found.truncated = "time"
        return bool(found.truncated)

    def _edge(self, edge: RawEdge) -> Edge:
        source, target, job, origin, evidence, hub = edge
        loaded = self.nodes.loaded
        alike = job in self._alike and not hub and evidence != _RENAMED and not (source in self._dropped or target in self._dropped)
        label, last = self._alike[job] if alike else self._own_label(edge)
        liveness = self.when.alive(job, last, (source, 0), (target, 1)) if job in self._streams else None
        ends = loaded[source], loaded[target], loaded[job]
        failed = job in self._doubtful and self.when.failed.flow(edge)
        unambiguous = evidence == Evidence.CO_OCCURRENCE and job in self._narrow
        return Edge(*ends, _ORIGINS[origin], _EVIDENCE[evidence], label, last, hub != 0, liveness, failed, unambiguous)

    def _one_to_one(self, jobs: set[int]) -> set[int]:
        """Which of these jobs have exactly one input and one output; each may have several names. If all inputs (or outputs) of a job have
        ended, the ended ones count.
        """
        several = self.nodes.canonical(jobs)
        names = {job: self.nodes.members(job) if job in several else [job] for job in jobs}
        named = {(job, side): found for side in _ENDS for job, found in self._named(names, side).items()}
        few = {end: datasets for end, datasets in named.items() if 0 < len(datasets) <= _MOST_NAMES}
        canonical = self.nodes.canonical(set().union(*few.values()))
        single = {end for end, datasets in few.items() if len({canonical.get(id_, id_) for id_ in datasets}) == 1}
        return {job for job in jobs if all((job, side) in single for side in _ENDS)}

    def _named(self, names: Mapping[int, Collection[int]], side: Side) -> dict[int, set[int]]:
        """The datasets that each of these jobs names as inputs or outputs (`side`) under any of its names; ended ones only if there are no
        others.
        """
        found = _datasets(names, side, self.flows)
        ended = {job: names[job] for job, datasets in found.items() if not datasets}
        return {**found, **_datasets(ended, side, self.when.not_ended.flows)} if ended else found

    def _own_label(self, edge: RawEdge) -> tuple[Label, int | None]:
        source, target, job, origin, evidence, hub = edge
        labels = self.when.labels
        if evidence == _RENAMED:
            return labels.renamed(source, target)
        return labels.hub_pair(hub, source, target, job, origin) if hub else labels.flow(source, target, job, origin)

    def _port(self, port: RawPort) -> Port:
        job, dataset, side, origin = port
        loaded = self.nodes.loaded
        alike = self._alike.get(job) if dataset not in self._dropped else None
        label, last = alike or self.when.labels.port(job, dataset, Side(side), origin)
        liveness = self.when.alive(job, last, (dataset, side)) if job in self._streams else None
        failed = job in self._doubtful and self.when.failed.port(port)
        return Port(loaded[job], loaded[dataset], _SIDES[side], _ORIGINS[origin], label, last, liveness, failed)

    def _columns(self, edges: list[RawEdge]) -> Iterator[ColumnEdge]:
        """The column statements that belong to the flows that were reached."""
        flows = {(source, target, job) for source, target, job, *_ in edges}
        found: dict[tuple[int, str, int, str, int, int], list[ColumnStep]] = {}
        for target, job in sorted({edge[1:3] for edge in flows}):
            for row in self._statements_of(target, job):
                statement, carrier, origin, lineage_set = LineageStatement(*row[:7]), *row[7:]
                source, to = statement.source or job, statement.target or carrier
                named = statement.source_field or statement.target_field
                if statement.type != NO_SOURCE and named and (source, to, job) in flows and to == target:
                    key = source, statement.source_field, to, statement.target_field, job, origin
                    step = ColumnStep(*key, statement.type, statement.subtype, bool(statement.masking), carrier, lineage_set)
                    found.setdefault(key, []).append(step)
        connection, by_id = self.nodes.connection, self.nodes.by_id
        described = connection.execute("SELECT EXISTS (SELECT 1 FROM annotation)").fetchone()[0]
        for (source, source_field, target, target_field, job, origin), steps in sorted(found.items()):
            yield ColumnEdge(
                by_id(source),
                source_field,
                by_id(target),
                target_field,
                by_id(job),
                Origin(origin),
                tuple(sorted({(step.type, step.subtype, step.masking) for step in steps})),
                descriptions(connection, steps, self.when.at_us) if described else (),
            )

    def _statements_of(self, target: int, job: int) -> Iterable[RawStatement]:
        """A job's column statements about a target: those on the target itself, and those in its own lineage facet."""
        for carrier in {target, job}:
            yield from self.flows.statements(job, carrier)


def _datasets(names: Mapping[int, Collection[int]], side: Side, flows: Flows) -> dict[int, set[int]]:
    named: dict[int, set[int]] = {}
    for job, dataset, *_ in flows.jobs_ports({name for some in names.values() for name in some}, side):
        named.setdefault(job, set()).add(dataset)
    return {job: set().union(*(named.get(name, ()) for name in some)) for job, some in names.items()}
