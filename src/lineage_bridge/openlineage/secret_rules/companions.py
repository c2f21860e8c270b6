"""Secrets that another value of the same object or array names: `{"k": "password", "v": "x"}`, `["token", "x"]`, table rows."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise

from lineage_bridge.openlineage.json_text import SMALL, compiled_re2, text_of

Span = tuple[int, int]
NAMING = re.compile(
    r"(?:k|id|title|label|property|prop|option|setting|field|param|parameter|header|variable|var|attribute|attr|arg|argument|env|column|flag|prompt|question|\w{0,40}(?:name|key))",
    re.IGNORECASE,
)
"""Keys of members that name the content of another member."""
_VALUES = re.compile(r"(?:v|val|vals|argument|\w{0,40}values?)", re.IGNORECASE)
_TEXTS = re.compile(r"(?:content|contents|data|text|default|default_?value|current|setting|plaintext|secret)", re.IGNORECASE)
"""Keys of members whose content another member names: any content with a key of `_VALUES`, secret-looking content with one of `_TEXTS`."""
_VALUED = (
    r'(?i)"(?:v|val|vals|argument|content|contents|data|text|default|current|setting|plaintext|\w{0,40}values?)"[\s\x0b]*:'
    r'|\\u00[2-7][0-9a-f]\w{0,60}"[\s\x0b]*:'
)
"""Such a key, also one with an escape in it."""
_VALUED_IN_SHORT, _VALUED_IN_LONG = re.compile(_VALUED.encode()), compiled_re2(_VALUED)
_LONG = 1024
"""From which length on RE2 costs less."""
_BRACKET = re.compile(rb"[{}\[\]]")
_MOST_BLANKS = 64
_UNENDED = re.compile(rb'"(?:[^"\\]|\\.)*\\?\Z', re.DOTALL)
"""A string without an end."""
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\\Z)?|[{}\[\],]|[^\s"{}\[\]:,]+', re.DOTALL)


SEVERAL = re.compile(r"(?i:\w{0,40}(?:(?:api|access|secret|private|auth)[_\-.]?keys|tokens|creds|pins)|basic_?auth|auth)")
"""Keys of members with several values, of which those that look like secrets are secrets."""


def is_valued(raw: bytes, start: int, end: int) -> bool:
    """Whether an object has a member whose meaning another member may state (`value` beside `name`)."""
    return bool((_VALUED_IN_LONG if end - start > _LONG else _VALUED_IN_SHORT).search(raw, start, end))


def named_values(raw: bytes, start: int, end: int, looks_secret: Callable[[str], bool], *, only_random: bool) -> Iterator[Span]:
    """The positions of an object's values that another member declares to be secret. For a long array of texts, it is the position of the
    array's content. `start` is the position of the object's opening bracket.
    """
    depth, key, named, at = 0, "", 0, start
    while at < end:
        for token in _TOKEN.finditer(raw, at, end):
            sign, at = token[0], token.end()
            if sign == b"[" and named == 2 and not only_random and (closes := _end_of_texts(raw, at, end)):
                yield at, closes
                at = closes + 1
                break
            if sign in (b"{", b"["):
                depth += 1
            elif sign in (b"}", b"]"):
                depth -= 1
            elif sign == b",":
                key = "" if depth == 1 else key
            elif depth == 1 and not key:
                key = text_of(sign) or " "
                named = 2 if _VALUES.fullmatch(key) else 1 if _TEXTS.fullmatch(key) else 0
            elif (
                named
                and raw[at : at + 1] != b":"
                and sign.startswith(b'"')
                and ((named == 2 and not only_random) or looks_secret(text_of(sign)))
            ):
                yield token.span()
        else:
            return


def _end_of_texts(raw: bytes, start: int, end: int) -> int:
    """The position of the closing bracket of a long array that begins with a text and contains no array, object or escape; else 0."""
    bracket = _BRACKET.search(raw, start, end) if raw[start : start + _MOST_BLANKS].lstrip().startswith(b'"') else None
    if bracket is None or bracket[0] != b"]" or bracket.start() - start <= SMALL:
        return 0
    content = raw[start : bracket.start()]
    return 0 if b"\\" in content or content.count(b'"') % 2 else bracket.start()


def aligned_values(
    raw: bytes, start: int, end: int, columns: Mapping[int, Collection[int]], looks_secret: Callable[[str], bool]
) -> Iterator[Span]:
    """The positions of secrets in lists that are as long as a list of names, and in tables (lists of rows). Only values in the given
    columns, by the length of the list of names, are secrets.
    """
    lists: list[list[Span]] = []
    for token in _TOKEN.finditer(raw, start, end):
        sign = token[0]
        if sign in (b"{", b"["):
            lists.append([])
        elif sign in (b"}", b"]"):
            closed = lists.pop() if lists else []
            if sign == b"]":
                named = sorted(columns.get(len(closed), ()))
                yield from (closed[column] for column in named if looks_secret(text_of(raw[slice(*closed[column])])))
            if lists:
                lists[-1].append((0, 0))
        elif sign != b"," and lists:
            lists[-1].append(token.span())


class _OpenContainer:
    """An object or array whose end has not been read yet. `key` is the key of the current member; `values` are the positions of values that
    another member, of this or the enclosing object, may declare to be secrets.
    """

    __slots__ = ("is_object", "key", "start", "values")

    def __init__(self, start: int, values: list[Span], *, is_object: bool) -> None:
        self.start, self.is_object, self.key, self.values = start, is_object, "", values

    @property
    def has_value(self) -> bool:
        """Whether another member may state what the current member's value means."""
        return self.is_object and bool(_VALUES.fullmatch(self.key) or _TEXTS.fullmatch(self.key))


def values_left_open(raw: bytes, looks_secret: Callable[[str], bool]) -> list[Span]:
    """For a text that is cut off: the positions of values that a missing member may declare to be secrets. These are values in objects that
    are still open at the end of the text; elements of lists that look like secrets, because the names of their columns may be missing; and
    an unfinished last string that may contain JSON.

    The positions are in the order of the text, and none lies within another.
    """
    frames, end = [_OpenContainer(0, [], is_object=False)], len(raw)
    for token in _TOKEN.finditer(raw):
        sign, top = token[0], frames[-1]
        if sign in (b"{", b"["):
            # The elements of a list that no member names may be named by a member of the enclosing object: they stay open at its end.
            values = top.values if sign == b"[" and not top.has_value else []
            frames.append(_OpenContainer(token.start(), values, is_object=sign == b"{"))
        elif sign in (b"}", b"]"):
            if len(frames) > 1 and top.is_object == (sign == b"}"):
                _close(frames, token.end())
        elif sign == b",":
            top.key = ""
        elif top.is_object and not top.key:
            top.key = text_of(sign) or " "
        elif _may_be_named(top, sign, looks_secret):
            top.values.append(token.span())
        if token.end() == end and (b"{" in sign or b"[" in sign) and _UNENDED.fullmatch(sign):
            top.values.append(token.span())
    inside = next((inner.start for outer, inner in pairwise(frames) if outer.has_value), end)
    lists = {id(frame.values): frame.values for frame in frames}.values()
    left = sorted({span for values in lists for span in values if span[0] < inside})
    return [*left, (inside, end)] if inside < end else left


def _close(frames: list[_OpenContainer], end: int) -> None:
    """Close the innermost container. If another member may declare the container to be a secret, the position of the whole container is
    stored.
    """
    closed, outer = frames.pop(), frames[-1]
    if outer.has_value:
        outer.values.append((closed.start, end))


def _may_be_named(frame: _OpenContainer, text: bytes, looks_secret: Callable[[str], bool]) -> bool:
    if frame.is_object and _VALUES.fullmatch(frame.key):
        return True
    return (not frame.is_object or frame.has_value) and text.startswith(b'"') and looks_secret(text_of(text))
