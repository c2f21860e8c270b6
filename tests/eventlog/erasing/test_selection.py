"""What an erasure does to a record: what it does not mean stays as it is, and what it masks can still be read."""

import json
from base64 import b64encode
from uuid import UUID

import msgspec
import pytest

from lineage_bridge.eventlog.erasing.identifier import PersonIdentifier
from lineage_bridge.eventlog.erasing.masking import masked_texts
from lineage_bridge.eventlog.erasing.selection import choose_records
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, read_note, write_note
from lineage_bridge.graph.record_origin import RecordOrigin
from lineage_bridge.model.erasing.erasure import PERSON, RUN, ErasureRequest
from lineage_bridge.openlineage.run_ids import run_uuid

BODY = b'{"job": {"namespace": "jobs", "name": "a"}}'
ORIGIN = RecordOrigin("orders", "topic", "abc", "0", 4711, at_ms=1_764_378_174_123, key="key of 4711", headers={"4711": "from 4711"})
NOTE = RecordNote("code", "$.a", "message", ("4711-team", "b*"), origin=ORIGIN, releases=b"\xd7\x8e\xf5\xd7" * 4)


def record(body: bytes = BODY, note: RecordNote = NOTE) -> LogRecord:
    return LogRecord(RecordKind.EVENT, event_id(body), 5, "http", "input orders", write_note(note), body)


def chosen(identifier: str, of: LogRecord) -> LogRecord:
    return choose_records(ErasureRequest("1", PERSON, identifier))(of)


@pytest.mark.parametrize("identifier", ["176", "origin", "offset", "releases", "namespaces"])
def test_numbers_and_names_of_the_format_are_nobody(identifier: str) -> None:
    assert chosen(identifier, record()) == record()


def test_the_hash_of_another_event_is_nobody() -> None:
    identifier = b64encode(NOTE.releases).decode()[:4]
    assert identifier.encode() in record().note
    assert chosen(identifier, record()) == record()


def test_a_number_is_masked_only_in_texts_and_the_position_stays() -> None:
    found = chosen("4711", record())
    assert (found.kind, found.body, len(found.note)) == (RecordKind.EVENT, BODY, len(record().note))
    origin = msgspec.structs.replace(ORIGIN, key="key of ####", headers={"####": "from ####"})
    assert read_note(found.note) == msgspec.structs.replace(NOTE, namespaces=("####-team", "b*"), origin=origin)


@pytest.mark.parametrize("message", ['who is "ada\\lovelace"?', b64encode(b"user ada\\lovelace").decode(), "ada%5Clovelace"])
def test_what_is_escaped_is_masked_and_the_event_stays(message: str) -> None:
    found = chosen("ada\\lovelace", record(note=RecordNote(message=message)))
    assert (found.kind, found.body) == (RecordKind.EVENT, BODY)
    assert not PersonIdentifier("ada\\lovelace").is_in(found.note)
    assert "#" in read_note(found.note).message


@pytest.mark.parametrize("text", ["ada@example.com", "*ada@example.com", "[ada@example.com]"])
def test_a_masked_text_is_no_wildcard(text: str) -> None:
    masked = masked_texts(json.dumps([text]).encode(), PersonIdentifier("ada@example.com"))
    assert json.loads(masked) == [text.replace("ada@example.com", "#" * 15)]


@pytest.mark.parametrize(
    ("raw", "run"),
    [
        ("01940000000070008000000000000ADA", "01940000-0000-7000-8000-000000000ada"),
        ("manual__2026", str(UUID(bytes=run_uuid("jobs", "a", "manual__2026")))),
    ],
)
def test_a_run_is_found_by_the_id_that_answers_show(raw: str, run: str) -> None:
    body = json.dumps({"run": {"runId": raw}, "job": {"namespace": "jobs", "name": "a"}}).encode()
    choose = choose_records(ErasureRequest("1", RUN, run))
    assert choose(record(body)).kind == RecordKind.ERASED
    for other in (body.replace(b'"a"', b'"b"').replace(raw.encode(), b"scheduled"), BODY, b"[]", b'{"run": {"runId": 1}}'):
        assert choose(record(other)) == record(other)
