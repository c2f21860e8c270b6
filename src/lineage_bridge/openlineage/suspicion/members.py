"""Masks JSON whose suspicious texts are all scalar members of objects, without reading its other tokens one by one.

Small events with a few secrets are mostly such JSON. Whatever decides about a secret by what is further away (options of commands, the
elements of arrays, a name beside a value, everything inside a secret's member) is left to the reading of all tokens.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ahocorasick_rs import BytesAhoCorasick, Implementation

from lineage_bridge.openlineage.json_text import PlainParts, Spend, is_json, masked_token, text_of
from lineage_bridge.openlineage.secret_rules.companions import NAMING
from lineage_bridge.openlineage.secret_rules.members import ENCODED_KEYS, NAMES_OF_VALUES, can_name_others, is_member_secret
from lineage_bridge.openlineage.secret_rules.names import KEY_PARTS, is_weak, names_secret
from lineage_bridge.openlineage.secrets import mask_text

_ESCAPE, _OPTION = b"\\", b'"-'
"""In JSON with these, more than the suspicious texts may matter."""
_KEY_PARTS: Final = BytesAhoCorasick([b'"%b"' % part.encode() for part in sorted(KEY_PARTS)], implementation=Implementation.DFA)
"""The parts of JSON Web Keys are recognised by their values, whether they are suspicious or not."""
_BEHIND_KEY: Final = frozenset((b":", b" ", b"\t", b"\n", b"\r"))
_PLAIN_KEY: Final = re.compile(rb'"[\w.\-]{1,100}"')
_MEMBER: Final = re.compile(rb'(?P<key>"[^"]*"): ?(?P<value>"[^"]*"|[^\s"{}\[\]:,]+)')
_MEMBER_NS: Final = 4_500
_CACHED: Final = 8192
_Member = tuple[bytes, int, int, bool]
"""A member with a suspicious offset: its key, as a token; where its value, a scalar, starts and ends; whether the offset is in the key."""


class _Name(NamedTuple):
    """A key that may name a secret. `longer`: how a value begins that is only a longer form of the name of a certain secret; else None."""

    text: str
    longer: bytes | None


class _UnreadError(Exception):
    """All tokens have to be read."""


Editing = tuple[Callable[[int, int], None], Callable[[int, int, str], bool]]
"""Edit a scalar between two positions: a secret, and a text under a key, which may contain one. The latter returns whether it did."""


def edit_members(plain: PlainParts, editing: Editing, spend: Spend) -> bool | None:
    """Edit the members with suspicious offsets. Returns whether a text was edited that may name the value of a member beside it; None if
    all tokens have to be read instead, and nothing was edited.
    """
    raw, offsets = plain.raw, plain.offsets
    if offsets is None or _ESCAPE in raw or _OPTION in raw or _has_key_part(raw) or not is_json(raw):
        return None
    try:
        members = list(_members(raw, offsets))
        secrets, texts = _sorted(plain, members)
    except _UnreadError:
        return None
    spend(len(members) * _MEMBER_NS)
    edit_secret, edit_text = editing
    for start, end in secrets:
        edit_secret(start, end)
    is_renamed = False
    for start, end, name in texts:
        is_renamed |= edit_text(start, end, name) and name in NAMES_OF_VALUES
    return is_renamed


def _has_key_part(raw: bytes) -> bool:
    return any(raw[end : end + 1] in _BEHIND_KEY for _, _, end in _KEY_PARTS.find_matches_as_indexes(raw))


def _sorted(plain: PlainParts, members: Sequence[_Member]) -> tuple[list[tuple[int, int]], list[tuple[int, int, str]]]:
    """The positions of the values that are secrets by their keys, and of those, with their keys, that may contain one. Raises
    _UnreadError if one may decide about another.
    """
    raw, secrets, texts = plain.raw, list[tuple[int, int]](), list[tuple[int, int, str]]()
    is_valued = b'"value"' in raw
    for key, start, end, is_named in members:
        if is_named:
            name, longer = _name(key)
            value = raw[start:end]
            if (longer is not None and not value.startswith(longer)) or is_member_secret(name, value, is_plain_key=False):
                secrets.append((start, end))
                continue
            if plain.is_plain(start, end):
                continue
        else:
            name = text_of(key)
        if _may_name_others(name) and can_name_others(name, raw[start:end], is_valued=is_valued):
            raise _UnreadError
        texts.append((start, end, name))
    return secrets, texts


@lru_cache(_CACHED)
def _name(key: bytes) -> _Name:
    """Look at a key. Raises _UnreadError if it contains a secret itself, or anything unusual."""
    if not _PLAIN_KEY.fullmatch(key) or masked_token(key, mask_text) != key:
        raise _UnreadError
    text = text_of(key)
    is_sure = names_secret(text) and not is_weak(text) and text not in ENCODED_KEYS
    return _Name(text, b'"%b_' % text.encode() if is_sure else None)


@lru_cache(_CACHED)
def _may_name_others(name: str) -> bool:
    """Whether a text under this key may name the secret that another member contains."""
    return name in NAMES_OF_VALUES or name == "type" or bool(NAMING.fullmatch(name))


def _members(raw: bytes, offsets: Sequence[int]) -> Iterator[_Member]:
    """The members with the offsets, in their order, each once. Raises _UnreadError if an offset is anywhere else.

    `raw` is JSON without escapes, so that each string ends with the first quote.
    """
    end = 0
    for offset in offsets:
        if offset < end:
            continue
        opens = raw.rfind(b'"', end, offset + 1)
        if not raw.count(b'"', end, offset + 1) % 2:
            if opens != offset:
                raise _UnreadError
            opens = raw.rfind(b'"', end, offset)  # the offset is that of the quote behind a string
        member = _MEMBER.match(raw, opens)
        if member:
            start, end = member.span("value")
            yield member["key"], start, end, True
        else:
            end = raw.index(b'"', opens + 1) + 1
            yield _key_before(raw, opens), opens, end, False


def _key_before(raw: bytes, start: int) -> bytes:
    """The key of the member whose value starts here. Raises _UnreadError if it is none, or the key of an object or array."""
    closes = raw.rfind(b'"', 0, start)
    if closes < 0 or raw[closes + 1 : start] not in (b":", b": "):
        raise _UnreadError
    return raw[raw.rindex(b'"', 0, closes) : closes + 1]
