"""Finds the flows, inputs and outputs that only failed runs state, now or as of an earlier time. The datasets in them may not exist."""

from collections.abc import Collection, Iterable, Iterator
from functools import cached_property

from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.pending_shapes import PendingShape, PendingShapes
from lineage_bridge.store.query.flows import RawEdge, RawPort
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.runs import Runs

_SCAN = 200
"""How many of the newest runs of a shape are examined. The shape counts as failed if all of them have sent a FAIL."""
_MOST_SHAPES = 10_000
"""The maximum number of shapes of a job that are examined. A job with more shapes counts as not failed."""
_NOW = 2**63 - 1
_HAS_RUN = "SELECT 1 FROM run_shape p WHERE p.job = j.job AND p.shape = j.shape AND p.current_since <= ?"
_DOUBTFUL = f"""WITH wanted (job) AS (VALUES {{}}), held AS MATERIALIZED (SELECT DISTINCT j.job, j.shape FROM wanted w
STRAIGHT_JOIN job_shape j ON j.job = w.job STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = 1)
SELECT j.job, j.shape FROM held j WHERE EXISTS ({_HAS_RUN}) AND NOT EXISTS ({_HAS_RUN} AND NOT EXISTS (
SELECT 1 FROM run_event e WHERE e.run = p.asserted_by AND e.job = p.job AND e.type = 'FAIL' AND e.first <= ?))"""
"""The shapes of jobs of which every run has sent a FAIL, even if the run did not end with it."""
_RUNS = "SELECT asserted_by FROM run_shape WHERE job = ? AND shape = ? AND origin = 1 AND current_since <= ? ORDER BY last DESC LIMIT ?"
_SHAPES = f"""SELECT DISTINCT j.shape FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = 1 WHERE j.job = ?
AND EXISTS ({_HAS_RUN}) LIMIT ?"""


class _Sound:
    """The statements of a job's runs, without those of failed runs: the ends of flows, the (dataset, side) of ports, and shapes."""

    def __init__(self, nodes: Nodes) -> None:
        self.nodes = nodes
        self.flows: set[tuple[int, int]] = set()
        self.ports: set[tuple[int, int]] = set()
        self.shapes: set[int] = set()

    def has_flow(self, source: int, target: int) -> bool:
        """Whether successful or running runs state the flow, under any names of its ends."""
        return (source, target) in self.flows or (self.nodes.head(source), self.nodes.head(target)) in self._heads[0]

    def has_port(self, dataset: int, side: int) -> bool:
        """Whether successful or running runs name the input or output, under any name of the dataset."""
        return (dataset, side) in self.ports or (self.nodes.head(dataset), side) in self._heads[1]

    @cached_property
    def _heads(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        self.nodes.identities.joined({end for flow in self.flows for end in flow} | {dataset for dataset, _ in self.ports})
        head = self.nodes.head
        return {(head(source), head(target)) for source, target in self.flows}, {(head(dataset), side) for dataset, side in self.ports}


class FailedFlows:
    """Looks up over one connection which flows and ports only failed runs state. Each job is looked up once, with all its names."""

    def __init__(self, connection: StoreConnection, nodes: Nodes, runs: Runs, pending: PendingShapes | None = None) -> None:
        """With `pending`, look-ups are as of its time; `nodes` must have the groups of names as of that time."""
        self.connection, self.nodes, self.runs, self.pending = connection, nodes, runs, pending
        self.at_us = pending.at_us if pending else _NOW
        self._sound: dict[int, _Sound | None] = {}

    def load(self, jobs: Iterable[int]) -> None:
        """Look up many jobs at once."""
        every = set(jobs)
        self.nodes.identities.joined(every)
        heads = {self.nodes.head(job) for job in every}.difference(self._sound)
        names = {name: head for head in heads for name in self.nodes.members(head)}
        self._sound.update(dict.fromkeys(heads))
        failed: dict[int, set[int]] = {}
        for some in chunks(names):
            rows = self.connection.execute(_DOUBTFUL.format(", ".join(["(?)"] * len(some))), (*some, *[self.at_us] * 3)).fetchall()
            for job, shape in rows:
                if self._has_failed(job, shape):
                    failed.setdefault(job, set()).add(shape)
        pending = {name: list(self._pending(name)) for name in names}
        doubtful = {names[name] for name in names if name in failed or any(has_failed for _, has_failed in pending[name])}
        for head in doubtful:
            self._sound[head] = self._sound_of({name: failed.get(name, set()) for name in names if names[name] == head}, pending)

    def doubtful(self, jobs: Collection[int]) -> set[int]:
        """The jobs among these for which some flows or ports may only be stated by failed runs."""
        self.load(jobs)
        return {job for job in jobs if self._sound[self.nodes.head(job)] is not None}

    def _has_failed(self, job: int, shape: int) -> bool:
        runs = [row[0] for row in self.connection.execute(_RUNS, (job, shape, self.at_us, _SCAN)).fetchall()]
        return all(run.state == "FAIL" for run in self.runs.states(runs, job, self.at_us))

    def _pending(self, job: int) -> Iterator[tuple[PendingShape, bool]]:
        """The runs that did not have their current shape yet at that time, each with whether it had failed."""
        found = [p for p in self.pending.of_job(job) if p.shape.origin == Origin.OBSERVED] if self.pending else []
        states = self.runs.states([pending.asserted_by for pending in found], job, self.at_us) if found else []
        return ((pending, state.state == "FAIL") for pending, state in zip(found, states, strict=True))

    def _sound_of(self, failed: dict[int, set[int]], pending: dict[int, list[tuple[PendingShape, bool]]]) -> _Sound | None:
        """Collect the statements of a job's runs, without those of failed runs; None if the job has too many shapes. `failed` has, for each
        name of the job, the shapes that only failed runs have.
        """
        sound = _Sound(self.nodes)
        for job, shapes_failed in failed.items():
            shapes = {row[0] for row in self.connection.execute(_SHAPES, (job, self.at_us, _MOST_SHAPES + 1))}
            if len(shapes) > _MOST_SHAPES:
                return None
            sound.shapes |= shapes - shapes_failed
            for some in chunks(shapes - shapes_failed):
                flows = self.connection.execute(f"SELECT source, target FROM shape_flow WHERE shape IN ({marks(some)})", some)
                sound.flows.update((job if source == OWN else source, job if target == OWN else target) for source, target in flows)
                sound.ports.update(self.connection.execute(f"SELECT dataset, side FROM shape_io WHERE shape IN ({marks(some)})", some))
            for shape, edges in ((p.shape, p.edges) for p, has_failed in pending[job] if not has_failed):
                sound.shapes.add(shape.id)
                sound.flows.update(edge[:2] for edge in edges if not edge[5])
                sound.ports.update((dataset, side) for side, dataset in shape.members)
        return sound

    def flow(self, edge: RawEdge) -> bool:
        """Whether only failed runs state this flow."""
        source, target, job, origin, evidence, hub = edge
        if origin != Origin.OBSERVED or evidence == Evidence.RENAMED or (sound := self._of(job)) is None:
            return False
        return sound.shapes.isdisjoint((hub, hub ^ 1)) if hub else not sound.has_flow(source, target)

    def port(self, port: RawPort) -> bool:
        """Whether only failed runs name this input or output."""
        job, dataset, side, origin = port
        sound = self._of(job) if origin == Origin.OBSERVED else None
        return sound is not None and not sound.has_port(dataset, side)

    def _of(self, job: int) -> _Sound | None:
        """The statements of a job's runs, without those of failed runs; None if every shape of the job has a run that did not fail."""
        head = self.nodes.head(job)
        if head not in self._sound:
            self.load([job])
        return self._sound[head]
