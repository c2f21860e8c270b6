"""Examines JSON as bytes: how deeply it is nested, which strings cannot be stored, and the paths of its members."""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
import re2

Spend = Callable[[int], None]
"""Called before each piece of work with its approximate nanoseconds. It may raise an error to end the work."""
_NO_BRACKET = bytes(set(range(256)) - set(b"{}[]"))
_BRACES = bytes.maketrans(b"[]", b"{}")
_MANY_BRACKETS = 4096
_SUSPECT = re.compile(rb"\\u(?:0000|[dD][89a-fA-F])")
_LONE_SURROGATE = re.compile(
    rb"\\u[dD](?:[89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|[c-fC-F][0-9a-fA-F]{2}(?<!\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}))"
)
"""Matches the escape of a lone surrogate, in JSON text without escaped backslashes."""
_BAD_CHARACTER = re.compile("[\x00\ud800-\udfff]")
_WITH_TEXT = frozenset((str, dict, list))
_REPLACEMENT = rb"\ufffd"
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,100}")
_PATH_KEY_LENGTH = 100

_ANY = msgspec.json.Decoder(msgspec.Raw)

TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}\[\],]|[^\s"{}\[\]:,]+', re.DOTALL)
"""The tokens of JSON without its colons, even in bytes that are not valid JSON."""
SMALL = 4096
"""Up to this many bytes, reading JSON token by token is cheap."""
_BRACKET = re.compile(rb"[{}\[\]]")
_ENDS = {b"{": b"}", b"[": b"]"}
_PLAIN_STRING = re.compile(rb'"[^"\\\x00-\x1f\x80-\xff]*"')
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_DEEPEST = 5
_LARGEST_CONTAINER = 1 << 14
"""A nested object or array of at least this many bytes is skipped as a whole."""


def _container(levels: int) -> str:
    """Build a pattern for an object or array that contains at most `levels` further levels. It never matches the same text in two ways, so
    matching takes linear time.
    """
    inside = f"(?:{_STRING}|{_container(levels - 1)})" if levels else _STRING
    return rf'[{{\[][^"{{}}\[\]]*(?:{inside}[^"{{}}\[\]]*)*[}}\]]'


def compiled_re2(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    """Compile a pattern for bytes with RE2, which reads any input only once."""
    return re2.compile(pattern.encode(), _re2_options())


def re2_finder(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    """Compile a pattern as `compiled_re2` does. Its `Match` only says whether it matches anywhere, which costs short texts less."""
    finder = re2.Set.SearchSet(_re2_options())
    finder.Add(pattern.encode())
    finder.Compile()
    return finder


def _re2_options() -> Any:  # noqa: ANN401  # re2 has no types
    options = re2.Options()
    options.encoding, options.dot_nl = re2.Options.Encoding.LATIN1, True
    return options


_CONTAINER = compiled_re2(_container(_DEEPEST))
"""RE2, which does not go back: most containers that are tried enclose what must be read, and do not match."""
_EMPTY = re.compile(rb"(?:\s*,\s*(?:\{\}|\[\]))+")
_PLAIN_FLAT = re.compile(rb'(?:\s*,\s*[{\[][^{}\[\]\\"]*(?:"[^"\\]*"[^{}\[\]\\"]*){0,40}[}\]]){1,64}')
_PLAIN_MEMBERS = re.compile(rb'(?:\s*"(?!value")[^"\\]*"\s*:\s*(?:"[^"\\]*"|[^\s{}\[\]\\",:]+)\s*,){1,64}')
_PLAIN_SCALARS = re.compile(rb'(?:\s*(?:"(?!-)[^"\\]*"|(?!-\D)[^\s{}\[\]\\",:]+)\s*,){1,64}')


def no_limit(_: int) -> None:
    """Do nothing. It is used as `spend` if the work is not limited."""


class PlainParts:
    """Finds plain parts of a JSON text: parts that contain none of the given byte offsets, so that their tokens need not be read. `offsets`
    are sorted; None if they are unknown, in which case no part is skipped.
    """

    def __init__(self, raw: bytes, offsets: Sequence[int] | None) -> None:
        self.raw, self.offsets = raw, offsets
        self._from, self._next = 0, -1

    def may_end(self, opening: bytes, start: int) -> bool:
        """Whether the object or array whose content starts here can end before the next offset."""
        return self.offsets is None or self.raw.find(_ENDS[opening], start, self._next_offset(start)) >= 0

    def is_plain(self, start: int, end: int) -> bool:
        """Whether none of the offsets lies between two positions."""
        return self.offsets is not None and self._next_offset(start) >= end

    def flat_end(self, opening: bytes, start: int) -> int:
        """The end of the object or array whose content starts here, if it contains no other object or array and no escapes; else 0."""
        closes = _ENDS.get(opening)
        if self.offsets is None or closes is None:
            return 0
        bracket = _BRACKET.search(self.raw, start)
        if bracket is None or bracket[0] != closes:
            return 0
        inner = self.raw[start : bracket.start()]
        return 0 if b"\\" in inner or inner.count(b'"') % 2 else bracket.end()

    def nested_end(self, at: int) -> int:
        """The end of the plain object or array that begins here, if it is not too deep; else 0."""
        if self.offsets is None:
            return 0
        # The content of a longer one is skipped piece by piece, instead of being read again for each container around it.
        found = _CONTAINER.match(self.raw, at, min(self._next_offset(at), at + _LARGEST_CONTAINER))
        return found.end() if found else 0

    def empty_run_end(self, at: int) -> int:
        """The end of the empty objects and arrays that follow in an array; `at` if there are none."""
        found = _EMPTY.match(self.raw, at)
        return found.end() if found else at

    def flat_run_end(self, at: int) -> int:
        """The end of the flat objects and arrays that follow in an array and need not be read; `at` if there are none."""
        return self._run_end(_PLAIN_FLAT, at)

    def members_end(self, at: int) -> int:
        """The end of the members of an object that follow and need not be read: plain scalars, none of them called `value`. 0 if
        there are none.
        """
        end = self._run_end(_PLAIN_MEMBERS, at) if self.offsets is not None else at
        return end if end > at else 0

    def scalars_end(self, at: int) -> int:
        """The end of the elements of an array that follow and need not be read: plain scalars that are not options of commands. 0 if
        there are none.
        """
        end = self._run_end(_PLAIN_SCALARS, at) if self.offsets is not None else at
        return end if end > at else 0

    def _run_end(self, pattern: re.Pattern[bytes], at: int) -> int:
        limit = self._next_offset(at)
        while found := pattern.match(self.raw, at, limit):
            at = found.end()
        return at

    def _next_offset(self, at: int) -> int:
        if not self._from <= at <= self._next:
            offsets = self.offsets or ()
            index = bisect_left(offsets, at)
            self._from, self._next = at, offsets[index] if index < len(offsets) else len(self.raw)
        return self._next


def is_json(raw: bytes) -> bool:
    """Whether bytes are JSON in UTF-8. Bytes that are nested too deeply to be read count as JSON."""
    try:
        _ANY.decode(raw)
        raw.decode()
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    except RecursionError:
        return True
    return True


def is_deeper_than(raw: bytes, levels: int) -> bool:
    """Whether objects and arrays nest deeper than `levels`. Exact for valid JSON: brackets in strings do not count."""
    if raw.count(b"{") + raw.count(b"[") <= levels:
        return False
    outside = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    brackets = b"".join(outside).translate(_BRACES, _NO_BRACKET)
    if len(brackets) > _MANY_BRACKETS:
        import numpy as np  # noqa: PLC0415  # takes longer to load than all else here, and few bodies need it

        depths = np.cumsum(np.where(np.frombuffer(brackets, np.uint8) == ord("{"), 1, -1), dtype=np.int32)
        return bool(depths.max() > levels)
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
    # Escaped backslashes are replaced by bytes that the text does not contain.
    aside = next(two for number in range(1 << 16) if (two := number.to_bytes(2, "big")) not in raw and two[0] != two[1])
    mended = raw.replace(b"\\\\", aside).replace(b"\\u0000", _REPLACEMENT)
    mended = _LONE_SURROGATE.sub(rb"\\ufffd", mended).replace(aside, b"\\\\")
    return raw if mended == raw else mended


def bad_text_paths(raw: bytes) -> Iterator[str]:
    """The paths of the strings that `mend_text` changes, in document order, each once.

    `raw` is valid JSON of bounded depth.
    """
    seen: set[str] = set()
    for path in _bad_texts(json.loads(raw.decode(), parse_int=float), "$"):
        if path not in seen:
            seen.add(path)
            yield path


def _bad_texts(value: object, path: str) -> Iterator[str]:
    if isinstance(value, str) and _BAD_CHARACTER.search(value):
        yield path
    elif isinstance(value, dict):
        for key, member in value.items():
            if _BAD_CHARACTER.search(key):
                yield member_path(path, key)
            if type(member) in _WITH_TEXT:
                yield from _bad_texts(member, member_path(path, key))
    elif isinstance(value, list):
        for index, element in enumerate(value):
            if type(element) in _WITH_TEXT:
                yield from _bad_texts(element, f"{path}[{index}]")


def member_path(path: str, key: str) -> str:
    """The path of an object's member. Keys that are not plain words are quoted, very long ones are cut."""
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}"
    shown = key if len(key) <= _PATH_KEY_LENGTH else key[:_PATH_KEY_LENGTH] + "…"
    quoted = _BAD_CHARACTER.sub("\ufffd", shown).replace("\\", "\\\\").replace("'", "\\'")
    return f"{path}['{quoted}']"


# the tokens of bytes that need not be JSON


def text_of(token: bytes) -> str:
    """The text of a token: the value of a JSON string, or the token itself if it is not a string."""
    text = _string(token) if b"\\" in token else None
    return token.strip(b'"').decode("utf-8", "surrogateescape") if text is None else text


def masked_token(token: bytes, mask_string: Callable[[str], str]) -> bytes:
    """Mask the secrets in the text of a JSON token. The result equals `token` if it has none."""
    text = _string(token)
    if text is None:
        return mask_string(token.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    masked = mask_string(text)
    return token if masked == text else token_of(masked)


def token_of(text: str) -> bytes:
    """Encode a text as a JSON string."""
    if text.isascii() and text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'.encode()
    try:
        return json.dumps(text, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return json.dumps(text).encode()


def edited(raw: bytes, edits: Mapping[int, tuple[int, bytes]]) -> bytes:
    """Replace parts of a text. `edits` maps the start of each part to its end and the replacement. A part inside another part is
    ignored.
    """
    pieces: list[bytes] = []
    end = 0
    for start in sorted(edits):
        if start < end:
            continue
        stop, replacement = edits[start]
        pieces += (raw[end:start], replacement)
        end = stop
    return b"".join((*pieces, raw[end:]))


def _string(token: bytes) -> str | None:
    if _PLAIN_STRING.fullmatch(token):
        return token[1:-1].decode()
    try:
        text = json.loads(token) if token.startswith(b'"') else None
    except ValueError:
        return None
    return text if isinstance(text, str) else None
