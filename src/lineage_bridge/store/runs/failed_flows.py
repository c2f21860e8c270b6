"""Which flows, inputs and outputs are known from failed runs alone: what they name need not exist."""

from collections.abc import Iterable
from typing import NamedTuple

from lineage_bridge.graph.relations import Evidence, Origin
from lineage_bridge.graph.statements.lineage_sets import OWN
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.flows import RawEdge, RawPort
from lineage_bridge.store.runs.runs import Runs

_SCAN = 200
"""How many of the newest runs of a shape are looked at; all of them have sent a FAIL."""
_MOST_SHAPES = 10_000
"""How many shapes of a job are looked at; a job with more of them is taken as sound."""
_DOUBTFUL = """WITH wanted (job) AS (VALUES {}), held AS MATERIALIZED (SELECT DISTINCT j.job, j.shape FROM wanted w
STRAIGHT_JOIN job_shape j ON j.job = w.job STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = 1)
SELECT h.job, h.shape FROM held h WHERE NOT EXISTS (SELECT 1 FROM run_shape p WHERE p.job = h.job AND p.shape = h.shape AND NOT EXISTS (
SELECT 1 FROM run_event e WHERE e.run = p.asserted_by AND e.job = p.job AND e.type = 'FAIL'))"""
"""The shapes of jobs of which every run has sent a FAIL, which need not be its end."""
_RUNS = "SELECT asserted_by FROM run_shape WHERE job = ? AND shape = ? AND origin = 1 ORDER BY last DESC LIMIT ?"
_SHAPES = """SELECT DISTINCT j.shape FROM job_shape j STRAIGHT_JOIN shape s ON s.shape = j.shape AND s.origin = 1 WHERE j.job = ?
LIMIT ?"""


class _Sound(NamedTuple):
    """What runs of a job that did not fail name: pairs of a flow's ends, (dataset, side) of its ports, and shapes."""

    flows: set[tuple[int, int]]
    ports: set[tuple[int, int]]
    shapes: set[int]


class FailedFlows:
    """Look-ups over one connection, as of now; each job is looked at once."""

    def __init__(self, connection: StoreConnection, runs: Runs) -> None:
        self.connection, self.runs = connection, runs
        self._sound: dict[int, _Sound | None] = {}

    def load(self, jobs: Iterable[int]) -> None:
        """Look at many jobs at once."""
        for some in chunks(job for job in jobs if job not in self._sound):
            self._sound.update(dict.fromkeys(some))
            failed: dict[int, set[int]] = {}
            for job, shape in self.connection.execute(_DOUBTFUL.format(", ".join(["(?)"] * len(some))), some).fetchall():
                if self._has_failed(job, shape):
                    failed.setdefault(job, set()).add(shape)
            self._sound.update((job, self._sound_of(job, shapes)) for job, shapes in failed.items())

    def _has_failed(self, job: int, shape: int) -> bool:
        runs = [row[0] for row in self.connection.execute(_RUNS, (job, shape, _SCAN)).fetchall()]
        return all(run.state == "FAIL" for run in self.runs.states(runs, job))

    def _sound_of(self, job: int, failed: set[int]) -> _Sound | None:
        shapes = {row[0] for row in self.connection.execute(_SHAPES, (job, _MOST_SHAPES + 1))}
        if len(shapes) > _MOST_SHAPES:
            return None
        sound = _Sound(set(), set(), shapes - failed)
        for some in chunks(sound.shapes):
            flows = self.connection.execute(f"SELECT source, target FROM shape_flow WHERE shape IN ({marks(some)})", some)
            sound.flows.update((job if source == OWN else source, job if target == OWN else target) for source, target in flows)
            sound.ports.update(self.connection.execute(f"SELECT dataset, side FROM shape_io WHERE shape IN ({marks(some)})", some))
        return sound

    def flow(self, edge: RawEdge) -> bool:
        """Whether only failed runs hold a flow."""
        source, target, job, origin, evidence, hub = edge
        if origin != Origin.OBSERVED or evidence == Evidence.RENAMED or (sound := self._of(job)) is None:
            return False
        return sound.shapes.isdisjoint((hub, hub ^ 1)) if hub else (source, target) not in sound.flows

    def port(self, port: RawPort) -> bool:
        """Whether only failed runs name an input or output."""
        job, dataset, side, origin = port
        sound = self._of(job) if origin == Origin.OBSERVED else None
        return sound is not None and (dataset, side) not in sound.ports

    def _of(self, job: int) -> _Sound | None:
        """What sound runs of a job name; None if no shape of it is known from failed runs alone."""
        if job not in self._sound:
            self.load([job])
        return self._sound[job]
