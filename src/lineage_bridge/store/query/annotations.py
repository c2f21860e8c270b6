"""Reads the annotations of column statements: descriptions of transformations, as their asserters wrote them."""

from collections.abc import Iterable

from lineage_bridge.store.connection import StoreConnection
from lineage_bridge.store.query.columns import ColumnStep

MOST = 10
"""The most descriptions returned for one statement."""
_DESCRIPTIONS = f"""SELECT DISTINCT description FROM annotation r
WHERE lineage_set = :lineage_set AND target IN (:target, 0) AND target_field = :target_field
AND source IN (:source, 0) AND source_field = :source_field AND description <> '' AND (CAST(:at AS BIGINT) IS NULL OR EXISTS (
SELECT 1 FROM facet_lineage_set m WHERE m.facet = r.facet AND m.key IN ('columnLineage', 'lineage') AND m.first <= :at))
ORDER BY description LIMIT {MOST}"""


def descriptions(connection: StoreConnection, steps: Iterable[ColumnStep], at_us: int | None = None) -> tuple[str, ...]:
    """The annotations of these statements, now or by `at_us`; sorted."""
    found = {row[0] for step in steps for row in connection.execute(_DESCRIPTIONS, {**step._asdict(), "at": at_us})}
    return tuple(sorted(found))[:MOST]
