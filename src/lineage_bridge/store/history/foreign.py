"""Lists foreign assertions: assertions that principals limited to namespaces made about datasets and jobs outside of these namespaces. They
have no effect.
"""

from collections.abc import Iterator

import msgspec

from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.history import ForeignFilter, ForeignPage, ForeignStatement
from lineage_bridge.store.chunks import marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_SCAN = 50_000
"""The maximum number of assertions that are read, the newest first."""
_STATED = f"""SELECT s.principal, s.namespaces, s.job, s.node, s.side, s.why, c.key, c.facet, min(s.first) AS since, max(s.last) AS until
FROM (SELECT * FROM foreign_assertion WHERE {{filters}} ORDER BY last DESC LIMIT {_SCAN}) s
JOIN facet_set c ON c.facet_set = s.facet_set
WHERE NOT EXISTS (SELECT 1 FROM assertion a JOIN facet_set k ON k.facet_set = a.facet_set AND k.key = c.key AND k.facet = c.facet
WHERE a.asserted_by = s.asserted_by AND a.job = s.job AND a.node = s.node AND a.side = s.side)
GROUP BY s.principal, s.namespaces, s.job, s.node, s.side, s.why, c.key, c.facet
ORDER BY until DESC, c.key, c.facet, s.node, s.job, s.side, s.principal, s.namespaces, s.why LIMIT ? OFFSET ?"""
"""Excludes an assertion of a run if another principal, whose assertion has effect, also sent it."""
_COUNT = f"SELECT count(*) FROM (SELECT 1 FROM foreign_assertion WHERE {{filters}} LIMIT {_SCAN}) s"
_NAMESPACES = msgspec.json.Decoder(tuple[str, ...])


class ForeignStatements:
    """Lists foreign assertions over one connection."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes

    def page(self, which: ForeignFilter, limit: int, offset: int, max_bytes: int) -> ForeignPage:
        """Foreign assertions, the most recent first. A page ends early if its texts reach `max_bytes`, but has at least one."""
        filters, values = self._filters(which)
        rows = self.connection.execute(_STATED.format(filters=filters), (*values, limit + 1, offset)).fetchall()
        shown: list[ForeignStatement] = []
        size = 0
        for statement in map(self._statement, rows[:limit]):
            size += len(statement.text)
            if shown and size > max_bytes:
                break
            shown.append(statement)
        (count,) = self.connection.execute(_COUNT.format(filters=filters), values).fetchone()
        return ForeignPage(tuple(shown), count >= _SCAN, len(shown) < len(rows))

    def _filters(self, which: ForeignFilter) -> tuple[str, tuple[object, ...]]:
        found = list(self._conditions(which))
        return " AND ".join(sql for sql, _ in found) or "1 = 1", tuple(value for _, values in found for value in values)

    def _conditions(self, which: ForeignFilter) -> Iterator[tuple[str, tuple[object, ...]]]:
        for column, node in (("node", which.node), ("job", which.job)):
            if node is not None:
                names = tuple(self.nodes.members(node.id))
                yield f"{column} IN ({marks(names)})", names
        if which.principal is not None:
            yield "principal = ?", (which.principal,)

    def _statement(self, row: Row) -> ForeignStatement:
        principal, namespaces, job, node, side, why, key, facet, since, until = row
        text, deleted = self.connection.execute("SELECT text, deleted FROM facet WHERE facet = ?", (facet,)).fetchone()
        return ForeignStatement(
            principal=principal,
            namespaces=_NAMESPACES.decode(namespaces),
            job=self.nodes.by_id(job) if job else None,
            node=self.nodes.by_id(node),
            side=Side(side),
            why=why,
            key=key,
            facet=facet,
            text=text,
            deleted=bool(deleted),
            first=since,
            last=until,
        )
