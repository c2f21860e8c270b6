"""Secrets that another value of the same object or array names: `{"k": "password", "v": "x"}`, `["token", "x"]`, table rows."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import pairwise

from lineage_bridge.openlineage.json_text import text_of

Span = tuple[int, int]
NAMING = re.compile(
    r"(?:k|id|title|label|property|prop|option|setting|field|param|parameter|header|variable|var|attribute|attr|arg|argument|env|column|flag|prompt|question|\w{0,40}(?:name|key))",
    re.IGNORECASE,
)
"""Keys of members that name the content of another member."""
_VALUES = re.compile(r"(?:v|val|vals|argument|\w{0,40}values?)", re.IGNORECASE)
_TEXTS = re.compile(r"(?:content|contents|data|text|default|default_?value|current|setting|plaintext|secret)", re.IGNORECASE)
"""Keys of members whose content another member names: any content with a key of `_VALUES`, secret-looking content with one of `_TEXTS`."""
_VALUED = re.compile(rb'(?i)"(?:v|val|vals|argument|content|contents|data|text|default|current|setting|plaintext|\w{0,40}values?)"\s*:')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],]|[^\s"{}\[\]:,]+', re.DOTALL)


SEVERAL = re.compile(r"(?i:\w{0,40}(?:(?:api|access|secret|private|auth)[_\-.]?keys|tokens|creds|pins)|basic_?auth|auth)")
"""Keys of members with several values, of which those that look like secrets are secrets."""


def is_valued(raw: bytes, start: int, end: int) -> bool:
    """Whether an object has a member whose content another member may name."""
    return bool(_VALUED.search(raw, start, end))


def named_values(raw: bytes, start: int, end: int, looks_secret: Callable[[str], bool], *, only_random: bool) -> Iterator[Span]:
    """The positions of the values of an object that another member declares secret. `start` is the position of its bracket."""
    depth, key, named = 0, "", 0
    for token in _TOKEN.finditer(raw, start, end):
        sign = token[0]
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
            and raw[token.end() : token.end() + 1] != b":"
            and sign.startswith(b'"')
            and ((named == 2 and not only_random) or looks_secret(text_of(sign)))
        ):
            yield token.span()


def aligned_values(
    raw: bytes, start: int, end: int, columns: Collection[int], count: int, looks_secret: Callable[[str], bool]
) -> Iterator[Span]:
    """The positions of secrets in lists that are as long as a list of names, and in rows of lists; only in these columns."""
    lists: list[list[Span]] = []
    for token in _TOKEN.finditer(raw, start, end):
        sign = token[0]
        if sign in (b"{", b"["):
            lists.append([])
        elif sign in (b"}", b"]"):
            closed = lists.pop() if lists else []
            if sign == b"]" and len(closed) == count:
                yield from (closed[column] for column in columns if looks_secret(text_of(raw[slice(*closed[column])])))
            if lists:
                lists[-1].append((0, 0))
        elif sign != b"," and lists:
            lists[-1].append(token.span())


class _OpenContainer:
    """An object or array whose end has not been read. `key` is the current member's, `values` what another member may name."""

    __slots__ = ("is_object", "key", "start", "values")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start, self.is_object, self.key = start, is_object, ""
        self.values: list[Span] = []


def values_left_open(raw: bytes, looks_secret: Callable[[str], bool]) -> list[Span]:
    """Where the values of the objects are that are still open at the end of a text, and that a member behind it may name a secret.

    In the order of the text, none within another.
    """
    frames = [_OpenContainer(0, is_object=False)]
    for token in _TOKEN.finditer(raw):
        sign, top = token[0], frames[-1]
        if sign in (b"{", b"["):
            frames.append(_OpenContainer(token.start(), is_object=sign == b"{"))
        elif sign in (b"}", b"]"):
            if len(frames) > 1:
                frames.pop()
                _keep(frames[-1], (top.start, token.end()), "", looks_secret)
        elif sign == b",":
            top.key = ""
        elif not top.is_object or top.key:
            _keep(top, token.span(), text_of(sign), looks_secret)
        else:
            top.key = text_of(sign) or " "
    inside = next((inner.start for outer, inner in pairwise(frames) if outer.is_object and _VALUES.fullmatch(outer.key)), len(raw))
    left = sorted(span for frame in frames for span in frame.values if span[0] < inside)
    return [*left, (inside, len(raw))] if inside < len(raw) else left


def _keep(frame: _OpenContainer, span: Span, text: str, looks_secret: Callable[[str], bool]) -> None:
    """Remember a value of an object: whatever it is, or if it looks like a secret, by its key."""
    if frame.is_object and (_VALUES.fullmatch(frame.key) or (_TEXTS.fullmatch(frame.key) and text and looks_secret(text))):
        frame.values.append(span)
