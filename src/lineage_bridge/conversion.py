"""Converts values and JSON to msgspec's types, safely for several threads.

msgspec analyses a type at its first use. Another thread that uses the type before the analysis is complete crashes the process. So each
type is analysed under a lock here. This is not needed for decoders that a module creates when it is imported.
"""

from functools import cache
from threading import Lock
from typing import Any, Final, TypeVar

import msgspec

_ANALYSING: Final = Lock()
_ValueT = TypeVar("_ValueT")


def convert(value: object, type_: type[_ValueT], *, strict: bool = True) -> _ValueT:
    """Call `msgspec.convert`, safely for several threads. Raises msgspec.ValidationError."""
    analysed: Any = type_
    with _ANALYSING:
        _decoder(analysed)
    return msgspec.convert(value, type_, strict=strict)


def decode(text: bytes | str, type_: type[_ValueT]) -> _ValueT:
    """Call `msgspec.json.decode`, safely for several threads. Raises msgspec.DecodeError and ValidationError."""
    analysed: Any = type_
    with _ANALYSING:
        decoder: msgspec.json.Decoder[_ValueT] = _decoder(analysed)
    return decoder.decode(text)


@cache
def _decoder(type_: Any) -> Any:  # noqa: ANN401 - any type
    return msgspec.json.Decoder(type_)
