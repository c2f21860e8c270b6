"""The graph at a point in time: now, or earlier."""

from dataclasses import dataclass

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.graph.runs.liveness import Liveness
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.complete_runs import CompleteRunsAt
from lineage_bridge.store.history.past import FlowsAt
from lineage_bridge.store.history.spans import CurrentSpans, Spans, SpansAt
from lineage_bridge.store.query.endings import Endings, FlowsWithoutEnded
from lineage_bridge.store.query.explicit_flows import FlowsPreferExplicit
from lineage_bridge.store.query.flows import CurrentFlows, Flows
from lineage_bridge.store.query.labels import CompleteRuns, Labels
from lineage_bridge.store.query.nodes import Nodes
from lineage_bridge.store.runs.failed_flows import FailedFlows
from lineage_bridge.store.runs.heartbeats import Heartbeats
from lineage_bridge.store.runs.runs import Runs


@dataclass(frozen=True)
class GraphMoment:
    """The flows at a point in time, and their labels."""

    flows: Flows
    labels: Labels
    at_us: int | None
    failed: FailedFlows | None = None
    """What only failed runs hold; None as of an earlier time."""

    def alive(self, job: int, last: int | None, *ports: tuple[int, int]) -> Liveness | None:
        """The liveness of an edge or port by its stream's heartbeats; None as of an earlier time."""
        return self.labels.heartbeats.liveness_of(job, last, ports) if self.at_us is None else None


def graph_moment(
    connection: StoreConnection,
    nodes: Nodes,
    runs: Runs,
    now_us: int,
    at_us: int | None = None,
    *,
    ended: bool = False,
) -> GraphMoment:
    """Now, which labels need to know; or, if given, the time `at_us`. With `ended`, also what has ended."""
    raw, spans = _raw(connection, nodes, at_us)
    complete_runs: CompleteRuns = CompleteRunsAt(connection, nodes, runs, raw.pending) if isinstance(raw, FlowsAt) else runs
    endings = Endings(connection, spans, at_us)
    then = now_us if at_us is None else at_us
    labels = Labels(raw, complete_runs, then, spans, endings, Heartbeats(connection, runs, then))
    failed = FailedFlows(connection, runs) if at_us is None else None
    return GraphMoment(FlowsPreferExplicit(FlowsWithoutEnded(raw, endings, ended=ended), nodes), labels, at_us, failed)


def flows(connection: StoreConnection, nodes: Nodes, at_us: int | None = None) -> Flows:
    """The flows of now or, if given, of the time `at_us`, without what has ended; for questions that need no labels."""
    raw, spans = _raw(connection, nodes, at_us)
    return FlowsPreferExplicit(FlowsWithoutEnded(raw, Endings(connection, spans, at_us), ended=False), nodes)


def _raw(connection: StoreConnection, nodes: Nodes, at_us: int | None) -> tuple[Flows, Spans]:
    if at_us is None:
        return CurrentFlows(connection, nodes), CurrentSpans(connection)
    past = FlowsAt(connection, nodes, at_us)
    return past, SpansAt(connection, past.pending)


def resolution(at_us: int | None) -> str:
    """How exact an answer is: which of several assertions came last within a day is known at midnights (UTC) and now."""
    return "exact" if at_us is None or at_us % DAY_US == 0 else "day"
