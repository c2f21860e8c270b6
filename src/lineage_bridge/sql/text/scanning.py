"""Finds words that do not name tables in a statement that cannot be parsed, so that the remaining words after FROM and JOIN are names of
tables.
"""

from collections.abc import Iterator, Sequence

from lineage_bridge.sql.text.keywords import COMMAS

_TAKE_FROM = frozenset(name for name, separators in COMMAS.items() if "FROM" in separators)
_QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})


def froms_without_table(words: Sequence[str]) -> set[int]:
    """The index of each FROM that is not followed by a table, as in `EXTRACT(YEAR FROM x)` or `IS DISTINCT FROM x`. `words`: in upper
    case.
    """
    found: set[int] = set()
    called: list[str] = []
    for at, word in enumerate(words):
        if word == "(":
            called.append(words[at - 1] if at else "")
        elif word == ")" and called:
            called.pop()
        elif word == "FROM" and ((called and called[-1] in _TAKE_FROM) or (at and words[at - 1] == "DISTINCT")):
            found.add(at)
    return found


def query_names(words: Sequence[str]) -> Iterator[int]:
    """The index of each name of a common table expression: `name AS (SELECT ...)` or `name (column, ...) AS (SELECT ...)`."""
    for at in range(1, len(words) - 2):
        if words[at] != "AS" or words[at + 1] != "(" or words[at + 2] not in _QUERIES:
            continue
        opening = next((back for back in range(at - 1, 0, -1) if words[back] == "("), 1) if words[at - 1] == ")" else at
        yield opening - 1
