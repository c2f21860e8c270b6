"""The whole graph as plain rows, for a batch that looks at all of it at once."""

import json
import sqlite3
from collections.abc import Iterator

from lineage_bridge.answers.analysis import EstateTable
from lineage_bridge.graph.relations import Row
from lineage_bridge.store.identity import Identities

_NODES = "SELECT id, kind, namespace, name FROM node"
_KIND_OF = """SELECT c.node, f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.key = 'datasetType' AND c.job = 0 AND f.deleted = 0"""
_ROWS = {
    EstateTable.FLOW: "SELECT DISTINCT source, target FROM flow",
    EstateTable.HUB: "SELECT DISTINCT i.hub, i.side, i.dataset FROM hub h JOIN hub_io i ON i.hub = h.hub",
    EstateTable.SHAPE_IO: "SELECT shape, side, dataset FROM shape_io",
    EstateTable.JOB_SHAPE: "SELECT job, shape, max(last) FROM job_shape GROUP BY job, shape",
}


class Estate:
    """Reads over one connection, of one moment of the store."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def rows(self, table: EstateTable) -> Iterator[Row]:
        """The rows of a table, in no order."""
        if table is EstateTable.NODE:
            return self._nodes()
        return iter(self.connection.execute(_ROWS[table]))

    def _nodes(self) -> Iterator[Row]:
        """(id, the id that stands for its group, kind, namespace and name it goes by, whether it is a dashboard)."""
        known = {identity.node: identity for identity in Identities(self.connection).all()}
        dashboards = {node for node, text in self.connection.execute(_KIND_OF) if _is_dashboard(text)}
        for id_, kind, namespace, name in self.connection.execute(_NODES):
            group = known.get(id_)
            head, spelling = (group.head, group[2:4]) if group else (id_, (namespace, name))
            yield id_, head, kind, *spelling, int(id_ in dashboards)


def _is_dashboard(text: str) -> bool:
    """Whether a datasetType facet says so, in any case of letters."""
    said = json.loads(text)
    word = said.get("datasetType") if isinstance(said, dict) else None
    return isinstance(word, str) and word.upper() == "DASHBOARD"
