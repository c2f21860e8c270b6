"""Finds the positions in JSON at which a secret, or the name of one, may begin."""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache

from ahocorasick_rs import BytesAhoCorasick, Implementation

from lineage_bridge.openlineage.secret_rules.foreign import foreign_offsets
from lineage_bridge.openlineage.suspicion.formats import FORMATS, FREQUENT, MAY_HAVE_FREQUENT
from lineage_bridge.openlineage.suspicion.marks import MARKS

_ANY_MARK = BytesAhoCorasick(sorted(MARKS), implementation=Implementation.DFA)
_OF_TEXT: dict[bytes, list[tuple[int, Callable[[bytes, int], object] | None, bool]]] = {}
"""The formats with each text: how many bytes are skipped, what matches there, and whether the case matters."""
for _form in FORMATS:
    for _text in dict.fromkeys(_form.texts):
        _OF_TEXT.setdefault(_text, []).append((_form.skipped, _form.pattern and _form.pattern.match, _form.is_cased))
_TEXTS = sorted(_OF_TEXT)
_FORMATS = [_OF_TEXT[text] for text in _TEXTS]
_ANY_TEXT = BytesAhoCorasick(_TEXTS, implementation=Implementation.DFA)
_USER_INFO = re.compile(rb":\\?/\\?/[^\s\"/@]{0,300}@|:oracle:[^\s\"@]{0,300}@|[\w.\-]:[^\s\"/@:]{3,128}@|\w/[^\s\"/@:]{1,64}@")
"""Each match ends with its only `@`."""
_LONGEST_USER_INFO, _DENSE = 320, 100
"""Where there is more than one `@` in so many bytes, it costs less to look from the beginning than back from each of them."""
_MASKED = re.compile(rb"(?<![\w.\-])[\w.\-]+=\*{8}(?:(?:[0-9a-f]{8}){1,2})?(?=[\"\s/])|\"[\w.\-]+\"\s*:\s*\"\*{8}\"")
_MASK = b"********"
_LONGEST_SETTING, _LONGEST_DIGEST = 300, 16
_CACHED = 8192
_CACHED_BYTES = 2048
_BEGINNING = 512
"""So many bytes are searched for marks before the rest: what is full of them need not be searched as a whole."""


def is_suspicious(piece: bytes) -> bool:
    """Whether a piece of JSON may contain a secret. Short pieces are cached, since producers repeat themselves."""
    return _is_suspicious_cached(piece) if len(piece) <= _CACHED_BYTES else _is_suspicious(piece)


def _is_suspicious(piece: bytes) -> bool:
    text = _without_masked_settings(piece) if _MASK in piece else piece
    if b"@" in text and next(_user_infos(text), -1) >= 0:
        return True
    lower = text.lower()
    # The marks are looked for first: it costs least, and most of what is suspicious has one.
    return _has_mark(lower) or next(_formats(text, lower), -1) >= 0 or bool(foreign_offsets(text))


def _without_masked_settings(piece: bytes) -> bytes:
    kept: list[bytes] = []
    at = 0
    for begins, ends in _masked_settings(piece):
        kept.append(piece[at:begins])
        at = ends
    return b"".join((*kept, piece[at:]))


def _has_mark(lower: bytes) -> bool:
    if len(lower) > _BEGINNING and _ANY_MARK.find_matches_as_indexes(lower[:_BEGINNING]):
        return True
    return bool(_ANY_MARK.find_matches_as_indexes(lower))


_is_suspicious_cached = lru_cache(_CACHED)(_is_suspicious)


def suspicious_offsets(raw: bytes) -> Sequence[int]:
    """The sorted positions in a body where a secret, or the name of one, may begin. Pieces without such a position are not suspicious."""
    return _offsets_cached(raw) if len(raw) <= _CACHED_BYTES else _offsets(raw)


def _offsets(raw: bytes) -> Sequence[int]:
    lower = raw.lower()
    offsets = [start for _, start, _ in _ANY_MARK.find_matches_as_indexes(lower)]
    offsets += _formats(raw, lower)
    if b"@" in raw:
        offsets += _user_infos(raw)
    offsets += foreign_offsets(raw)
    offsets.sort()
    return _unmasked(raw, offsets) if offsets and _MASK in raw else offsets


_offsets_cached = lru_cache(_CACHED)(_offsets)


def _unmasked(raw: bytes, offsets: list[int]) -> list[int]:
    """The positions among these (sorted) that are not in a setting whose value is already masked."""
    kept: list[int] = []
    at = 0
    for begins, ends in _masked_settings(raw):
        start = bisect_left(offsets, begins, at)
        kept += offsets[at:start]
        at = bisect_left(offsets, ends, start)
    return kept + offsets[at:]


def _masked_settings(raw: bytes) -> Iterator[tuple[int, int]]:
    """Where settings with masked values begin and end. Settings with very long names are left out."""
    before, mask = 0, raw.find(_MASK)
    while mask >= 0:
        behind = mask + len(_MASK)
        if raw[mask - 1 : mask] in (b"=", b'"') and raw[behind : behind + 1] != b"*":
            found = _MASKED.search(raw, max(before, mask - _LONGEST_SETTING), behind + _LONGEST_DIGEST + 1)
            if found and found.start() < mask:
                yield found.span()
        before, mask = behind, raw.find(_MASK, behind)


def _formats(raw: bytes, lower: bytes) -> Iterator[int]:
    """The positions at which a format of secrets begins."""
    for number, start, _ in _ANY_TEXT.find_matches_as_indexes(lower, overlapping=True):
        for skipped, match, is_cased in _FORMATS[number]:
            if match is None or match(raw if is_cased else lower, start + skipped):
                yield start + skipped
    if MAY_HAVE_FREQUENT.Match(lower):
        for text, _, pattern in FREQUENT:
            if text in lower:
                yield from (found.start() for found in pattern.finditer(lower))


def _user_infos(raw: bytes) -> Iterator[int]:
    """The positions at which users and passwords before an `@` begin."""
    if raw.count(b"@") * _DENSE > len(raw):
        yield from (found.start() for found in _USER_INFO.finditer(raw))
        return
    before, at = 0, raw.find(b"@")
    while at >= 0:
        start = max(before, at - _LONGEST_USER_INFO)
        # No match contains a quote.
        if found := _USER_INFO.search(raw, max(start, raw.rfind(b'"', start, at)), at + 1):
            yield found.start()
        before, at = at + 1, raw.find(b"@", at + 1)
