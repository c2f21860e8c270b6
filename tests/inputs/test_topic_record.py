"""What is written to a topic is read back as the record it was; what others write there is not taken for it."""

import msgspec
import pytest
from tests.events import KEY, run_event

from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, RecordNote, read_note, write_note
from lineage_bridge.graph.record_origin import StreamPartition
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.inputs.topic_record import headers_of, restored, size_of

WHERE = StreamPartition("events", "id-of-the-topic", "3")
LIMITED = write_note(RecordNote(namespaces=("team-*",), sender="first", waived=True))
REFUSED = write_note(RecordNote(code="not_json", path="$", message="no JSON: \u00e9"))


def record(kind: RecordKind, note: bytes, body: bytes) -> LogRecord:
    return LogRecord(kind, event_id(body), 1_700_000_000_000_001, "http", "key:ci-\u00e9", note, body)


def incoming(body: bytes, *headers: tuple[str, bytes | None]) -> IncomingRecord:
    return IncomingRecord(WHERE, 17, body, 1_700_000_000_500, None, headers)


@pytest.mark.parametrize(
    "written",
    [
        record(RecordKind.EVENT, b"", run_event(number=1)),
        record(RecordKind.EVENT, LIMITED, run_event(number=2)),
        record(RecordKind.REJECTED, REFUSED, b"\xff no event"),
        record(RecordKind.OPERATOR, b"", b'{"veto": 1}'),
        record(RecordKind.EVENT, write_note(RecordNote(releases=bytes(range(16)))), run_event(number=3)),
    ],
    ids=["event", "limited", "rejected", "operator", "releases"],
)
def test_a_record_is_read_back_with_the_place_where_it_was_read(written: LogRecord) -> None:
    headers = headers_of(written, "request-1")
    found = restored("events", incoming(written.body, *headers), KEY)
    assert found is not None
    note = read_note(found.note)
    assert msgspec.structs.replace(note, origin=None) == read_note(written.note)
    assert msgspec.structs.replace(found, note=written.note) == written
    assert note.origin is not None
    assert (note.origin.where, note.origin.offset, note.origin.at_ms) == (WHERE, 17, 1_700_000_000_500)
    assert note.origin.headers == {"lineagebridge-request": "request-1"}
    assert size_of(written) >= len(written.body) + sum(len(name) + len(value) for name, value in headers)


@pytest.mark.parametrize("missing", ["kind", "received", "channel", "principal"])
def test_a_record_that_lacks_a_header_is_judged_as_that_of_any_producer(missing: str) -> None:
    body = run_event(number=3)
    headers = [header for header in headers_of(record(RecordKind.EVENT, LIMITED, body)) if not header[0].endswith(missing)]
    judge = RecordJudge("events", "kafka", (), KEY, restores=True)
    (found,) = judge(incoming(body, *headers), lambda: 5).records
    assert (found.principal, found.channel, found.arrival_us) == ("input:events", "kafka", 5)


@pytest.mark.parametrize(
    "header",
    [("kind", b"erased"), ("kind", None), ("received", b"-1"), ("received", b"9" * 30), ("note", b"{"), ("principal", b"\xff")],
    ids=["kind", "no-kind", "negative", "far", "note", "text"],
)
def test_headers_that_nothing_of_ours_writes_are_not_believed(header: tuple[str, bytes | None]) -> None:
    body = run_event(number=4)
    changed = (f"lineagebridge-{header[0]}", header[1])
    headers = [found for found in headers_of(record(RecordKind.EVENT, b"", body)) if found[0] != changed[0]]
    assert restored("events", incoming(body, *headers, changed), KEY) is None


def test_only_the_topic_that_is_the_log_is_believed() -> None:
    body = run_event(number=5)
    judge = RecordJudge("other", "kafka", (), KEY)
    (found,) = judge(incoming(body, *headers_of(record(RecordKind.EVENT, b"", body))), lambda: 5).records
    assert found.principal == "input:other"
