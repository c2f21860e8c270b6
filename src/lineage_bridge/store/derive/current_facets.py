"""Keeps the current facets of nodes up to date: for each key, the one of several facets that counts."""

from collections.abc import Collection, Iterable, Iterator, Mapping

from lineage_bridge.graph.contents.catalog_facets import CatalogStatement, current_of_catalogs, is_of_catalogs, stating_catalog
from lineage_bridge.graph.flows.derive import OF_RUNS, facet_owner, facet_rank, is_current
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.write.changes import ChangeRecorder

_STAGE = "INSERT INTO in_current VALUES (?, ?, ?, ?, ?, ?, ?)"
_MERGE = """INSERT INTO current_facet SELECT * FROM in_current WHERE true ON CONFLICT (node, job, key) DO UPDATE
SET facet = excluded.facet, rank = excluded.rank, time = excluded.time, event = excluded.event
WHERE (excluded.rank, excluded.time, excluded.event, excluded.facet)
    > (current_facet.rank, current_facet.time, current_facet.event, current_facet.facet)"""
_NEW = """SELECT i.node, i.job, i.key, i.facet, c.facet FROM in_current i
LEFT JOIN current_facet c ON c.node = i.node AND c.job = i.job AND c.key = i.key
WHERE c.facet IS NULL OR (c.facet <> i.facet AND (i.rank, i.time, i.event, i.facet) > (c.rank, c.time, c.event, c.facet))"""
"""The facets in a batch that become current, each with the facet that was current before."""
_OF_CATALOGS = f"""SELECT c.key, s.last, s.last_event, c.facet, f.deleted, s.asserted_by, m.text FROM assertion s
JOIN facet_set c ON c.facet_set = s.facet_set JOIN facet f ON f.facet = c.facet
JOIN facet_set b ON b.facet_set = s.facet_set AND b.key = '{FROM_CATALOG}' JOIN facet m ON m.facet = b.facet
WHERE s.node = ? AND s.side = ?"""
_REMOVE = "DELETE FROM current_facet WHERE node = ? AND job = 0 AND key = ? AND rank < ? RETURNING facet"


class CurrentFacetWriter:
    """Merges assertions into the current facets, over the writer's connection."""

    def __init__(self, connection: StoreConnection, changes: ChangeRecorder) -> None:
        self._connection, self._changes = connection, changes

    def merge(self, assertions: Iterable[Row], facet_sets: dict[bytes, dict[str, bytes]]) -> set[tuple[int, str]]:
        """Merge assertions that the store already has into the current facets. `facets` has their facets by facet set. Returns the (node,
        key) pairs whose current facet has changed.
        """
        best: dict[tuple[int, int, str], tuple[int, int, bytes, bytes]] = {}
        of_catalogs: dict[tuple[int, str], int] = {}
        for _, job, node, side, _, facet_set, _, _, _, last, event in assertions:
            for key, facet in facet_sets.get(facet_set, {}).items():
                if not is_current(key, side):
                    continue
                if is_of_catalogs(key, side):
                    of_catalogs[node, key] = 1 if side == Side.SELF else 0
                    continue
                row_key = node, facet_owner(key, job, side), key
                candidate = facet_rank(key, side), last, event, facet
                best[row_key] = max(best.get(row_key, candidate), candidate)
        before = self._removed(of_catalogs)
        rows: list[Row] = [(*row_key, facet, rank, time, event) for row_key, (rank, time, event, facet) in best.items()]
        changed = self._merged(rows)
        if of_catalogs:
            changed += self._merged(list(self._of_catalogs(of_catalogs.keys())))
        return self._recorded(before, changed)

    def _merged(self, rows: list[Row]) -> list[Row]:
        """Merge rows into the table of current facets. Returns the rows that changed, each with the facet that was current before."""
        self._connection.execute("DELETE FROM in_current")
        self._connection.executemany(_STAGE, rows)
        new = self._connection.execute(_NEW).fetchall()
        self._connection.execute(_MERGE)
        return new

    def _recorded(self, before: dict[tuple[int, int, str], bytes], changed: list[Row]) -> set[tuple[int, str]]:
        """Record the differences for the change feed. `before` has the facets that were removed in order to be computed again."""
        after: dict[tuple[int, int, str], bytes] = {}
        for node, owner, key, facet, was in changed:
            after[node, owner, key] = facet
            if was is not None:
                before.setdefault((node, owner, key), was)
        different = {row_key for row_key in after.keys() | before.keys() if after.get(row_key) != before.get(row_key)}
        of_nodes = sorted(row_key for row_key in different if row_key[1] != OF_RUNS)
        self._changes.gained("current_facet", ((*row_key, after[row_key]) for row_key in of_nodes if row_key in after))
        self._changes.lost("current_facet", ((*row_key, before[row_key]) for row_key in of_nodes if row_key in before))
        return {(node, key) for node, _, key in different}

    # what catalogs state

    def _removed(self, of_catalogs: Mapping[tuple[int, str], int]) -> dict[tuple[int, int, str], bytes]:
        """Remove the current facets that catalogs stated under these keys, and return them. Each key comes with the rank below which facets
        are a catalog's.
        """
        found: dict[tuple[int, int, str], bytes] = {}
        for (node, key), below in sorted(of_catalogs.items()):
            row = self._connection.execute(_REMOVE, (node, key, below)).fetchone()
            if row:
                found[node, 0, key] = row[0]
        return found

    def _of_catalogs(self, touched: Collection[tuple[int, str]]) -> Iterator[Row]:
        """For each of these keys, the facet that counts among those that catalogs state."""
        for node in sorted({node for node, _ in touched}):
            statements: dict[str, list[CatalogStatement]] = {}
            for key, stated in self._stated(node):
                if (node, key) in touched:
                    statements.setdefault(key, []).append(stated)
            for key, some in sorted(statements.items()):
                if found := current_of_catalogs(some):
                    rank, time, event, facet = found
                    yield node, 0, key, facet, rank, time, event

    def _stated(self, node: int) -> Iterator[tuple[str, CatalogStatement]]:
        for side in (Side.CATALOG, Side.SELF):
            sql = _OF_CATALOGS if side is Side.CATALOG else f"{_OF_CATALOGS} AND c.key = '{FROM_CATALOG}'"
            for key, time, event, facet, deleted, asserted_by, mark in self._connection.execute(sql, (node, int(side))):
                yield key, CatalogStatement(time, event, facet, bool(deleted), asserted_by, stating_catalog(asserted_by, mark))
