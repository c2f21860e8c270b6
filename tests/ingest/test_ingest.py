"""Ingest by itself, as any transport calls it."""

import gzip
import json
from collections.abc import Sequence
from concurrent.futures import Future

import pytest
from tests.corpora.verdicts import ACCEPTED, BAD, EVENT, REJECTED, named
from tests.events import T0, facet, run_event

from lineage_bridge.errors import UnavailableError
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.ingest.ingest import Ingested, Sender, ingest, ingest_operation
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload, SplitPayload
from lineage_bridge.model.access import Principal
from lineage_bridge.openlineage.verdict import Clean, Rejected

OTHER = run_event(job="other")
SENDER = Sender("kafka", Principal("alice", frozenset()))


class MemoryLog:
    """An event log that keeps records in memory, and gives them consecutive offsets."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        offsets: Future[list[int]] = Future()
        offsets.set_result(list(range(len(self.records), len(self.records) + len(records))))
        self.records += records
        return offsets

    def end(self) -> int:
        return len(self.records)


class FullLog(MemoryLog):
    """An event log with a full queue."""

    def submit(self, records: Sequence[LogRecord]) -> "Future[list[int]]":
        raise UnavailableError("queue full", str(len(records)))


def ingested(received: bytes | Payload | SplitPayload, log: MemoryLog, *, all_or_nothing: bool = False) -> Ingested:
    received = Payload(received) if isinstance(received, bytes) else received
    return ingest(received, SENDER, log, T0, all_or_nothing=all_or_nothing)


@pytest.mark.parametrize("event", [event for event, _ in ACCEPTED.values()], ids=ACCEPTED)
def test_an_accepted_event_becomes_a_record_with_the_bytes_that_were_sent(event: bytes) -> None:
    log = MemoryLog()
    found = ingested(event, log)
    assert (found.single, found.accepted, found.is_refused_whole, found.offsets.result()) == (True, 1, False, [0])
    assert log.records == [LogRecord(RecordKind.EVENT, event_id(event), T0, "kafka", "alice", b"", event)]


@pytest.mark.parametrize(("event", "code"), [(event, code) for event, _, code in REJECTED.values()], ids=REJECTED)
def test_a_rejected_event_becomes_a_record_with_its_reason(event: bytes, code: str) -> None:
    log = MemoryLog()
    found = ingested(event, log)
    (judged,) = found.events
    assert isinstance(judged.verdict, Rejected)
    (record,) = log.records
    assert (found.accepted, judged.verdict.code, judged.id) == (0, code, event_id(record.body).hex())
    assert (record.kind, record.channel, record.principal) == (RecordKind.REJECTED, "kafka", "alice")
    assert record.body == event if len(event) <= SAMPLE_BYTES else event.startswith(record.body)
    assert json.loads(record.note)["code"] == code


def test_a_payload_is_split_and_each_event_has_its_own_verdict() -> None:
    log = MemoryLog()
    found = ingested(Payload(gzip.compress(b"[" + EVENT + b"," + BAD + b"," + OTHER + b"]"), compressed=True), log)
    assert [isinstance(event.verdict, Clean) for event in found.events] == [True, False, True]
    assert (found.single, found.accepted, found.offsets.result()) == (False, 2, [0, 1, 2])
    assert [record.body for record in log.records] == [EVENT, BAD, OTHER]


def test_secrets_are_masked_in_every_record_and_every_verdict_is_of_the_masked_bytes() -> None:
    log = MemoryLog()
    secret = b"hunter2hunter2"
    event = named(facets={"custom": facet(password=secret.decode())})
    for body in (event, b"[" + event + b"]", b'{"password": "' + secret + b'", '):
        for judged in ingested(body, log).events:
            assert judged.id == event_id(judged.record.body).hex()
    assert len(log.records) == 3
    assert not any(secret in record.body for record in log.records)


def test_the_beginning_of_a_payload_that_cannot_be_split_is_kept() -> None:
    log = MemoryLog()
    found = ingested(Payload(EVENT.ljust(SAMPLE_BYTES + 1), truncated=True), log)
    assert (found.is_refused_whole, found.single, found.accepted) == (True, True, 0)
    assert (log.records[0].kind, len(log.records[0].body)) == (RecordKind.REJECTED, SAMPLE_BYTES)
    assert not ingested(BAD, log).is_refused_whole


def test_all_or_nothing_appends_nothing_when_an_event_is_rejected() -> None:
    log = MemoryLog()
    refused = ingested(SplitPayload([EVENT, BAD]), log, all_or_nothing=True)
    assert (refused.accepted, refused.offsets.result(), log.records) == (1, [], [])
    assert ingested(SplitPayload([EVENT, OTHER]), log, all_or_nothing=True).offsets.result() == [0, 1]


def test_an_operation_is_a_record_of_its_sender() -> None:
    log = MemoryLog()
    assert ingest_operation(b"{}", SENDER, log, T0).result() == [0]
    assert log.records == [LogRecord(RecordKind.OPERATOR, event_id(b"{}"), T0, "kafka", "alice", b"", b"{}")]


def test_a_full_queue_is_reported_to_the_caller() -> None:
    with pytest.raises(UnavailableError):
        ingested(EVENT, FullLog())
