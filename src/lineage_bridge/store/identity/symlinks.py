"""Symlinks of datasets, as their newest symlinks facet states them: now, or as of an earlier time."""

from collections.abc import Collection, Iterator

from lineage_bridge.graph.identity.steps import symlinks
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection

Pair = tuple[int, int, str]
"""dataset, the other name, the type of the link"""

_NOW = "SELECT dataset, other, type FROM symlink WHERE {} IN ({})"
_TOUCHING_NOW = """EXISTS (SELECT 1 FROM symlink s WHERE s.dataset = n.id) OR EXISTS (SELECT 1 FROM symlink s WHERE s.other = n.id)"""
_TOUCHING_THEN = """EXISTS (SELECT 1 FROM symlink_evidence s WHERE s.dataset = n.id)
OR EXISTS (SELECT 1 FROM facet_node f JOIN symlink_evidence s ON s.facet = f.facet WHERE f.node = n.id)"""
_ASSERTING = "SELECT DISTINCT dataset FROM symlink_evidence WHERE dataset IN ({})"
_NAMED = "SELECT DISTINCT s.dataset FROM facet_node n JOIN symlink_evidence s ON s.facet = n.facet WHERE n.node IN ({})"
_THEN = """SELECT c.facet, CASE WHEN s.last <= :at THEN s.last ELSE s.first END AS time,
CASE WHEN s.last <= :at THEN s.last_event ELSE s.first_event END AS event
FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'symlinks'
WHERE s.node = :dataset AND s.side IN (0, 1, 2) AND s.first <= :at ORDER BY 2 DESC, 3 DESC, 1 DESC LIMIT 1"""


class Symlinks:
    """Reads over one connection, now or at `at_us`."""

    def __init__(self, connection: StoreConnection, at_us: int | None = None) -> None:
        self.connection, self.at_us = connection, at_us
        self._of: dict[int, list[Pair]] = {}
        self._any: bool | None = None

    @property
    def any(self) -> bool:
        """Whether any symlink was ever asserted."""
        if self._any is None:
            self._any = self.connection.execute("SELECT EXISTS (SELECT 1 FROM symlink_evidence)").fetchone()[0] == 1
        return self._any

    @property
    def touching(self) -> str:
        """Whether a node `n` may have a symlink, or be one, as SQL."""
        return _TOUCHING_NOW if self.at_us is None else _TOUCHING_THEN

    def pairs(self, ids: Collection[int]) -> list[Pair]:
        """The symlinks from or to these datasets."""
        if not self.any:
            return []
        if self.at_us is None:
            found = {row for side in ("dataset", "other") for row in self._rows(_NOW.format(side, "{}"), ids)}
        else:
            datasets = set(ids)
            asserting = {row[0] for sql in (_ASSERTING, _NAMED) for row in self._rows(sql, ids)}
            found = {pair for dataset in sorted(asserting) for pair in self._then(dataset) if not datasets.isdisjoint(pair[:2])}
        return sorted(found)

    def _rows(self, sql: str, ids: Collection[int]) -> Iterator[Pair]:
        for some in chunks(ids):
            yield from self.connection.execute(sql.format(marks(some)), some)

    def _then(self, dataset: int) -> list[Pair]:
        """What the newest symlinks facet of a dataset asserts as of the time in question."""
        if dataset not in self._of:
            row = self.connection.execute(_THEN, {"dataset": dataset, "at": self.at_us}).fetchone()
            text = self.connection.execute("SELECT text FROM facet WHERE facet = ?", row[:1]).fetchone()[0] if row else ""
            named = [(*self._node(namespace, name), type_) for namespace, name, type_ in (symlinks(text.encode()) if text else ())]
            self._of[dataset] = [(dataset, other, type_) for other, type_ in named if other != dataset]
        return self._of[dataset]

    def _node(self, namespace: str, name: str) -> tuple[int]:
        found: tuple[int] = self.connection.execute(
            "SELECT id FROM node WHERE namespace = ? AND name = ? AND kind = 1", (namespace, name)
        ).fetchone()
        return found
