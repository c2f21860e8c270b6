"""Tokens to statements of Flink SQL and ksqlDB: what each defines, writes, reads and uses."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lineage_bridge.sql.catalog import Column, ColumnKind
from lineage_bridge.sql.cursor import Cursor, StatementError, parts
from lineage_bridge.sql.names import Name
from lineage_bridge.sql.tokens import Kind, Token, tokens, words


@dataclass(frozen=True)
class Define:
    """A table or stream as it is defined. `like`: the table it takes columns and options from; `query`: what fills it."""

    name: Name
    columns: list[Column] | None
    options: dict[str, str] = field(default_factory=dict)
    like: Name | None = None
    query: Sequence[Token] | None = None


@dataclass(frozen=True)
class DefineView:
    """A view with its query, and the names of its columns or none."""

    name: Name
    columns: tuple[str, ...]
    query: Sequence[Token]


@dataclass(frozen=True)
class DefineModel:
    """A model and the columns it gives; None where they are not told."""

    name: Name
    outputs: tuple[str, ...] | None
    query: Sequence[Token] | None = None


@dataclass(frozen=True)
class DefineAgent:
    """An agent and the model that it uses."""

    model: Name


@dataclass(frozen=True)
class DefineCatalog:
    """A catalog with its options."""

    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class Insert:
    """Rows of a query go into a table. `columns`: the list given, or none; `fixed`: columns of a partition with one value."""

    target: Name
    columns: tuple[str, ...]
    fixed: tuple[str, ...]
    query: Sequence[Token] | None


@dataclass(frozen=True)
class Update:
    """Rows of a table are set to new values, or, without assignments, deleted."""

    target: Name
    assignments: list[tuple[str, Sequence[Token]]]
    where: Sequence[Token]


@dataclass(frozen=True)
class Ask:
    """A query whose rows go to whoever asks."""

    query: Sequence[Token]


@dataclass(frozen=True)
class Use:
    """The catalog (`whole`) or database that shorter names mean from now on."""

    name: Name
    whole: bool


@dataclass(frozen=True)
class ChangeColumns:
    """A table has more columns from now on, others no more, and one goes by another name."""

    table: Name
    added: list[Column]
    dropped: tuple[str, ...] = ()
    renamed: tuple[str, str] | None = None


@dataclass(frozen=True)
class Rename:
    """A table goes by another name from now on."""

    table: Name
    to: Name


@dataclass(frozen=True)
class Drop:
    """A table, view or model is no more."""

    name: Name


@dataclass(frozen=True)
class Other:
    """A statement that moves no data and defines no table."""


Statement = (
    Define | DefineView | DefineModel | DefineAgent | DefineCatalog | Insert | Update | Ask | Use | ChangeColumns | Rename | Drop | Other
)

_INERT = words(
    """ADD ALTER ANALYZE ASSERT BEGIN CALL CHECK CLEAR COMMIT COMPILE DEFINE DESC DESCRIBE EXECUTE EXPLAIN EXPORT GRANT HELP HISTORY IMPORT
    JAR KILL LIST LOAD PAUSE PRINT QUIT REFRESH REMOVE RESET RESTORE RESUME REVOKE RUN SET SHOW SPOOL STOP TERMINATE TRUNCATE UNDEFINE
    UNLOAD UNSET"""
)
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "("})
_TABLE_WORDS = (("TABLE",), ("STREAM",), ("SOURCE", "TABLE"), ("SOURCE", "STREAM"), ("MATERIALIZED", "TABLE"), ("EXTERNAL", "TABLE"))
_TABLE_PARTS = ("COMMENT", "PARTITIONED", "DISTRIBUTED", "CLUSTERED", "FRESHNESS", "REFRESH_MODE", "START_MODE")
_CONSTRAINTS = frozenset({"WATERMARK", "PRIMARY", "CONSTRAINT", "UNIQUE", "PERIOD"})


def split(text: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """The statements of a script, without statement sets around them; `DEFINE name = 'text'` is put in where `${name}` stands."""
    defined: dict[str, str] = {}
    start = 0
    for at in range(len(text) + 1):
        if at < len(text) and text[at].upper != ";":
            continue
        statement = _bare(_joined([inner for token in text[start:at] for inner in _put_in(token, defined)]))
        start = at + 1
        if len(statement) == 4 and statement[0].upper == "DEFINE" and statement[2].upper == "=" and statement[3].kind is Kind.STRING:
            defined[statement[1].text] = statement[3].text
        elif statement:
            yield statement


def _put_in(token: Token, defined: dict[str, str]) -> list[Token]:
    if token.kind is Kind.STRING and "${" in token.text:
        text = token.text
        for name, value in defined.items():
            text = text.replace(f"${{{name}}}", value)
        return [Token(token.kind, text, "", token.start, token.end, token.line, token.column)]
    if token.kind is not Kind.VARIABLE or token.text[2:-1] not in defined:
        return [token]
    said = tokens(defined[token.text[2:-1]])
    return [Token(inner.kind, inner.text, inner.upper, token.start, token.end, token.line, token.column) for inner in said]


def _joined(statement: list[Token]) -> list[Token]:
    """Words without a space between them are one: a variable's value may be a part of a name."""
    found: list[Token] = []
    for token in statement:
        last = found[-1] if found else token
        if found and last.end == token.start and last.kind is Kind.WORD and token.kind in (Kind.WORD, Kind.NUMBER):
            found[-1] = Token(Kind.WORD, last.text + token.text, last.upper + token.upper, last.start, token.end, last.line, last.column)
        else:
            found.append(token)
    return found


def _bare(statement: list[Token]) -> list[Token]:
    cursor = Cursor(statement)
    while True:
        if (
            cursor.takes("EXECUTE", "STATEMENT", "SET", "BEGIN")
            or cursor.takes("EXECUTE", "STATEMENT", "SET")
            or cursor.takes("BEGIN", "STATEMENT", "SET")
        ):
            continue
        if cursor.sees("EXECUTE") and not cursor.sees("EXECUTE", "PLAN") and not cursor.sees("EXECUTE", "IMMEDIATE"):
            cursor.at += 1
            continue
        if cursor.sees("COMPILE", "PLAN") or cursor.sees("COMPILE", "AND"):
            cursor.until("FOR")
            cursor.takes("FOR")
            cursor.takes("STATEMENT", "SET", "BEGIN")
            continue
        break
    left = list(cursor.rest())
    return [] if [token.upper for token in left] == ["END"] else left


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
    columns = list(_columns(cursor.group(), folds=cursor.folds)) if cursor.sees("(") else None
    options: dict[str, str] = {}
    like: Name | None = None
    while cursor.token is not None:
        if cursor.takes("WITH"):
            options = _options(cursor)
        elif cursor.takes("LIKE"):
            like = cursor.name()
            if cursor.sees("("):
                cursor.group()
        elif cursor.takes("AS"):
            return Define(name, columns, options, like, cursor.rest())
        elif cursor.sees_any(*_TABLE_PARTS):
            cursor.at += 1
            cursor.until("WITH", "AS", "LIKE", *_TABLE_PARTS)
        else:
            raise cursor.error("WITH, AS, LIKE or another part of a table's definition is expected here")
    return Define(name, columns, options, like)


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
    kind = ColumnKind.PHYSICAL
    while cursor.token is not None:
        if cursor.sees("("):
            cursor.group()
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
    return Column(name, kind)


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
    if not any(cursor.takes(*words) for words in _TABLE_WORDS):
        return Other()
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
