"""Splitting text into tokens: words, quoted names, strings, numbers and symbols, with positions.

Comments, hints and the backslash that continues a line are skipped.
"""

import re
from dataclasses import dataclass
from enum import Enum

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|\\(?=[ \t]*(?:\n|\Z))|--[^\n]*|//[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<variable>\$\{\w+\})
  | (?P<string>[NnUu]?&?'(?:[^']|'')*(?:'|\Z))
  | (?P<name>`(?:[^`]|``)*(?:`|\Z)|"(?:[^"]|"")*(?:"|\Z))
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w$]))
  | (?P<word>[^\W\d](?:\w|\$(?!\{))*|\$\w[\w$]*|\d[\w$]*)
  | (?P<mark>->|=>|:=|<>|<=|>=|!=|\|\||::|.)
    """,
    re.VERBOSE | re.DOTALL,
)


def words(text: str) -> frozenset[str]:
    """The words in a text, as a set."""
    return frozenset(text.split())


class Kind(Enum):
    """The kind of a token. NAME is a quoted identifier, VARIABLE is `${name}`."""

    WORD = "word"
    NAME = "name"
    STRING = "string"
    NUMBER = "number"
    MARK = "mark"
    VARIABLE = "variable"


_KINDS = {kind.value: kind for kind in Kind}


@dataclass(frozen=True)
class Token:
    """A token of a script. `text` has no quotes if it is a name or string; `upper` is empty for quoted text. Lines and columns count
    from 1.
    """

    kind: Kind
    text: str
    upper: str
    start: int
    end: int
    line: int
    column: int

    @property
    def is_name(self) -> bool:
        """Whether the token can be part of a name."""
        return self.kind in (Kind.WORD, Kind.NAME, Kind.VARIABLE)


class TokenError(Exception):
    """A quote or comment is never closed. The error has its token, and the tokens before it."""

    def __init__(self, token: Token, before: list[Token], message: str) -> None:
        super().__init__(message)
        self.token = token
        self.before = before


def tokens(text: str) -> list[Token]:
    """Split a text into tokens. Raises TokenError."""
    found: list[Token] = []
    line, line_start, seen = 1, 0, 0
    for match in _TOKEN.finditer(text):
        kind, written, start = match.lastgroup or "", match.group(), match.start()
        breaks = text.count("\n", seen, start)
        if breaks:
            line += breaks
            line_start = text.rindex("\n", seen, start) + 1
        seen = start
        if kind == "space":
            if written.startswith("/*") and (len(written) < 4 or not written.endswith("*/")):
                opening = Token(Kind.MARK, "/*", "/*", start, match.end(), line, start - line_start + 1)
                raise TokenError(opening, found, "a comment is opened here and never closed")
            continue
        bare, upper = written, written.upper()
        if kind in ("string", "name"):
            bare, upper = _unquoted(written), ""
        token = Token(_KINDS[kind], bare, upper, start, match.end(), line, start - line_start + 1)
        if kind in ("string", "name") and not _is_closed(written):
            raise TokenError(token, found, f"a {'string' if kind == 'string' else 'quoted name'} is opened here and never closed")
        found.append(token)
    return found


def _unquoted(written: str) -> str:
    opening = min(at for at in (written.find(quote) for quote in "'`\"") if at >= 0)
    quote = written[opening]
    return written[opening + 1 : -1 if _is_closed(written) else None].replace(quote * 2, quote)


def _is_closed(written: str) -> bool:
    opening = min(at for at in (written.find(quote) for quote in "'`\"") if at >= 0)
    quote = written[opening]
    body = written[opening + 1 :]
    return (len(body) - len(body.rstrip(quote))) % 2 == 1
