"""Records what a walk for impact or paths reached: flows between canonical nodes, their jobs, and who states them."""

from collections.abc import Collection
from dataclasses import dataclass, field

from lineage_bridge.graph.analysis.reach import adjacency, distances_of
from lineage_bridge.graph.relations import Origin
from lineage_bridge.model.lineage import ImpactFlow
from lineage_bridge.store.query.dropped_paths import FlowKey
from lineage_bridge.store.query.flows import Direction
from lineage_bridge.store.query.nodes import Nodes

Pair = tuple[int, int]


@dataclass
class ReachedNodes:
    """What a walk reached: `jobs` has the jobs of each pair of canonical nodes between which data flows (near end first), `distances` the
    number of hops to each node.

    `readers` has the jobs that read a reached node (in a walk upstream, that write it), each with these nodes. `sound` has the flows, as
    (near end, far end, job), that at least one run stated which did not fail; the far end is None for an entry about a reader. `origins`
    has the strongest origin of each flow and reader. `edges` has the flows of each pair, `cut` the flows that a drop interrupts.
    """

    jobs: dict[Pair, set[int]] = field(default_factory=dict)
    distances: dict[int, int] = field(default_factory=dict)
    truncated: str = ""
    hidden: int = 0
    readers: dict[int, set[int]] = field(default_factory=dict)
    sound: set[tuple[int, int | None, int]] = field(default_factory=set)
    origins: dict[tuple[int, int | None, int], int] = field(default_factory=dict)
    edges: dict[Pair, set[FlowKey]] = field(default_factory=dict)
    cut: set[FlowKey] = field(default_factory=set)

    @property
    def flows(self) -> set[FlowKey]:
        """All flows that the walk followed."""
        return {edge for edges in self.edges.values() for edge in edges}

    def surely(self, origins: Collection[int]) -> set[int]:
        """The nodes and jobs that are reached by flows which at least one run stated that did not fail."""
        reached = distances_of(origins, adjacency((near, far) for near, far, _ in self.sound if far is not None))
        return {*reached, *(job for near, _, job in self.sound if near in reached)}

    def note(self, near: int, far: int | None, job: int, origin: int, *, failed: bool) -> None:
        """Record a flow between two nodes or, if `far` is None, a job that reads (upstream: writes) a node, with its origin and whether a
        successful run stated it.
        """
        key = near, far, job
        self.origins[key] = min(origin, self.origins.get(key, origin))
        if not failed:
            self.sound.add(key)


def impact_flows(reached: ReachedNodes, nodes: Nodes, ahead: Direction) -> tuple[ImpactFlow, ...]:
    """The flows that a walk followed, and the readers without flows to other nodes, by the ids of source, target and job."""
    leading = {(near, nodes.head(job)) for (near, far), jobs in reached.jobs.items() if near != far for job in jobs}
    found: dict[tuple[int, int, int], tuple[int, bool]] = {}
    for key, origin in reached.origins.items():
        near, far, job = key[0], key[1], nodes.head(key[2])
        if near == far or (far is None and (near, job) in leading):
            continue
        end = job if far is None else far
        ends = (near, end, job) if ahead is Direction.DOWN else (end, near, job)
        best, failed = found.get(ends, (origin, True))
        found[ends] = min(origin, best), failed and key not in reached.sound
    nodes.load({id_ for ends in found for id_ in ends})
    by_id = nodes.by_id
    return tuple(
        ImpactFlow(by_id(source), by_id(target), by_id(job), Origin(origin), failed)
        for (source, target, job), (origin, failed) in sorted(found.items())
    )
