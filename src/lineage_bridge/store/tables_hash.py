"""Computes a hash of the tables that a database file actually has. It reveals a migration that was edited after its release."""

import hashlib
import json
import sqlite3
from typing import Final

_COLUMNS: Final = """SELECT m.name, p.name, upper(p.type), p."notnull", p.pk FROM sqlite_master m, pragma_table_info(m.name) p
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND m.name <> 'alembic_version' ORDER BY m.name, p.cid"""
_INDEXES: Final = """SELECT m.tbl_name, m.name, p.name FROM sqlite_master m, pragma_index_info(m.name) p
WHERE m.type = 'index' AND m.sql IS NOT NULL ORDER BY m.name, p.seqno"""
SHADOWS: Final = ("_data", "_idx", "_content", "_docsize", "_config")
"""Endings of the internal tables of SQLite's full-text index, whose columns are not part of the schema."""


def tables_hash(connection: sqlite3.Connection) -> str:
    """A hash of all tables with their columns, and of all indexes. It is the same for equal tables, however they were made."""
    columns = [row for row in connection.execute(_COLUMNS) if not row[0].endswith(SHADOWS)]
    return hashlib.sha256(json.dumps([columns, connection.execute(_INDEXES).fetchall()]).encode()).hexdigest()
