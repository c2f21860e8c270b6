"""How PostgreSQL would write what is not the same in all databases: a second dialect, to see that the first is not the only one."""

import re
from collections.abc import Sequence
from itertools import count

from lineage_bridge.store.dialect import FullText


class Trigrams:
    """Full-text search over a table with a trigram index: the key is `id`, queries are conditions on the row's text."""

    def matching(self, index: str, value: str) -> tuple[str, str]:
        return "id", f"full_text_matches({index}, {value})"

    def rank(self, index: str) -> str:
        return f"full_text_rank({index})"

    def phrase(self, text: str) -> str:
        return f"has {text!r}"

    def prefix(self, text: str) -> str:
        return f"starts {text!r}"

    def all_of(self, queries: Sequence[str]) -> str:
        return " & ".join(queries)

    def any_of(self, queries: Sequence[str]) -> str:
        return " | ".join(queries)

    def beginning(self, column: str, phrase: str) -> str:
        return f"{column} {phrase}"

    def within(self, columns: Sequence[str], query: str) -> str:
        return f"{columns}: {query}"

    def add(self, index: str, columns: Sequence[str]) -> str:
        return f"INSERT INTO {index} (id, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"

    def remove(self, index: str, columns: Sequence[str]) -> str:
        return f"DELETE FROM {index} WHERE (id, {', '.join(columns)}) = (?{', ?' * len(columns)})"

    def keys(self, index: str) -> str:
        return f'SELECT id FROM "{index}"'


class Postgres:
    """SQL as PostgreSQL understands it; `glob_pattern` would be a function of the schema."""

    full_text: FullText = Trigrams()

    def render(self, sql: str) -> str:
        sql = re.sub(r" INDEXED BY \w+", "", sql)
        sql = sql.replace("STRAIGHT_JOIN", "JOIN").replace("INSTR(", "strpos(").replace("BEGIN IMMEDIATE", "BEGIN")
        sql = re.sub(r"GLOB (\?|:\w+)", r"~ glob_pattern(\1)", sql)
        sql = re.sub(r"x'([0-9a-f]*)'", r"'\\x\1'::bytea", sql)
        if sql.startswith("CREATE TEMP TABLE"):
            sql = re.sub(r"\bBLOB\b", "BYTEA", sql)
        return placed(sql)


def placed(sql: str) -> str:
    """Numbered placeholders, as the protocol has them: one for each `?`, the same for each `:name`."""
    numbers, names = count(1), dict[str, int]()

    def number(found: re.Match[str]) -> str:
        if found[0] == "?":
            return f"${next(numbers)}"
        return f"${names.setdefault(found[0], len(names) + 1)}"

    return re.sub(r"\?|(?<!:):[a-z]\w*", number, sql)
