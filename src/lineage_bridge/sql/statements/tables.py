"""Parses the definition of a table: its columns, keys, options and comment."""

from collections.abc import Iterator, Sequence

from lineage_bridge.sql.names import Name
from lineage_bridge.sql.statements.catalog import ColumnKind, TableColumn
from lineage_bridge.sql.statements.statement_types import DefineTable
from lineage_bridge.sql.text.cursor import Cursor, StatementError, parts
from lineage_bridge.sql.text.tokens import Kind, Token, words

_TABLE_PARTS = ("COMMENT", "PARTITIONED", "DISTRIBUTED", "CLUSTERED", "FRESHNESS", "REFRESH_MODE", "START_MODE")
_BEHIND_TYPES = words("METADATA AS COMMENT NOT NULL PRIMARY KEY UNIQUE CONSTRAINT HEADERS HEADER")
_TYPES = words(
    """ARRAY BIGINT BINARY BOOLEAN BYTES CHAR DATE DECIMAL DOUBLE FLOAT INT INTEGER MAP MULTISET NUMERIC ROW SMALLINT STRING STRUCT TIME
    TIMESTAMP TIMESTAMP_LTZ TINYINT VARBINARY VARCHAR"""
)
_IN_TYPES = words("LOCAL WITH WITHOUT")
_CONSTRAINTS = frozenset({"WATERMARK", "PRIMARY", "CONSTRAINT", "UNIQUE", "PERIOD"})


def table_definition(cursor: Cursor, *, is_stream: bool = False) -> DefineTable:
    """Parse the definition of a table or stream, from the position after CREATE TABLE or CREATE STREAM. Raises StatementError."""
    skip_if_exists(cursor)
    name = cursor.name()
    inside = cursor.group() if cursor.sees("(") else None
    columns = None if inside is None else list(columns_of_table(inside, folds=cursor.folds))
    keys = _primary_key(inside or (), folds=cursor.folds)
    options: dict[str, str] = {}
    like: Name | None = None
    comment = ""
    while cursor.token is not None:
        if cursor.takes("WITH"):
            options = options_of(cursor)
        elif cursor.takes("LIKE"):
            like = cursor.name()
            if cursor.sees("("):
                cursor.group()
        elif cursor.takes("AS"):
            demand_query(cursor)
            return DefineTable(name, columns, options, like, cursor.rest(), keys, comment, is_stream)
        elif cursor.sees_any(*_TABLE_PARTS):
            word = cursor.next().upper
            part = Cursor(cursor.until("WITH", "AS", "LIKE", *_TABLE_PARTS), folds=cursor.folds)
            if word == "COMMENT" and part.token is not None:
                comment = part.token.text
            elif word == "DISTRIBUTED":
                part.until("(")
                keys = names_in(part.group(), folds=cursor.folds) if part.sees("(") else keys
        else:
            raise cursor.error("WITH, AS, LIKE or another part of a table's definition is expected here")
    return DefineTable(name, columns, options, like, None, keys, comment, is_stream)


def demand_query(cursor: Cursor) -> None:
    """Check that a query follows AS. Raises StatementError otherwise."""
    if cursor.token is None:
        raise StatementError("a query is expected after AS", None)


def _primary_key(inside: Sequence[Token], *, folds: bool) -> tuple[str, ...]:
    """The columns of the primary key: those in a constraint, or those marked PRIMARY KEY (in ksqlDB also KEY)."""
    found: tuple[str, ...] = ()
    for part in parts(inside):
        cursor = Cursor(part, folds=folds)
        if folds and len(part) > 1 and part[-1].upper == "KEY" and part[-2].upper != "PRIMARY":
            found += (Cursor(part, folds=folds).identifier(),)
            continue
        cursor.until("PRIMARY")
        if cursor.takes("PRIMARY", "KEY"):
            found += names_in(cursor.group(), folds=folds) if cursor.sees("(") else (Cursor(part, folds=folds).identifier(),)
    return found


def options_of(cursor: Cursor) -> dict[str, str]:
    """Parse the options in the brackets after WITH. Raises StatementError."""
    if not cursor.sees("("):
        raise cursor.error("'(' is expected here")
    found = {}
    for part in parts(cursor.group()):
        if any(token.upper == "=" for token in part[3:]):
            raise Cursor(part[3:]).error("',' or ')' is expected here")
        if len(part) >= 3 and part[1].upper == "=":
            found[part[0].text if part[0].kind is Kind.STRING else part[0].text.lower()] = "".join(token.text for token in part[2:])
    return found


def columns_of_table(inside: Sequence[Token], *, folds: bool) -> Iterator[TableColumn]:
    """Parse the columns in a list of columns and constraints. Raises StatementError."""
    for part in parts(inside):
        if not part or (
            part[0].upper in _CONSTRAINTS and len(part) > 1 and (part[0].upper == "CONSTRAINT" or part[1].upper in ("FOR", "KEY", "("))
        ):
            if part and part[0].upper == "PRIMARY" and len(part) > 2 and part[2].upper != "(":
                raise Cursor(part[2:]).error("'(' is expected here")
            continue
        cursor = Cursor(part, folds=folds)
        yield _column(cursor)


def _column(cursor: Cursor) -> TableColumn:
    name = cursor.identifier()
    if cursor.takes("AS"):
        return TableColumn(name, ColumnKind.COMPUTED, _expression(cursor))
    start = cursor.at
    type_ = _type(cursor)
    type_tokens = cursor.tokens[start : cursor.at]
    _demand_single_type(type_tokens)
    kind = ColumnKind.PHYSICAL
    comment = ""
    while cursor.token is not None:
        if cursor.sees("("):
            cursor.group()
        elif cursor.takes("COMMENT"):
            comment = cursor.string()
        elif cursor.takes("METADATA"):
            if cursor.takes("FROM") and cursor.next().kind not in (Kind.STRING, Kind.NAME):
                cursor.at -= 1
                raise cursor.error("a string is expected here")
            kind = ColumnKind.VIRTUAL if cursor.takes("VIRTUAL") else ColumnKind.METADATA
        elif cursor.takes("AS") and cursor.token is not None:
            return TableColumn(name, ColumnKind.COMPUTED, _expression(cursor))
        elif cursor.sees("HEADERS") or cursor.sees("HEADER"):
            cursor.at += 1
            kind = ColumnKind.VIRTUAL
        elif _begins_column(cursor):
            raise cursor.error("',' or ')' is expected here")
        else:
            cursor.at += 1
    return TableColumn(name, kind, type=type_, comment=comment, type_tokens=type_tokens)


def _begins_column(cursor: Cursor) -> bool:
    """Whether a name and a type come next, which begin another column: the comma before them is then missing."""
    name, *types = cursor.tokens[cursor.at : cursor.at + 2]
    return name.is_name and name.upper not in _BEHIND_TYPES and any(type_.upper in _TYPES for type_ in types)


def _type(cursor: Cursor) -> str:
    """Parse the type of a column: the tokens up to the first one that is not part of a type."""
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


def _demand_single_type(type_tokens: Sequence[Token]) -> None:
    """Check that tokens are a single type. If a name and a type follow it, a comma between columns is missing. Raises StatementError."""
    depth = 0
    for at, token in enumerate(type_tokens[:-2]):
        depth += (token.text == "<") - (token.text == ">")
        name, after = type_tokens[at + 1 : at + 3]
        follows = depth == 0 and (token.upper in _TYPES or token.upper == ")")
        if follows and name.is_name and name.upper not in _TYPES | _IN_TYPES and after.upper in _TYPES:
            raise Cursor(type_tokens[at + 1 :]).error("',' or ')' is expected here")


def _expression(cursor: Cursor) -> Sequence[Token]:
    found = cursor.rest()
    for at in range(len(found) - 1):
        if found[at].upper == "COMMENT" and found[at + 1].kind is Kind.STRING:
            return found[:at]
    return found


def names_in(inside: Sequence[Token], *, folds: bool) -> tuple[str, ...]:
    """The first name of each element of a list. Comments of columns and names of fields are ignored."""
    return tuple(Cursor(part, folds=folds).identifier() for part in parts(inside) if part)


def skip_if_exists(cursor: Cursor) -> None:
    """Skip IF EXISTS or IF NOT EXISTS, if it comes next."""
    if cursor.takes("IF"):
        cursor.takes("NOT")
        cursor.demand("EXISTS")
