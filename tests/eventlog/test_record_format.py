import zlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.eventlog.support import record_of, records

from lineage_bridge.errors import RecordError
from lineage_bridge.eventlog.record_format import MAX_BODY_BYTES, MAX_NOTE_BYTES, decode_record, encode_record, erased_like
from lineage_bridge.graph.log_record import LogRecord, RecordKind


@settings(deadline=None)
@given(records)
def test_a_record_survives_encoding(record: LogRecord):
    assert decode_record(encode_record(record)) == record


def test_lone_surrogates_survive():
    record = LogRecord(RecordKind.OPERATOR, bytes(16), 0, "\ud800", "a\udfffb", b"", b"")
    assert decode_record(encode_record(record)) == record


def test_every_flipped_bit_is_detected():
    data = encode_record(record_of(7))
    for bit in range(8 * len(data)):
        broken = bytearray(data)
        broken[bit // 8] ^= 1 << bit % 8
        with pytest.raises(RecordError):
            decode_record(bytes(broken))


@settings(deadline=None)
@given(records, st.data())
def test_any_other_byte_is_detected(record: LogRecord, data: st.DataObject):
    encoded = bytearray(encode_record(record))
    index = data.draw(st.integers(0, len(encoded) - 1))
    encoded[index] ^= data.draw(st.integers(1, 255))
    with pytest.raises(RecordError):
        decode_record(bytes(encoded))


def test_every_shorter_and_any_longer_text_is_refused():
    data = encode_record(record_of(7))
    for size in range(len(data)):
        with pytest.raises(RecordError):
            decode_record(data[:size])
    with pytest.raises(RecordError):
        decode_record(data + b"\0")


@settings(deadline=None)
@given(records)
def test_erasing_keeps_the_length_event_id_and_arrival(record: LogRecord):
    data = encode_record(record)
    erased = erased_like(data)
    assert len(erased) == len(data)
    expected = LogRecord(RecordKind.ERASED, record.event_id, record.arrival_us, record.channel, "", b"", b"")
    assert decode_record(erased) == expected
    assert erased_like(erased) == erased


@pytest.mark.parametrize("kind", [RecordKind.EVENT, 0, 5])
def test_a_sound_checksum_does_not_make_a_record(kind: int):
    data = bytearray(erased_like(encode_record(record_of(7))))
    data[12] = kind
    data[4:8] = zlib.crc32(data[8:]).to_bytes(4, "little")
    with pytest.raises(RecordError, match="kind"):
        decode_record(bytes(data))


def test_erasing_leaves_nothing_of_the_body():
    secret = LogRecord(RecordKind.EVENT, bytes(16), 0, "http", "principal-secret", b'"note-secret"', b"body-secret")
    assert b"secret" not in erased_like(encode_record(secret))


@pytest.mark.parametrize(
    "changes",
    [
        {"body": bytes(MAX_BODY_BYTES + 1)},
        {"note": bytes(MAX_NOTE_BYTES + 1)},
        {"channel": "é" * 40_000},
        {"principal": "x" * 65_536},
        {"event_id": b"short"},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_limits(changes: dict[str, bytes | str]):
    with pytest.raises(RecordError):
        encode_record(msgspec.structs.replace(record_of(1), **changes))


def test_the_largest_body_fits():
    record = record_of(1, bytes(MAX_BODY_BYTES))
    assert decode_record(encode_record(record)) == record
