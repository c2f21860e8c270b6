"""The flows and labels of the graph at a point in time, now or earlier."""

from collections.abc import Collection
from dataclasses import dataclass

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.runs.liveness import Liveness
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.assertion_times import AssertionTimes, AssertionTimesAt, CurrentAssertionTimes
from lineage_bridge.store.history.complete_runs import CompleteRunsAt
from lineage_bridge.store.history.past import FlowsAt
from lineage_bridge.store.history.pending_shapes import PendingShapes
from lineage_bridge.store.query.co_occurrence import CoOccurrence, FlowsByGroup
from lineage_bridge.store.query.dropped_paths import Arrivals, FlowKey
from lineage_bridge.store.query.endings import Endings, FlowsWithoutEnded
from lineage_bridge.store.query.explicit_flows import FlowsPreferExplicit
from lineage_bridge.store.query.flows import CurrentFlows, Direction, Flows
from lineage_bridge.store.query.labels import CompleteRuns, Labels
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.failed_flows import FailedFlows
from lineage_bridge.store.runs.heartbeats import Heartbeats
from lineage_bridge.store.runs.runs import Runs


@dataclass(frozen=True)
class FollowedFlows:
    """The flows that answers as of one moment follow. Unlike `flows`, `not_ended` also contains the flows by co-occurrence that explicit
    flows hide. `pending` has the shapes that runs had at that time and no longer have; None if the moment is now.
    """

    flows: Flows
    not_ended: FlowsWithoutEnded
    at_us: int | None
    pending: PendingShapes | None

    def arrivals(self, direction: Direction) -> Arrivals:
        """An empty record of the dropped datasets that a new walk reaches. If ended flows are included, the walk continues from every
        dropped dataset.
        """
        return Arrivals(self.not_ended.endings.dropped_paths, direction, ended=self.not_ended.ended)

    def gone(self, ids: Collection[int]) -> frozenset[int]:
        """Those of these datasets that were dropped, and were not written or created since."""
        drops = self.not_ended.endings.drops
        drops.load(ids)
        return frozenset(id_ for id_ in drops.dropped.keys() & set(ids) if drops.is_gone(id_))

    def left_out(self, followed: Collection[FlowKey], cut: Collection[FlowKey]) -> int:
        """The number of flows that were left out of answers so far because they, or flows before them, have ended. An input or output
        without a flow counts as a flow.
        """
        hidden = {*self.not_ended.hidden, *cut} - set(followed)
        ends = {(edge[2], end) for edge in hidden for end in edge[:2]}
        dropped_by = self.not_ended.endings.drops.was_dropped_by
        return len(hidden) + sum(not dropped_by(*port) for port in self.not_ended.hidden_ports - ends)


@dataclass(frozen=True)
class GraphMoment(FollowedFlows):
    """The flows at one point in time, with their labels."""

    labels: Labels
    failed: FailedFlows

    def alive(self, job: int, last: int | None, *ports: tuple[int, int]) -> Liveness | None:
        """The liveness of an edge or port, from the heartbeats of its stream; None if the moment is not now."""
        return self.labels.heartbeats.liveness_of(job, last, ports) if self.at_us is None else None


@dataclass(frozen=True)
class CurrentFacts:
    """A cache of look-ups that several questions about the present graph share."""

    times: CurrentAssertionTimes
    failed: FailedFlows


def graph_moment(
    connection: StoreConnection,
    nodes: Nodes,
    runs: Runs,
    now_us: int,
    at_us: int | None = None,
    *,
    ended: bool = False,
    current: CurrentFacts | None = None,
) -> GraphMoment:
    """The flows and labels at the time `at_us`, or now if it is None. With `ended`, ended flows are included.

    `current` caches look-ups for questions about now.
    """
    raw, times = _raw(connection, nodes, at_us)
    current = current if at_us is None else None
    times = current.times if current else times
    pending = _pending(raw)
    complete_runs: CompleteRuns = CompleteRunsAt(connection, nodes, runs, pending) if pending else runs
    counted = _counted(connection, nodes, raw)
    endings = Endings(connection, nodes, counted, times, at_us)
    then = now_us if at_us is None else at_us
    labels = Labels(raw, complete_runs, then, times, endings, Heartbeats(connection, runs, then))
    not_ended = FlowsWithoutEnded(counted, endings, ended=ended)
    failed = current.failed if current else FailedFlows(connection, nodes, runs, pending)
    return GraphMoment(FlowsPreferExplicit(not_ended, nodes), not_ended, at_us, pending, labels, failed)


def followed_flows(connection: StoreConnection, nodes: Nodes, at_us: int | None = None) -> FollowedFlows:
    """The flows at the time `at_us`, or now if it is None, without ended ones. For questions that need no labels."""
    raw, times = _raw(connection, nodes, at_us)
    counted = _counted(connection, nodes, raw)
    not_ended = FlowsWithoutEnded(counted, Endings(connection, nodes, counted, times, at_us), ended=False)
    return FollowedFlows(FlowsPreferExplicit(not_ended, nodes), not_ended, at_us, _pending(raw))


def _counted(connection: StoreConnection, nodes: Nodes, raw: Flows) -> Flows:
    return FlowsByGroup(raw, CoOccurrence(connection, nodes, _pending(raw)))


def _pending(raw: Flows) -> PendingShapes | None:
    return raw.pending if isinstance(raw, FlowsAt) else None


def _raw(connection: StoreConnection, nodes: Nodes, at_us: int | None) -> tuple[Flows, AssertionTimes]:
    if at_us is None:
        return CurrentFlows(connection, nodes), CurrentAssertionTimes(connection)
    past = FlowsAt(connection, nodes, at_us)
    return past, AssertionTimesAt(connection, past.pending)


def resolution(at_us: int | None) -> str:
    """How exact an answer is: "exact" for now and at UTC midnights, otherwise "day", because only the first and last assertion of a day are
    stored.
    """
    return "exact" if at_us is None or at_us % DAY_US == 0 else "day"
