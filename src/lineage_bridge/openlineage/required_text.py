"""Derives from a pattern the strings that every match must contain.

One search for the strings of many patterns shows which of the patterns may match a text.
"""

import re
import sys
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

if sys.version_info >= (3, 11):
    from re import _parser as parser  # how `re` itself reads patterns
else:
    import sre_parse as parser

Alternatives: TypeAlias = frozenset[str]
"""Case-folded strings. Each match of the pattern contains at least one of them."""

_MOST = 24
"""The maximum number of strings that a part of a pattern may stand for."""
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOTHING = frozenset(("",))


def fold(text: str) -> str:
    """Fold a text: letters that a pattern treats as equal when it ignores case become equal. The length stays the same."""
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text).replace("\u0131", "i").replace("\u0130", "i").replace("\u017f", "s")
    return text.lower()


class Uncompiled(NamedTuple):
    """A pattern for `re` that is not compiled: that takes a while, and many processes load patterns that they never try."""

    pattern: str
    flags: int = 0


AnyPattern: TypeAlias = "Uncompiled | re.Pattern[str]"


def required_texts(pattern: AnyPattern) -> list[Alternatives]:
    """Sets of texts, the most distinctive set first. Every folded text in which the pattern matches contains at least one text of each
    set.
    """
    parts = _parts(pattern)
    found = {frozenset(text for text in texts if not any(other in text for other in texts - {text})) for texts in parts.required}
    return sorted(found, key=lambda texts: (_worth(texts), sorted(texts)), reverse=True)


def _worth(texts: Alternatives) -> tuple[int, int]:
    """How distinctive a set of strings is. Long strings are rarer than short ones, and few strings are rarer than many."""
    return min(map(len, texts)), -len(texts)


def first_texts(pattern: AnyPattern) -> Alternatives | None:
    """A set of texts such that every (folded) match of the pattern begins with one of them; None if they are unknown or too many."""
    first = _parts(pattern).first
    if "" in first:
        return None
    return frozenset(text for text in first if not any(text.startswith(other) for other in first - {text}))


def parsed(pattern: AnyPattern) -> Any:  # noqa: ANN401  # `re` has no types for the parts of a pattern
    """Parse a pattern as `re` does: pairs of an operation and its argument."""
    return parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)


def _parts(pattern: AnyPattern) -> "_Parts":
    return _Parts(parsed(pattern))


def _characters(items: Iterable[tuple[Any, Any]]) -> Alternatives:
    """The characters of a class, folded; none if they are unknown or many."""
    codes: set[int] = set()
    for kind, argument in items:
        if str(kind) not in ("LITERAL", "RANGE"):
            return frozenset()
        first, last = argument if isinstance(argument, tuple) else (argument, argument)
        if last - first >= _MOST:
            return frozenset()
        codes.update(range(first, last + 1))
    found = frozenset(fold(chr(code)) for code in codes)
    return found if len(found) <= _MOST else frozenset()


class _Parts:
    """The parts of a pattern, one after the other.

    `exact`: all texts that they match, if these are known and few. `first`: every match begins with one of these texts; if one of them is
    empty, the beginnings are unknown. `required`: sets of texts; every match contains at least one text of each set.
    """

    def __init__(self, parts: Iterable[tuple[Any, Any]]) -> None:
        self.required: list[Alternatives] = []
        self.first: Alternatives = frozenset()
        self._run, self._is_whole = _NOTHING, True
        self._add_all(parts)
        self.exact = self._run if self._is_whole else None
        self._end_run()

    def _add_all(self, parts: Iterable[tuple[Any, Any]]) -> None:
        for operation, argument in parts:
            self._add(str(operation), argument)

    def _add(self, operation: str, argument: Any) -> None:  # noqa: ANN401  # a part of a pattern, as `re` has it
        if operation == "LITERAL":
            self._follow(frozenset((fold(chr(argument)),)))
        elif operation == "IN" and (characters := _characters(argument)):
            self._follow(characters)
        elif operation == "SUBPATTERN":
            self._add_all(argument[3])
        elif operation == "ATOMIC_GROUP":
            self._add_all(argument)
        elif operation == "BRANCH":
            self._branch([_Parts(branch) for branch in argument[1]])
        elif operation in _REPEATS:
            self._repeat(argument[0], argument[1], _Parts(argument[2]))
        elif operation == "ASSERT":
            self.required += _Parts(argument[1]).required
        elif operation not in ("AT", "ASSERT_NOT"):
            self._gap()

    def _branch(self, branches: "list[_Parts]") -> None:
        exact = [branch.exact for branch in branches if branch.exact is not None]
        whole = frozenset().union(*exact) if len(exact) == len(branches) else frozenset()
        if 0 < len(whole) <= _MOST:
            self._follow(whole)
            return
        if self._run == _NOTHING and not self.first and not any("" in branch.first for branch in branches):
            self.first = frozenset().union(*(branch.first for branch in branches))
        self._gap()
        if all(branch.required for branch in branches):
            self.required.append(frozenset().union(*(max(branch.required, key=_worth) for branch in branches)))

    def _repeat(self, least: int, most: int, repeated: "_Parts") -> None:
        if least == 0 and most == 1 and repeated.exact is not None:
            self._follow(repeated.exact | _NOTHING)
        elif least and repeated.exact is not None:
            self._follow(repeated.exact)
            if most > 1:
                self._gap()
        else:
            self._gap()
            if least:
                self.required += repeated.required

    def _follow(self, texts: Alternatives) -> None:
        """Extend the parts by one of these texts, which comes next."""
        joined = frozenset(before + behind for before in self._run for behind in texts)
        if len(joined) > _MOST:
            self._gap()
            joined = texts
        self._run = joined

    def _gap(self) -> None:
        """Extend the parts by unknown text, which comes next."""
        self._end_run()
        self._run, self._is_whole = _NOTHING, False

    def _end_run(self) -> None:
        self.first = self.first or self._run
        if "" not in self._run:
            self.required.append(self._run)
