"""The tables of the graph store in PostgreSQL, in the schema that a connection works in."""

import re
from typing import Any, Final

from lineage_bridge.errors import StoreMissingError, StoreVersionError
from lineage_bridge.store.postgresql.long_texts import KEY_TEXT, indexed
from lineage_bridge.store.schema.sqlite import GRAPH

SEARCH: Final = tuple(
    statement
    for index in ("node_search", "node_search_text")
    for statement in (
        f"CREATE TABLE {index} (id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)",
        f"CREATE INDEX {index}_by_words ON {index} USING gin (words)",
    )
)
"""The indexes that search reads."""

_PRIMARY_KEY: Final = re.compile(r",\s*PRIMARY KEY \(([^)]*)\)")
_COLUMNS: Final = re.compile(r"\(([^)]*)\)")

GLOB_PATTERN: Final = r"""
CREATE FUNCTION glob_pattern(glob TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $glob$
SELECT '^' || coalesce(string_agg(CASE
    WHEN part[1] = '*' THEN '.*'
    WHEN part[1] = '?' THEN '.'
    WHEN part[1] = '[' THEN '$.'
    WHEN length(part[1]) > 1 THEN '[' || CASE WHEN part[1] LIKE '[^%' THEN '^' ELSE '' END || (
        SELECT string_agg(
            regexp_replace(coalesce(item[1], item[3]), '([]\[\\^-])', '\\\1')
            || CASE WHEN item[2] COLLATE "C" >= item[1] THEN '-' || regexp_replace(item[2], '([]\[\\^-])', '\\\1') ELSE '' END,
            '' ORDER BY place)
        FROM regexp_matches(regexp_replace(part[1], '^\[\^?(.*)\]$', '\1'), '([^]])-(.)|(.)', 'g') WITH ORDINALITY AS items (item, place)
    ) || ']'
    ELSE regexp_replace(part[1], '([\\.+(){}|^$\]])', '\\\1')
END, '' ORDER BY number), '') || '$'
FROM regexp_matches(glob, '(\[(?:\^(?:\][^]]*|[^]]+)|\][^]]*|[^]^][^]]*)\]|.)', 'g') WITH ORDINALITY AS parts (part, number)
$glob$
"""
"""A glob as a regular expression. A bracket without an end matches nothing; a range whose end is before its start is its start alone."""


def create(connection: Any) -> None:  # noqa: ANN401 - psycopg is imported by those who have it
    """Create the tables in an empty schema, in one transaction; leave those of this version as they are.

    `connection` is a psycopg connection without a transaction. Raises StoreVersionError for tables of another version. Safe in many
    processes at once.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(current_schema()))")
        if _has_tables(connection):
            _require_version(connection)
            return
        for statement in statements():
            connection.execute(statement)
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (GRAPH.version,))


def require_tables(connection: Any) -> None:  # noqa: ANN401 - as above
    """Raise StoreMissingError if the schema has no tables of a graph, StoreVersionError if they are of another version."""
    if not _has_tables(connection):
        raise StoreMissingError("there is no graph store in PostgreSQL", "start the server, which creates it: lineage-bridge serve")
    _require_version(connection)


def statements() -> list[str]:
    """The statements that create everything."""
    # SQLAlchemy takes most of a second to import, and only a process that creates tables needs it.
    from sqlalchemy import Text  # noqa: PLC0415 - as above
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - as above
    from sqlalchemy.schema import CreateIndex, CreateTable  # noqa: PLC0415 - as above

    from lineage_bridge.store.schema.tables import METADATA  # noqa: PLC0415 - as above

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy does not say
    made = ["CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)", GLOB_PATTERN, *KEY_TEXT, *SEARCH]
    for table in METADATA.tables.values():
        texts = frozenset(column.name for column in table.columns if isinstance(column.type, Text))
        made += _with_text_key(str(CreateTable(table).compile(dialect=dialect)), table.name, texts)
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            sql = str(CreateIndex(index).compile(dialect=dialect))
            made.append(_COLUMNS.sub(lambda found: f"({indexed(found[1], texts)})", sql, count=1))  # noqa: B023 - called at once
    return made


def _with_text_key(sql: str, table: str, texts: frozenset[str]) -> list[str]:
    """The statements that create a table; a key with texts is an index of its own, which can hold long ones."""
    key = _PRIMARY_KEY.search(sql)
    columns = indexed(key[1], texts) if key else ""
    if "key_text(" not in columns:
        return [sql]
    return [_PRIMARY_KEY.sub("", sql), f'CREATE UNIQUE INDEX {table}_key ON "{table}" ({columns})']


def _has_tables(connection: Any) -> bool:  # noqa: ANN401 - as above
    return connection.execute("SELECT to_regclass('alembic_version')").fetchone()[0] is not None


def _require_version(connection: Any) -> None:  # noqa: ANN401 - as above
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    if row is None or row[0] != GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} in PostgreSQL has schema {row[0] if row else 'none'}, this version reads {GRAPH.version}",
            "use an empty schema: the graph is computed again from the log",
        )
