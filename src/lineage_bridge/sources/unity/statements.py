"""The SQL statements that read lineage and tags from the system tables of a metastore, a page at a time, and their rows. Pure.

Sources: Databricks' references of the lineage system tables and of the information schema.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from lineage_bridge.sources.unity.translate import SeenFlow
from lineage_bridge.sources.unity.workspace import Row

MOST_ROWS: Final = 20_000
"""How many rows one statement returns: a page. The whole result of a statement may have 25 MiB."""
_ENDS: Final = """
    coalesce(workspace_id, '') AS workspace, coalesce(entity_type, '') AS kind, coalesce(entity_id, '') AS entity,
    lower(coalesce(source_table_full_name, '')) AS source_table, coalesce(source_path, '') AS source_path,
    lower(coalesce(target_table_full_name, '')) AS target_table, coalesce(target_path, '') AS target_path"""
_OURS: Final = "metastore_id = element_at(split(current_metastore(), ':'), -1)"
"""The rows of this metastore; the system tables have those of all metastores of the account in a region. `current_metastore()` is
`cloud:region:id`.
"""
_SEEN: Final = f"{_OURS} AND event_date >= date_sub(current_date(), CAST(:days AS INT)) AND coalesce(source_table_catalog, '') <> 'system'"
FLOWS: Final = f"""
WITH seen AS (
  SELECT {_ENDS}, '' AS source_column, '' AS target_column FROM system.access.table_lineage WHERE {_SEEN}
  UNION ALL
  SELECT {_ENDS}, source_column_name, target_column_name FROM system.access.column_lineage
  WHERE {_SEEN} AND source_column_name IS NOT NULL AND target_column_name IS NOT NULL
), flows AS (
  SELECT DISTINCT workspace, kind, entity, if(source_table = '', source_path, source_table) AS source,
    if(target_table = '', target_path, target_table) AS target, source_column, target_column FROM seen
)
SELECT concat_ws('/', workspace, kind, entity, if(entity = '', target, '')) AS id, * FROM flows
WHERE concat_ws('/', workspace, kind, entity, if(entity = '', target, '')) > :after AND (entity <> '' OR target <> '')
ORDER BY id, target, source_column, source, target_column LIMIT {MOST_ROWS}"""
"""Rows: id of the job, then the members of SeenFlow, sorted by the id. Flows of tables come before those of their columns."""
ANY_FLOW: Final = f"SELECT 1 FROM system.access.table_lineage WHERE {_OURS} LIMIT 1"
TAGS: Final = f"""
WITH tags AS (
  SELECT lower(concat_ws('.', catalog_name, schema_name, table_name)) AS id, '' AS column_name, tag_name, tag_value
  FROM system.information_schema.table_tags
  UNION ALL
  SELECT lower(concat_ws('.', catalog_name, schema_name, table_name)) AS id, column_name, tag_name, tag_value
  FROM system.information_schema.column_tags
)
SELECT id, column_name, tag_name, coalesce(tag_value, '') FROM tags WHERE id > :after ORDER BY 1, 2, 3, 4 LIMIT {MOST_ROWS}"""
"""Rows: full name of the table, column (empty: the table itself), key and value, sorted by the name."""


class Groups(NamedTuple):
    """The rows of a page, grouped by id. `following`: the id after which the next page begins; empty on the last page. `cut`: an id that
    has more rows than fit on one page, so that some are missing.
    """

    rows: dict[str, list[list[str]]]
    following: str
    cut: str


def groups_of(rows: Iterable[Row], most: int = MOST_ROWS) -> Groups:
    """Group the rows of a page by their first value. The last group of a full page may be incomplete, so it is left to the next page."""
    texts = [[value or "" for value in row] for row in rows]
    found = {id_: [row[1:] for row in same] for id_, same in groupby(texts, key=lambda row: row[0])}
    if len(texts) < most:
        return Groups(found, "", "")
    *whole, last = found
    if not whole:
        return Groups(found, last, last)
    del found[last]
    return Groups(found, whole[-1], "")


def flows_in(rows: Iterable[list[str]]) -> Iterator[SeenFlow]:
    """The flows in the rows of a group."""
    return (SeenFlow(*row) for row in rows if len(row) == len(SeenFlow._fields))


def tags_in(rows: Iterable[list[str]]) -> Iterator[tuple[str, str, str]]:
    """The tags in the rows of a group, each as column, key and value."""
    return ((row[0], row[1], row[2]) for row in rows if len(row) == 3 and row[1])
