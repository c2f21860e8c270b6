"""Records put together as Kinesis' producer library does, byte by byte from its published format."""

import hashlib
from collections.abc import Sequence


def _varint(number: int) -> bytes:
    parts = []
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*parts, number])


def _member(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def aggregated(*records: tuple[str, bytes], keys: Sequence[str] | None = None) -> bytes:
    """One record of Kinesis from several (partition key, value). `keys` is the table of keys instead of the right one."""
    table = list(dict.fromkeys(key for key, _ in records))
    body = b"".join(_member(1, key.encode()) for key in (table if keys is None else keys))
    for key, value in records:
        body += _member(3, b"\x08" + _varint(table.index(key)) + _member(3, value))
    return b"\xf3\x89\x9a\xc2" + body + hashlib.md5(body).digest()
