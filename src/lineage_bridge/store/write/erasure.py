"""Erases runs as if they had never sent an event, in the transaction that applies the operator's request."""

from lineage_bridge.graph.flows.derive import OF_RUNS, FirstSeen
from lineage_bridge.graph.flows.shapes import NO_SHAPE, make_shape
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Origin
from lineage_bridge.graph.statements.lineage_sets import named_nodes
from lineage_bridge.store.chunks import batches, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.derive.derivation import Derivation

_DELETE_ASSERTIONS = (
    "DELETE FROM run_io WHERE run = ?",
    "DELETE FROM run_event WHERE run = ?",
    "DELETE FROM run WHERE run = ?",
    "DELETE FROM io_sample WHERE run = ?",
    "DELETE FROM assertion WHERE asserted_by = ?",
    "DELETE FROM foreign_assertion WHERE asserted_by = ?",
    "DELETE FROM lifecycle WHERE asserted_by = ?",
    "DELETE FROM job_dependency WHERE run = ?",
    "DELETE FROM run_lineage_set WHERE asserted_by = ?",
    "DELETE FROM run_shape WHERE asserted_by = ?",
    "DELETE FROM run_shape_day WHERE asserted_by = ?",
    "DELETE FROM derive_queue WHERE asserted_by = ?",
)
_FACETS = """SELECT s.asserted_by, s.node, s.job, s.side, s.origin, s.facet_set, s.first, s.last, s.last_event
FROM assertion s WHERE s.node = ? AND s.side IN (0, 1, 2, 3, 6)"""
_PARENTS = """SELECT DISTINCT f.text FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set JOIN facet f ON f.facet = c.facet
WHERE s.asserted_by = ? AND c.key = 'parent'"""
"""Finds every parent that a run ever named; the row of the run has only the newest parent."""
_REMAINING = """CREATE TEMP TABLE still AS SELECT facet_set, min(first) AS first FROM (
SELECT facet_set, first FROM assertion
UNION ALL SELECT d.dataset_facet_set, s.first FROM assertion s STRAIGHT_JOIN declared_io d ON d.facet_set = s.facet_set
) asserted GROUP BY facet_set"""
_DELETE_UNASSERTED = (
    "DELETE FROM declared_io WHERE facet_set NOT IN (SELECT facet_set FROM still)",
    """DELETE FROM facet_set WHERE facet_set NOT IN (SELECT facet_set FROM still)
    AND facet_set NOT IN (SELECT facet_set FROM foreign_assertion)""",
    "DELETE FROM facet WHERE facet NOT IN (SELECT facet FROM facet_set)",
    """DELETE FROM facet_lineage_set WHERE (facet, key) NOT IN (
    SELECT facet, key FROM facet_set WHERE facet_set IN (SELECT facet_set FROM still))""",
    "DELETE FROM annotation WHERE facet NOT IN (SELECT facet FROM facet_lineage_set)",
    "DELETE FROM lineage_set WHERE lineage_set NOT IN (SELECT lineage_set FROM facet_lineage_set WHERE lineage_set IS NOT NULL)",
    "DELETE FROM column_statement WHERE lineage_set NOT IN (SELECT lineage_set FROM lineage_set)",
    """CREATE TEMP TABLE since AS SELECT c.facet, c.key, min(s.first) AS first
    FROM still s STRAIGHT_JOIN facet_set c ON c.facet_set = s.facet_set
    GROUP BY c.facet, c.key""",
)
_LATER = """UPDATE facet_lineage_set SET first = since.first FROM since
WHERE since.facet = facet_lineage_set.facet AND since.key = facet_lineage_set.key
AND since.first > facet_lineage_set.first RETURNING facet_lineage_set.facet"""
_FIRSTS = (
    "SELECT i.dataset, i.first FROM run_io i WHERE i.dataset IN (SELECT node FROM touched)",
    "SELECT s.node, s.first FROM touched t STRAIGHT_JOIN assertion s ON s.node = t.node",
    """SELECT d.dataset, s.first FROM touched t JOIN declared_io d ON d.dataset = t.node JOIN still s ON s.facet_set = d.facet_set""",
    "SELECT n.node, m.first FROM touched t STRAIGHT_JOIN facet_node n ON n.node = t.node JOIN facet_lineage_set m ON m.facet = n.facet",
)
"""The remaining mentions of nodes that lost a mention, except mentions as a parent."""
_PARENTS_SINCE = "SELECT f.text, s.first FROM since s JOIN facet f ON f.facet = s.facet WHERE s.key = 'parent'"
_USES = (
    "SELECT 1 FROM job_io WHERE dataset = :node LIMIT 1",
    "SELECT 1 FROM assertion WHERE node = :node LIMIT 1",
    "SELECT 1 FROM run_shape WHERE job = :node LIMIT 1",
    "SELECT 1 FROM declared_io WHERE dataset = :node LIMIT 1",
    "SELECT 1 FROM facet_node WHERE node = :node LIMIT 1",
)


class Erasure:
    """Erases runs over the writer's connection, inside its transaction."""

    def __init__(self, connection: StoreConnection, derivation: Derivation) -> None:
        self.connection, self.derivation = connection, derivation

    def erase(self, asserters: list[bytes]) -> None:
        """Delete all assertions of these runs from the relations and from everything derived from them."""
        nodes: set[int] = set()
        for asserter in asserters:
            nodes |= self._nodes(asserter)
        self.delete_runs(asserters)
        nodes |= self._drop_unasserted()
        self._recompute_facets(sorted(nodes))
        parents = self._parent_jobs()
        self._drop_unused(sorted(nodes), parents)
        self._mention_again(sorted(nodes), parents)
        for table in ("still", "since", "touched"):
            self.connection.execute(f"DROP TABLE {table}")
        for node in sorted(nodes):
            self.derivation.search.refresh(node)
        self.derivation.search.forget()

    def delete_runs(self, asserters: list[bytes]) -> None:
        """Delete all assertions of these runs, and what is derived from them for each run. Facet sets and current facets stay."""
        run_keys = [
            pair for asserter in asserters for pair in self._query("SELECT asserted_by, job FROM run_shape WHERE asserted_by = ?", asserter)
        ]
        for asserter in asserters:
            self._leave_shapes(asserter)
            self._delete(asserter)
        self.derivation.stitching.remove(run_keys)

    def drop_unasserted(self) -> None:
        """Delete the facet sets and texts that no assertion contains any more. Nodes and current facets stay as they are."""
        self._drop_unasserted()
        for table in ("still", "since"):
            self.connection.execute(f"DROP TABLE {table}")

    def _nodes(self, asserter: bytes) -> set[int]:
        """Every node that an assertion, a run or a parent facet of an asserter names."""
        queries = (
            ("SELECT dataset FROM run_io WHERE run = ?", 1),
            ("SELECT node FROM assertion WHERE asserted_by = ?", 1),
            ("SELECT job FROM run WHERE run = ?", 1),
            ("SELECT parent_job FROM run WHERE run = ? UNION SELECT root_job FROM run WHERE run = ?", 2),
        )
        found = {row[0] for sql, count in queries for row in self.connection.execute(sql, (asserter,) * count)} - {
            None,
            0,
        }
        found |= {node[0] for (text,) in self.connection.execute(_PARENTS, (asserter,)) for node in self._named(text)}
        links = [row for node in found for row in self.connection.execute("SELECT other FROM symlink WHERE dataset = ?", (node,))]
        return found | {row[0] for row in links}

    def _query(self, sql: str, asserter: bytes) -> list[tuple[bytes, int]]:
        return self.connection.execute(sql, (asserter,)).fetchall()

    def _leave_shapes(self, asserter: bytes) -> None:
        rows = self.connection.execute("SELECT job, shape FROM run_shape WHERE asserted_by = ?", (asserter,)).fetchall()
        no_shape = make_shape(Origin.OBSERVED, (), ())
        self.derivation.run_shapes.move([((asserter, job), shape, no_shape) for job, shape in rows if shape != NO_SHAPE])

    def _delete(self, asserter: bytes) -> None:
        events = self.connection.execute("SELECT time, event FROM event WHERE asserted_by = ?", (asserter,)).fetchall()
        self.connection.executemany("DELETE FROM event_record WHERE time = ? AND event = ?", events)
        self.connection.executemany("DELETE FROM event WHERE time = ? AND event = ?", events)
        for sql in _DELETE_ASSERTIONS:
            self.connection.execute(sql, (asserter,))

    def _drop_unasserted(self) -> set[int]:
        """Delete the facet sets and texts that no assertion contains any more; returns the nodes that they named."""
        for sql in (_REMAINING, *_DELETE_UNASSERTED):
            self.connection.execute(sql)
        self.derivation.forget()
        later = [row[0] for row in self.connection.execute(_LATER).fetchall()]
        gone = "FROM facet_node WHERE facet NOT IN (SELECT facet FROM facet_lineage_set)"
        nodes = {row[0] for row in self.connection.execute(f"SELECT node {gone}")}
        for some in batches(later):
            nodes |= {row[0] for row in self.connection.execute(f"SELECT node FROM facet_node WHERE facet IN ({marks(some)})", some)}
        self.connection.execute(f"DELETE {gone}")
        return nodes

    def _recompute_facets(self, nodes: list[int]) -> None:
        """Compute the current facets from the remaining assertions."""
        for node in nodes:
            self.connection.execute("DELETE FROM current_facet WHERE node = ? AND job = ?", (node, OF_RUNS))
            self.derivation.changes.run("current_facet", "DELETE FROM current_facet WHERE node = ?", (node,))
        self.derivation.symlinks.forget_datasets(nodes)
        claimed = self.derivation.spellings.claims.remove_evidence(nodes)
        for node in nodes:
            assertions = self.connection.execute(_FACETS, (node,)).fetchall()
            facet_sets: dict[bytes, dict[str, bytes]] = {}
            for facet_set in {row[5] for row in assertions}:
                facet_sets[facet_set] = dict(
                    self.connection.execute("SELECT key, facet FROM facet_set WHERE facet_set = ?", (facet_set,)).fetchall()
                )
            self.derivation.current_facets(
                [
                    (asserter, job, named, side, o, facet_set, 0, first, b"", last, e)
                    for asserter, named, job, side, o, facet_set, first, last, e in assertions
                ],
                facet_sets,
            )
        self.derivation.symlinks.relink(nodes)
        if claimed:
            self.derivation.spellings.claims.recompute()

    def _drop_unused(self, nodes: list[int], parents: FirstSeen) -> None:
        """Delete nodes that nothing names any more; `parents` are the jobs that parent facets still name."""
        for node in nodes:
            if node in parents or any(self.connection.execute(sql, {"node": node}).fetchone() for sql in _USES):
                continue
            row = self.connection.execute("SELECT kind, namespace, name FROM node WHERE id = ?", (node,)).fetchone()
            if row:
                search = self.connection.dialect.full_text
                self.connection.execute(search.remove("node_search", ("namespace", "name")), search.row("node_search", node, row[1:]))
                self.connection.execute("DELETE FROM mentioned_node WHERE node = ?", (node,))
                self.derivation.changes.run("node", "DELETE FROM node WHERE id = ?", (node,))
                self.derivation.spellings.drop((node, *row))

    def _parent_jobs(self) -> FirstSeen:
        """The jobs that a parent facet names, each with the earliest time of such a facet."""
        firsts = FirstSeen()
        for text, first in self.connection.execute(_PARENTS_SINCE).fetchall():
            for node in self._named(text):
                firsts.note(node[0], first)
        return firsts

    def _mention_again(self, nodes: list[int], parents: FirstSeen) -> None:
        """Recompute when nodes that lost a mention were first named."""
        firsts = FirstSeen(parents)
        self.connection.execute("CREATE TEMP TABLE touched (node BIGINT PRIMARY KEY)")
        self.connection.executemany("INSERT INTO touched VALUES (?)", ((node,) for node in nodes))
        for sql in _FIRSTS:
            for node, first in self.connection.execute(sql):
                firsts.note(node, first)
        later = [(firsts[node], node) for node in nodes if node in firsts]
        self.connection.executemany("UPDATE node SET first = ? WHERE id = ?", later)

    def _named(self, text: str) -> tuple[Row, ...]:
        return named_nodes("parent", text.encode(), self.derivation.names)
