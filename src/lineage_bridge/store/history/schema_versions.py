"""Finds the schema versions of a dataset from all assertions about it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from lineage_bridge.graph.contents.catalog_facets import CatalogStatement, newest_statements, stating_catalog
from lineage_bridge.graph.contents.schema_versions import WITHDRAWN, Mention, current, history, schema_version
from lineage_bridge.graph.merge_rules import Row
from lineage_bridge.graph.relations import Side
from lineage_bridge.model.graph import Node
from lineage_bridge.model.history import SchemaHistory, SchemaVersion
from lineage_bridge.openlineage.facets import SchemaDatasetFacet, SchemaField, read_as
from lineage_bridge.openlineage.facets.from_catalog import FROM_CATALOG
from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.nodes import Nodes

_SCAN = 50_000
"""The maximum number of mentions of a dataset that are read, those of the newest days first."""
_RANKS = ((Side.SELF, "dataset"), (Side.OUTPUT, "output"), (Side.INPUT, "input"), (Side.CATALOG, "catalog"))
"""Where a schema was asserted, with the word for it in answers, strongest first. Only the assertions of the strongest kind count."""
_ASSERTED = f"""SELECT s.job, c.facet, s.first, s.first_event, s.last, s.last_event, s.asserted_by, m.text
FROM (SELECT * FROM assertion WHERE node = ? AND side = ? AND first <= ? ORDER BY day DESC LIMIT {_SCAN}) s
JOIN facet_set c ON c.facet_set = s.facet_set AND c.key = 'schema'
LEFT JOIN facet_set b ON b.facet_set = s.facet_set AND b.key = '{FROM_CATALOG}' LEFT JOIN facet m ON m.facet = b.facet"""
_RENAMED = """SELECT DISTINCT previous FROM lifecycle WHERE dataset = ? AND change = 'RENAME' AND previous <> 0 AND first <= ?"""


class SchemaHistories:
    """Reads the schema versions of datasets over one connection; each facet is read once."""

    def __init__(self, connection: StoreConnection, nodes: Nodes) -> None:
        self.connection, self.nodes = connection, nodes
        self._fields: dict[bytes, tuple[str, tuple[SchemaField, ...]] | None] = {}

    def history(self, members: Iterable[Node], at_us: int) -> SchemaHistory:
        """The versions of a dataset, given as all its names, until a time (UTC microseconds); oldest first."""
        ids = [node.id for node in members]
        for side, word in _RANKS:
            rows = [row for id_ in ids for row in self.connection.execute(_ASSERTED, (id_, int(side), at_us))]
            counted = self._of_speaking(rows, at_us) if side is Side.CATALOG else rows
            mentions = [mention for row in counted for mention in self._mentions(row, at_us)]
            if mentions:
                return SchemaHistory(word, self._versions(mentions), self._renamed(ids, at_us), len(rows) >= _SCAN)
        return SchemaHistory("", (), self._renamed(ids, at_us), truncated=False)

    def _renamed(self, ids: list[int], at_us: int) -> tuple[Node, ...]:
        rows = [row for id_ in ids for row in self.connection.execute(_RENAMED, (id_, at_us))]
        nodes = {self.nodes.by_id(row[0]) for row in rows} - {self.nodes.by_id(id_) for id_ in ids}
        return tuple(sorted(nodes, key=lambda node: (node.namespace, node.name)))

    def _of_speaking(self, rows: list[Row], at_us: int) -> list[Row]:
        """The assertions of the catalogs that still state a schema; all assertions if no catalog does."""
        by_catalog: dict[object, list[Row]] = defaultdict(list)
        statements: list[CatalogStatement] = []
        for row in rows:
            _, facet, first, first_event, last, last_event, asserted_by, mark = row
            if known := self._read(facet):
                catalog = stating_catalog(asserted_by, mark)
                by_catalog[catalog].append(row)
                seen = (last, last_event) if last <= at_us else (first, first_event)
                statements.append(CatalogStatement(*seen, facet, known[0] == WITHDRAWN, asserted_by, catalog))
        speaking = {found.catalog for found in newest_statements(statements) if not found.is_withdrawal}
        return [row for catalog in speaking for row in by_catalog[catalog]] or rows

    def _mentions(self, row: Row, at_us: int) -> Iterator[Mention]:
        job, facet, first, first_event, last, last_event, *_ = row
        known = self._read(facet)
        if known is not None:
            yield Mention(first, first_event, job, known[0])
            if last <= at_us:
                yield Mention(last, last_event, job, known[0])

    def _read(self, facet: bytes) -> tuple[str, tuple[SchemaField, ...]] | None:
        """The schema version and the fields that a facet states; None if it cannot be read."""
        if facet not in self._fields:
            text, deleted = self.connection.execute("SELECT text, deleted FROM facet WHERE facet = ?", (facet,)).fetchone()
            read = None if deleted else read_as(SchemaDatasetFacet, "dataset", "schema", text.encode())
            fields = (read.fields if read else None) or ()
            self._fields[facet] = (WITHDRAWN, ()) if deleted else (schema_version(fields), fields) if read else None
        return self._fields[facet]

    def _versions(self, mentions: list[Mention]) -> tuple[SchemaVersion, ...]:
        fields = dict(known for known in self._fields.values() if known)
        periods = history(mentions)
        now = current(periods)
        return tuple(
            SchemaVersion(
                version=period.version,
                fields=fields[period.version],
                first=period.first,
                last=period.last,
                jobs=tuple(self._named(period.jobs)),
                current=period is now,
                brief=period.brief,
            )
            for period in periods
        )

    def _named(self, jobs: Iterable[int]) -> list[Node]:
        return sorted((self.nodes.by_id(job) for job in jobs if job), key=lambda node: (node.namespace, node.name))
