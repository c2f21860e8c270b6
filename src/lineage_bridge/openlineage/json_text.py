"""JSON as bytes: how deeply it is nested, which strings cannot be stored, and the paths of its members."""

import json
import re
from collections.abc import Iterator

_NO_BRACKET = bytes(set(range(256)) - set(b"{}[]"))
_BRACES = bytes.maketrans(b"[]", b"{}")
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u0000|u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_BAD_CHARACTER = re.compile("[\x00\ud800-\udfff]")
_REPLACEMENT = rb"\ufffd"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,100}")
_PATH_KEY_LENGTH = 100


def is_deeper_than(raw: bytes, levels: int) -> bool:
    """Whether objects and arrays nest deeper than `levels`. Exact for valid JSON: brackets in strings do not count."""
    if raw.count(b"{") + raw.count(b"[") <= levels:
        return False
    outside = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(_BRACES, _NO_BRACKET)
    for _ in range(levels):
        rest = brackets.replace(b"{}", b"")
        if len(rest) == len(brackets):
            return rest.count(b"{") > levels
        brackets = rest
    return bool(brackets)


def mend_text(raw: bytes) -> bytes:
    r"""Replace escapes of NUL and of lone surrogates by \ufffd; the same object if there are none."""
    if b"\\" not in raw or not _SUSPECT.search(raw):
        return raw
    mended = _ESCAPE.sub(lambda escape: _REPLACEMENT if escape[1] else escape[0], raw)
    return raw if mended == raw else mended


def bad_text_paths(raw: bytes) -> Iterator[str]:
    """The paths of the strings that `mend_text` changes, in document order, each once.

    `raw` is valid JSON of bounded depth.
    """
    yield from dict.fromkeys(_bad_texts(json.loads(raw.decode(), parse_int=str, parse_float=str), "$"))


def _bad_texts(value: object, path: str) -> Iterator[str]:
    if isinstance(value, str) and _BAD_CHARACTER.search(value):
        yield path
    elif isinstance(value, dict):
        for key, member in value.items():
            inner_path = member_path(path, key)
            if _BAD_CHARACTER.search(key):
                yield inner_path
            yield from _bad_texts(member, inner_path)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _bad_texts(element, f"{path}[{index}]")


def member_path(path: str, key: str) -> str:
    """The path of an object's member. Keys that are not plain words are quoted, very long ones are cut."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}"
    shown = key if len(key) <= _PATH_KEY_LENGTH else key[:_PATH_KEY_LENGTH] + "…"
    quoted = _BAD_CHARACTER.sub("\ufffd", shown).replace("\\", "\\\\").replace("'", "\\'")
    return f"{path}['{quoted}']"
