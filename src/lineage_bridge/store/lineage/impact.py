"""Answers questions about impact and paths. A walk collects the nodes that it reaches, and the pure functions of `graph.reach` evaluate
them. All names of a dataset count as one node.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from lineage_bridge.graph.analysis.reach import adjacency, reach, simple_paths
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node, WalkLimits
from lineage_bridge.model.lineage import Affected, Impact, Path, Paths
from lineage_bridge.store.history.moment import FollowedFlows
from lineage_bridge.store.lineage.reached import Pair, ReachedNodes, impact_flows
from lineage_bridge.store.query.dropped_paths import Arrivals
from lineage_bridge.store.query.flows import Direction, RawEdge
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.failed_flows import FailedFlows


class ImpactFinder:
    """Answers questions about impact and paths over one connection. `elapsed` returns the seconds since the question began."""

    def __init__(
        self, nodes: Nodes, followed: FollowedFlows, limits: WalkLimits, elapsed: Callable[[], float], failed: FailedFlows
    ) -> None:
        self.nodes, self.followed, self.limits, self.elapsed, self.failed = nodes, followed, limits, elapsed, failed
        self.flows = followed.flows

    def impact(self, origins: Sequence[Node], direction: str, depth: int, *, flows: bool = True) -> Impact:
        """The nodes upstream or downstream of any of these nodes, with the jobs on the way. With `flows`, also the flows that
        lead to them.
        """
        ahead = Direction(direction)
        walked = self._follow(origins, ahead, depth)
        own = {self.nodes.head(node.id) for node in origins}
        ended = self.followed.left_out(walked.flows, walked.cut)
        fed = self._fed(walked, own, Direction.UP if ahead is Direction.DOWN else Direction.DOWN)
        found = reach(own, walked.jobs, fed)
        gone = self.followed.gone(walked.distances)
        affected = [Affected(self.nodes.by_id(r.node), r.distance, r.paths, r.wholly, dropped=r.node in gone) for r in found]
        affected += self._jobs(walked, own, {r.node for r in found if r.wholly} | own, ahead)
        surely = {self.nodes.head(id_) for id_ in walked.surely(own)}
        affected = [a if a.node.id in surely else replace(a, only_failed=True) for a in affected]
        every = tuple(sorted(affected, key=_order))
        ways, heads = impact_flows(walked, self.nodes, ahead) if flows else (), tuple(self.nodes.head(node.id) for node in origins)
        return Impact(tuple(origins), direction, depth, every, walked.truncated, walked.hidden, ended=ended, flows=ways, heads=heads)

    def paths(self, source: Node, target: Node, depth: int, most: int) -> Paths:
        """The paths from one node to another, in the direction of the data."""
        walked = self._between(source, target, depth)
        edges = adjacency(walked.jobs)
        start, end = self.nodes.head(source.id), self.nodes.head(target.id)
        every = simple_paths(start, end, edges, depth, lambda: self.elapsed() < self.limits.seconds)
        uncut = (path for path in every if not self._is_cut(path, walked))
        found = [self._path(path, walked) for path in islice(uncut, most + 1)]
        truncated = walked.truncated or ("time" if self.elapsed() >= self.limits.seconds else "")
        paths = tuple(found[:most])
        gone = self.followed.gone({node.id for path in paths for node in path.nodes})
        ended = self.followed.left_out(walked.flows, walked.cut)
        more = len(found) > most or bool(truncated)
        return Paths(source, target, paths, more, truncated, walked.hidden, dropped=gone, ended=ended)

    def _is_cut(self, path: tuple[int, ...], walked: ReachedNodes) -> bool:
        """Whether a drop interrupts a path at a dataset: it came after all writes into the dataset and before all reads from it."""
        drops, dropped_paths = self.followed.not_ended.endings.drops, self.followed.not_ended.endings.dropped_paths
        hops = list(pairwise(path)) if drops.any else []
        for into, out in pairwise(hops):
            if drops.is_gone(into[1]) and walked.edges.get(into) and walked.edges.get(out):
                came = max(dropped_paths.last(edge) for edge in walked.edges[into])
                if all(dropped_paths.is_cut(into[1], Direction.DOWN, came, edge) for edge in walked.edges[out]):
                    return True
        return False

    def _path(self, path: tuple[int, ...], walked: ReachedNodes) -> Path:
        jobs = tuple(self._jobs_of(hop, walked) for hop in pairwise(path))
        return Path(tuple(self.nodes.by_id(id_) for id_ in path), jobs)

    def _jobs_of(self, hop: Pair, walked: ReachedNodes) -> tuple[Node, ...]:
        jobs = {self.nodes.head(job) for job in walked.jobs[hop]}
        return tuple(sorted((self.nodes.by_id(job) for job in jobs), key=_name))

    # walking

    def _between(self, source: Node, target: Node, depth: int) -> ReachedNodes:
        """The flows that can lie on a path from one node to the other: those that walks from both ends reach."""
        walked, back = self._follow([source], Direction.DOWN, depth), self._follow([target], Direction.UP, depth)
        kept = {(a, b): jobs for (a, b), jobs in walked.jobs.items() if (b, a) in back.jobs}
        truncated, hidden = walked.truncated or back.truncated, walked.hidden + back.hidden
        return ReachedNodes(kept, {}, truncated, hidden, edges=walked.edges, cut=walked.cut | back.cut)

    def _follow(self, origins: Sequence[Node], ahead: Direction, depth: int) -> ReachedNodes:
        walked = ReachedNodes(distances={self.nodes.head(node.id): 0 for node in origins})
        frontier = sorted({self.nodes.head(node.id) for node in origins if node.kind != NodeKind.JOB})
        jobs = [node for node in origins if node.kind == NodeKind.JOB] if depth else []
        written = {id_ for job in jobs for id_ in self._from_job(job, ahead, walked)}
        hop = 0
        arrivals = self.followed.arrivals(ahead)
        while (frontier or written) and hop < depth and not walked.truncated:
            hop += 1
            expanded = self.flows.expand(frontier)
            far_ends, again = self._hop(expanded, arrivals, walked)
            self._note_readers(expanded, ahead, walked)
            frontier = sorted(far_ends.difference(walked.distances))
            walked.distances.update(dict.fromkeys(frontier, hop))
            frontier = sorted({*frontier, *again, *written})
            written = set()
        return walked

    def _hop(self, expanded: set[int], arrivals: Arrivals, walked: ReachedNodes) -> tuple[set[int], set[int]]:
        """The nodes that flows from these nodes lead to; also dropped datasets that were reached before, if the walk can now continue from
        them.
        """
        far_ends: set[int] = set()
        again: set[int] = set()
        edges = list(self.flows.edges(expanded, arrivals.direction))
        self.failed.load({edge[2] for edge in edges})
        for edge in edges:
            if self._over(walked, len(far_ends)):
                walked.hidden += 1
                continue
            touched = arrivals.any and self.followed.not_ended.endings.touches(edge[0], edge[1])
            if touched and not arrivals.passes(edge):
                walked.cut.add(edge[:4])
                continue
            far = self._note(edge, arrivals.direction, walked)
            far_ends.add(far)
            if touched and arrivals.improve(edge):
                again.add(far)
        return far_ends, again

    def _from_job(self, job: Node, ahead: Direction, walked: ReachedNodes) -> list[int]:
        """A job's own flows, and its outputs (down) or inputs (up) as flows from or to the job."""
        own, names = self.nodes.head(job.id), self.nodes.members(job.id)
        for edge in self.flows.edges(names, ahead):
            self._note(edge, ahead, walked)
        for port in (port for name in names for port in self.flows.job_ports(name, ahead.far)):
            walked.jobs.setdefault((own, self.nodes.head(port[1])), set()).add(own)
            walked.note(own, self.nodes.head(port[1]), own, port[3], failed=self.failed.port(port))
        far_ends = {far for near, far in walked.jobs if near == own and walked.distances.get(far) != 0}
        walked.distances.update(dict.fromkeys(far_ends, 1))
        return sorted(far_ends)

    def _note(self, edge: RawEdge, ahead: Direction, walked: ReachedNodes) -> int:
        near, far = (edge[0], edge[1]) if ahead is Direction.DOWN else (edge[1], edge[0])
        pair = self.nodes.head(near), self.nodes.head(far)
        walked.jobs.setdefault(pair, set()).add(edge[2])
        walked.note(*pair, edge[2], edge[3], failed=self.failed.flow(edge))
        if self.followed.not_ended.endings.drops.any:
            walked.edges.setdefault(pair, set()).add(edge[:4])
        return pair[1]

    def _note_readers(self, ids: Collection[int], ahead: Direction, walked: ReachedNodes) -> None:
        """Record the jobs that read a dataset (in a walk downstream) or write it (upstream), with or without a flow. At a dropped dataset,
        only jobs with a flow count.
        """
        living = set(ids) - {id_ for id_ in self.followed.gone(ids) if walked.distances[self.nodes.head(id_)]}
        for port in self.flows.ports(living, ahead.near, self.limits.edges):
            job, dataset = port[0], self.nodes.head(port[1])
            walked.readers.setdefault(job, set()).add(dataset)
            walked.note(dataset, None, job, port[3], failed=self.failed.port(port))

    def _fed(self, walked: ReachedNodes, own: set[int], back: Direction) -> set[int]:
        """The reached nodes that also receive data by flows that the walk did not follow."""
        members = self.flows.expand(walked.distances.keys() - own)
        elsewhere = (edge for edge in self.flows.edges(members, back) if self.nodes.head(back.ahead(edge)) not in walked.distances)
        return {self.nodes.head(edge[0] if back is Direction.DOWN else edge[1]) for edge in elsewhere}

    def _jobs(self, walked: ReachedNodes, own: set[int], wholly: set[int], ahead: Direction) -> Iterable[Affected]:
        """The jobs that read reached nodes. A job's distance is that of its nearest input. A job is wholly affected if all its inputs are
        wholly affected.

        A dataset that declares its own lineage is stored in place of a job. It is left out here, because the walk has reached it as a
        dataset.
        """
        taken: dict[int, set[int]] = {}
        for job, nears in walked.readers.items():
            taken.setdefault(self.nodes.head(job), set()).update(nears)
        for (near, _), jobs in walked.jobs.items():
            for job in jobs:
                taken.setdefault(self.nodes.head(job), set()).add(near)
        for job, nears in taken.items():
            if job not in own and job not in walked.distances:
                distance = min(walked.distances[near] for near in nears) + 1
                named = self._named(job, ahead) if nears <= wholly else set()
                yield Affected(self.nodes.by_id(job), distance, None, nears <= wholly and named <= wholly)

    def _named(self, job: int, ahead: Direction) -> set[int]:
        """The inputs of a job, under any of its names."""
        ports = (port for name in self.nodes.members(job) for port in self.flows.job_ports(name, ahead.near))
        return {self.nodes.head(port[1]) for port in ports}

    def _over(self, walked: ReachedNodes, more: int) -> bool:
        if not walked.truncated:
            if len(walked.distances) + more >= self.limits.nodes:
                walked.truncated = "nodes"
            elif len(walked.jobs) >= self.limits.edges:
                walked.truncated = "edges"
            elif self.elapsed() > self.limits.seconds:
                walked.truncated = "time"
        return bool(walked.truncated)


def _name(node: Node) -> tuple[str, str]:
    return node.namespace, node.name


def _order(affected: Affected) -> tuple[bool, int, int, str, str]:
    return affected.only_failed, affected.distance, affected.node.kind, affected.node.namespace, affected.node.name
