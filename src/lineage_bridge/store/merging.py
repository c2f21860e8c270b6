"""Merging rows into the table of a relation, in the store's portable SQL."""

from functools import partial

from lineage_bridge.graph.merge_rules import Type, upsert_sql

merge_sql = partial(upsert_sql, least="LEAST", greatest="GREATEST")
SQL_TYPES = {Type.INT: "BIGINT", Type.TEXT: "TEXT", Type.BYTES: "BLOB"}
"""How the types of a relation's columns are written in a temporary table."""
