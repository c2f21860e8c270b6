"""Full-text search with PostgreSQL's own text vectors. No extension is needed, and both indexes find what SQLite's find.

Each row of an index is one vector. Each lexeme consists of a column's number and a token of that column, and is at the token's position.
The tokens of a name are its trigrams, so a part of a name is a phrase of trigrams; the tokens of a text are its words. Before a column's
first token there is a lexeme without a token.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from lineage_bridge.graph.contents.search_terms import FIELDS, plain

_MAX_LEXEME = 2_000
"""The maximum length of a lexeme in bytes; PostgreSQL's own is 2,046. A longer token is cut, in texts and queries alike."""
_MAX_VECTOR = 900_000
"""The maximum length of the lexemes of a vector in bytes; PostgreSQL's own is 1 MiB, with the positions. What follows is not searched."""
_MAX_POSITION = 16_383
"""The maximum position that PostgreSQL tells from the next. Tokens after it are at the first positions again: each of them is found, and
some tokens seem to be side by side that are not.
"""
_OVERLAP = 1_000
"""How many tokens before that position are repeated after it, so that tokens side by side are found there too."""
_MAX_POSITIONS = 255
"""How many positions PostgreSQL keeps of a lexeme. Further ones belong to lexemes of their own, which end with `_FURTHER` and a number."""
_FURTHER = "\x1f"
"""No word contains it, and what follows it makes a lexeme longer than a trigram."""


class ReadOnce(str):
    """A value that PostgreSQL reads as the type that the statement casts it to. As a text, it would be cast again for each row."""

    __slots__ = ()


@dataclass(frozen=True)
class Phrase:
    """A query for tokens that are adjacent in one of the columns `columns` (in any column, if None)."""

    text: str
    prefix: bool = False
    first: bool = False
    columns: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Combined:
    """A query that combines others: all of them, or at least one of them, must match."""

    queries: tuple["TextQuery", ...]
    operator: str


TextQuery: TypeAlias = Phrase | Combined


def _folded(text: str) -> str:
    """Convert a text to lower case character by character, so that positions do not change."""
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _trigrams(text: str) -> list[str]:
    folded = _folded(text)
    return [folded[i : i + 3] for i in range(len(folded) - 2)]


def _words(text: str) -> list[str]:
    """The words of a text in lower case, without accents."""
    letters = (char for char in unicodedata.normalize("NFD", text) if not unicodedata.combining(char))
    return plain("".join(letters)).split()


_COLUMNS: Final[dict[str, tuple[str, ...]]] = {"node_search": ("namespace", "name"), "node_search_text": FIELDS}
_TOKENS: Final[dict[str, Callable[[str], list[str]]]] = {"node_search": _trigrams, "node_search_text": _words}


class TextVectors:
    """Implements FullText with tables that have a key and a text vector."""

    def matching(self, index: str, value: str) -> tuple[str, str]:
        """The column of `index` that holds the key, and the condition that a row matches the query in the placeholder `value`."""
        return "id", f"{index}.words @@ CAST({value} AS tsquery)"

    def rank(self, index: str, value: str) -> str:
        """The expression by which matching rows are sorted, best match first."""
        return f"-ts_rank({index}.words, CAST({value} AS tsquery))"

    def query_value(self, index: str, query: TextQuery) -> str:
        """Convert a query to the text that PostgreSQL reads."""
        return ReadOnce(_written(index, query))

    def phrase(self, text: str, *, prefix: bool = False, roughly: bool = False) -> TextQuery:  # noqa: ARG002 - exact matches cost no more
        """Build a query for a text, taken literally. NUL is replaced by U+FFFD, as in stored names. See FullText for `prefix`."""
        return Phrase(text.replace("\x00", "\ufffd"), prefix)

    def all_of(self, queries: Sequence[TextQuery]) -> TextQuery:
        """Build a query that matches if all of these queries match."""
        return Combined(tuple(queries), "&")

    def any_of(self, queries: Sequence[TextQuery]) -> TextQuery:
        """Build a query that matches if at least one of these queries matches."""
        return Combined(tuple(queries), "|")

    def beginning(self, column: str, phrase: TextQuery) -> TextQuery:
        """Build a query that matches if a column begins with a phrase."""
        if not isinstance(phrase, Phrase):
            raise TypeError("only a phrase can begin a column")
        return Phrase(phrase.text, phrase.prefix, True, (column,))

    def within(self, columns: Sequence[str], query: TextQuery) -> TextQuery:
        """Limit a query to some of the columns."""
        if isinstance(query, Phrase):
            return Phrase(query.text, query.prefix, query.first, tuple(columns))
        return Combined(tuple(self.within(columns, part) for part in query.queries), query.operator)

    def add(self, index: str, columns: Sequence[str]) -> str:  # noqa: ARG002 - a vector holds all columns
        """The SQL statement that adds one row to the index."""
        return f"INSERT INTO {index} (id, words) VALUES (?, CAST(? AS tsvector))"

    def remove(self, index: str, columns: Sequence[str]) -> str:  # noqa: ARG002 - a vector holds all columns
        """The SQL statement that removes one row from the index."""
        return f"DELETE FROM {index} WHERE id = ? AND words = CAST(? AS tsvector)"

    def row(self, index: str, key: int, texts: Sequence[str]) -> tuple[int, str]:
        """The parameters of the statements that add or remove a row: its key, and the vector of all its texts."""
        return key, " ".join(_vector(index, texts))

    def keys(self, index: str) -> str:
        """The SQL query that returns the keys of all rows, in a column `id`."""
        return f"SELECT id FROM {index}"


def _vector(index: str, texts: Sequence[str]) -> Iterator[str]:
    size = 0
    for number, text in enumerate(texts):
        found: dict[str, list[int]] = {"": [1]}
        for position, token in _placed(_TOKENS[index](text)):
            found.setdefault(_cut(token), []).append(position)
        for token, every in found.items():
            for start in range(0, len(every), _MAX_POSITIONS):
                lexeme = _quoted(number, f"{token}{_FURTHER}{start // _MAX_POSITIONS}" if start else token)
                positions = every[start : start + _MAX_POSITIONS]
                size += len(lexeme.encode()) + 2 * len(positions) + 4
                if size > _MAX_VECTOR:
                    return
                yield f"{lexeme}:{','.join(map(str, positions))}"


def _placed(tokens: list[str]) -> Iterator[tuple[int, str]]:
    """Each token with its position; the first token is at position 2."""
    at = 0
    while at < len(tokens):
        yield from enumerate(tokens[at : at + _MAX_POSITION - 1], 2)
        if at + _MAX_POSITION - 1 >= len(tokens):
            return
        at += _MAX_POSITION - 1 - _OVERLAP


def _written(index: str, query: TextQuery) -> str:
    """Write a query as PostgreSQL's text; empty if it has no tokens and so matches nothing."""
    if isinstance(query, Combined):
        parts = [part for some in query.queries if (part := _written(index, some))]
        if query.operator == "&" and len(parts) < len(query.queries):
            return ""
        return f" {query.operator} ".join(f"({part})" for part in parts)
    tokens = [_cut(token) for token in _TOKENS[index](query.text)]
    if not tokens:
        return ""
    columns = _COLUMNS[index]
    numbers = [columns.index(column) for column in query.columns or columns]
    if query.first:
        tokens.insert(0, "")
    return " | ".join(f"({_adjacent(number, tokens, query.prefix)})" for number in numbers)


def _adjacent(number: int, tokens: list[str], prefix: bool) -> str:
    """The query for tokens of a column that follow each other. A position may have several lexemes; a prefix matches any of them that
    begins with it.
    """
    *before, last = tokens
    end = f"{_quoted(number, last)}:*" if prefix else _anywhere(number, last) if before else _quoted(number, last)
    return " <-> ".join([*(_anywhere(number, token) for token in before), end])


def _anywhere(number: int, token: str) -> str:
    return f"({_quoted(number, token)} | {_quoted(number, token + _FURTHER)}:*)"


def _cut(token: str) -> str:
    return token if len(token) < _MAX_LEXEME // 4 else token.encode()[:_MAX_LEXEME].decode(errors="ignore")


def _quoted(number: int, token: str) -> str:
    text = f"{number}{token}".replace("\\", "\\\\").replace("'", "''")
    return f"'{text}'"
