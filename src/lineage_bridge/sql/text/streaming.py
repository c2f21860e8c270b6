"""Lowers the constructs that only streaming SQL has: sets them aside, or leaves them out, so that sqlglot can parse the rest of a query.

Each function handles one construct, if it begins at the given token; otherwise the function returns False.
"""

from collections.abc import Collection, Sequence

from lineage_bridge.sql.columns.functions import UNITS
from lineage_bridge.sql.text.cursor import StatementError, closing
from lineage_bridge.sql.text.ksqldb import KSQLDB_RULES
from lineage_bridge.sql.text.lowering import Lowering, Rule
from lineage_bridge.sql.text.plain import Pattern, Query, parsed
from lineage_bridge.sql.text.table_functions import has_table_argument, table_call, table_function, unnest
from lineage_bridge.sql.text.tokens import Kind, Token


def _interval(self: Lowering, token: Token) -> bool:
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


def _literal(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    """Lower literals such as `DATE '2026-01-01'` to strings, which have the same lineage."""
    cursor = self.cursor
    if cursor.at + 1 == len(cursor.tokens) or cursor.tokens[cursor.at + 1].kind is not Kind.STRING:
        return False
    cursor.at += 1
    return True


def _trailing_comma(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    raise StatementError("an expression is expected here", token)


def _nothing_selected(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    raise StatementError("an expression is expected here, not 'FROM'", self.cursor.tokens[self.cursor.at + 1])


def _array(self: Lowering, token: Token) -> bool:
    self.cursor.at += 1
    self.emit("ARRAY", token)
    return True


def _cast(self: Lowering, token: Token) -> bool:
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


def _system_time(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    """Lower FOR SYSTEM_TIME AS OF. The time is an operand, to which an interval may be added or subtracted."""
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


def _explicit_table(self: Lowering, token: Token) -> bool:
    """Lower the query `TABLE t` to `SELECT * FROM t`."""
    cursor = self.cursor
    ahead = cursor.tokens[cursor.at + 1 :]
    before = self.lines[-1] if self.lines else ""
    if before not in _BEFORE_QUERIES or not ahead or not ahead[0].is_name:
        return False
    cursor.at += 1
    for word in ("SELECT", "*", "FROM"):
        self.emit(word, token)
    return True


def _is_json(self: Lowering, token: Token) -> bool:
    """Lower predicates such as `IS JSON OBJECT` to `IS NULL`, which has the same lineage."""
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


def _after_from(self: Lowering, token: Token) -> bool:
    """Lower the tokens after FROM, JOIN or a comma, which may be a table function or a table with MATCH_RECOGNIZE."""
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
        and has_table_argument(tokens, end)
    ):
        if word != "LATERAL":
            self.emit(word, token)
        cursor.at = end
        cursor.group()
        self.stand_in(table_call(tokens[ahead : cursor.at], tokens[ahead], folds=self.ksql))
        return True
    return False


def _table_end(tokens: Sequence[Token], start: int) -> int:
    """The index after the name or parenthesized query that begins at `start`, and after its alias if MATCH_RECOGNIZE follows."""
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


def _similar_to(self: Lowering, token: Token) -> bool:
    """Lower `SIMILAR TO` to `LIKE`, which has the same lineage."""
    self.cursor.at += 2
    self.emit("LIKE", token)
    return True


def _overlaps(self: Lowering, token: Token) -> bool:
    """Lower `(a, b) OVERLAPS (c, d)` to a comparison, which has the same lineage."""
    cursor = self.cursor
    if not cursor.at or cursor.tokens[cursor.at - 1].upper != ")":
        return False
    cursor.at += 1
    self.emit("=", token)
    return True


def _symmetric(self: Lowering, token: Token) -> bool:
    """Leave out SYMMETRIC after BETWEEN: the compared columns are the same without it."""
    self.cursor.at += 2
    self.emit("BETWEEN", token)
    return True


def _sample(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    """Leave out TABLESAMPLE: it selects rows at random and uses no columns."""
    cursor = self.cursor
    start = cursor.at
    cursor.at += 1
    if not cursor.takes("SYSTEM") and not cursor.takes("BERNOULLI"):
        cursor.at = start
        return False
    cursor.group()
    if cursor.takes("REPEATABLE"):
        cursor.group()
    return True


_BEFORE_QUERIES = frozenset({"(", "UNION", "EXCEPT", "INTERSECT", "MINUS", "ALL", "DISTINCT", ""})
"""The tokens after which a query inside another query begins."""

_RULES: list[Rule] = [
    (("INTERVAL",), _interval),
    (("DATE",), _literal),
    (("TIME",), _literal),
    (("TIMESTAMP",), _literal),
    (("TIMESTAMP_LTZ",), _literal),
    ((",", "FROM"), _trailing_comma),
    (("SELECT", "FROM"), _nothing_selected),
    (("ARRAY", "["), _array),
    (("MAP", "["), _array),
    (("CAST", "("), _cast),
    (("TRY_CAST", "("), _cast),
    (("FOR", "SYSTEM_TIME"), _system_time),
    (("LATERAL", "TABLE"), table_function),
    (("TABLE", "("), table_function),
    (("TABLE",), _explicit_table),
    (("UNNEST", "("), unnest),
    (("IS",), _is_json),
    (("SIMILAR", "TO"), _similar_to),
    (("TABLESAMPLE",), _sample),
    (("BETWEEN", "SYMMETRIC"), _symmetric),
    (("BETWEEN", "ASYMMETRIC"), _symmetric),
    (("OVERLAPS", "("), _overlaps),
    (("OVERLAPS", "PERIOD"), _overlaps),
    (("FROM",), _after_from),
    (("JOIN",), _after_from),
    ((",",), _after_from),
    (("LATERAL",), _after_from),
]

_BY_WORD: dict[bool, dict[str, list[Rule]]] = {
    ksql: {word: [rule for rule in rules if rule[0][0] == word] for word in {rule[0][0] for rule in rules}}
    for ksql, rules in ((False, _RULES), (True, [*_RULES, *KSQLDB_RULES]))
}
"""The rules by dialect (whether it is ksqlDB) and first word."""


def lowered(tokens: Sequence[Token], *, ksql: bool, keywords: Collection[str] = ()) -> Query:
    """Lower the tokens of a query, and parse the result. `keywords`: further keywords, for other statements. Raises StatementError."""
    made = Lowering(tokens, _BY_WORD[ksql], ksql=ksql, keywords=keywords)
    made.run()
    expression = parsed("\n".join(made.lines), made.line_tokens)
    return Query(expression, made.stand_ins, made.line_tokens, made.times, made.windowed, made.partition_by)
