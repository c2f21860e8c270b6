"""Derives a wider pattern for RE2 from a pattern: it matches wherever the pattern matches, and possibly elsewhere. RE2 reads any text only
once, so a long text without a match of the wider pattern need not be searched with `re`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import re2

from lineage_bridge.openlineage.required_text import AnyPattern, fold, parsed

_MOST_REPEATS = 4
"""More repetitions than this are taken as any number, since RE2 would copy what is repeated."""
_LAST = 0x10FFFF
_SPACES = "\\t-\\r\\x{1c}-\\x{20}\\x{85}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}"
_OTHER = "\\x{80}-\\x{10ffff}"
"""All characters outside of ASCII. Of the few ranges that are letters or digits, RE2 would make very large programs."""
_WIDE = {
    "CATEGORY_DIGIT": f"0-9{_OTHER}",
    "CATEGORY_NOT_DIGIT": "\\x{0}-/:-\\x{10ffff}",
    "CATEGORY_SPACE": _SPACES,
    "CATEGORY_NOT_SPACE": "\\x{0}-\\x{8}\\x{e}-\\x{1f}!-\\x{10ffff}",
    "CATEGORY_WORD": f"0-9A-Za-z_{_OTHER}",
    "CATEGORY_NOT_WORD": "\\x{0}-/:-@\\[-\\^`{-\\x{10ffff}",
}
"""What each class of characters contains at least."""
_NARROW = {"CATEGORY_DIGIT": "0-9", "CATEGORY_SPACE": "\\t-\\r ", "CATEGORY_WORD": "0-9_"}
"""Characters that each class contains for certain; no letters, whose case is not known."""
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")


def wider_pattern(pattern: AnyPattern) -> Any:  # noqa: ANN401  # re2 has no types
    """Compile a wider pattern with RE2: it matches in every folded text (in UTF-8) in which the given pattern matches. None if it would
    match nearly everywhere, or cannot be expressed.
    """
    options = re2.Options()
    options.log_errors, options.never_capture = False, True
    text = _Wider().converted(parsed(pattern))
    try:
        wider = re2.compile(text.encode(), options)
    except re2.error:
        return None
    return None if wider.search(b"") else wider


class _Wider:
    """Converts the parts of a pattern. Conditions on what is around a part are left out."""

    def __init__(self) -> None:
        self._groups: dict[int | None, str] = {}

    def converted(self, parts: Iterable[tuple[Any, Any]]) -> str:
        return "".join(self._part(str(operation), argument) for operation, argument in parts)

    def _part(self, operation: str, argument: Any) -> str:  # noqa: ANN401  # a part of a pattern, as `re` has it
        if operation in ("AT", "ASSERT", "ASSERT_NOT"):
            return ""
        if operation in _CHARACTERS:
            return _CHARACTERS[operation](argument)
        return self._compound(operation, argument)

    def _compound(self, operation: str, argument: Any) -> str:  # noqa: ANN401  # a part of a pattern, as `re` has it
        text = "(?s:.*)"
        if operation == "SUBPATTERN":
            text = f"(?:{self.converted(argument[3])})"
            self._groups[argument[0]] = text
        elif operation == "ATOMIC_GROUP":
            text = f"(?:{self.converted(argument)})"
        elif operation == "BRANCH":
            text = f"(?:{'|'.join(map(self.converted, argument[1]))})"
        elif operation in _REPEATS:
            text = f"(?:{self.converted(argument[2])}){_repeated(argument[0], int(argument[1]))}"
        elif operation == "GROUPREF":
            text = self._groups[argument]
        return text


def _repeated(least: int, most: int) -> str:
    least = min(least, _MOST_REPEATS)
    return f"{{{least},{most}}}" if most <= _MOST_REPEATS else f"{{{least},}}"


def _class(codes: Iterable[int]) -> str:
    return "[" + "".join(f"\\x{{{ord(sign):x}}}" for sign in sorted({fold(chr(code)) for code in codes})) + "]"


def _any_of(items: "list[tuple[Any, Any]]") -> str:
    if str(items[0][0]) == "NEGATE":
        return _without(items[1:])
    return "[" + "".join(_members(str(kind), argument) for kind, argument in items) + "]"


def _members(kind: str, argument: Any) -> str:  # noqa: ANN401  # a part of a class, as `re` has it
    if kind == "CATEGORY":
        return _WIDE[str(argument)]
    first, last = argument if isinstance(argument, tuple) else (argument, argument)
    if first < ord("Z") and last > ord("A"):
        folded = f"{_sign(max(first, ord('A')) + 32)}-{_sign(min(last, ord('Z')) + 32)}"
        return f"{_sign(first)}-{_sign(last)}{folded}"
    return _sign(ord(fold(chr(first)))) if first == last else f"{_sign(first)}-{_sign(last)}"


def _without(items: "Iterable[tuple[Any, Any]]") -> str:
    """A class of all characters except those in this class. A character of it stays if a character outside of it is folded to it."""
    left_out = "".join(_excluded(str(kind), argument) for kind, argument in items)
    return f"[^{left_out}]" if left_out else "(?s:.)"


def _excluded(kind: str, argument: Any) -> str:  # noqa: ANN401  # a part of a class, as `re` has it
    if kind == "CATEGORY":
        return _NARROW.get(str(argument), "")
    first, last = argument if isinstance(argument, tuple) else (argument, argument)
    return "".join(_sign(code) for code in range(first, min(last, 127) + 1) if not chr(code).isalpha())


def _sign(code: int) -> str:
    return f"\\x{{{min(code, _LAST):x}}}"


_CHARACTERS: Mapping[str, Callable[[Any], str]] = {
    "LITERAL": lambda code: _class([code]),
    "NOT_LITERAL": lambda code: _without([("LITERAL", code)]),
    "IN": _any_of,
    "ANY": lambda _: "(?s:.)",
}
"""How a part that stands for one character is converted."""
