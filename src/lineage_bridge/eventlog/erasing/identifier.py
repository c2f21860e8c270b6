"""Finds the identifier of a person, such as an e-mail address, in bytes, and masks it there without changing their length.

It is found anywhere, within longer words too, whatever the case of its letters, in the encodings that producers and this program write:
UTF-8, the escapes of JSON (also of JSON within JSON), percent-encoding and base64.
"""

import json
import re
import unicodedata
from base64 import b64encode
from functools import cached_property
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from lineage_bridge.errors import RequestError

LEAST_CHARACTERS: Final = 3
MOST_CHARACTERS: Final = 1000
MASK: Final = b"#"
"""What replaces each byte that is masked. It must not be a wildcard: masking must not widen the limits of a key."""
_LAYERS: Final = 5
"""How often JSON or percent-encoding may be nested."""
_ESCAPE: Final = re.compile(rb'(?:\\u[0-9a-fA-F]{4})+|\\["\\/bfnrt]')
_SHORTEST_BASE64: Final = 4
"""Shorter pieces of base64 would be found by chance."""


class PersonIdentifier:
    """A text that identifies a person. Raises RequestError if it has fewer than three characters, or more than a thousand."""

    def __init__(self, text: str) -> None:
        self.text = text.strip()
        if not LEAST_CHARACTERS <= len(self.text) <= MOST_CHARACTERS:
            raise RequestError(
                f"an identifier has {LEAST_CHARACTERS} to {MOST_CHARACTERS} characters, not {len(self.text)}",
                "name the whole identifier, such as an e-mail address: everything that contains it is erased",
            )

    def is_in(self, data: bytes) -> bool:
        """Whether the bytes contain the identifier in any of the encodings."""
        for _ in range(_LAYERS):
            if self.is_written_in(data):
                return True
            plain = unquote_to_bytes(_unescaped(data)) if b"%" in data else _unescaped(data)
            if plain == data:
                return False
            data = plain
        return self.is_written_in(data)

    def is_written_in(self, data: bytes) -> bool:
        """Whether the bytes contain the identifier in UTF-8, escaped by the usual rules of JSON or of addresses, or in base64."""
        folded = data.lower()
        if any(form in folded for form in self._folded) or any(form in data for form in self._base64):
            return True
        if self.text.isascii() or folded.isascii():
            return False
        return self.text.casefold() in data.decode("utf-8", "replace").casefold()

    def masked(self, data: bytes) -> bytes:
        """The bytes with MASK for each byte of the identifier, where it is written in UTF-8 or with escapes."""
        return self._pattern.sub(lambda found: MASK * len(found[0]), data)

    @cached_property
    def _texts(self) -> list[str]:
        """The identifier in the forms in which Unicode may write it."""
        forms = {unicodedata.normalize(form, self.text) for form in ("NFC", "NFD")} | {self.text}
        return sorted(forms | {text.casefold() for text in forms} | {text.upper() for text in forms} | {text.lower() for text in forms})

    @cached_property
    def _folded(self) -> list[bytes]:
        """How the identifier is written, with letters of ASCII in lower case."""
        return sorted({form.lower() for text in self._texts for form in _forms(text)})

    @cached_property
    def _base64(self) -> list[bytes]:
        """What base64 writes for the identifier, wherever it begins within the encoded bytes, without what depends on its neighbours."""
        found = set()
        for text in self._texts:
            for before in range(3):
                encoded = b64encode(bytes(before) + text.encode("utf-8", "surrogatepass"))
                first = -(-before * 8 // 6)
                last = (before + len(text.encode("utf-8", "surrogatepass"))) * 8 // 6
                found.add(encoded[first:last])
        standard = {piece for piece in found if len(piece) > _SHORTEST_BASE64}
        return sorted(standard | {piece.replace(b"+", b"-").replace(b"/", b"_") for piece in standard})

    @cached_property
    def _pattern(self) -> "re.Pattern[bytes]":
        longest_first = sorted({form for text in self._texts for form in _forms(text)}, key=lambda form: (-len(form), form))
        return re.compile(b"|".join(map(re.escape, longest_first)), re.IGNORECASE)


def _forms(text: str) -> tuple[bytes, ...]:
    """A text in UTF-8, with the escapes of JSON, and percent-encoded."""
    escaped = json.dumps(text)[1:-1].encode()
    return (
        text.encode("utf-8", "surrogatepass"),
        escaped,
        json.dumps(text, ensure_ascii=False)[1:-1].encode("utf-8", "surrogatepass"),
        (quote(text, safe="", errors="surrogatepass").encode()),
    )


def _unescaped(data: bytes) -> bytes:
    """The bytes with one layer of JSON's escapes removed."""
    return _ESCAPE.sub(_character, data) if b"\\" in data else data


def _character(found: "re.Match[bytes]") -> bytes:
    return str(json.loads(b'"' + found[0] + b'"')).encode("utf-8", "surrogatepass")
