"""Updates the search texts of nodes, in the transaction that changes a current facet."""

from collections.abc import Iterable

from lineage_bridge.graph.contents.search_terms import FIELDS, SEARCHED, search_text
from lineage_bridge.graph.flows.derive import OF_RUNS
from lineage_bridge.store.connection import StoreConnection

_KEYS = ", ".join(f"'{key}'" for key in sorted(SEARCHED))
_FACETS = f"""SELECT c.key, f.text FROM current_facet c JOIN facet f ON f.facet = c.facet
WHERE c.node = ? AND c.job IN (0, {OF_RUNS}) AND f.deleted = 0 AND c.key IN ({_KEYS})"""
_COLUMNS = ", ".join(FIELDS)
_MARKS = ", ".join("?" * len(FIELDS))
_WAITING = 1000
"""How many queued nodes one step updates."""


class SearchTextWriter:
    """Updates search texts over the writer's connection, inside its transaction. Call `forget` after a rollback."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection
        self.changed: set[int] = set()

    def forget(self) -> None:
        """Remove from the caches what a transaction added before it was rolled back."""
        self.changed.clear()

    def facets_changed(self, facets: Iterable[tuple[int, str]]) -> None:
        """Record the nodes whose current facets have changed, given as (node, key)."""
        self.changed.update(node for node, key in facets if key in SEARCHED)

    def keep_up(self, limit: int) -> None:
        """Update the texts of at most `limit` changed nodes; the other changed nodes are queued for the next transactions."""
        waiting = [row[0] for row in self.connection.execute("SELECT node FROM search_queue LIMIT ?", (_WAITING,))]
        if not waiting and not self.changed:
            return
        nodes = list(dict.fromkeys([*waiting, *sorted(self.changed)]))
        for node in nodes[:limit]:
            self.refresh(node)
        done = set(nodes[:limit]) & set(waiting)
        self.connection.executemany("DELETE FROM search_queue WHERE node = ?", ((node,) for node in sorted(done)))
        self.connection.executemany("INSERT INTO search_queue VALUES (?) ON CONFLICT DO NOTHING", ((node,) for node in nodes[limit:]))
        self.changed.clear()

    def refresh(self, node: int) -> None:
        """Update the text of one node from its name and its current facets."""
        name = self.connection.execute("SELECT namespace, name FROM node WHERE id = ?", (node,)).fetchone()
        facets = {key: text.encode() for key, text in self.connection.execute(_FACETS, (node,))} if name else {}
        new = search_text(name[0], name[1], facets) if facets else None
        old = self.connection.execute(f"SELECT {_COLUMNS} FROM search_text WHERE node = ?", (node,)).fetchone()
        if old == new:
            return
        search = self.connection.dialect.full_text
        if old:
            self.connection.execute(search.remove("node_search_text", FIELDS), search.row("node_search_text", node, old))
            self.connection.execute("DELETE FROM search_text WHERE node = ?", (node,))
        if new:
            self.connection.execute(f"INSERT INTO search_text (node, {_COLUMNS}) VALUES (?, {_MARKS})", (node, *new))
            self.connection.execute(search.add("node_search_text", FIELDS), search.row("node_search_text", node, new))
