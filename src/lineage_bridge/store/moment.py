"""A moment of the graph that questions are asked of: now, or an earlier time."""

import sqlite3
from dataclasses import dataclass

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.store.flows import CurrentFlows, Flows
from lineage_bridge.store.labels import Labels
from lineage_bridge.store.nodes import Nodes
from lineage_bridge.store.past import FlowsAt
from lineage_bridge.store.runs import Runs
from lineage_bridge.store.spans import CurrentSpans, SpansAt
from lineage_bridge.store.standing import StandingAt


@dataclass(frozen=True)
class Moment:
    """The flows of a moment and their labels."""

    flows: Flows
    labels: Labels
    at_us: int | None


def moment(connection: sqlite3.Connection, nodes: Nodes, runs: Runs, now_us: int, at_us: int | None = None) -> Moment:
    """Now, which labels need to know; or, if given, the time `at_us`."""
    if at_us is None:
        flows = CurrentFlows(connection, nodes)
        return Moment(flows, Labels(flows, runs, now_us, CurrentSpans(connection)), None)
    past = FlowsAt(connection, nodes, at_us)
    standing = StandingAt(connection, runs, past.forming)
    return Moment(past, Labels(past, standing, at_us, SpansAt(connection, past.forming)), at_us)


def flows(connection: sqlite3.Connection, nodes: Nodes, at_us: int | None = None) -> Flows:
    """The flows of now or, if given, of the time `at_us`; for questions that need no labels."""
    return CurrentFlows(connection, nodes) if at_us is None else FlowsAt(connection, nodes, at_us)


def resolution(at_us: int | None) -> str:
    """How exact an answer of a moment is: which of several contents came last within a day is known at midnights (UTC) and now."""
    return "exact" if at_us is None or at_us % DAY_US == 0 else "day"
