"""The binary format of a log record.

Layout, little endian, sizes in bytes: magic (3), version (1), CRC-32 (4), total length (4), kind (2), lengths of
channel (2), principal (2), note (4) and body (4), arrival (8), event id (16); then channel, principal, note and body.
The CRC covers everything after it; magic and version are compared. The total length of an ERASED record may exceed the
sum of its parts: it is the length of the record that it replaces.
"""

import struct
from typing import Final
from zlib import crc32

from lineage_bridge.errors import RecordError
from lineage_bridge.graph.log_record import LogRecord, RecordKind

MAGIC: Final = b"LBF"
VERSION: Final = 1
HEAD: Final = struct.Struct("<3sBIIHHHIIq16s")
CHECKED_FROM: Final = 8
MAX_BODY_BYTES: Final = 64 << 20
MAX_NOTE_BYTES: Final = 1 << 20
MAX_TEXT_BYTES: Final = (1 << 16) - 1
MAX_RECORD_BYTES: Final = HEAD.size + 2 * MAX_TEXT_BYTES + MAX_NOTE_BYTES + MAX_BODY_BYTES
_CHECKED: Final = struct.Struct("<IHHHIIq16s")
START: Final = struct.Struct("<3sBI")
"""The part of the head that the checksum does not cover: magic, version and the checksum itself."""


Parts = tuple[bytes, bytes, bytes, bytes]
Head = tuple[bytes, int, int, int, int, int, int, int, int, int, bytes]
TOTAL: Final = 3
_KINDS: Final = {int(kind): kind for kind in RecordKind}


def encode_record(record: LogRecord) -> bytes:
    """Encode a record.

    Raises RecordError for a part over its limit: body 64 MiB, note 1 MiB, channel and principal 65,535 bytes of UTF-8.
    """
    channel, principal = _text_bytes(record.channel), _text_bytes(record.principal)
    _check_limits(record, channel, principal)
    parts = (channel, principal, record.note, record.body)
    length = HEAD.size + sum(map(len, parts))
    return _seal(record.kind, record.event_id, record.arrival_us, parts, length=length)


def read_head(data: bytes, at: int) -> Head:
    """Decode the header at `at`; `data` must contain the whole header. The parts of the record are not read. Raises RecordError if the
    bytes are not a header.
    """
    head: Head = HEAD.unpack_from(data, at)
    magic, version, _, total, _, channel, principal, note, body, _, _ = head
    if magic != MAGIC:
        raise RecordError("the bytes do not begin with the magic bytes of a record")
    if version != VERSION:
        raise RecordError(f"the record has format version {version}, this program reads version {VERSION}")
    if not HEAD.size + channel + principal + note + body <= total <= MAX_RECORD_BYTES:
        raise RecordError(f"the record's header states a length of {total} bytes, which no record can have")
    return head


def read_parts(data: bytes, at: int, head: Head) -> LogRecord:
    """Decode the record at `at`, whose header is `head`; `data` must contain the whole record. Raises RecordError if it is damaged."""
    _, _, crc, total, kind, channel, principal, note, body, arrival_us, event_id = head
    end = at + total
    if crc32(memoryview(data)[at + CHECKED_FROM : end]) != crc:
        raise RecordError("the record's bytes do not match their checksum")
    channel_at = at + HEAD.size
    principal_at = channel_at + channel
    note_at = principal_at + principal
    body_at = note_at + note
    body_end = body_at + body
    if kind not in _KINDS or (body_end != end and kind != RecordKind.ERASED):
        raise RecordError(f"the record has an unknown kind or form ({kind})")
    return LogRecord(
        _KINDS[kind],
        event_id,
        arrival_us,
        data[channel_at:principal_at].decode("utf-8", "surrogatepass"),
        data[principal_at:note_at].decode("utf-8", "surrogatepass"),
        data[note_at:body_at],
        data[body_at:body_end],
    )


def decode_record(data: bytes) -> LogRecord:
    """Decode a record. Raises RecordError if `data` is not exactly one complete record."""
    if len(data) < HEAD.size:
        raise RecordError("the file or range ends before the record does")
    head = read_head(data, 0)
    if head[TOTAL] != len(data):
        raise RecordError(f"the record's header states {head[TOTAL]} bytes, but {len(data)} bytes were passed to the decoder")
    return read_parts(data, 0, head)


def erased_like(data: bytes) -> bytes:
    """Make the ERASED record that replaces a record in place. It has the same length, event id, arrival and channel, and no principal,
    note or body.

    Raises RecordError if `data` is not exactly one complete record.
    """
    record = decode_record(data)
    parts = (_text_bytes(record.channel), b"", b"", b"")
    return _seal(RecordKind.ERASED, record.event_id, record.arrival_us, parts, length=len(data))


def encode_like(record: LogRecord, size: int) -> bytes:
    """Encode the record that replaces one of `size` bytes in place. Only an ERASED record may be shorter; zeros fill it up.

    Raises RecordError if the record does not fit.
    """
    if record.kind != RecordKind.ERASED:
        data = encode_record(record)
    else:
        parts = (_text_bytes(record.channel), _text_bytes(record.principal), record.note, record.body)
        _check_limits(record, *parts[:2])
        data = _seal(record.kind, record.event_id, record.arrival_us, parts, length=max(size, HEAD.size + sum(map(len, parts))))
    if len(data) != size:
        raise RecordError(f"a record of {len(data)} bytes cannot replace one of {size} bytes")
    return data


def filler(size: int) -> bytes | None:
    """Make an empty ERASED record of this many bytes, to be written over unreadable bytes; None if there are fewer bytes than the shortest
    record has.
    """
    return _seal(RecordKind.ERASED, bytes(16), 0, (b"", b"", b"", b""), length=size) if size >= HEAD.size else None


def _seal(kind: RecordKind, event_id: bytes, arrival_us: int, parts: Parts, *, length: int) -> bytes:
    lengths = [len(part) for part in parts]
    padding = bytes(length - HEAD.size - sum(lengths))
    head = _CHECKED.pack(length, kind, *lengths, arrival_us, event_id)
    content = b"".join((head, *parts, padding))
    return START.pack(MAGIC, VERSION, crc32(content)) + content


def _check_limits(record: LogRecord, channel: bytes, principal: bytes) -> None:
    if len(record.event_id) != 16:
        raise RecordError(f"an event id has 16 bytes, not {len(record.event_id)}")
    sizes = (
        ("body", len(record.body), MAX_BODY_BYTES),
        ("note", len(record.note), MAX_NOTE_BYTES),
        ("channel", len(channel), MAX_TEXT_BYTES),
        ("principal", len(principal), MAX_TEXT_BYTES),
    )
    for part, size, limit in sizes:
        if size > limit:
            raise RecordError(f"a record's {part} has {size} bytes; the limit is {limit}")


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
