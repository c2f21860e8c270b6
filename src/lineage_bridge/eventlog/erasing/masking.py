"""Masks a person's identifier in texts and in JSON, without changing their length or what else they mean.

In JSON, only strings are searched and masked. Numbers (such as an offset whose digits are somebody's personnel number) and the names of
members that are plain words belong to the format: without them, it could not be read any more.
"""

import re
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from lineage_bridge.eventlog.erasing.identifier import MASK, PersonIdentifier

_STRING: Final = re.compile(rb'"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?', re.DOTALL)
_WORD: Final = re.compile(rb"[a-zA-Z_]\w*")
_CONTAINERS: Final = (b"{", b"[")
_HASH: Final = b'"releases":'
"""Before the hash of another event in a note, in which the identifier occurs by chance."""


def masked_texts(data: bytes, identifier: PersonIdentifier, names: AbstractSet[bytes] | None = None) -> bytes:
    """Mask the identifier in bytes that are JSON or another text. In JSON, names of members are kept if they are in `names`; by default, if
    they are plain words.
    """
    if not identifier.is_in(data):
        return data
    if not _is_json(data):
        return _masked_text(data, identifier)

    def mask(found: "re.Match[bytes]") -> bytes:
        text, colon = found[1], found[2] or b""
        is_name = bool(colon) and (_WORD.fullmatch(text) is not None if names is None else text in names)
        if is_name or data[max(0, found.start() - len(_HASH)) : found.start()] == _HASH:
            return found[0]
        return b'"' + _masked_string(text, identifier) + b'"' + colon

    return _STRING.sub(mask, data)


def _masked_string(text: bytes, identifier: PersonIdentifier) -> bytes:
    """The text of a string of JSON without the identifier: masked as a whole if it has escapes, which must not be masked in part."""
    if b"\\" not in text:
        return _masked_text(text, identifier)
    return MASK * len(text) if identifier.is_in(text) else text


def _masked_text(text: bytes, identifier: PersonIdentifier) -> bytes:
    """The text without the identifier: masked as a whole if it contains it in an encoding, such as base64."""
    masked = identifier.masked(text)
    return MASK * len(text) if identifier.is_in(masked) else masked


def _is_json(data: bytes) -> bool:
    if not data.lstrip().startswith(_CONTAINERS):
        return False
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True
