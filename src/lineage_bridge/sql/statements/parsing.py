"""Parsing the tokens of a statement."""

from collections.abc import Callable, Sequence

from lineage_bridge.sql.statements.alterations import table_change
from lineage_bridge.sql.statements.statement_types import (
    DefineAgent,
    DefineCatalog,
    DefineModel,
    DefineType,
    DefineView,
    Drop,
    Insert,
    Merge,
    Other,
    SelectRows,
    Statement,
    Update,
    Use,
)
from lineage_bridge.sql.statements.tables import demand_query, names_in, options_of, skip_if_exists, table_definition
from lineage_bridge.sql.text.cursor import Cursor, StatementError, parts
from lineage_bridge.sql.text.tokens import Token, words

_WITHOUT_EFFECT = words(
    """ADD ALTER ANALYZE ASSERT BEGIN CALL CHECK CLEAR COMMIT COMPILE DEFINE DESC DESCRIBE EXECUTE EXPLAIN EXPORT GRANT HELP HISTORY IMPORT
    JAR KILL LIST LOAD PAUSE PRINT QUIT REFRESH REGISTER REMOVE RESET RESTORE RESUME REVOKE RUN SET SHOW SPOOL STOP TERMINATE TRUNCATE
    UNDEFINE UNLOAD UNSET"""
)
_OTHER_OBJECTS = words(
    "ARTIFACT CONNECTION CONNECTOR DATABASE FUNCTION MODULE SCHEMA SECRET SINK SOURCE STATISTICS SYSTEM TAG TOOL TYPE USER IF"
)
"""What CREATE makes that neither holds nor moves data."""
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "("})
_TABLE_WORDS = (("TABLE",), ("STREAM",), ("SOURCE", "TABLE"), ("SOURCE", "STREAM"), ("MATERIALIZED", "TABLE"), ("EXTERNAL", "TABLE"))


def parse(statement: Sequence[Token], *, ksql: bool) -> Statement:
    """Parse the tokens of a statement. `ksql`: whether it is one of ksqlDB. Raises StatementError."""
    cursor = Cursor(statement, folds=ksql)
    token = statement[0]
    word = token.upper or token.text
    if word in _QUERIES:
        return SelectRows(cursor.rest())
    read = _PARSERS.get(word)
    if read is not None:
        return read(cursor)
    if word in _WITHOUT_EFFECT:
        return Other()
    prompt = next((at for at, following in enumerate(statement[:4]) if following.upper == ">"), None)
    if prompt is not None:
        text = " ".join(before.text for before in statement[:prompt])
        raise StatementError(f"'{text}>' is the prompt of a console: remove it", token)
    if token.upper in ("+", "|", "[") or (ksql and token.upper == "MESSAGE") or _is_heading(statement):
        raise StatementError("this line is what a console printed, not SQL: remove it", token)
    raise StatementError(f"no statement begins with '{token.text}'", token)


def _is_heading(statement: Sequence[Token]) -> bool:
    """Whether a statement that begins with an unknown word is the heading of a table (`Stream Name | Kafka Topic`) or `Job ID: ...`."""
    line = [token.upper for token in statement if token.line == statement[0].line]
    return "|" in line or line[:3] == ["JOB", "ID", ":"]


def _create(cursor: Cursor) -> Statement:
    for word in ("CREATE", "OR", "REPLACE", "ALTER", "TEMPORARY", "TEMP"):
        cursor.takes(word)
    kind = next((kind for kind in _TABLE_WORDS if cursor.takes(*kind)), None)
    if kind is not None:
        return table_definition(cursor, is_stream=kind[-1] == "STREAM")
    if cursor.takes("MATERIALIZED", "VIEW") or cursor.takes("VIEW"):
        return _create_view(cursor)
    if cursor.takes("MODEL"):
        return _create_model(cursor)
    if cursor.takes("AGENT"):
        cursor.until("MODEL")
        return DefineAgent(cursor.name()) if cursor.takes("MODEL") else Other()
    return _create_other(cursor)


def _create_other(cursor: Cursor) -> Statement:
    if cursor.folds and cursor.takes("TYPE"):
        return _create_type(cursor)
    if cursor.takes("CATALOG"):
        return _create_catalog(cursor)
    if not cursor.sees_any(*_OTHER_OBJECTS):
        raise cursor.error("TABLE, STREAM, VIEW, MODEL, FUNCTION or another kind of object is expected here")
    return Other()


def _create_type(cursor: Cursor) -> Statement:
    skip_if_exists(cursor)
    name = cursor.identifier()
    cursor.demand("AS")
    return DefineType(name, cursor.rest())


def _create_catalog(cursor: Cursor) -> Statement:
    skip_if_exists(cursor)
    name = cursor.identifier()
    cursor.until("WITH")
    return DefineCatalog(name, options_of(cursor) if cursor.takes("WITH") else {})


def _create_view(cursor: Cursor) -> Statement:
    skip_if_exists(cursor)
    name = cursor.name()
    columns = names_in(cursor.group(), folds=cursor.folds) if cursor.sees("(") else ()
    if cursor.takes("COMMENT"):
        cursor.string()
    if cursor.takes("WITH"):
        options_of(cursor)
    cursor.demand("AS")
    demand_query(cursor)
    return DefineView(name, columns, cursor.rest())


def _create_model(cursor: Cursor) -> Statement:
    skip_if_exists(cursor)
    name = cursor.name()
    outputs: tuple[str, ...] | None = None
    while cursor.token is not None:
        if cursor.takes("OUTPUT"):
            outputs = names_in(cursor.group(), folds=cursor.folds)
        elif cursor.takes("AS"):
            return DefineModel(name, outputs, cursor.rest())
        elif cursor.sees("("):
            cursor.group()
        else:
            cursor.at += 1
    return DefineModel(name, outputs)


def _insert(cursor: Cursor) -> Statement:
    cursor.demand("INSERT")
    if not (cursor.takes("INTO") or cursor.takes("OVERWRITE")):
        raise cursor.error("INTO or OVERWRITE is expected here")
    cursor.takes("TABLE")
    target = cursor.name()
    columns: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    while cursor.token is not None:
        if cursor.takes("PARTITION"):
            inside = [part for part in parts(cursor.group()) if part]
            fixed = tuple(Cursor(part, folds=cursor.folds).identifier() for part in inside if len(part) > 1)
        elif cursor.sees("(") and not _opens_query(cursor):
            columns = names_in(cursor.group(), folds=cursor.folds)
        elif cursor.folds and cursor.sees("WITH", "("):
            cursor.at += 1
            cursor.group()
        else:
            break
    if cursor.sees("VALUES"):
        return Insert(target, columns, fixed, _values_query(cursor))
    if cursor.token is None:
        raise cursor.error("a query is expected here")
    return Insert(target, columns, fixed, _without_conflict(cursor.rest()))


def _without_conflict(query: Sequence[Token]) -> Sequence[Token]:
    """The tokens of a query without a final `ON CONFLICT DO ...`, which states what happens to rows with the same key."""
    return query[:-4] if [token.upper for token in query[-4:-1]] == ["ON", "CONFLICT", "DO"] else query


def _values_query(cursor: Cursor) -> Sequence[Token] | None:
    """The tokens of a VALUES clause if it contains a query. Otherwise None, since it reads no table."""
    found = cursor.rest()
    return found if any(token.upper == "SELECT" for token in found) else None


def _opens_query(cursor: Cursor) -> bool:
    at = cursor.at
    while at < len(cursor.tokens) and cursor.tokens[at].upper == "(":
        at += 1
    words = [token.upper for token in cursor.tokens[at : at + 2]]
    return bool(words) and (words[0] in ("SELECT", "WITH", "VALUES") or (words[0] == "TABLE" and words[1:] not in ([")"], [","])))


def _update(cursor: Cursor) -> Statement:
    deletes = cursor.next().upper == "DELETE"
    if deletes:
        cursor.demand("FROM")
    target = cursor.name()
    assignments: list[tuple[str, Sequence[Token]]] = []
    if not deletes:
        cursor.demand("SET")
        for part in parts(cursor.until("WHERE")):
            inner = Cursor(part, folds=cursor.folds)
            column = inner.name()[-1]
            inner.demand("=")
            assignments.append((column, inner.rest()))
    cursor.takes("WHERE")
    return Update(target, assignments, cursor.rest())


def _use(cursor: Cursor) -> Statement:
    cursor.demand("USE")
    if cursor.takes("MODULES"):
        return Other()
    whole = cursor.takes("CATALOG")
    return Use(cursor.name() if cursor.token is None or cursor.token.is_name else (cursor.string(),), whole)


def _alter(cursor: Cursor) -> Statement:
    cursor.demand("ALTER")
    if cursor.takes("VIEW"):
        return _alter_view(cursor)
    if not any(cursor.takes(*words) for words in _TABLE_WORDS):
        return Other()
    return table_change(cursor)


def _alter_view(cursor: Cursor) -> Statement:
    skip_if_exists(cursor)
    name = cursor.name()
    return DefineView(name, (), cursor.rest()) if cursor.takes("AS") else Other()


def _drop(cursor: Cursor) -> Statement:
    cursor.demand("DROP")
    cursor.takes("TEMPORARY")
    if not (any(cursor.takes(*words) for words in _TABLE_WORDS) or cursor.takes("VIEW") or cursor.takes("MODEL")):
        return Other()
    skip_if_exists(cursor)
    return Drop(cursor.name())


_PARSERS: dict[str, Callable[[Cursor], Statement]] = {
    "CREATE": _create,
    "REPLACE": _create,
    "INSERT": _insert,
    "UPDATE": _update,
    "DELETE": _update,
    "MERGE": lambda cursor: Merge(cursor.rest()),
    "USE": _use,
    "ALTER": _alter,
    "DROP": _drop,
}
"""The parser of a statement, by its first word."""
