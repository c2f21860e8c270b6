"""Taking runs out of the store as if they had never spoken, in the transaction that brings the operator's statement."""

import sqlite3

from lineage_bridge.graph.relations import Origin
from lineage_bridge.graph.shapes import NO_SHAPE, make_shape
from lineage_bridge.store.derivation import Derivation

_SPOKEN = (
    "DELETE FROM run_io WHERE run = ?",
    "DELETE FROM run_event WHERE run = ?",
    "DELETE FROM run WHERE run = ?",
    "DELETE FROM io_sample WHERE run = ?",
    "DELETE FROM said WHERE subject = ?",
    "DELETE FROM subject_statement WHERE subject = ?",
    "DELETE FROM present WHERE subject = ?",
    "DELETE FROM present_day WHERE subject = ?",
    "DELETE FROM dirty WHERE subject = ?",
)
_FACETS = (
    """SELECT s.about, s.job, s.side, s.origin, s.content, s.last, s.last_event FROM said s WHERE s.about = ? AND s.side IN (0, 1, 2)"""
)
_NAMED = """SELECT s.source FROM subject_statement x JOIN statement s ON s.meaning = x.meaning WHERE x.subject = ?
UNION SELECT s.target FROM subject_statement x JOIN statement s ON s.meaning = x.meaning WHERE x.subject = ?"""
_USES = (
    "SELECT 1 FROM job_io WHERE dataset = :node OR job = :node LIMIT 1",
    "SELECT 1 FROM said WHERE about = :node LIMIT 1",
    "SELECT 1 FROM present WHERE job = :node LIMIT 1",
    "SELECT 1 FROM run WHERE job = :node OR parent_job = :node OR root_job = :node LIMIT 1",
    "SELECT 1 FROM flow WHERE source = :node UNION SELECT 1 FROM flow WHERE target = :node LIMIT 1",
    "SELECT 1 FROM symlink WHERE dataset = :node OR other = :node LIMIT 1",
    "SELECT 1 FROM statement s JOIN job_statement j ON j.meaning = s.meaning WHERE s.source = :node OR s.target = :node LIMIT 1",
)


class Erasure:
    """Works on the writer's connection, inside its transaction."""

    def __init__(self, connection: sqlite3.Connection, derivation: Derivation) -> None:
        self.connection, self.derivation = connection, derivation

    def erase(self, subjects: list[bytes]) -> None:
        """Take all that these runs said out of the relations and out of everything derived from them."""
        nodes: set[int] = set()
        for subject in subjects:
            nodes |= self._nodes(subject)
        for subject in subjects:
            self._leave_shapes(subject)
            self._delete(subject)
        self._recall_facets(sorted(nodes))
        self._drop_unused(sorted(nodes))

    def _nodes(self, subject: bytes) -> set[int]:
        """Every node the subject had anything to do with."""
        queries = (
            ("SELECT dataset FROM run_io WHERE run = ?", 1),
            ("SELECT about FROM said WHERE subject = ?", 1),
            ("SELECT job FROM run WHERE run = ?", 1),
            ("SELECT parent_job FROM run WHERE run = ? UNION SELECT root_job FROM run WHERE run = ?", 2),
            (_NAMED, 2),
        )
        found = {row[0] for sql, count in queries for row in self.connection.execute(sql, (subject,) * count)} - {
            None,
            0,
        }
        links = [row for node in found for row in self.connection.execute("SELECT other FROM symlink WHERE dataset = ?", (node,))]
        return found | {row[0] for row in links}

    def _leave_shapes(self, subject: bytes) -> None:
        rows = self.connection.execute("SELECT job, shape FROM present WHERE subject = ?", (subject,)).fetchall()
        nothing = make_shape(Origin.OBSERVED, (), ())
        self.derivation.presence.move([((subject, job), shape, nothing) for job, shape in rows if shape != NO_SHAPE])

    def _delete(self, subject: bytes) -> None:
        events = self.connection.execute("SELECT time, event FROM event WHERE subject = ?", (subject,)).fetchall()
        self.connection.executemany("DELETE FROM event_copy WHERE time = ? AND event = ?", events)
        self.connection.executemany("DELETE FROM event WHERE time = ? AND event = ?", events)
        for sql in _SPOKEN:
            self.connection.execute(sql, (subject,))

    def _recall_facets(self, nodes: list[int]) -> None:
        """Current facets from what others still say."""
        for node in nodes:
            self.connection.execute("DELETE FROM current_facet WHERE node = ?", (node,))
        for node in nodes:
            said = self.connection.execute(_FACETS, (node,)).fetchall()
            contents: dict[bytes, dict[str, bytes]] = {}
            for content in {row[4] for row in said}:
                contents[content] = dict(self.connection.execute("SELECT key, facet FROM content WHERE content = ?", (content,)).fetchall())
            self.derivation.current_facets(
                [(b"", job, about, side, o, content, 0, 0, b"", last, e) for about, job, side, o, content, last, e in said],
                contents,
            )
        self.derivation.relink(nodes)

    def _drop_unused(self, nodes: list[int]) -> None:
        """Nodes that nothing speaks of any more."""
        for node in nodes:
            if any(self.connection.execute(sql, {"node": node}).fetchone() for sql in _USES):
                continue
            row = self.connection.execute("SELECT namespace, name FROM node WHERE id = ?", (node,)).fetchone()
            if row:
                self.connection.execute(
                    "INSERT INTO node_search (node_search, rowid, namespace, name) VALUES ('delete', ?, ?, ?)",
                    (node, *row),
                )
                self.connection.execute("DELETE FROM node WHERE id = ?", (node,))
