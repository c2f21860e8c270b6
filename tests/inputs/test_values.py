"""What a value holds, and what is kept of a record beside its events."""

import gzip
import json
import zlib

import pytest
from tests.events import KEY, run_event

from lineage_bridge.graph.facts.quarantine import rejected_row
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, StoredRecord, write_note
from lineage_bridge.graph.record_origin import EventPosition, RecordOrigin, StreamPartition, read_origin
from lineage_bridge.ingest.payload import Payload, SplitPayload, split_payload
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.values import MAX_VALUE_BYTES, MOST_CHARACTERS, origin_of, payload_of

WHERE = StreamPartition("lineage", "id", "3")
EVENT = run_event()


def split(value: bytes) -> SplitPayload:
    payload = payload_of(value)
    return split_payload(payload) if isinstance(payload, Payload) else payload


@pytest.mark.parametrize(
    "value",
    [
        EVENT,
        gzip.compress(EVENT, mtime=0),
        *(zlib.compress(EVENT, level) for level in (0, 1, 6, 9)),
        b"\0\0\0\1\2" + EVENT,
        b"\0\0\0\0\0 " + EVENT,
    ],
)
def test_an_event_in_each_form(value: bytes) -> None:
    found = split(value)
    assert [item.strip() for item in found.items] == [EVENT]
    assert found.rejected is None


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (b"\0\0\0\0\x07\x02abc", "not_json"),
        (gzip.compress(EVENT, mtime=0)[:-4], "not_json"),
        (b'{"a":"' + b"x" * MAX_VALUE_BYTES, "too_large"),
        (gzip.compress(b" " * (MAX_VALUE_BYTES + 1), mtime=0), "too_large"),
    ],
    ids=["avro", "half of gzip", "too large", "too large unpacked"],
)
def test_what_holds_no_event_is_rejected_as_a_whole(value: bytes, code: str) -> None:
    found = split(value)
    assert found.rejected is not None
    assert found.rejected.code == code


@pytest.mark.parametrize("value", [b"x", b"x\x9c", b"x\x9cnot zlib at all", b"\0", b"\0\0\0\0", b""])
def test_what_only_begins_like_something_else_is_plain(value: bytes) -> None:
    payload = payload_of(value)
    assert isinstance(payload, Payload)
    assert (payload.data, payload.compressed) == (value, False)


def test_a_record_keeps_its_key_and_headers_without_secrets() -> None:
    headers = (("traceparent", b"00-abc"), ("authorization", b"Bearer abcdefghijklmnop"), ("binary", b"\xff"), ("none", None))
    origin = origin_of("events", IncomingRecord(WHERE, 7, b"", 1000, b"run:ns/job?password=hunter2", headers), KEY)
    assert (origin.where, origin.position, origin.at_ms) == (WHERE, EventPosition(7, 0), 1000)
    assert origin.key.startswith("run:ns/job")
    assert {"hunter2", "abcdefghijklmnop"} & {word for text in (origin.key, *origin.headers.values()) for word in text.split("=")} == set()
    assert (origin.headers["traceparent"], origin.headers["binary"], origin.headers["none"]) == ("00-abc", "", "")


def test_long_keys_and_many_headers_are_cut() -> None:
    headers = tuple((f"h{number}", b"v" * 9999) for number in range(50))
    origin = origin_of("events", IncomingRecord(WHERE, 7, b"", None, b"k" * 9999, headers), KEY)
    assert (len(origin.key), len(origin.headers), {len(value) for value in origin.headers.values()}) == (
        MOST_CHARACTERS,
        16,
        {MOST_CHARACTERS},
    )


def test_a_note_is_read_as_it_was_written() -> None:
    origin = RecordOrigin("events", "lineage", "id", "3", 7, 1, 2, 1000, "key", {"a": "b"})
    assert read_origin(write_note(RecordNote(origin=origin))) == origin
    assert read_origin(write_note(RecordNote("not_json", origin=origin))) == origin
    assert read_origin(write_note(RecordNote("not_json"))) is None
    assert (write_note(RecordNote()), read_origin(b"")) == (b"", None)
    assert origin.next_position == EventPosition(8, 0)
    assert RecordOrigin("events", "lineage", "id", "3", 7, 0, 2).next_position == EventPosition(7, 1)


def test_quarantine_names_the_position() -> None:
    origin = RecordOrigin("events", "lineage", "id", "3", 7, 1, 2)
    note = write_note(RecordNote("not_json", "$", "no JSON", origin=origin))
    stored = StoredRecord("log", 0, 5, LogRecord(RecordKind.REJECTED, bytes(16), 1, "kafka", "input:events", note, b"x"))
    assert rejected_row(stored)[2][:3] == ("not_json", "$", "no JSON (lineage, partition 3, offset 7, event 2 of 2)")
    assert json.loads(note)["message"] == "no JSON"
