"""A statement's tokens to what it says."""

from collections.abc import Callable, Iterator, Sequence

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import Column, ColumnKind
from lineage_bridge.sql.statements.statements import (
    Ask,
    ChangeColumns,
    Define,
    DefineAgent,
    DefineCatalog,
    DefineModel,
    DefineView,
    Drop,
    Insert,
    Other,
    Rename,
    Statement,
    Update,
    Use,
)
from lineage_bridge.sql.text.cursor import Cursor, StatementError, parts
from lineage_bridge.sql.text.tokens import Kind, Token, words

_INERT = words(
    """ADD ALTER ANALYZE ASSERT BEGIN CALL CHECK CLEAR COMMIT COMPILE DEFINE DESC DESCRIBE EXECUTE EXPLAIN EXPORT GRANT HELP HISTORY IMPORT
    JAR KILL LIST LOAD PAUSE PRINT QUIT REFRESH REMOVE RESET RESTORE RESUME REVOKE RUN SET SHOW SPOOL STOP TERMINATE TRUNCATE UNDEFINE
    UNLOAD UNSET"""
)
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "("})
_TABLE_WORDS = (("TABLE",), ("STREAM",), ("SOURCE", "TABLE"), ("SOURCE", "STREAM"), ("MATERIALIZED", "TABLE"), ("EXTERNAL", "TABLE"))
_TABLE_PARTS = ("COMMENT", "PARTITIONED", "DISTRIBUTED", "CLUSTERED", "FRESHNESS", "REFRESH_MODE", "START_MODE")
_BEHIND_TYPES = words("METADATA AS COMMENT NOT NULL PRIMARY KEY UNIQUE CONSTRAINT HEADERS HEADER")
_CONSTRAINTS = frozenset({"WATERMARK", "PRIMARY", "CONSTRAINT", "UNIQUE", "PERIOD"})


def parse(statement: Sequence[Token], *, ksql: bool) -> Statement:
    """What a statement says. Raises StatementError."""
    cursor = Cursor(statement, folds=ksql)
    token = statement[0]
    word = token.upper or token.text
    if word in _QUERIES:
        return Ask(cursor.rest())
    read = _READERS.get(word)
    if read is not None:
        return read(cursor)
    if word in _INERT:
        return Other()
    raise StatementError(f"no statement begins with {token.text}", token)


def _create(cursor: Cursor) -> Statement:
    for word in ("CREATE", "OR", "REPLACE", "ALTER", "TEMPORARY", "TEMP"):
        cursor.takes(word)
    if any(cursor.takes(*kind) for kind in _TABLE_WORDS):
        return _create_table(cursor)
    if cursor.takes("MATERIALIZED", "VIEW") or cursor.takes("VIEW"):
        return _create_view(cursor)
    if cursor.takes("MODEL"):
        return _create_model(cursor)
    if cursor.takes("AGENT"):
        cursor.until("MODEL")
        return DefineAgent(cursor.name()) if cursor.takes("MODEL") else Other()
    if cursor.takes("CATALOG"):
        _existence(cursor)
        name = cursor.identifier()
        cursor.until("WITH")
        return DefineCatalog(name, _options(cursor) if cursor.takes("WITH") else {})
    return Other()


def _existence(cursor: Cursor) -> None:
    if cursor.takes("IF"):
        cursor.takes("NOT")
        cursor.demand("EXISTS")


def _create_table(cursor: Cursor) -> Statement:
    _existence(cursor)
    name = cursor.name()
    inside = cursor.group() if cursor.sees("(") else None
    columns = None if inside is None else list(_columns(inside, folds=cursor.folds))
    keys = _primary(inside or (), folds=cursor.folds)
    options: dict[str, str] = {}
    like: Name | None = None
    comment = ""
    while cursor.token is not None:
        if cursor.takes("WITH"):
            options = _options(cursor)
        elif cursor.takes("LIKE"):
            like = cursor.name()
            if cursor.sees("("):
                cursor.group()
        elif cursor.takes("AS"):
            return Define(name, columns, options, like, cursor.rest(), keys, comment)
        elif cursor.sees_any(*_TABLE_PARTS):
            word = cursor.next().upper
            part = Cursor(cursor.until("WITH", "AS", "LIKE", *_TABLE_PARTS), folds=cursor.folds)
            if word == "COMMENT" and part.token is not None:
                comment = part.token.text
            elif word == "DISTRIBUTED":
                part.until("(")
                keys = _names(part.group(), folds=cursor.folds) if part.sees("(") else keys
        else:
            raise cursor.error("WITH, AS, LIKE or another part of a table's definition is expected here")
    return Define(name, columns, options, like, None, keys, comment)


def _primary(inside: Sequence[Token], *, folds: bool) -> tuple[str, ...]:
    """The columns of the primary key: of a constraint, or those that say so of themselves."""
    found: tuple[str, ...] = ()
    for part in parts(inside):
        cursor = Cursor(part, folds=folds)
        cursor.until("PRIMARY")
        if cursor.takes("PRIMARY", "KEY"):
            found += _names(cursor.group(), folds=folds) if cursor.sees("(") else (Cursor(part, folds=folds).identifier(),)
    return found


def _options(cursor: Cursor) -> dict[str, str]:
    if not cursor.sees("("):
        raise cursor.error("( is expected here")
    found = {}
    for part in parts(cursor.group()):
        if len(part) >= 3 and part[1].upper == "=":
            found[part[0].text if part[0].kind is Kind.STRING else part[0].text.lower()] = "".join(token.text for token in part[2:])
    return found


def _columns(inside: Sequence[Token], *, folds: bool) -> Iterator[Column]:
    for part in parts(inside):
        if not part or (
            part[0].upper in _CONSTRAINTS and len(part) > 1 and (part[0].upper == "CONSTRAINT" or part[1].upper in ("FOR", "KEY", "("))
        ):
            continue
        cursor = Cursor(part, folds=folds)
        yield _column(cursor)


def _column(cursor: Cursor) -> Column:
    name = cursor.identifier()
    if cursor.takes("AS"):
        return Column(name, ColumnKind.COMPUTED, _expression(cursor))
    type_ = _type(cursor)
    kind = ColumnKind.PHYSICAL
    comment = ""
    while cursor.token is not None:
        if cursor.sees("("):
            cursor.group()
        elif cursor.takes("COMMENT"):
            comment = cursor.string()
        elif cursor.takes("METADATA"):
            if cursor.takes("FROM"):
                cursor.string()
            kind = ColumnKind.VIRTUAL if cursor.takes("VIRTUAL") else ColumnKind.METADATA
        elif cursor.takes("AS") and cursor.token is not None:
            return Column(name, ColumnKind.COMPUTED, _expression(cursor))
        elif cursor.sees("HEADERS") or cursor.sees("HEADER"):
            cursor.at += 1
            kind = ColumnKind.VIRTUAL
        else:
            cursor.at += 1
    return Column(name, kind, type=type_, comment=comment)


def _type(cursor: Cursor) -> str:
    """The type of a column, as it is written; what stands behind it is left."""
    start, open_angles = cursor.at, 0
    while (token := cursor.token) is not None and (open_angles or token.upper not in _BEHIND_TYPES):
        open_angles += (token.text == "<") - (token.text == ">")
        if token.upper == "(":
            cursor.group()
        else:
            cursor.at += 1
    written = ""
    for token in cursor.tokens[start : cursor.at]:
        apart = written and written[-1] not in "<(" and token.text not in ("<", ">", "(", ")", ",")
        written += (" " if apart else "") + (f"'{token.text}'" if token.kind is Kind.STRING else token.text)
    return written


def _expression(cursor: Cursor) -> Sequence[Token]:
    found = cursor.rest()
    for at in range(len(found) - 1):
        if found[at].upper == "COMMENT" and found[at + 1].kind is Kind.STRING:
            return found[:at]
    return found


def _names(inside: Sequence[Token], *, folds: bool) -> tuple[str, ...]:
    """The first names of a list: of columns with comments, or of field paths."""
    return tuple(Cursor(part, folds=folds).identifier() for part in parts(inside) if part)


def _create_view(cursor: Cursor) -> Statement:
    _existence(cursor)
    name = cursor.name()
    columns = _names(cursor.group(), folds=cursor.folds) if cursor.sees("(") else ()
    if cursor.takes("COMMENT"):
        cursor.string()
    if cursor.takes("WITH"):
        _options(cursor)
    cursor.demand("AS")
    return DefineView(name, columns, cursor.rest())


def _create_model(cursor: Cursor) -> Statement:
    _existence(cursor)
    name = cursor.name()
    outputs: tuple[str, ...] | None = None
    while cursor.token is not None:
        if cursor.takes("OUTPUT"):
            outputs = _names(cursor.group(), folds=cursor.folds)
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
            columns = _names(cursor.group(), folds=cursor.folds)
        elif cursor.folds and cursor.sees("WITH", "("):
            cursor.at += 1
            cursor.group()
        else:
            break
    if cursor.sees("VALUES"):
        return Insert(target, columns, fixed, _values_query(cursor))
    if cursor.token is None:
        raise cursor.error("a query is expected here")
    return Insert(target, columns, fixed, cursor.rest())


def _values_query(cursor: Cursor) -> Sequence[Token] | None:
    """VALUES bring rows of their own; only with a query among them do they read anything."""
    found = cursor.rest()
    return found if any(token.upper == "SELECT" for token in found) else None


def _opens_query(cursor: Cursor) -> bool:
    at = cursor.at
    while at < len(cursor.tokens) and cursor.tokens[at].upper == "(":
        at += 1
    return at < len(cursor.tokens) and cursor.tokens[at].upper in ("SELECT", "WITH", "VALUES")


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
    return _alter_table(cursor)


def _alter_view(cursor: Cursor) -> Statement:
    _existence(cursor)
    name = cursor.name()
    return DefineView(name, (), cursor.rest()) if cursor.takes("AS") else Other()


def _alter_table(cursor: Cursor) -> Statement:
    _existence(cursor)
    name = cursor.name()
    if cursor.takes("RENAME", "TO"):
        return Rename(name, cursor.name())
    if cursor.takes("RENAME"):
        cursor.takes("COLUMN")
        old = cursor.identifier()
        cursor.demand("TO")
        return ChangeColumns(name, [], renamed=(old, cursor.identifier()))
    if cursor.sees("ADD"):
        added: list[Column] = []
        for part in parts(cursor.rest()):
            inner = Cursor(part, folds=cursor.folds)
            inner.takes("ADD")
            inner.takes("COLUMN")
            added += _columns(inner.group() if inner.sees("(") else inner.rest(), folds=cursor.folds)
        return ChangeColumns(name, added)
    if cursor.takes("DROP") and not cursor.sees_any("PRIMARY", "CONSTRAINT", "WATERMARK", "DISTRIBUTION", "PARTITION"):
        cursor.takes("COLUMN")
        inside = cursor.group() if cursor.sees("(") else cursor.rest()
        return ChangeColumns(name, [], _names(inside, folds=cursor.folds))
    return Other()


def _drop(cursor: Cursor) -> Statement:
    cursor.demand("DROP")
    cursor.takes("TEMPORARY")
    if not (any(cursor.takes(*words) for words in _TABLE_WORDS) or cursor.takes("VIEW") or cursor.takes("MODEL")):
        return Other()
    _existence(cursor)
    return Drop(cursor.name())


_READERS: dict[str, Callable[[Cursor], Statement]] = {
    "CREATE": _create,
    "REPLACE": _create,
    "INSERT": _insert,
    "UPDATE": _update,
    "DELETE": _update,
    "USE": _use,
    "ALTER": _alter,
    "DROP": _drop,
}
"""How a statement is read, by its first word."""
