"""Creates, checks and drops the tables of the graph store in a schema of PostgreSQL."""

import hashlib
import logging
import re
from typing import Any, Final

from lineage_bridge.errors import StoreError, StoreMissingError, StoreVersionError
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
_INDEX: Final = re.compile(r'CREATE (?:UNIQUE )?INDEX "?(\w+)')
_TABLE: Final = re.compile(r'\s*CREATE TABLE "?(\w+)')
_FOUND_COLUMNS: Final = """SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relkind = 'r' AND n.nspname = current_schema() AND a.attnum > 0 AND NOT a.attisdropped"""
_FOUND_INDEXES: Final = """SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = current_schema() AND i.indisvalid"""
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


_MARK: Final = "LineageBridge: the graph, computed from the event log"
"""The comment of each table: one without it belongs to somebody else."""
_MARKED: Final = """SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema()"""
FUNCTIONS: Final = ("glob_pattern(TEXT)", "key_text(TEXT)", "long_key_text(TEXT)")
_log = logging.getLogger(__name__)


def create(connection: Any, schema: str = "") -> None:  # noqa: ANN401 - psycopg is imported by those who have it
    """Create the tables, in one transaction, and the schema, if it is missing; leave those that are as expected.

    Tables of an earlier version, or that somebody has changed, are dropped: the graph is computed again from the log. `connection` is a
    psycopg connection without a transaction that works in `schema` (empty: the one it has). Raises StoreVersionError for tables of a newer
    version, StoreError for those of another program. Safe in many processes at once.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(coalesce(nullif(%s, ''), current_schema())))", (schema,))
        if schema and connection.execute("SELECT to_regnamespace(quote_ident(%s))", (schema,)).fetchone()[0] is None:
            connection.execute(f'CREATE SCHEMA "{schema}"')
        made = statements()
        digest = hashlib.sha256("\n".join(made).encode()).hexdigest()
        if _version(connection) is None:
            reason = "tables are missing"
        elif not (reason := unexpected(connection, digest)):
            return
        if drop(connection):
            _log.warning("the graph in PostgreSQL is emptied and computed again from the log: %s", reason)
        for statement in made:
            connection.execute(statement)
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (GRAPH.version,))
        for table in expected_columns():
            connection.execute(f"COMMENT ON TABLE {quoted(table)} IS '{_MARK}{f', {digest}' if table == 'alembic_version' else ''}'")


def drop(connection: Any) -> bool:  # noqa: ANN401 - as above
    """Drop the graph's tables and functions. Returns whether there were any. All other objects in the schema stay."""
    ours = graph_tables(connection)
    if ours:
        connection.execute(f"DROP TABLE {', '.join(map(quoted, ours))}")
        connection.execute(f"DROP FUNCTION IF EXISTS {', '.join(FUNCTIONS)}")
    return bool(ours)


def graph_tables(connection: Any) -> list[str]:  # noqa: ANN401 - as above
    """The names of the tables that LineageBridge has made in the schema."""
    return sorted(name for name, comment in connection.execute(_MARKED).fetchall() if (comment or "").startswith(_MARK))


def require_tables(connection: Any) -> None:  # noqa: ANN401 - as above
    """Raise StoreMissingError if the schema has no tables of a graph, StoreVersionError if they are of another version."""
    found = _version(connection)
    if found is None:
        raise StoreMissingError("there is no graph store in PostgreSQL", "start the server, which creates it: lineage-bridge serve")
    if found != GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} in PostgreSQL has schema {found or 'none'}, this version reads {GRAPH.version}",
            "start the server: the pipeline computes the graph again from the log",
        )


def unexpected(connection: Any, digest: str) -> str:  # noqa: ANN401 - as above
    """What differs from the tables that this version creates; empty if nothing does. `digest` is the digest of the statements that
    create them.

    Other objects in the schema, such as an index that somebody has added, do not count.
    """
    if (found := _version(connection)) != GRAPH.version:
        return f"it has schema {found or 'none'}, and this version uses {GRAPH.version}"
    if not (_comment(connection) or "").endswith(digest):
        return "another build of this version has made its tables"
    columns: dict[str, dict[str, str]] = {}
    for table, column, type_ in connection.execute(_FOUND_COLUMNS).fetchall():
        columns.setdefault(table, {})[column] = type_
    for table, expected in expected_columns().items():
        if columns.get(table) != expected:
            return f"the table {table} is missing" if table not in columns else f"the table {table} has other columns"
    indexes = {name for (name,) in connection.execute(_FOUND_INDEXES).fetchall()}
    missing = sorted(expected_indexes() - indexes)
    return f"the index {missing[0]} is missing" if missing else ""


def statements() -> list[str]:
    """The statements that create all tables, indexes and functions."""
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


def expected_columns() -> dict[str, dict[str, str]]:
    """Table to its columns, with their types as PostgreSQL writes them."""
    from sqlalchemy.dialects import postgresql  # noqa: PLC0415 - as above

    from lineage_bridge.store.schema.tables import METADATA  # noqa: PLC0415 - as above

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]  # SQLAlchemy does not say
    tables = {
        table.name: {column.name: column.type.compile(dialect).split(" COLLATE")[0].lower() for column in table.columns}
        for table in METADATA.tables.values()
    }
    search = {index: {"id": "bigint", "words": "tsvector"} for index in ("node_search", "node_search_text")}
    return {**tables, **search, "alembic_version": {"version_num": "character varying(32)"}}


def expected_indexes() -> set[str]:
    """The names of all indexes, primary keys included."""
    names = set[str]()
    for statement in statements():
        if found := _INDEX.match(statement):
            names.add(found[1])
        elif (found := _TABLE.match(statement)) and "PRIMARY KEY" in statement:
            names.add(f"{found[1]}_pkey")
    return names


def _version(connection: Any) -> str | None:  # noqa: ANN401 - as above
    """The version of the schema's tables, empty if they have none; None if there are no such tables.

    Raises StoreVersionError for a newer version, StoreError for another program's tables.
    """
    if connection.execute("SELECT to_regclass('alembic_version')").fetchone()[0] is None:
        return None
    if not (_comment(connection) or "").startswith(_MARK):
        raise StoreError("the schema in PostgreSQL holds tables of another program", "name an empty schema, or a new one: store_schema")
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    found = str(row[0]) if row else ""
    if found > GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} in PostgreSQL has schema {found}, this version knows {GRAPH.version}", "install the version that wrote it"
        )
    return found


def _comment(connection: Any) -> str | None:  # noqa: ANN401 - as above
    found: str | None = connection.execute("SELECT obj_description(to_regclass('alembic_version'), 'pg_class')").fetchone()[0]
    return found


def quoted(name: str) -> str:
    """Quote a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
