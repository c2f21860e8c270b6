"""Reads the symlinks of datasets, as each job and each design-time statement stated them last, by now or by an earlier time."""

from collections.abc import Collection, Iterator

from lineage_bridge.graph.identity.steps import Spelling, symlinks
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import LinkAsserter
from lineage_bridge.store.chunks import chunks, marks
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.identity.row_kinds import RowKinds

Pair = tuple[int, int, str]
"""The dataset, its other name, and the type of the link."""

_NOW = "SELECT dataset, other, type FROM symlink WHERE {} IN ({})"
_TOUCHING_NOW = """EXISTS (SELECT 1 FROM symlink s WHERE s.dataset = n.id) OR EXISTS (SELECT 1 FROM symlink s WHERE s.other = n.id)"""
_TOUCHING_THEN = """EXISTS (SELECT 1 FROM symlink_evidence s WHERE s.dataset = n.id)
OR EXISTS (SELECT 1 FROM facet_node f JOIN symlink_evidence s ON s.facet = f.facet WHERE f.node = n.id)"""
_ASSERTING = "SELECT DISTINCT dataset FROM symlink_evidence WHERE dataset IN ({})"
_NAMED = "SELECT DISTINCT s.dataset FROM facet_node n JOIN symlink_evidence s ON s.facet = n.facet WHERE n.node IN ({})"
_ASSERTED = """SELECT s.job, CASE WHEN s.origin = 2 THEN s.asserted_by END AS declared_by, c.facet,
CASE WHEN s.last <= :at THEN s.last ELSE s.first END AS time, CASE WHEN s.last <= :at THEN s.last_event ELSE s.first_event END AS event
FROM assertion s JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'symlinks'
WHERE s.node = :dataset AND s.job <> s.node AND s.side IN (0, 1, 2) AND s.first <= :at"""
_THEN = f"""SELECT DISTINCT f.text FROM (
SELECT facet, row_number() OVER (PARTITION BY job, declared_by ORDER BY time DESC, event DESC, facet DESC) AS rank FROM ({_ASSERTED}) a
) b JOIN facet f ON f.facet = b.facet WHERE b.rank = 1"""

_STATING = """SELECT f.facet, f.text FROM node o JOIN facet_node n ON n.node = o.id JOIN facet f ON f.facet = n.facet
WHERE o.namespace = ? AND o.name = ? AND o.kind = 1 AND EXISTS (SELECT 1 FROM job_symlinks s WHERE s.dataset = ? AND s.facet = n.facet)"""
_COUNT = "SELECT count(*) FROM job_symlinks WHERE dataset = ? AND facet IN ({})"
_LATEST = """SELECT n.id, n.kind, n.namespace, n.name, s.declared_by, s.time FROM job_symlinks s
JOIN node n ON n.id = CASE WHEN s.job = 0 THEN s.dataset ELSE s.job END
WHERE s.dataset = ? AND s.facet IN ({}) ORDER BY s.time DESC, n.namespace, n.name, s.declared_by LIMIT {}"""
LISTED = 10
"""The maximum number of asserters that are listed for a symlink."""


class LinkAsserters:
    """Finds who states symlinks now, over one connection."""

    def __init__(self, connection: StoreConnection) -> None:
        self.connection = connection

    def of_link(self, dataset: Spelling, other: Spelling, type_: str) -> tuple[int, tuple[LinkAsserter, ...]]:
        """How many asserters state that `dataset` is also called `other`, and the latest of these asserters, the most recent first."""
        row = self.connection.execute("SELECT id FROM node WHERE namespace = ? AND name = ? AND kind = 1", dataset[1:]).fetchone()
        stating = self.connection.execute(_STATING, (*other[1:], *row)).fetchall()
        facets = [facet for facet, text in stating if (*other[1:], type_) in symlinks(text.encode())]
        key = *row, *facets
        count = self.connection.execute(_COUNT.format(marks(facets)), key).fetchone()[0]
        latest = self.connection.execute(_LATEST.format(marks(facets), LISTED), key).fetchall()
        return count, tuple(
            LinkAsserter(Node(id_, NodeKind(kind), namespace, name), bool(declared_by), time)
            for id_, kind, namespace, name, declared_by, time in latest
        )


class Symlinks:
    """Reads symlinks over one connection, now or at `at_us`."""

    def __init__(self, connection: StoreConnection, row_kinds: RowKinds, at_us: int | None = None) -> None:
        self.connection, self.row_kinds, self.at_us = connection, row_kinds, at_us
        self._of: dict[int, list[Pair]] = {}

    @property
    def touching(self) -> str:
        """The SQL condition that a node `n` may have a symlink or be the target of one."""
        return _TOUCHING_NOW if self.at_us is None else _TOUCHING_THEN

    def pairs(self, ids: Collection[int]) -> list[Pair]:
        """The symlinks from or to these datasets."""
        if not self.row_kinds.names.symlinks:
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
        """The symlinks of a dataset that asserters had stated last by the earlier time."""
        if dataset not in self._of:
            rows = self.connection.execute(_THEN, {"dataset": dataset, "at": self.at_us}).fetchall()
            links = {link for (text,) in rows for link in symlinks(text.encode())}
            named = [(*self._node(namespace, name), type_) for namespace, name, type_ in sorted(links)]
            self._of[dataset] = [(dataset, other, type_) for other, type_ in named if other != dataset]
        return self._of[dataset]

    def _node(self, namespace: str, name: str) -> tuple[int]:
        found: tuple[int] = self.connection.execute(
            "SELECT id FROM node WHERE namespace = ? AND name = ? AND kind = 1", (namespace, name)
        ).fetchone()
        return found
