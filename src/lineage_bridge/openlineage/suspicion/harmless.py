"""Finds, for all texts of a body at once, those that contain a word that could name a secret, but no secret.

Names and descriptions of columns and datasets, such as `access_token_id` in a table of thousands of columns, need not be read one by one.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from lineage_bridge.openlineage.json_text import is_json
from lineage_bridge.openlineage.secret_rules.companions import is_valued
from lineage_bridge.openlineage.secrets import RULES
from lineage_bridge.openlineage.suspicion.search import suspicious_offsets

_FEW = 8
"""Up to so many offsets, reading the texts one by one costs less. Where many texts may not be left out, so many are checked together."""
_LONGEST = 256
_BLANKS = (b"", b" ", b"\t", b"\n", b"\r")
_NAMING_KEYS = frozenset((b'"name', b'"field', b'"type'))
_KEYS = _NAMING_KEYS | frozenset((b'"description', b'"transformationDescription', b'"comment', b'"doc'))
"""Keys of names and of descriptions, without their last quotes."""
_LONGEST_KEY, _LONGEST_COLON = 40, 4
_COLONS = frozenset(b'"%b:%b' % (before, behind) for before in _BLANKS for behind in _BLANKS)
"""What is between a key and the quote of its value, with the key's last quote."""
_BEFORE = frozenset(b": \t\n\r")
"""What is before the quote of a member's value."""
_PLAIN = re.compile(rb"[^=:>{}\[\]'`\"\\\x00-\x1f\x7f-\xff]*")
"""Text in which nothing is assigned, and no JSON, literal or escape begins."""
_BEHIND = frozenset((b",", b"}", b" ", b"\n", b"\r"))
_AT_ONCE = 256
"""How many texts are checked together."""
_BETWEEN = b"\0"
_CACHED = 8192


def harmful_offsets(raw: bytes, offsets: Sequence[int]) -> Sequence[int]:
    """The suspicious offsets in a body, without those in texts of its members that neither contain a secret nor name one."""
    if len(offsets) <= _FEW:
        return offsets
    found = _member_texts(raw, offsets)
    if not found or not is_json(raw):
        return offsets
    if is_valued(raw, 0, len(raw)):
        found = [text for text in found if not text.names]
    dropped: set[int] = set()
    for text in _without_secrets(found, _AT_ONCE):
        dropped.update(text.offsets)
    return [offset for offset in offsets if offset not in dropped] if dropped else offsets


class Suspicion:
    """The suspicious offsets of a body."""

    def __init__(self, raw: bytes) -> None:
        self.raw, self.offsets = raw, suspicious_offsets(raw)
        self._harmful: Sequence[int] | None = None

    @property
    def harmful(self) -> Sequence[int]:
        """The offsets that are not in texts which only mention secrets."""
        if self._harmful is None:
            self._harmful = harmful_offsets(self.raw, self.offsets)
        return self._harmful


class _Text:
    """A text that is the value of a member, and the suspicious offsets in it. `names`: it is the name or type of something."""

    __slots__ = ("content", "names", "offsets")

    def __init__(self, content: bytes, offset: int, *, names: bool) -> None:
        self.content, self.offsets, self.names = content, [offset], names


def _without_secrets(texts: Sequence[_Text], count: int) -> Iterator[_Text]:
    """The texts among these in which no rule matches. `count` texts are checked at once, and fewer at a time where one may match."""
    for at in range(0, len(texts), count):
        some = texts[at : at + count]
        if not RULES.may_match(_BETWEEN.join({text.content for text in some}).decode("ascii")):
            yield from some
        elif count > _FEW:
            yield from _without_secrets(some, _FEW)
        else:
            yield from (text for text in some if not _has_secret(text.content))


@lru_cache(_CACHED)
def _has_secret(content: bytes) -> bool:
    text = content.decode("ascii")
    return any(rule.pattern.search(text) for group in RULES.worth_trying(text).values() for rule in group)


def _member_texts(raw: bytes, offsets: Sequence[int]) -> list[_Text]:
    """The short plain texts with suspicious offsets in members whose keys are known to be harmless."""
    found: list[_Text] = []
    closes, skipped, text = 0, 0, None
    for offset in offsets:
        if offset < closes:
            if text:
                text.offsets.append(offset)
            continue
        if offset < skipped:
            closes = offset
            continue
        opens = raw.rfind(b'"', max(closes, offset - _LONGEST), offset)
        closes = raw.find(b'"', offset, offset + _LONGEST)
        if closes < 0:  # nothing up to the last bytes of this text can be in a short one
            closes = raw.find(b'"', offset + _LONGEST)
            skipped = (closes if closes >= 0 else len(raw)) - _LONGEST
            closes = -1
        is_value = 0 < opens < closes and raw[opens - 1] in _BEFORE and raw[closes + 1 : closes + 2] in _BEHIND
        text = _member_text(raw, opens, closes, offset) if is_value else None
        if text:
            found.append(text)
        closes = max(closes, offset)
    return found


def _member_text(raw: bytes, opens: int, closes: int, offset: int) -> _Text | None:
    content = raw[opens + 1 : closes]
    if not _PLAIN.fullmatch(content):
        return None
    key_closes = raw.rfind(b'"', max(0, opens - _LONGEST_COLON), opens)
    if raw[key_closes:opens] not in _COLONS:
        return None
    key = raw[raw.rfind(b'"', max(0, key_closes - _LONGEST_KEY), key_closes) : key_closes]
    return _Text(content, offset, names=key in _NAMING_KEYS) if key in _KEYS else None
