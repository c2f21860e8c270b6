"""Splits a query into tokens, and finds the few places in it that matter without splitting the rest. Takes linear time."""

import re
from collections.abc import Iterator

_COMMENT = r"--[^\n]*|/\*.*?(?:\*/|\Z)"
_QUOTED = r"""'[^']*(?:'|\Z)|"[^"]*"|`[^`]*`|\[[^\]]*\]"""
"""String literals and quoted names. A doubled quote in a literal begins another literal."""
_TOKEN = re.compile(rf"{_COMMENT}|{_QUOTED}|\d\w*|[^\W\d]\w*|[^\s\w]", re.DOTALL)
# Each alternative begins with a certain character, so that `re` passes over all others fast.
_WITH = re.compile(rf"{_COMMENT}|{_QUOTED}|w(?<!\w.)[iI][tT][hH](?!\w)|W(?<!\w.)[iI][tT][hH](?!\w)", re.DOTALL)
_PARENTHESES = re.compile(rf"{_COMMENT}|{_QUOTED}|\(|\)", re.DOTALL)
_BEGINS_COMMENT = ("--", "/*")
_UNCLOSED = "\udc5b"
"""Stands for a `[` that no `]` follows, so that none is looked for again and again. No accepted JSON contains this code point."""


Token = tuple[str, int, int]
"""The text of a token, and where it starts and ends; an empty text at the end of the query."""


def closed_brackets(query: str) -> str:
    """The query with every `[` replaced that begins no quoted name, because no `]` follows. `name_of` puts it back."""
    behind = query.rfind("]") + 1
    return query if query.find("[", behind) < 0 else query[:behind] + query[behind:].replace("[", _UNCLOSED)


def name_of(text: str) -> str:
    """The name that a token is, without its quotes; empty for all other tokens."""
    first = text[:1]
    if first in ('"', "`", "["):
        return text[1:-1].replace(_UNCLOSED, "[")
    return text if first == "_" or (first.isalnum() and not first.isdecimal()) else ""


def tokens_of(text: str) -> list[str]:
    """The tokens of a query or of a part of one, without comments."""
    found: list[str] = _TOKEN.findall(text)
    return [token for token in found if not token.startswith(_BEGINS_COMMENT)] if "--" in text or "/*" in text else found


def starts_of(text: str) -> list[int]:
    """Where the tokens of a query start, without comments."""
    if "--" in text or "/*" in text:
        return [found.start() for found in _TOKEN.finditer(text) if not found[0].startswith(_BEGINS_COMMENT)]
    return [found.start() for found in _TOKEN.finditer(text)]


def token_at(text: str, at: int) -> Token:
    """The token that begins at a position, or behind blanks and comments there."""
    while found := _TOKEN.search(text, at):
        token = found[0]
        at = found.end()
        if not token.startswith(_BEGINS_COMMENT):
            return token, at - len(token), at
    return "", len(text), len(text)


def ends_of_with(text: str) -> Iterator[int]:
    """The positions behind each word WITH."""
    for found in _WITH.finditer(text):
        if found[0][0] in "wW":
            yield found.end()


class Parentheses:
    """The pairs of parentheses of a query. Each is looked for once, when it or one around it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closing: dict[int, int] = {}

    def closing(self, at: int) -> int:
        """The position of the parenthesis that closes the one at this position; 0 if none does, or if there is none."""
        if self._text[at : at + 1] != "(":
            return 0
        if at not in self._closing:
            self._find(at)
        return self._closing[at]

    def _find(self, at: int) -> None:
        opened: list[int] = []
        for found in _PARENTHESES.finditer(self._text, at):
            sign = found[0]
            if sign == "(":
                opened.append(found.start())
            elif sign == ")":
                self._closing[opened.pop()] = found.start()
                if not opened:
                    return
        self._closing.update(dict.fromkeys(opened, 0))
