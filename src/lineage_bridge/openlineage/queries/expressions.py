"""Reads the common table expressions of a query without a parser: their names, and the columns that they take over from one table.

The time is proportional to the text, so this can be done for each event. Columns that an expression computes are only known to be computed.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from lineage_bridge.openlineage.queries.tokens import (
    Parentheses,
    closed_brackets,
    ends_of_with,
    name_of,
    starts_of,
    token_at,
    tokens_of,
)

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
_LONGEST_PLAIN = 3
"""The tokens of a column under another name: `a as b`."""
TableName = tuple[str, ...]


class Expression(NamedTuple):
    """What a common table expression selects from `table`, which is empty if it selects from several tables or none.

    `columns` maps each of its columns, in lower case, to the column of the table (empty if the column is computed). `rest`: it also has all
    other columns of the table.
    """

    table: TableName
    columns: Mapping[str, str]
    rest: bool


_COMPUTED = Expression((), {}, rest=False)


class _Body(NamedTuple):
    """The name of an expression, and where its query starts and ends; its end is its start if the clause renames its columns."""

    name: str
    start: int
    end: int


class _Expressions(Mapping[str, Expression]):
    """The expressions of a query by their names in lower case. An expression is read when it is first asked for."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._read: dict[str, Expression] = {}

    def __getitem__(self, name: str) -> Expression:
        found = self._read.get(name)
        if found is None:
            found = self._read[name] = _selected(self._texts[name])
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._texts

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


def expressions_of(query: str) -> Mapping[str, Expression]:
    """The common table expressions of a query that have unqualified names, nested ones included, by their names in lower case.

    A name that is defined twice stands for a computed expression.
    """
    text = closed_brackets(query)
    bodies = list(_bodies(text))
    found: dict[str, str] = {}
    for body, is_read in zip(bodies, _read_ones(text, bodies), strict=True):
        key = body.name.casefold()
        if "." not in body.name:
            found[key] = text[body.start : body.end] if is_read and key not in found else ""
    return _Expressions(found)


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


def _bodies(text: str) -> Iterator[_Body]:
    """The expressions that the WITH clauses of a query define, in the order of the clauses."""
    parentheses = Parentheses(text)
    seen, repeated = set[int](), set[int]()  # a name of an expression can itself be the word WITH
    for at in ends_of_with(text):
        for start, body in _listed(text, parentheses, at):
            if start in repeated:
                break
            (repeated if start in seen else seen).add(start)
            yield body


def _listed(text: str, parentheses: Parentheses, at: int) -> Iterator[tuple[int, _Body]]:
    """The expressions that a WITH clause defines, each with the position of its name. `at` is the position behind WITH."""
    part, start, end = token_at(text, at)
    if part.casefold() == "recursive":
        part, start, end = token_at(text, end)
    while name := name_of(part):
        part, opens, end = token_at(text, end)
        renamed = parentheses.closing(opens)
        if renamed:
            part, opens, end = token_at(text, renamed + 1)
        words = opens
        while part.casefold() in _MODIFIERS:
            part, opens, end = token_at(text, end)
        closes = parentheses.closing(opens) if opens != words else 0
        if not closes:
            return
        yield start, _Body(name, end, end if renamed else closes)
        part, _, end = token_at(text, closes + 1)
        if part != ",":
            return
        part, start, end = token_at(text, end)


def _read_ones(text: str, bodies: Sequence[_Body]) -> Iterable[bool]:
    """For each expression, whether it is read: the tokens of a query are only read again so many times as parts of nested expressions."""
    if _depth(bodies) <= _NESTING:
        return [True] * len(bodies)
    starts = starts_of(text)
    left = _NESTING * len(starts)
    found: list[bool] = []
    for body in bodies:
        left -= bisect_left(starts, body.end) - bisect_left(starts, body.start)
        found.append(left >= 0)
    return found


def _depth(bodies: Iterable[_Body]) -> int:
    """How many expressions are within each other at most."""
    deepest = 0
    ends: list[int] = []
    for _, start, end in sorted(bodies, key=lambda body: (body.start, -body.end)):
        while ends and ends[-1] <= start:
            ends.pop()
        ends.append(end)
        deepest = max(deepest, len(ends))
    return deepest


def _selected(text: str) -> Expression:
    """The columns that a query of the form SELECT ... FROM one table selects."""
    tokens = list(_outside(tokens_of(text))) if "(" in text else tokens_of(text)
    words = {part: part.casefold() for part in set(tokens)}
    found = [tokens.index(part) for part, word in words.items() if word == "from"]
    if not found or words[tokens[0]] != "select" or not _SET_OPERATIONS.isdisjoint(words.values()):
        return _COMPUTED
    at = min(found)
    table, alias = _source(tokens[at + 1 :])
    if not table:
        return _COMPUTED
    first = 2 if words[tokens[1]] in ("distinct", "all") else 1
    columns, rest = _projected(tokens[first:at], {alias.casefold(), table[-1].casefold()})
    return Expression(table, columns, rest)


def _outside(tokens: Iterable[str]) -> Iterator[str]:
    """The tokens that are not in parentheses. Each pair of parentheses is represented by the opening one."""
    depth = 0
    for part in tokens:
        depth -= part == ")"
        if not depth and part != ")":
            yield part
        depth += part == "("


def _source(tokens: Sequence[str]) -> tuple[TableName, str]:
    """The table after FROM and its alias; an empty name if anything follows that changes columns."""
    table: list[str] = []
    at = 0
    while at < len(tokens) and (name := name_of(tokens[at])) and tokens[at].casefold() not in _RESERVED:
        table.append(name)
        at += 1
        if at >= len(tokens) or tokens[at] != ".":
            break
        at += 1
    at += at < len(tokens) and tokens[at].casefold() == "as"
    alias = ""
    if at < len(tokens) and (name := name_of(tokens[at])) and tokens[at].casefold() not in _RESERVED:
        alias, at = name, at + 1
    over = at == len(tokens) or tokens[at].casefold() in _CLAUSES
    return (tuple(table), alias) if table and over else ((), "")


def _projected(tokens: Sequence[str], relations: set[str]) -> tuple[dict[str, str], bool]:
    """The columns of a SELECT list, and whether it contains `*`. If the name of one column is not known, there are no columns."""
    columns: dict[str, str] = {}
    rest = False
    known: dict[str, tuple[str, str]] = {}  # most columns are a single token
    commas = [-1, *(at for at, part in enumerate(tokens) if part == ","), len(tokens)]
    for before, end in pairwise(commas):
        part = tokens[before + 1] if end - before == 2 else ""
        name, column = known.get(part) or _column(tokens[before + 1 : end], relations)
        if column == "*":
            rest = True
        elif not name:
            return {}, False
        else:
            columns[name.casefold()] = column
        if part:
            known[part] = name, column
    return columns, rest


def _column(projection: Sequence[str], relations: set[str]) -> tuple[str, str]:
    """The name of a projected column (empty if unknown), and the source column (empty if computed; `*` for a star)."""
    bare = projection
    if len(bare) > 2 and bare[1] == "." and name_of(bare[0]).casefold() in relations:
        bare = bare[2:]
    if list(bare) == ["*"]:
        return "", "*"
    names = [name_of(part) for part in bare] if len(bare) <= _LONGEST_PLAIN else []
    is_short = 0 < len(names) < _LONGEST_PLAIN and all(names)
    is_named = len(bare) > 2 and bare[-2].casefold() == "as"
    if (is_short or (is_named and names and all(names))) and bare[0].casefold() not in _NO_COLUMNS:
        return names[-1], names[0]
    return (name_of(bare[-1]) if is_short or is_named else ""), ""
