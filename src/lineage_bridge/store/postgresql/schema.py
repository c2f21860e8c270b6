"""Creates, checks and drops the tables of the graph store in a schema of PostgreSQL."""

import hashlib
import logging
import re
from functools import cache
from typing import Any, Final

from lineage_bridge.errors import StoreError, StoreMissingError, StoreVersionError
from lineage_bridge.store.postgresql.long_texts import KEY_TEXT, NAME_ORDER, indexed
from lineage_bridge.store.schema.sqlite import GRAPH

SEARCH: Final = tuple(
    statement
    for index in ("node_search", "node_search_text")
    for statement in (
        f"CREATE TABLE {index} (id BIGINT PRIMARY KEY, words TSVECTOR NOT NULL)",
        f"CREATE INDEX {index}_by_words ON {index} USING gin (words) WITH (gin_pending_list_limit = 256)",
    )
)
"""The indexes that search reads. PostgreSQL sorts new entries into them later, and each question also reads the entries that are not
sorted yet: up to 4 MB by PostgreSQL's default, 256 kB here.
"""

_BY_NAME: Final = "CREATE INDEX node_in_order ON node (name_order(namespace, name), kind)"
"""The index that lists of nodes are read by, in the order of their names."""
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


MARK: Final = "LineageBridge: the graph, computed from the event log"
"""The beginning of the comment of each table. A table without it belongs to another program."""
BESIDE: Final = "LineageBridge: a graph that is being computed again"
"""The same for tables of a second schema, which replace those of the graph when they are complete."""
_MARKED: Final = """SELECT c.relname, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND n.nspname = current_schema()"""
_OUR_FUNCTIONS: Final = """SELECT p.oid::regprocedure::text, obj_description(p.oid, 'pg_proc') FROM pg_proc p
JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = current_schema()"""
_VIEWS: Final = """SELECT DISTINCT v.oid::regclass::text FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid
JOIN pg_class v ON v.oid = r.ev_class
JOIN pg_class c ON c.oid = d.refobjid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass AND v.oid <> c.oid AND c.relkind IN ('r', 'p')
AND n.nspname = current_schema() AND obj_description(c.oid, 'pg_class') LIKE %s ORDER BY 1"""
FUNCTIONS: Final = ("glob_pattern(TEXT)", "key_text(TEXT)", "long_key_text(TEXT)", "name_order(TEXT, TEXT)")
_DROP_WAIT: Final = "5s"
"""How long dropping tables waits for questions that read them, because new questions wait meanwhile. The pipeline tries again."""
_log = logging.getLogger(__name__)


def create(connection: Any, schema: str = "", owner: str = "", mark: str = MARK) -> None:  # noqa: ANN401 - psycopg is an extra
    """Create the tables in one transaction, and the schema if it is missing. Tables that are as expected are kept.

    Tables of an earlier version, or that somebody has changed, are dropped and created again: the graph is then computed again from the
    log. `connection` is a psycopg connection without an open transaction; `schema` is the schema to use (empty: the connection's own). The
    comment of each table consists of `mark` and `owner`. Raises StoreVersionError for tables of a newer version, StoreError for those of
    another program. Safe in many processes at once.
    """
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(hashtext(coalesce(nullif(%s, ''), current_schema())))", (schema,))
        if schema:
            create_schema(connection, schema)
        if found_version(connection) is None:
            reason = "tables are missing"
        elif not (reason := unexpected(connection, _digest())):
            return
        connection.execute(f"SET LOCAL lock_timeout = '{_DROP_WAIT}'")
        if drop(connection):
            _log.warning("the graph in PostgreSQL is emptied and computed again from the log: %s", reason)
        for statement in statements():
            connection.execute(statement)
        connection.execute("INSERT INTO alembic_version VALUES (%s)", (GRAPH.version,))
        mark_tables(connection, owner, mark)


def create_schema(connection: Any, schema: str) -> None:  # noqa: ANN401 - as above
    """Create a schema if it is missing."""
    if connection.execute("SELECT to_regnamespace(quote_ident(%s))", (schema,)).fetchone()[0] is None:
        connection.execute(f"CREATE SCHEMA {quoted(schema)}")


def mark_tables(connection: Any, owner: str, mark: str = MARK) -> None:  # noqa: ANN401 - as above
    """Write the comments of tables and functions after they were created."""
    for table in expected_columns():
        digest = f", {_digest()}" if table == "alembic_version" else ""
        connection.execute(f"COMMENT ON TABLE {quoted(table)} IS '{mark}{owner}{digest}'")
    for function in FUNCTIONS:
        connection.execute(f"COMMENT ON FUNCTION {function} IS '{mark}'")


def require_replaceable(connection: Any) -> None:  # noqa: ANN401 - as above
    """Check that the schema's tables can be replaced. Raises StoreVersionError if they are of a newer version, StoreError if the schema
    contains a table of another program, or a view that uses the tables.
    """
    found_version(connection)
    comments = {name: comment or "" for name, comment in connection.execute(_MARKED).fetchall()}
    for name in sorted(comments.keys() & expected_columns().keys()):
        if not comments[name].startswith(MARK):
            raise StoreError(f"the schema in PostgreSQL holds the table {name} of another program", "name an empty schema: store_schema")
    if views := [name for (name,) in connection.execute(_VIEWS, (f"{MARK}%",)).fetchall()]:
        raise StoreError(
            f"views use the graph's tables: {', '.join(views)}", "drop these views, and create them again after the tables were replaced"
        )


def drop(connection: Any, mark: str = MARK) -> bool:  # noqa: ANN401 - as above
    """Drop the tables and functions that have this mark; returns whether there were such tables. Everything else in the schema is kept."""
    ours = graph_tables(connection, mark)
    if ours:
        connection.execute(f"DROP TABLE {', '.join(map(quoted, ours))}")
    functions = [name for name, comment in connection.execute(_OUR_FUNCTIONS).fetchall() if (comment or "").startswith(mark)]
    if functions:
        connection.execute(f"DROP FUNCTION {', '.join(functions)}")
    return bool(ours)


def marks(connection: Any, mark: str = MARK) -> dict[str, str]:  # noqa: ANN401 - as above
    """The comments of the tables that LineageBridge created with this mark, by table name."""
    return {name: comment for name, comment in connection.execute(_MARKED).fetchall() if (comment or "").startswith(mark)}


def graph_tables(connection: Any, mark: str = MARK) -> list[str]:  # noqa: ANN401 - as above
    """The names of the tables that `marks` finds."""
    return sorted(marks(connection, mark))


def require_tables(connection: Any) -> None:  # noqa: ANN401 - as above
    """Check that the schema has the tables of a graph. Raises StoreMissingError if it has none, StoreVersionError if they are of
    another version.
    """
    found = found_version(connection)
    if found is None:
        raise StoreMissingError("there is no graph store in PostgreSQL", "start the server, which creates it: lineage-bridge serve")
    if found != GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} in PostgreSQL has schema {found or 'none'}, this version reads {GRAPH.version}",
            "start the server: the pipeline computes the graph again from the log",
        )


def unexpected(connection: Any, digest: str) -> str:  # noqa: ANN401 - as above
    """The differences between the schema's tables and those that this version creates; empty if there are none. `digest` is the digest of
    the statements that create the tables. Additional objects, such as an index that somebody has added, are ignored.
    """
    if (found := found_version(connection)) != GRAPH.version:
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
    made = ["CREATE TABLE alembic_version (version_num VARCHAR(32) PRIMARY KEY)", GLOB_PATTERN, *KEY_TEXT, NAME_ORDER, *SEARCH]
    for table in METADATA.tables.values():
        texts = frozenset(column.name for column in table.columns if isinstance(column.type, Text))
        made += _with_text_key(str(CreateTable(table).compile(dialect=dialect)), table.name, texts)
        for index in sorted(table.indexes, key=lambda index: str(index.name)):
            sql = str(CreateIndex(index).compile(dialect=dialect))
            made.append(_COLUMNS.sub(lambda found: f"({indexed(found[1], texts)})", sql, count=1))  # noqa: B023 - called at once
    return [*made, _BY_NAME]


def _with_text_key(sql: str, table: str, texts: frozenset[str]) -> list[str]:
    """The statements that create a table. If the key contains texts, it becomes a separate index, in which long texts are possible."""
    key = _PRIMARY_KEY.search(sql)
    columns = indexed(key[1], texts) if key else ""
    if "key_text(" not in columns:
        return [sql]
    return [_PRIMARY_KEY.sub("", sql), f'CREATE UNIQUE INDEX {table}_key ON "{table}" ({columns})']


def expected_columns() -> dict[str, dict[str, str]]:
    """The columns of each table, with their types as PostgreSQL writes them."""
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


def found_version(connection: Any) -> str | None:  # noqa: ANN401 - as above
    """The version of the schema's tables, empty if they do not state one; None if there are no tables.

    Raises StoreVersionError for a newer version, StoreError for another program's tables.
    """
    if connection.execute("SELECT to_regclass('alembic_version')").fetchone()[0] is None:
        return None
    if not (_comment(connection) or "").startswith(MARK):
        raise StoreError("the schema in PostgreSQL holds tables of another program", "name an empty schema, or a new one: store_schema")
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    found = str(row[0]) if row else ""
    if found > GRAPH.version:
        raise StoreVersionError(
            f"the {GRAPH.name} in PostgreSQL has schema {found}, this version knows {GRAPH.version}", "install the version that wrote it"
        )
    return found


@cache
def _digest() -> str:
    """The digest of all statements that create tables, indexes and functions."""
    return hashlib.sha256("\n".join(statements()).encode()).hexdigest()


def _comment(connection: Any) -> str | None:  # noqa: ANN401 - as above
    found: str | None = connection.execute("SELECT obj_description(to_regclass('alembic_version'), 'pg_class')").fetchone()[0]
    return found


def quoted(name: str) -> str:
    """Quote a name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'
