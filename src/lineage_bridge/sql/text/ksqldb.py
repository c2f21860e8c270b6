"""Lowers the constructs that only ksqlDB has. Each function handles one construct, if it begins at the given token; otherwise the function
returns False.
"""

from lineage_bridge.sql.text.cursor import folded
from lineage_bridge.sql.text.lowering import FIELD, Lowering, Rule, quoted
from lineage_bridge.sql.text.tokens import Kind, Token


def _emit_clause(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    if not (self.cursor.sees("EMIT", "CHANGES") or self.cursor.sees("EMIT", "FINAL")):
        return False
    self.cursor.at += 2
    return True


def _within(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    cursor = self.cursor
    if cursor.sees("WITHIN", "GROUP"):
        return False
    cursor.at += 1
    if cursor.sees("("):
        cursor.group()
    elif cursor.token is not None and cursor.token.kind in (Kind.NUMBER, Kind.VARIABLE):
        cursor.at += 2
    else:
        raise cursor.error("a duration is expected here")
    if cursor.takes("GRACE", "PERIOD"):
        cursor.at += 2
    return True


def _window(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    cursor = self.cursor
    if not any(cursor.sees("WINDOW", kind) for kind in ("TUMBLING", "HOPPING", "SESSION")):
        return False
    cursor.at += 2
    cursor.group()
    self.windowed = True
    return True


def _partition_by(self: Lowering, token: Token) -> bool:  # noqa: ARG001 - the signature of all rules
    self.cursor.at += 2
    self.partition_by = self.cursor.until("EMIT", "LIMIT", "GROUP", "HAVING")
    return True


def _field(self: Lowering, token: Token) -> bool:
    """Lower `struct->field` and `struct->*`."""
    cursor = self.cursor
    cursor.at += 1
    if cursor.sees_any("FROM", "AS") or not (cursor.sees("*") or (cursor.token is not None and cursor.token.is_name)):
        raise cursor.error("a field is expected here")
    field = cursor.next()
    self.emit(".", token)
    self.emit(quoted(FIELD + folded(field, folds=True)), field)
    return True


KSQLDB_RULES: list[Rule] = [
    (("EMIT",), _emit_clause),
    (("WITHIN",), _within),
    (("WINDOW",), _window),
    (("PARTITION", "BY"), _partition_by),
    (("->",), _field),
]
"""The rules of ksqlDB's own constructs."""
