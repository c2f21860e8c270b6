"""Recognises table functions among the tokens of a query."""

from collections.abc import Sequence

from lineage_bridge.sql.text.cursor import Cursor, StatementError, closing, parts
from lineage_bridge.sql.text.lowering import Lowering
from lineage_bridge.sql.text.plain import Argument, TableCall
from lineage_bridge.sql.text.tokens import Token


def table_function(self: Lowering, token: Token) -> bool:
    """Lower `TABLE(f(...))`, which may follow LATERAL."""
    cursor = self.cursor
    start = cursor.at
    cursor.takes("LATERAL")
    if not cursor.takes("TABLE") or not cursor.sees("("):
        cursor.at = start
        return False
    body = cursor.group()
    self.stand_in(table_call(body, token, folds=self.ksql))
    return True


def table_call(tokens: Sequence[Token], token: Token, *, folds: bool) -> TableCall:
    """Parse tokens as a call of a table function: its name, and its arguments in brackets. Raises StatementError."""
    inner = Cursor(tokens, folds=folds)
    function = inner.name()[-1] if len(tokens) > 1 else inner.identifier()
    if not inner.sees("("):
        raise StatementError("a table function is expected here", token)
    return TableCall(token, function.upper(), [_argument(part) for part in parts(inner.group())])


def _argument(tokens: Sequence[Token]) -> Argument:
    """Parse an argument, which may be preceded by its name."""
    named = len(tokens) > 2 and tokens[0].is_name and tokens[1].upper in ("=>", ":=")
    return Argument(tokens[0].text.upper(), tokens[2:]) if named else Argument("", tokens)


def has_table_argument(tokens: Sequence[Token], opening: int) -> bool:
    """Whether the brackets at `opening` contain an argument that only a table function can have."""
    close = closing(tokens, opening)
    if close is None:
        return False
    for part in parts(tokens[opening + 1 : close]):
        value = _argument(part).tokens
        if len(value) > 1 and (
            value[0].upper in ("TABLE", "DESCRIPTOR", "MODEL") or (value[0].upper == "(" and value[1].upper == "SELECT")
        ):
            return True
    return False


def unnest(self: Lowering, token: Token) -> bool:
    """Lower `UNNEST(...)`, which WITH ORDINALITY may follow to number the rows."""
    cursor = self.cursor
    cursor.at += 1
    body = cursor.group()
    self.stand_in(TableCall(token, "UNNEST", [Argument("", part) for part in parts(body)], cursor.takes("WITH", "ORDINALITY")))
    return True
