"""Translates the store's portable SQL to PostgreSQL's."""

import re
from collections.abc import Callable
from itertools import count
from typing import Final

from lineage_bridge.store.dialect import FullText
from lineage_bridge.store.postgresql.full_text import TextVectors
from lineage_bridge.store.postgresql.long_texts import LOOK_UP, with_conflict_keys, with_first_texts, with_name_order

_TOKEN: Final = re.compile(
    LOOK_UP
    + r"""|x'(?P<bytes>[0-9a-f]*)'|'(?:[^']|'')*'|"[^"]*"|(?P<named>:[a-z]\w*)|(?P<mark>\?)|(?P<index>\ INDEXED\ BY\ \w+)
    |(?P<glob>GLOB\ (?P<pattern>\?|:\w+))|(?P<word>\b(?:STRAIGHT_JOIN|INSTR)\b)""",
    re.VERBOSE,
)
_WORDS: Final = {"STRAIGHT_JOIN": "JOIN", "INSTR": "strpos"}
_COLUMN_TYPE: Final = re.compile(r"\b(?:BLOB|TEXT)\b")
_COLUMN_TYPES: Final = {"BLOB": "BYTEA", "TEXT": 'TEXT COLLATE "C"'}
_STAGING: Final = "CREATE TEMP TABLE in_"
_EMPTIED: Final = " ON COMMIT DELETE ROWS"
"""Nobody else cleans up what was deleted from a temporary table, and a writer may live for months."""
_WRITING: Final = "BEGIN; LOCK TABLE position IN EXCLUSIVE MODE"
"""Begins a transaction that waits for the end of any other one that writes; readers wait for none."""


class Placed(str):
    """A statement with numbered placeholders. `names` are the names of the values, in the order of the numbers; empty if values are given
    by position.
    """

    __slots__ = ("names",)
    names: tuple[str, ...]


class Postgresql:
    """The dialect of PostgreSQL 15 and newer; `glob_pattern` is a function of the schema."""

    full_text: FullText = TextVectors()
    merges_sets = True
    replayed = "compute the graph again: lineage-bridge replay"

    def render(self, sql: str) -> Placed:
        """Translate a statement in portable SQL; its values become `$1`, `$2`..."""
        if sql == "BEGIN IMMEDIATE":
            return _placed(_WRITING, ())
        sql = with_name_order(with_first_texts(with_conflict_keys(sql)))
        if sql.startswith("CREATE TEMP TABLE"):
            sql = _COLUMN_TYPE.sub(lambda found: _COLUMN_TYPES[found[0]], sql) + (_EMPTIED if sql.startswith(_STAGING) else "")
        numbers, names = count(1), dict[str, int]()

        def number(mark: str) -> str:
            if mark == "?":
                return f"${next(numbers)}"
            return f"${names.setdefault(mark[1:], len(names) + 1)}"

        return _placed(_TOKEN.sub(lambda found: _written(found, number), sql), tuple(names))


def _written(found: re.Match[str], number: Callable[[str], str]) -> str:
    """Translate a token of a statement to PostgreSQL's SQL. `number` returns the number of the parameter that a placeholder token stands
    for.
    """
    if found["text"]:
        value = found["value"]
        return f"key_text({found['text']}) = key_text({number(value) if value[0] in '?:' else value})"
    if found["bytes"] is not None:
        return f"'\\x{found['bytes']}'::bytea"
    if found["glob"]:
        return f"~ glob_pattern({number(found['pattern'])})"
    if found["named"] or found["mark"]:
        return number(found[0])
    if found["index"]:
        return ""
    return _WORDS.get(found[0], found[0])


def _placed(sql: str, names: tuple[str, ...]) -> Placed:
    placed = Placed(sql)
    placed.names = names
    return placed


POSTGRESQL: Final = Postgresql()
