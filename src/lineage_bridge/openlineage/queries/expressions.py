"""Reads the common table expressions of a query without a parser: their names, and the columns that they take over from one table.

The time is proportional to the text, so this can be done for each event. Columns that an expression computes are only known to be computed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

_TOKEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*(?:'|\Z)|"[^"]*"|`[^`]*`|\[[^\]]*\]|\w+|[^\s\w]""",
    re.DOTALL,
)
"""The tokens of a query that are read: comments, literals, names, and punctuation marks. A doubled quote in a string literal begins another
literal.
"""
_COMMENTS = ("--", "/*")
_SIGNPOST = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*(?:'|\Z)|"[^"]*"|`[^`]*`|\[[^\]]*\]|(?P<open>\()|(?P<close>\))"""
    r"""|(?P<with>w(?<!\ww)[iI][tT][hH](?!\w)|W(?<!\wW)[iI][tT][hH](?!\w))""",
    re.DOTALL,
)
"""What decides where common table expressions are, and what may contain its signs. Each alternative begins with a certain character, which
`re` looks for fast.
"""
_PARENTHESES = frozenset({"(", ")"})
_MODIFIERS = frozenset({"as", "not", "materialized"})
_CLAUSES = frozenset({"where", "qualify", "order", "limit"})
"""Clauses after FROM that leave the columns as they are."""
_SET_OPERATIONS = frozenset({"union", "except", "intersect", "minus"})
_RESERVED = _CLAUSES | _SET_OPERATIONS | {"join", "inner", "left", "right", "full", "cross", "natural", "group", "having", "window", "on"}
_NO_COLUMNS = frozenset(
    [
        "current_catalog",
        "current_date",
        "current_datetime",
        "current_role",
        "current_schema",
        "current_time",
        "current_timestamp",
        "current_user",
        "distinct",
        "false",
        "localtime",
        "localtimestamp",
        "not",
        "null",
        "session_user",
        "sysdate",
        "system_user",
        "systimestamp",
        "true",
        "user",
    ]
)
"""Words that are values or operators where a column may stand. An unquoted column that is called so counts as computed."""
_MOST_HOPS = 50
"""The maximum depth of nested expressions that is followed."""
_NESTING = 4
"""How many times the tokens of a query may be read again as parts of nested expressions."""
TableName = tuple[str, ...]


class _Token(NamedTuple):
    """A token of a query: a name without its quotes, a punctuation mark, or something else. `word` is an unquoted name in lower case."""

    name: str = ""
    mark: str = ""
    word: str = ""


class _Tokens(dict[str, _Token]):
    """The tokens by their texts, each made once, because words and marks repeat."""

    def __missing__(self, text: str) -> _Token:
        token = self[text] = _token(text)
        return token


class Expression(NamedTuple):
    """What a common table expression selects from `table`, which is empty if it selects from several tables or none.

    `columns` maps each of its columns, in lower case, to the column of the table (empty if the column is computed). `rest`: it also has all
    other columns of the table.
    """

    table: TableName
    columns: Mapping[str, str]
    rest: bool


_COMPUTED = Expression((), {}, rest=False)


def expressions_of(query: str) -> dict[str, Expression]:
    """The common table expressions of a query that have unqualified names, nested ones included, by their names in lower case.

    A name that is defined twice stands for a computed expression.
    """
    closing, begins = _signposts(query)
    found: dict[str, Expression] = {}
    tokens, left = _Tokens(), _NESTING * len(query)
    for start in begins:
        for name, first, end in _listed(query, closing, start):
            key = name.casefold()
            left -= end - first
            if name and "." not in name:
                found[key] = _COMPUTED if key in found or left < 0 else _selected([tokens[text] for text in _texts(query[first:end])])
    return found


def origin_of(expressions: Mapping[str, Expression], name: str, field: str) -> tuple[TableName, str] | None:
    """The table, in lower case, and the column of that table from which a column of an expression is taken over, directly or through other
    expressions; None if it is not taken over.
    """
    key = name.casefold()
    for _ in range(_MOST_HOPS):
        expression = expressions[key]
        field = expression.columns.get(field.casefold(), field if expression.rest else "")
        if not field or not expression.table:
            return None
        table = tuple(part.casefold() for part in expression.table)
        if len(table) > 1 or table[0] == key or table[0] not in expressions:
            return table, field
        key = table[0]
    return None


def _texts(query: str) -> list[str]:
    """The texts of a query's tokens, without comments."""
    found: list[str] = _TOKEN.findall(query)
    return [text for text in found if not text.startswith(_COMMENTS)] if any(sign in query for sign in _COMMENTS) else found


def _token(text: str) -> _Token:
    first = text[0]
    if first == "'" or first.isdecimal():
        return _Token()
    if first in '"`[' and len(text) > 1:
        return _Token(text[1:-1])
    return _Token(text, "", text.casefold()) if first.isalnum() or first == "_" else _Token("", text)


def _signposts(query: str) -> tuple[dict[int, int], list[int]]:
    """The position behind each opening parenthesis with that of the one that closes it, and the positions behind each WITH."""
    opened, closing, begins = list[int](), dict[int, int](), list[int]()
    for sign in _SIGNPOST.finditer(query):
        kind = sign.lastgroup
        if kind == "open":
            opened.append(sign.end())
        elif kind == "close" and opened:
            closing[opened.pop()] = sign.start()
        elif kind == "with":
            begins.append(sign.end())
    return closing, begins


def _listed(query: str, closing: Mapping[int, int], at: int) -> Iterator[tuple[str, int, int]]:
    """The names that a WITH clause defines, each with the positions of its query. These are equal if the clause renames the columns."""
    token, at = _token_at(query, at)
    if token.word == "recursive":
        token, at = _token_at(query, at)
    while token.name:
        name = token.name
        token, at = _token_at(query, at)
        renamed = at in closing
        if renamed:
            token, at = _token_at(query, closing[at] + 1)
        is_defined = token.word in _MODIFIERS
        while token.word in _MODIFIERS:
            token, at = _token_at(query, at)
        if not is_defined or at not in closing:
            return
        yield name, at, at if renamed else closing[at]
        token, at = _token_at(query, closing[at] + 1)
        if token.mark != ",":
            return
        token, at = _token_at(query, at)


def _token_at(query: str, at: int) -> tuple[_Token, int]:
    """The next token of a query from a position that is not inside one, and the position behind it."""
    while found := _TOKEN.search(query, at):
        at = found.end()
        if not found[0].startswith(_COMMENTS):
            return _token(found[0]), at
    return _Token(), len(query)


def _selected(body: Sequence[_Token]) -> Expression:
    """The columns that a query of the form SELECT ... FROM one table selects."""
    tokens = list(_outside(body)) if any(token.mark in _PARENTHESES for token in body) else body
    words = [token.word for token in tokens]
    if words[:1] != ["select"] or "from" not in words or not _SET_OPERATIONS.isdisjoint(words):
        return _COMPUTED
    at = words.index("from")
    table, alias = _source(tokens[at + 1 :])
    if not table:
        return _COMPUTED
    columns, rest = _projected(tokens[2 if words[1] in ("distinct", "all") else 1 : at], {alias.casefold(), table[-1].casefold()})
    return Expression(table, columns, rest)


def _outside(body: Sequence[_Token]) -> Iterator[_Token]:
    """The tokens that are not in parentheses. Each pair of parentheses is represented by the opening one."""
    depth = 0
    for token in body:
        depth -= token.mark == ")"
        if not depth and token.mark != ")":
            yield token
        depth += token.mark == "("


def _source(tokens: Sequence[_Token]) -> tuple[TableName, str]:
    """The table after FROM and its alias; an empty name if anything follows that changes columns."""
    table: list[str] = []
    at = 0
    while at < len(tokens) and tokens[at].name and tokens[at].word not in _RESERVED:
        table.append(tokens[at].name)
        at += 1
        if at >= len(tokens) or tokens[at].mark != ".":
            break
        at += 1
    at += at < len(tokens) and tokens[at].word == "as"
    alias = ""
    if at < len(tokens) and tokens[at].name and tokens[at].word not in _RESERVED:
        alias, at = tokens[at].name, at + 1
    over = at == len(tokens) or tokens[at].word in _CLAUSES
    return (tuple(table), alias) if table and over else ((), "")


def _projected(tokens: Sequence[_Token], relations: set[str]) -> tuple[dict[str, str], bool]:
    """The columns of a SELECT list, and whether it contains `*`. If the name of one column is not known, there are no columns."""
    columns: dict[str, str] = {}
    rest = False
    commas = [at for at, token in enumerate(tokens) if token.mark == ","]
    for before, end in zip([-1, *commas], [*commas, len(tokens)], strict=True):
        if end - before == 2 and (word := tokens[end - 1].word) and word not in _NO_COLUMNS:
            columns[word] = tokens[end - 1].name
            continue
        name, column = _column(tokens[before + 1 : end], relations)
        if column == "*":
            rest = True
        elif not name:
            return {}, False
        else:
            columns[name.casefold()] = column
    return columns, rest


def _column(projection: Sequence[_Token], relations: set[str]) -> tuple[str, str]:
    """The name of a projected column (empty if unknown), and the source column (empty if computed; `*` for a star)."""
    bare = list(projection)
    if len(bare) > 2 and bare[1].mark == "." and bare[0].name.casefold() in relations:
        bare = bare[2:]
    plain = bool(bare) and bare[0].word not in _NO_COLUMNS
    shape = ["*" if token.mark == "*" else "name" if token.name else token.mark for token in bare]
    if shape == ["*"]:
        return "", "*"
    if plain and shape == ["name"]:
        return bare[0].name, bare[0].name
    if plain and (shape == ["name", "name"] or (shape == ["name"] * 3 and bare[1].word == "as")):
        return bare[-1].name, bare[0].name
    named = len(bare) > 2 and bare[-2].word == "as"
    return (bare[-1].name if named or shape in (["name"], ["name", "name"]) else ""), ""
