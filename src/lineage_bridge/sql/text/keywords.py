"""Lists the words that are keywords rather than names, and those that separate or end the arguments of a call."""

from collections.abc import Callable

from lineage_bridge.sql.text.cursor import Cursor
from lineage_bridge.sql.text.tokens import Token, words

RESERVED = words(
    """ALL AND ANY AS ASC BETWEEN BY CASE CROSS CUBE DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FROM FULL GROUP HAVING ILIKE IN
    INNER INTERSECT IS JOIN LATERAL LEFT LIKE LIMIT MINUS NATURAL NOT NULL NULLS OFFSET ON OR ORDER OUTER OVER PARTITION QUALIFY RECURSIVE
    RIGHT ROLLUP SELECT SETS SOME THEN TRUE UNION UNKNOWN USING VALUES WHEN WHERE WINDOW WITH"""
)
"""Words that are never names unless they are quoted."""

MERGE_WORDS = words("DELETE INSERT INTO MATCHED MERGE SET UPDATE")
"""Keywords of MERGE beside those of queries."""

COMMAS = {
    "OVERLAY": {"PLACING", "FROM", "FOR"},
    "SUBSTRING": {"FROM", "FOR"},
    "POSITION": {"IN"},
    "TRIM": {"FROM"},
    "EXTRACT": {"FROM"},
    "JSON_OBJECT": {"VALUE"},
    "JSON_OBJECTAGG": {"VALUE"},
    "MAP": {":="},
}
"""Words that separate the arguments of a call."""

DROPPED = {
    "JSON_OBJECT": {"KEY", "NULL", "ABSENT", "ON"},
    "JSON_OBJECTAGG": {"KEY", "NULL", "ABSENT", "ON"},
    "JSON_ARRAY": {"NULL", "ABSENT", "ON"},
    "JSON_ARRAYAGG": {"NULL", "ABSENT", "ON"},
    "TRIM": {"BOTH", "LEADING", "TRAILING"},
}
"""Words in the arguments of a call that are not names of columns."""

ENDINGS = {
    "JSON_VALUE": {"RETURNING", "DEFAULT", "NULL", "ERROR"},
    "JSON_QUERY": {"RETURNING", "WITH", "WITHOUT", "NULL", "EMPTY", "ERROR"},
    "JSON_EXISTS": {"TRUE", "FALSE", "UNKNOWN", "ERROR"},
    "CEIL": {"TO"},
    "FLOOR": {"TO"},
}
"""Words that end the arguments of a call: what follows contains no column."""


def is_keyword(cursor: Cursor, token: Token) -> bool:
    """Whether the word that the cursor has just passed is a keyword."""
    word = token.upper
    before = cursor.tokens[cursor.at - 2].upper if cursor.at > 1 else ""
    if before == "." or cursor.sees(".") or (word in ("LEFT", "RIGHT") and cursor.sees("(")):
        return False
    is_in_context = _IN_CONTEXT.get(word)
    return word in RESERVED if is_in_context is None else is_in_context(cursor, before)


def _frames(cursor: Cursor, before: str) -> bool:
    """Whether ROWS or RANGE, at the cursor, belongs to a window frame or to FETCH."""
    ahead = cursor.tokens[cursor.at : cursor.at + 2]
    counted = len(ahead) > 1 and ahead[1].upper == "PRECEDING"
    return counted or cursor.sees_any("BETWEEN", "UNBOUNDED", "CURRENT", "INTERVAL") or _counts(cursor, before)


def _counts(cursor: Cursor, before: str) -> bool:
    """Whether ROW or ROWS, at the cursor, follows FETCH or OFFSET and a number."""
    earlier = cursor.tokens[cursor.at - 3].upper if cursor.at > 2 else ""
    return before in ("FETCH", "NEXT", "FIRST") or earlier in ("OFFSET", "NEXT", "FIRST")


def _directs(cursor: Cursor) -> bool:
    """Whether ASC or DESC, at the cursor, belongs to ORDER BY and is not the alias of a selected column."""
    depth = 0
    for token in reversed(cursor.tokens[: cursor.at - 1]):
        depth += (token.upper == ")") - (token.upper == "(")
        if depth < 0 or (depth == 0 and token.upper == "ORDER"):
            return True
        if depth == 0 and token.upper == "SELECT":
            return False
    return True


_IN_CONTEXT: dict[str, Callable[[Cursor, str], bool]] = {
    "ASC": lambda cursor, _: _directs(cursor),
    "CURRENT": lambda cursor, _: cursor.sees("ROW"),
    "DESC": lambda cursor, _: _directs(cursor),
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
"""Words that are keywords in some contexts only, with a test of the context."""
