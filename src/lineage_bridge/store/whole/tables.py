"""The whole graph as plain rows, for a batch computation that needs all of it."""

import json
from collections.abc import Iterator

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.model.analysis import GraphTable
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.history.assertion_times import CurrentAssertionTimes
from lineage_bridge.store.identity.groups import Identities
from lineage_bridge.store.query.co_occurrence import CoOccurrence
from lineage_bridge.store.query.endings import Endings
from lineage_bridge.store.query.explicit_flows import ExplicitFlows
from lineage_bridge.store.query.flows import CurrentFlows, Direction
from lineage_bridge.store.query.nodes import Nodes

_NODES = "SELECT id, kind, namespace, name FROM node"
_KIND_OF = """SELECT c.node, f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.key = 'datasetType' AND c.job = 0 AND f.deleted = 0"""
_ROWS = {
    GraphTable.FLOW: "SELECT DISTINCT source, target FROM flow",
    GraphTable.HUB: "SELECT DISTINCT i.hub, i.side, i.dataset FROM hub h JOIN hub_io i ON i.hub = h.hub",
    GraphTable.SHAPE_IO: "SELECT shape, side, dataset FROM shape_io",
    GraphTable.JOB_SHAPE: "SELECT job, shape, max(last) FROM job_shape GROUP BY job, shape",
}
_MANY = 10_000


class WholeGraphTables:
    """Reads the whole graph over one connection, within one read transaction. Flows are those that impact follows, without ended ones."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        nodes = Nodes(connection)
        flows = CurrentFlows(connection, nodes)
        self.counted = CoOccurrence(connection, nodes)
        self.endings = Endings(connection, nodes, flows, CurrentAssertionTimes(connection), None)
        self.stated = ExplicitFlows(flows, nodes)

    def rows(self, table: GraphTable) -> Iterator[Row]:
        """The rows of a table, in no particular order."""
        if table is GraphTable.NODE:
            return self._nodes()
        if table is GraphTable.FLOW and not (self.endings.empty and self.stated.empty and self.counted.empty):
            return self._flows()
        if table is GraphTable.HUB and not self.endings.empty:
            return self._hubs()
        return iter(self.connection.scan(_ROWS[table]))

    def _flows(self) -> Iterator[Row]:
        """The flows that have not ended and that no explicit flow under another name of their job hides; also renames."""
        rows = self.connection.scan("SELECT source, target, job, origin, min(evidence), 0 FROM flow GROUP BY source, target, job, origin")
        while some := rows.fetchmany(_MANY):
            self.endings.load({end for edge in some for end in edge[:2]})
            hidden = self.counted.not_counting(some)
            kept = (edge for edge in self.stated.kept(some) if edge not in hidden)
            yield from (edge[:2] for edge in kept if not self.endings.has_ended(*edge[:4]))
        renamed = [row[0] for row in self.connection.execute("SELECT DISTINCT previous FROM lifecycle WHERE change = 'RENAME'")]
        yield from (edge[:2] for edge in self.endings.renamed(renamed, Direction.DOWN))

    def _hubs(self) -> Iterator[Row]:
        rows = self.connection.scan("SELECT h.hub, i.side, i.dataset, h.job, h.origin FROM hub h JOIN hub_io i ON i.hub = h.hub")
        while some := rows.fetchmany(_MANY):
            self.endings.load({row[2] for row in some})
            for hub, side, dataset, job, origin in some:
                if not self.endings.has_ended_port(job, dataset, side, origin):
                    yield hub, side, dataset

    def _nodes(self) -> Iterator[Row]:
        """The rows of all nodes: id, canonical id of the group, kind, canonical namespace and name, and whether it is a dashboard."""
        identities = {identity.node: identity for identity in Identities(self.connection).all()}
        dashboards = {node for node, text in self.connection.scan(_KIND_OF) if _is_dashboard(text)}
        for id_, kind, namespace, name in self.connection.scan(_NODES):
            group = identities.get(id_)
            head, spelling = (group.head, group[2:4]) if group else (id_, (namespace, name))
            yield id_, head, kind, *spelling, int(id_ in dashboards)


def _is_dashboard(text: str) -> bool:
    """Whether a datasetType facet says DASHBOARD, in upper or lower case."""
    facet = json.loads(text)
    kind = facet.get("datasetType") if isinstance(facet, dict) else None
    return isinstance(kind, str) and kind.upper() == "DASHBOARD"
