"""A streaming query to plain SQL that sqlglot reads: what only streaming SQL has is put aside under stand-in names.

Each token becomes a line of its own, so that a complaint about the plain text names a place in the original.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, SqlglotError
from sqlglot.parser import Parser as _Parser
from sqlglot.tokenizer_core import TokenType

from lineage_bridge.sql.cursor import Cursor, StatementError, closing, folded, parts
from lineage_bridge.sql.functions import UNITS
from lineage_bridge.sql.tokens import Kind, Token, words

STAND_IN = "\x01"
"""What the name of a stand-in begins with."""

RESERVED = words(
    """ALL AND ANY AS ASC BETWEEN BY CASE CROSS CUBE DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FROM FULL GROUP HAVING ILIKE IN
    INNER INTERSECT IS JOIN LATERAL LEFT LIKE LIMIT MINUS NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION QUALIFY RECURSIVE
    RIGHT ROLLUP SELECT SETS SOME THEN TRUE UNION UNKNOWN USING VALUES WHEN WHERE WINDOW WITH"""
)
"""Words that are never names unless they are quoted."""

_COMMAS = {
    "OVERLAY": {"PLACING", "FROM", "FOR"},
    "SUBSTRING": {"FROM", "FOR"},
    "POSITION": {"IN"},
    "TRIM": {"FROM"},
    "EXTRACT": {"FROM"},
    "JSON_OBJECT": {"VALUE"},
    "JSON_OBJECTAGG": {"VALUE"},
}
"""Words that part the arguments of a call."""

_DROPPED = {
    "JSON_OBJECT": {"KEY", "NULL", "ABSENT", "ON"},
    "JSON_OBJECTAGG": {"KEY", "NULL", "ABSENT", "ON"},
    "JSON_ARRAY": {"NULL", "ABSENT", "ON"},
    "JSON_ARRAYAGG": {"NULL", "ABSENT", "ON"},
    "TRIM": {"BOTH", "LEADING", "TRAILING"},
}
_CUT = {
    "JSON_VALUE": {"RETURNING", "DEFAULT", "NULL", "ERROR"},
    "JSON_QUERY": {"RETURNING", "WITH", "WITHOUT", "NULL", "EMPTY", "ERROR"},
    "JSON_EXISTS": {"TRUE", "FALSE", "UNKNOWN", "ERROR"},
    "CEIL": {"TO"},
    "FLOOR": {"TO"},
}
"""Words with which the arguments of a call end: what follows tells no column."""


class _Plain(Dialect):
    """Functions are calls by name: what they mean is this package's matter."""

    class Parser(_Parser):
        FUNCTIONS: ClassVar[dict[str, Callable[..., exp.Expr]]] = {}
        FUNCTION_PARSERS: ClassVar[dict[str, Callable[..., exp.Expr | None]]] = {
            name: _Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST")
        }
        NO_PAREN_FUNCTIONS: ClassVar[dict[TokenType, type[exp.Func]]] = {}


@dataclass(frozen=True)
class TableCall:
    """A function in place of a table, with its arguments."""

    token: Token
    function: str
    arguments: list[Sequence[Token]]
    ordinality: bool = False


@dataclass(frozen=True)
class Pattern:
    """MATCH_RECOGNIZE over a table: the tokens of the table and of what stands in the brackets."""

    token: Token
    table: Sequence[Token]
    body: Sequence[Token]


@dataclass
class Query:
    """A query as sqlglot has read it. `places`: line of the plain text, from 1, to token; none where the text is the original."""

    expression: exp.Expr
    stand_ins: dict[str, TableCall | Pattern]
    places: list[Token]
    times: list[Sequence[Token]] = field(default_factory=list)
    windowed: bool = False

    def place(self, expression: exp.Expr) -> Token | None:
        """Where an expression stands."""
        for part in expression.find_all(exp.Identifier):
            line, column = part.meta.get("line"), part.meta.get("col")
            if isinstance(line, int) and isinstance(column, int):
                return self.places[line - 1] if self.places else _token_at(line, column, part.name)
        return self.places[0] if self.places else None


def _token_at(line: int, column: int, text: str) -> Token:
    """Sqlglot tells where a token ends."""
    return Token(Kind.WORD, text, text.upper(), 0, 0, line, max(1, column - len(text) + 1))


class _Lowering:
    def __init__(self, tokens: Sequence[Token], *, ksql: bool) -> None:
        self.cursor = Cursor(tokens, folds=ksql)
        self.ksql = ksql
        self.rules = _BY_WORD[ksql]
        self.lines: list[str] = []
        self.places: list[Token] = []
        self.stand_ins: dict[str, TableCall | Pattern] = {}
        self.times: list[Sequence[Token]] = []
        self.windowed = False

    def emit(self, text: str, token: Token) -> None:
        self.lines.append(text)
        self.places.append(token)

    def stand_in(self, what: TableCall | Pattern) -> None:
        name = f"{STAND_IN}{len(self.stand_ins)}"
        self.stand_ins[name] = what
        self.emit(f'"{name}"', what.token)

    def run(self) -> None:
        while self.cursor.token is not None:
            self.step()

    def inside(self, tokens: Sequence[Token]) -> None:
        """Lower a stretch of tokens at this place."""
        outer, self.cursor = self.cursor, Cursor(tokens, folds=self.ksql)
        while self.cursor.token is not None:
            self.step()
        self.cursor = outer

    def step(self) -> None:
        cursor = self.cursor
        token = cursor.tokens[cursor.at]
        if any(cursor.sees(*seen) and act(self, token) for seen, act in self.rules.get(token.upper, ())):
            return
        cursor.at += 1
        if token.kind is Kind.STRING:
            self.emit("'" + token.text.replace("'", "''").replace("\n", " ") + "'", token)
        elif token.kind is Kind.NUMBER or token.kind is Kind.MARK:
            self.mark(token)
        elif token.kind is Kind.WORD and self.is_keyword(token):
            self.emit(token.upper, token)
        elif cursor.sees("(") and token.kind is not Kind.VARIABLE:
            self.call(token)
        else:
            self.emit(_quoted(folded(token, folds=self.ksql)), token)

    def mark(self, token: Token) -> None:
        if self.ksql and token.text == "->":
            self.emit(".", token)
        elif self.ksql and token.text == "=>":
            self.emit("->", token)
        elif token.text in (":=", "=>"):
            self.emit("=>", token)
        else:
            self.emit("!=" if token.text == "<>" else token.text, token)

    def is_keyword(self, token: Token) -> bool:
        """Whether a word is one of the language here, and not a name."""
        cursor, word = self.cursor, token.upper
        before = cursor.tokens[cursor.at - 2].upper if cursor.at > 1 else ""
        if before == "." or cursor.sees(".") or (word in ("LEFT", "RIGHT") and cursor.sees("(")):
            return False
        told = _TOLD_BY.get(word)
        return word in RESERVED if told is None else told(cursor, before)

    def call(self, token: Token) -> None:
        """A function and its arguments."""
        cursor = self.cursor
        name = token.upper or token.text
        self.emit(_quoted(name), token)
        opening = cursor.tokens[cursor.at]
        body = cursor.group()
        self.emit("(", opening)
        if name in _CUT:
            body = _before(body, _CUT[name])
        dropped, commas = _DROPPED.get(name, ()), _COMMAS.get(name, ())
        if dropped or commas:
            self.arguments(body, dropped, commas)
        else:
            self.inside(body)
        self.emit(")", cursor.tokens[cursor.at - 1])

    def arguments(self, body: Sequence[Token], dropped: Collection[str], commas: Collection[str]) -> None:
        stretch: list[Token] = []
        depth, first = 0, True
        for token in body:
            depth += (token.upper in ("(", "[")) - (token.upper in (")", "]"))
            if depth == 0 and token.upper in commas:
                if not first or stretch:
                    self.inside(stretch)
                    self.emit(",", token)
                stretch, first = [], False
            elif depth > 0 or token.upper not in dropped:
                stretch.append(token)
        self.inside(stretch)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""').replace("\n", " ") + '"'


def _before(tokens: Sequence[Token], ending: Collection[str]) -> Sequence[Token]:
    depth = 0
    for at, token in enumerate(tokens):
        depth += (token.upper in ("(", "[")) - (token.upper in (")", "]"))
        if depth == 0 and at and token.upper in ending:
            return tokens[:at]
    return tokens


def _frames(cursor: Cursor, before: str) -> bool:
    """ROWS and RANGE: of a window's frame, or of FETCH."""
    ahead = cursor.tokens[cursor.at : cursor.at + 2]
    counted = len(ahead) > 1 and ahead[1].upper == "PRECEDING"
    return counted or cursor.sees_any("BETWEEN", "UNBOUNDED", "CURRENT", "INTERVAL") or _counts(cursor, before)


def _counts(cursor: Cursor, before: str) -> bool:
    """ROW and ROWS: behind FETCH or OFFSET and a number."""
    earlier = cursor.tokens[cursor.at - 3].upper if cursor.at > 2 else ""
    return before in ("FETCH", "NEXT", "FIRST") or earlier in ("OFFSET", "NEXT", "FIRST")


_TOLD_BY: dict[str, Callable[[Cursor, str], bool]] = {
    "CURRENT": lambda cursor, _: cursor.sees("ROW"),
    "FILTER": lambda cursor, before: cursor.sees("(", "WHERE") and before == ")",
    "FIRST": lambda _, before: before in ("NULLS", "FETCH"),
    "FOLLOWING": lambda _, before: before not in ("SELECT", ",", "BY"),
    "GROUPING": lambda cursor, _: cursor.sees("SETS"),
    "LAST": lambda _, before: before == "NULLS",
    "NEXT": lambda _, before: before == "FETCH",
    "ONLY": lambda _, before: before in ("ROW", "ROWS"),
    "PRECEDING": lambda _, before: before not in ("SELECT", ",", "BY"),
    "RANGE": _frames,
    "ROW": lambda cursor, before: before == "CURRENT" or _counts(cursor, before),
    "ROWS": _frames,
    "SEMI": lambda cursor, _: cursor.sees("JOIN"),
    "ANTI": lambda cursor, _: cursor.sees("JOIN"),
    "UNBOUNDED": lambda cursor, _: cursor.sees_any("PRECEDING", "FOLLOWING"),
    "WITHIN": lambda cursor, _: cursor.sees("GROUP"),
}
"""Words that are of the language in some places only, by what stands around them."""


# What each beginning of something only streaming SQL has comes to; False where it is something else after all.


def _interval(self: _Lowering, token: Token) -> bool:
    cursor = self.cursor
    ahead = cursor.tokens[cursor.at + 1 : cursor.at + 4]
    if not ahead or ahead[0].kind not in (Kind.STRING, Kind.NUMBER):
        if not ahead or ahead[0].upper not in ("-", "+") or len(ahead) < 2:
            return False
        cursor.at += 1
    cursor.at += 2
    while cursor.token is not None and cursor.sees_any(*UNITS):
        cursor.at += 1
        if cursor.sees("("):
            cursor.group()
        if not cursor.takes("TO"):
            break
    self.emit("'interval'", token)
    return True


def _literal(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    """`DATE '2026-01-01'` and its like are strings to lineage."""
    cursor = self.cursor
    if cursor.at + 1 == len(cursor.tokens) or cursor.tokens[cursor.at + 1].kind is not Kind.STRING:
        return False
    cursor.at += 1
    return True


def _trailing_comma(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    raise StatementError("an expression is expected here", token)


def _array(self: _Lowering, token: Token) -> bool:
    self.cursor.at += 1
    self.emit("ARRAY", token)
    return True


def _cast(self: _Lowering, token: Token) -> bool:
    cursor = self.cursor
    cursor.at += 1
    opening = cursor.tokens[cursor.at]
    body = cursor.group()
    depth, split = 0, None
    for at, inner in enumerate(body):
        depth += (inner.upper in ("(", "[")) - (inner.upper in (")", "]"))
        if depth == 0 and inner.upper == "AS":
            split = at
    if split is None:
        raise StatementError("a CAST without AS", token)
    self.emit("CAST", token)
    self.emit("(", opening)
    self.inside(body[:split])
    self.emit("AS", body[split])
    self.emit("VARCHAR", body[split])
    self.emit(")", cursor.tokens[cursor.at - 1])
    return True


def _system_time(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    """FOR SYSTEM_TIME AS OF an expression: the time is one operand, with an interval added or taken away."""
    cursor = self.cursor
    cursor.demand("FOR", "SYSTEM_TIME", "AS", "OF")
    start = cursor.at
    cursor.next()
    while cursor.token is not None:
        if cursor.sees("."):
            cursor.at += 2
        elif cursor.sees("("):
            cursor.group()
        elif cursor.sees_any("-", "+"):
            cursor.at += 1
            if cursor.takes("INTERVAL"):
                cursor.at += 1
                if cursor.sees_any(*UNITS):
                    cursor.at += 1
            else:
                cursor.next()
        elif cursor.tokens[start].upper in ("TIMESTAMP", "DATE") and cursor.at == start + 1:
            cursor.at += 1
        else:
            break
    self.times.append(cursor.tokens[start : cursor.at])
    return True


def _table_function(self: _Lowering, token: Token) -> bool:
    """`TABLE(f(...))`, with LATERAL before it or not."""
    cursor = self.cursor
    start = cursor.at
    cursor.takes("LATERAL")
    if not cursor.takes("TABLE") or not cursor.sees("("):
        cursor.at = start
        return False
    body = cursor.group()
    self.stand_in(_called(body, token, folds=self.ksql))
    return True


def _called(tokens: Sequence[Token], token: Token, *, folds: bool) -> TableCall:
    inner = Cursor(tokens, folds=folds)
    function = inner.name()[-1] if len(tokens) > 1 else inner.identifier()
    if not inner.sees("("):
        raise StatementError("a table function is expected here", token)
    return TableCall(token, function.upper(), [_argument(part) for part in parts(inner.group())])


def _argument(tokens: Sequence[Token]) -> Sequence[Token]:
    """An argument without its name."""
    named = len(tokens) > 2 and tokens[0].is_name and tokens[1].upper in ("=>", ":=")
    return tokens[2:] if named else tokens


def _unnest(self: _Lowering, token: Token) -> bool:
    cursor = self.cursor
    cursor.at += 1
    body = cursor.group()
    self.stand_in(TableCall(token, "UNNEST", parts(body), cursor.takes("WITH", "ORDINALITY")))
    return True


def _is_json(self: _Lowering, token: Token) -> bool:
    """`IS JSON OBJECT` and its like ask no more of a value than `IS NULL` does."""
    cursor = self.cursor
    start = cursor.at
    cursor.at += 1
    cursor.takes("NOT")
    if not cursor.takes("JSON"):
        cursor.at = start
        return False
    if cursor.sees_any("OBJECT", "ARRAY", "SCALAR", "VALUE"):
        cursor.at += 1
    self.emit("IS", token)
    self.emit("NULL", token)
    return True


def _after_from(self: _Lowering, token: Token) -> bool:
    """FROM, JOIN or a comma: a function with a table among its arguments may follow, or a pattern over a table."""
    cursor = self.cursor
    word = token.upper
    ahead = cursor.at + 1
    tokens = cursor.tokens
    if ahead >= len(tokens) or not (tokens[ahead].is_name or tokens[ahead].upper == "("):
        return False
    end = _table_end(tokens, ahead)
    if end < len(tokens) and tokens[end].upper == "MATCH_RECOGNIZE":
        self.emit(word, token)
        cursor.at = end + 1
        table = tokens[ahead:end]
        self.stand_in(Pattern(tokens[end], table, cursor.group()))
        return True
    if (
        tokens[ahead].is_name
        and end < len(tokens)
        and tokens[end].upper == "("
        and tokens[end - 1].is_name
        and _speaks_of_a_table(tokens, end)
    ):
        self.emit(word, token)
        cursor.at = end
        cursor.group()
        self.stand_in(_called(tokens[ahead : cursor.at], tokens[ahead], folds=self.ksql))
        return True
    return False


def _table_end(tokens: Sequence[Token], start: int) -> int:
    """Where the name, or the query in brackets, that begins at a place ends, with an alias before MATCH_RECOGNIZE."""
    if tokens[start].upper == "(":
        close = closing(tokens, start)
        at = len(tokens) if close is None else close + 1
    else:
        at = start + 1
        while at + 1 < len(tokens) and tokens[at].upper == "." and tokens[at + 1].is_name:
            at += 2
    alias = at + 1 if at < len(tokens) and tokens[at].upper == "AS" else at
    if alias + 1 < len(tokens) and tokens[alias].is_name and tokens[alias + 1].upper == "MATCH_RECOGNIZE":
        return alias + 1
    return at


def _speaks_of_a_table(tokens: Sequence[Token], opening: int) -> bool:
    close = closing(tokens, opening)
    if close is None:
        return False
    for part in parts(tokens[opening + 1 : close]):
        value = _argument(part)
        if len(value) > 1 and (
            value[0].upper in ("TABLE", "DESCRIPTOR", "MODEL") or (value[0].upper == "(" and value[1].upper == "SELECT")
        ):
            return True
    return False


def _emit_clause(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    if not (self.cursor.sees("EMIT", "CHANGES") or self.cursor.sees("EMIT", "FINAL")):
        return False
    self.cursor.at += 2
    return True


def _within(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    cursor = self.cursor
    if cursor.sees("WITHIN", "GROUP"):
        return False
    cursor.at += 1
    if cursor.sees("("):
        cursor.group()
    else:
        cursor.at += 2
    if cursor.takes("GRACE", "PERIOD"):
        cursor.at += 2
    return True


def _window(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    cursor = self.cursor
    if not any(cursor.sees("WINDOW", kind, "(") for kind in ("TUMBLING", "HOPPING", "SESSION")):
        return False
    cursor.at += 2
    cursor.group()
    self.windowed = True
    return True


def _partition_by(self: _Lowering, token: Token) -> bool:  # noqa: ARG001 - as its siblings have it
    self.cursor.at += 2
    self.cursor.until("EMIT", "LIMIT", "GROUP", "HAVING")
    return True


_Rule = tuple[tuple[str, ...], Callable[[_Lowering, Token], bool]]
_RULES: list[_Rule] = [
    (("INTERVAL",), _interval),
    (("DATE",), _literal),
    (("TIME",), _literal),
    (("TIMESTAMP",), _literal),
    (("TIMESTAMP_LTZ",), _literal),
    ((",", "FROM"), _trailing_comma),
    (("ARRAY", "["), _array),
    (("MAP", "["), _array),
    (("CAST", "("), _cast),
    (("TRY_CAST", "("), _cast),
    (("FOR", "SYSTEM_TIME"), _system_time),
    (("LATERAL", "TABLE"), _table_function),
    (("TABLE", "("), _table_function),
    (("UNNEST", "("), _unnest),
    (("IS",), _is_json),
    (("FROM",), _after_from),
    (("JOIN",), _after_from),
    ((",",), _after_from),
    (("LATERAL",), _after_from),
]
_KSQL_RULES: list[_Rule] = [
    (("EMIT",), _emit_clause),
    (("WITHIN",), _within),
    (("WINDOW",), _window),
    (("PARTITION", "BY"), _partition_by),
]


_BY_WORD: dict[bool, dict[str, list[_Rule]]] = {
    ksql: {word: [rule for rule in rules if rule[0][0] == word] for word in {rule[0][0] for rule in rules}}
    for ksql, rules in ((False, _RULES), (True, [*_RULES, *_KSQL_RULES]))
}
"""Of ksqlDB or not, to the word that comes first, to the rules."""


def lowered(tokens: Sequence[Token], *, ksql: bool) -> Query:
    """The query that tokens spell. Raises StatementError."""
    made = _Lowering(tokens, ksql=ksql)
    made.run()
    expression = _parsed("\n".join(made.lines), made.places)
    return Query(expression, made.stand_ins, made.places, made.times, made.windowed)


def _parsed(text: str, places: Sequence[Token]) -> exp.Expr:
    try:
        found = _Plain().parse(text)
    except ParseError as err:
        told = err.errors[0] if err.errors else {}
        line = told.get("line")
        token = places[min(line, len(places)) - 1] if isinstance(line, int) and places else None
        raise StatementError(str(told.get("description") or "this is not understood").rstrip("."), token) from err
    except SqlglotError as err:
        raise StatementError(str(err).splitlines()[0], places[0] if places else None) from err
    if len(found) != 1 or found[0] is None or isinstance(found[0], exp.Command):
        raise StatementError("this is not understood", places[0] if places else None)
    return found[0]
