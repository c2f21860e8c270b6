"""Converts the value of a record to a payload of events, and a record to its origin. Pure."""

import json
import zlib
from collections.abc import Iterable
from typing import Final

import msgspec

from lineage_bridge.graph.record_origin import RecordOrigin
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload, SplitPayload
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.verdict import Rejected
from lineage_bridge.openlineage.wire import MAX_BYTES

MAX_VALUE_BYTES: Final = MAX_BYTES - (4 << 20)
"""The maximum decompressed size of a value in bytes. Each of its records must fit into a request to the API after masking."""
MOST_CHARACTERS, MOST_HEADERS = 256, 16
_PUT_TOGETHER: Final = b"\xf3\x89\x9a\xc2"
"""The magic bytes of records aggregated by the Kinesis producer library (amazon-kinesis-producer, aggregation-format.md)."""
_GZIP: Final = b"\x1f\x8b"
_SCHEMA_HEADER: Final = 5
_BLANK: Final = b" \t\r\n"


def payload_of(value: bytes, refused: str = "") -> Payload | SplitPayload:
    """Make the payload from the value of a record: JSON, plain or compressed by gzip or zlib, possibly after the header of a schema
    registry (byte 0 and a 4-byte id).

    If `refused` is given, the payload is rejected for that reason.
    """
    if refused:
        return _refused(value, Rejected("not_json", "$", refused))
    if value[:1] == b"\0" and len(value) >= _SCHEMA_HEADER:
        if value[_SCHEMA_HEADER:].lstrip(_BLANK)[:1] in (b"{", b"["):
            return _plain(value[_SCHEMA_HEADER:])
        schema = int.from_bytes(value[1:_SCHEMA_HEADER], "big")
        message = f"the value has the header of a schema registry's serializer (schema {schema}), and its content is not JSON"
        return _refused(value, Rejected("not_json", "$", message))
    if value.startswith(_PUT_TOGETHER):
        message = "the value looks like an aggregated record of the Kinesis producer library, but its checksum or its key table is wrong"
        return _refused(value, Rejected("not_json", "$", message))
    if value.startswith(_GZIP) or _is_zlib(value):
        return Payload(value, compressed=True, max_bytes=MAX_VALUE_BYTES)
    return _plain(value)


def _plain(value: bytes) -> Payload:
    return Payload(value[:MAX_VALUE_BYTES], truncated=len(value) > MAX_VALUE_BYTES, max_bytes=MAX_VALUE_BYTES)


def _is_zlib(value: bytes) -> bool:
    """Whether a value has the header of zlib, and its first bytes can be decompressed."""
    if value[:1] != b"x" or len(value) < 8 or int.from_bytes(value[:2], "big") % 31:
        return False
    try:
        zlib.decompressobj().decompress(value[:64], 1)
    except zlib.error:
        return False
    return True


def origin_of(name: str, record: IncomingRecord, key: bytes) -> RecordOrigin:
    """Make the origin of a record: where an input read it. `key` is the installation's key, which digests of secrets depend on."""
    where = record.where
    origin = RecordOrigin(name, where.stream, where.life, where.partition, record.offset, at_ms=record.at_ms, part=record.part)
    if not record.key and not record.headers:
        return origin
    kept = {"key": _text(record.key), "headers": dict(_headers(record.headers))}
    masked = json.loads(mask(json.dumps(kept).encode(), key=key))
    return msgspec.structs.replace(origin, key=str(masked["key"]), headers={str(k): str(v) for k, v in masked["headers"].items()})


def _headers(headers: Iterable[tuple[str, bytes | None]]) -> Iterable[tuple[str, str]]:
    for name, value in [*headers][:MOST_HEADERS]:
        yield name[:MOST_CHARACTERS], _text(value)


def _text(value: bytes | None) -> str:
    """The beginning of a UTF-8 text; empty for bytes that are not text."""
    try:
        return (value or b"").decode()[:MOST_CHARACTERS]
    except UnicodeDecodeError:
        return ""


def _refused(value: bytes, why: Rejected) -> SplitPayload:
    return SplitPayload([value[:SAMPLE_BYTES]], True, why, len(value) > SAMPLE_BYTES)
