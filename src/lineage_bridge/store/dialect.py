"""The differences between databases in SQL; no other module depends on them.

Statements of the store are written once, in portable SQL: the SQL that SQLite and PostgreSQL both understand, with the following forms,
which each dialect translates:

- `?` and `:name`: a statement's values, by position or by name
- `x'00ff'`: bytes
- `LEAST(a, b)`, `GREATEST(a, b)`: the lesser and the greater of two values
- `a STRAIGHT_JOIN b ON ...`: an inner join that looks up `b` for each row of `a`, never the other way round
- `t INDEXED BY i`: a table that is read by this index
- `a GLOB b`: whether a text matches a glob
- `INSTR(a, b)`: where a text contains another, from 1; 0 if it does not
- `CREATE TEMP TABLE t (a BIGINT, b TEXT, c BLOB)`: a table of this connection only

Full-text search differs too much between databases, so each dialect has its own statements for it.
"""

import re
from collections.abc import Sequence
from typing import Any, Final, Protocol, TypeAlias

_TRIGRAM: Final = 3
NO_LIMIT: Final = 2**62
"""A LIMIT that no table exceeds."""


Query: TypeAlias = Any
"""A full-text query, in the form in which a dialect builds and combines such queries."""


class FullText(Protocol):
    """Statements for a full-text index, which indexes some columns of a table's rows under their integer keys."""

    def matching(self, index: str, value: str) -> tuple[str, str]:
        """Return the column of `index` with the key, and an SQL condition for rows that match the query. The query is bound as `value`."""

    def rank(self, index: str, value: str) -> str:
        """The expression by which rows that match the query in the placeholder `value` are sorted, best match first."""

    def query_value(self, index: str, query: Query) -> str:
        """Convert a query to the value that a statement's placeholder takes."""

    def phrase(self, text: str, *, prefix: bool = False, roughly: bool = False) -> Query:
        """Build a query for a text, taken literally; with `prefix`, its last word may be the beginning of a longer word. With `roughly`, a
        query for an index of trigrams may match more texts, if that costs less.
        """

    def all_of(self, queries: Sequence[Query]) -> Query:
        """Build a query that matches if all of these queries match."""

    def any_of(self, queries: Sequence[Query]) -> Query:
        """Build a query that matches if at least one of these queries matches."""

    def beginning(self, column: str, phrase: Query) -> Query:
        """Build a query that matches if a column begins with a phrase."""

    def within(self, columns: Sequence[str], query: Query) -> Query:
        """Limit a query to some of the columns."""

    def add(self, index: str, columns: Sequence[str]) -> str:
        """The SQL statement that adds one row to the index. Its parameters are what `row` returns."""

    def remove(self, index: str, columns: Sequence[str]) -> str:
        """The SQL statement that removes one row. Its parameters are what `row` returns for the texts that were added."""

    def row(self, index: str, key: int, texts: Sequence[str]) -> Sequence[Any]:
        """The parameters of the statements that add or remove a row: its key, and the texts of all columns."""

    def keys(self, index: str) -> str:
        """The SQL query that returns the keys of all rows, in a column `id`."""


class Dialect(Protocol):
    """A database's dialect of SQL: translates the store's portable SQL to it."""

    full_text: FullText
    merges_sets: bool
    """Whether one statement merges many rows, each of which must have another key. If not, a statement is run for each row."""
    replayed: str
    """The hint of the error that the tables of the graph contradict each other. It states how the graph is computed again."""

    def render(self, sql: str) -> str:
        """Translate a statement in portable SQL to this database's SQL."""


class Fts5:
    """Full-text search in SQLite (FTS5), with indexes that do not store their texts."""

    def matching(self, index: str, value: str) -> tuple[str, str]:
        """Return the column of `index` with the key, and an SQL condition for rows that match the query. The query is bound as `value`."""
        return "rowid", f"{index} MATCH {value}"

    def rank(self, index: str, value: str) -> str:  # noqa: ARG002 - SQLite ranks by the condition
        """The expression by which matching rows are sorted, best match first."""
        return f"{index}.rank"

    def query_value(self, index: str, query: str) -> str:  # noqa: ARG002 - queries are text
        """Convert a query to the value that a statement's placeholder takes."""
        return query

    def phrase(self, text: str, *, prefix: bool = False, roughly: bool = False) -> str:
        """Build a query for a text, taken literally. NUL is replaced by U+FFFD, as in stored names. See FullText for `prefix` and
        `roughly`.
        """
        if roughly:
            # For a phrase, SQLite reads the rows of every trigram; trigrams side by side are a third of them.
            starts = (*range(0, len(text) - _TRIGRAM, _TRIGRAM), len(text) - _TRIGRAM)
            return self.all_of([self.phrase(text[start : start + _TRIGRAM]) for start in starts])
        return '"' + text.replace("\x00", "\ufffd").replace('"', '""') + ('" *' if prefix else '"')

    def all_of(self, queries: Sequence[str]) -> str:
        """Build a query that matches if all of these queries match."""
        return " AND ".join(f"({query})" for query in queries)

    def any_of(self, queries: Sequence[str]) -> str:
        """Build a query that matches if at least one of these queries matches."""
        return " OR ".join(f"({query})" for query in queries)

    def beginning(self, column: str, phrase: str) -> str:
        """Build a query that matches if a column begins with a phrase."""
        return f"{column} : ^ {phrase}"

    def within(self, columns: Sequence[str], query: str) -> str:
        """Limit a query to some of the columns."""
        return f"{{{' '.join(columns)}}} : ({query})"

    def add(self, index: str, columns: Sequence[str]) -> str:
        """The SQL statement that adds one row to the index. Its parameters are what `row` returns."""
        return f"INSERT INTO {index} (rowid, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"

    def remove(self, index: str, columns: Sequence[str]) -> str:
        """The SQL statement that removes one row. Its parameters are what `row` returns for the texts that were added: SQLite does
        not keep them.
        """
        return f"INSERT INTO {index} ({index}, rowid, {', '.join(columns)}) VALUES ('delete', ?{', ?' * len(columns)})"

    def row(self, index: str, key: int, texts: Sequence[str]) -> Sequence[Any]:  # noqa: ARG002 - all indexes take texts
        """The parameters of the statements that add or remove a row: its key and its texts."""
        return key, *texts

    def keys(self, index: str) -> str:
        """The SQL query that returns the keys of all rows. It reads the table in which SQLite keeps the sizes of the rows' texts."""
        return f'SELECT id FROM "{index}_docsize"'


class Sqlite:
    """The dialect of SQLite."""

    full_text: FullText = Fts5()
    merges_sets = False
    replayed = "a running pipeline computes the graph again; otherwise run: lineage-bridge replay"
    _words: Final = {"LEAST": "min", "GREATEST": "max", "STRAIGHT_JOIN": "CROSS JOIN", "INSTR": "instr"}
    _word: Final = re.compile(r"\b(?:LEAST|GREATEST|STRAIGHT_JOIN|INSTR)\b")

    def render(self, sql: str) -> str:
        """Translate a statement in portable SQL to SQLite's SQL."""
        return self._word.sub(lambda found: self._words[found[0]], sql)


SQLITE: Final = Sqlite()
