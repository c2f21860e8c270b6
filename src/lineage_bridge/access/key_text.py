"""The text of an API key. It consists of `lb_`, a public id, `_`, a secret of 256 random bits, and a checksum.

The prefix lets secret scanners find keys; the checksum distinguishes a mistyped key from an unknown one.
"""

import hashlib
import hmac
import re
import zlib
from base64 import b32encode
from collections.abc import Callable
from typing import Final, NamedTuple

PREFIX: Final = "lb_"
_ID_BYTES: Final = 5
_SECRET_BYTES: Final = 32
_SHAPE: Final = re.compile(r"lb_([a-z2-7]{8})_[a-z2-7]{52}([a-z2-7]{7})")
_PURPOSE: Final = b"api key\0"
"""A prefix of the text that is signed here with the installation's key, so that signatures for other purposes always differ."""


class NewKey(NamedTuple):
    """A new API key: its id and its whole text."""

    id: str
    text: str


def make_key(random_bytes: Callable[[int], bytes]) -> NewKey:
    """Create an API key. `random_bytes` must be a source of random bytes that is fit for secrets."""
    id_ = _letters(random_bytes(_ID_BYTES))
    text = f"{PREFIX}{id_}_{_letters(random_bytes(_SECRET_BYTES))}"
    return NewKey(id_, text + _checksum(text))


def id_of(text: str) -> str | None:
    """The id that the text of a key contains; None if the text is not a complete key."""
    found = _SHAPE.fullmatch(text)
    return found[1] if found and _checksum(text[: -len(found[2])]) == found[2] else None


def digest_of(text: str, installation_key: bytes) -> bytes:
    """The digest that is stored instead of a key: HMAC-SHA-256 with the installation's key.

    A slow hash, as for passwords, is not needed: a key has 256 random bits, so it cannot be found by trying.
    """
    # Not hmac.digest: it releases the interpreter's lock, and reacquiring it costs more than the digest while other threads are busy.
    return hmac.new(installation_key, _PURPOSE + text.encode(), hashlib.sha256).digest()


def _letters(data: bytes) -> str:
    return b32encode(data).decode().rstrip("=").lower()


def _checksum(text: str) -> str:
    return _letters(zlib.crc32(text.encode()).to_bytes(4, "big"))
