"""Merges rows into the table of a relation, in the store's portable SQL."""

from collections.abc import Iterable
from functools import partial

from lineage_bridge.graph.merge_rules import Relation, Row, Type, upsert_sql

merge_sql = partial(upsert_sql, least="LEAST", greatest="GREATEST")
SQL_TYPES = {Type.INT: "BIGINT", Type.TEXT: "TEXT", Type.BYTES: "BLOB"}
"""How the types of a relation's columns are written in a temporary table."""


def merged(relation: Relation, rows: Iterable[Row]) -> list[Row]:
    """Merge rows that have the same key into one row, by the merge rules of the relation."""
    size, merge = relation.key_size, relation.merge
    values: dict[Row, Row] = {}
    for row in rows:
        key, new = row[:size], row[size:]
        old = values.get(key)
        values[key] = new if old is None else merge(old, new)
    return [key + value for key, value in values.items()]
