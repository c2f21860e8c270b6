import gzip
import json
import zlib
from collections.abc import Callable, Sequence

import pytest
from tests.api.support import LINEAGE, NOW, Server, changed
from tests.corpora.poison import LINES, poisoned
from tests.events import KEY, PRODUCER, run_event

from lineage_bridge.eventlog.archive.files import ArchivedPartition
from lineage_bridge.eventlog.archive.writer import ArchiveWriter, PartFile
from lineage_bridge.graph.facts.fold import flat, fold_records
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind, read_note
from lineage_bridge.graph.record_origin import EventPosition, StreamPartition, read_origin
from lineage_bridge.inputs.input import IncomingRecord
from lineage_bridge.inputs.judging import RecordJudge
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.ports.graph_store import Batch, Budget
from lineage_bridge.store.write.apply import GraphWriter

EVENT = run_event()
RETRY = "/api/v1/quarantine/{}/retry"


def test_the_quarantine_lists_newest_first_with_counts(server: Server) -> None:
    for body in (b"no json", changed(EVENT, eventTime=...), b"none either"):
        server.client.post(LINEAGE, content=body)
        server.parts.now_us += 1_000_000
    server.fold()
    answer = server.ask("/quarantine")
    assert [item["sample"] for item in answer["items"]] == ["none either", changed(EVENT, eventTime=...).decode(), "no json"]
    assert answer["counts"] == {"no_time": 1, "not_json": 2}
    first = answer["items"][0]
    assert (first["size"], first["channel"], first["path"]) == (11, "http", "$")
    assert first["arrived_at"] == format_time(NOW + 2_000_000)
    assert [item["code"] for item in server.ask("/quarantine", code="no_time")["items"]] == ["no_time"]
    page = server.client.get("/api/v1/quarantine?limit=2")
    assert [item["sample"] for item in server.client.get(page.links["next"]["url"]).json()["items"]] == ["no json"]


def test_a_quarantined_body_is_returned_byte_for_byte(server: Server) -> None:
    body = b"\xff\x00 no json"
    id_ = server.client.post(LINEAGE, content=body).json()["event_id"]
    server.fold()
    answer = server.client.get(f"/api/v1/quarantine/{id_}/body")
    assert (answer.status_code, answer.content) == (200, body)
    assert answer.headers["content-type"] == "application/octet-stream"


def test_a_retried_event_that_is_valid_now_is_used(server: Server) -> None:
    note = b'{"code": "no_time", "path": "$.eventTime", "message": "an older verdict"}'
    server.log.append([LogRecord(RecordKind.REJECTED, event_id(EVENT), 1, "http", "", note, EVENT)])
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    answer = server.client.post(RETRY.format(item["event_id"]))
    assert (answer.status_code, answer.json()["status"], answer.json()["event_id"]) == (201, "accepted", item["event_id"])
    assert (server.stored()[-1].kind, server.stored()[-1].body) == (RecordKind.EVENT, EVENT)
    server.fold()
    assert server.ask("/quarantine")["items"] == []
    assert server.ask("/lineage/jobs")[0]["name"] == "job"
    assert server.client.post(RETRY.format(item["event_id"])).status_code == 404


def test_a_retried_event_that_is_still_invalid_stays(server: Server) -> None:
    id_ = server.client.post(LINEAGE, content=b"no json").json()["event_id"]
    server.fold()
    answer = server.client.post(RETRY.format(id_))
    assert (answer.status_code, answer.json()["code"]) == (422, "not_json")
    assert len(server.stored()) == 1


@pytest.mark.parametrize("id_", ["00" * 16, "xyz", "0", "ab", "\u00e9"])
def test_an_event_that_is_not_in_quarantine_is_404(server: Server, id_: str) -> None:
    server.fold()
    assert server.client.post(RETRY.format(id_)).status_code == 404
    assert server.client.get(f"/api/v1/quarantine/{id_}/body").status_code == 404


def test_a_rejected_event_is_listed_with_its_job_and_producer(server: Server) -> None:
    for body in (changed(EVENT, eventTime=...), EVENT[: EVENT.index(b'"eventType"')], b"no json"):
        server.client.post(LINEAGE, content=body)
        server.parts.now_us += 1_000_000
    server.fold()
    unreadable, *named = server.ask("/quarantine")["items"]
    assert [(item["code"], item["job"], item["producer"]) for item in named] == [
        (code, {"namespace": "jobs", "name": "job"}, PRODUCER) for code in ("not_json", "no_time")
    ]
    assert ("job" in unreadable, "producer" in unreadable) == (False, False)


def test_an_answer_reads_a_bounded_amount_of_rejected_events(server: Server) -> None:
    for filler in "abc":
        server.client.post(LINEAGE, content=changed(EVENT, eventTime=..., filler=filler * 3_000_000))
    server.fold()
    assert ["job" in item for item in server.ask("/quarantine")["items"]] == [True, True, False]


def test_of_a_poisoned_body_no_good_event_is_lost_and_each_bad_one_is_kept(server: Server) -> None:
    sent = poisoned(LINES)
    answer = server.client.post(LINEAGE, content=b"\n".join(sent.values), headers={"Content-Type": "application/x-ndjson"})
    rejected = [at for at, event in enumerate(answer.json()["events"]) if event["status"] != "accepted"]
    assert rejected == sent.bad
    good = [json.loads(record.body)["number"] for record in server.stored() if record.kind == RecordKind.EVENT]
    assert good == sent.good
    server.fold()
    kept = {server.client.get(f"/api/v1/quarantine/{item['event_id']}/body").content for item in server.ask("/quarantine")["items"]}
    assert kept == {sent.values[at] for at in sent.bad}


@pytest.mark.parametrize("later", ["replaced", "removed"])
def test_a_retried_event_that_its_input_leaves_out_now_stays(server: Server, later: str) -> None:
    def add(**jobs: list[str]) -> None:
        server.inputs.add("events", "kafka", {"bootstrap_servers": "b:1", "topics": ["t"], "jobs": jobs}, replace=True)

    where = StreamPartition("stream", "life", "0")
    judge = RecordJudge("events", "kafka", (), KEY)
    server.log.append(judge(IncomingRecord(where, 0, EVENT, refused="an older reader did not know this"), lambda: NOW).records)
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    add(exclude=["JOBS-"])
    answer = server.client.post(RETRY.format(item["event_id"]))
    assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (422, "left_out", "$.job.name")
    assert "the input events leaves out the job 'jobs-job'" in answer.json()["message"]
    assert len(server.stored()) == 1
    if later == "replaced":
        add(exclude=["other-"])
    else:
        server.inputs.remove("events")
    assert server.client.post(RETRY.format(item["event_id"])).status_code == 201
    assert [record.body for record in server.stored() if record.kind == RecordKind.EVENT] == [EVENT]


def archive(server: Server, where: StreamPartition, records: Sequence[LogRecord]) -> None:
    """Archive and fold records, as the stream does."""
    of, writer = ArchivedPartition("events", where), ArchiveWriter(server.folder / "archive")
    with writer.parts() as folder:
        part = PartFile(folder)
        for record in records:
            part.append(record)
        part.close()
        writer.put({of: (0, EventPosition(len(records), 0).address)}, {of: [part.path]})
    server.fold()
    stored = server.records.archive.read(of.source, of.partition, 0, server.records.archive.end(of.source, of.partition))
    store = GraphWriter(server.folder / "graph.db", server.names)
    store.apply(Batch({}, dict(flat(fold_records(stored, server.names)))), Budget(1000))
    store.close()


@pytest.mark.parametrize("kind", ["kafka", "kafka, read by Spark", "kinesis", "folder"])
def test_what_a_reader_could_not_read_comes_in_when_it_can(server: Server, kind: str) -> None:
    where = StreamPartition("stream", "life", "0")
    judge = RecordJudge("events", kind.partition(",")[0], (), KEY)
    rejected: list[LogRecord] = []
    for offset, event in enumerate((EVENT, changed(EVENT, eventType="START"))):
        rejected += judge(IncomingRecord(where, offset, event, refused="an older reader did not know this"), lambda: NOW).records
    if "Spark" in kind:
        archive(server, where, rejected)
    else:
        server.log.append(rejected)
    server.fold()
    items = server.ask("/quarantine")["items"]
    assert sorted(item["message"][item["message"].rindex("(") :] for item in items) == [
        f"(stream, partition 0, offset {offset})" for offset in range(2)
    ]
    for item in items:
        assert server.client.post(RETRY.format(item["event_id"])).status_code == 201
    server.fold()
    assert server.ask("/quarantine")["items"] == []
    retried = [record for record in server.stored() if record.kind == RecordKind.EVENT]
    assert sorted(record.body for record in retried) == sorted((EVENT, changed(EVENT, eventType="START")))


def array(events: list[bytes]) -> bytes:
    return b"[" + b",".join(events) + b"]"


@pytest.mark.parametrize(
    "pack",
    [
        lambda events: gzip.compress(array(events)),
        lambda events: zlib.compress(array(events)),
        lambda events: b"\0\0\0\0\x11" + array(events),
        b"\n".join,
    ],
    ids=["gzip", "zlib", "a registry's header", "lines"],
)
def test_a_value_in_which_no_event_could_be_read_is_read_anew(server: Server, pack: Callable[[list[bytes]], bytes]) -> None:
    """As if an older reader had not known the form: what is in quarantine is the value, and its events come in, each with its place."""
    first, second = run_event(job="a"), run_event(job="b")
    value = pack([first, second])
    where = StreamPartition("stream", "life", "0")
    judge = RecordJudge("events", "kafka", (), KEY)
    server.log.append(judge(IncomingRecord(where, 7, value, refused="an older reader did not know this"), lambda: NOW).records)
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    assert server.client.get(f"/api/v1/quarantine/{item['event_id']}/body").content == value
    answer = server.client.post(RETRY.format(item["event_id"]))
    assert (answer.status_code, answer.json()["event_id"]) == (201, event_id(first).hex())
    server.fold()
    assert server.ask("/quarantine")["items"] == []
    retried = [record for record in server.stored() if record.kind == RecordKind.EVENT]
    assert [record.body for record in retried] == [first, second] * 2
    origins = [origin for record in retried if (origin := read_origin(record.note))]
    assert [(origin.offset, origin.index, origin.count) for origin in origins] == [(7, 0, 2), (7, 1, 2)] * 2
    # The value leaves quarantine only with what was written when all its events were durable.
    assert [read_note(record.note).releases.hex() for record in retried] == ["", "", item["event_id"], item["event_id"]]


DAMAGED = gzip.compress(EVENT + b"\n") + gzip.compress(EVENT.replace(b"a", b"b") + b"\n")[:-6]
"""What is kept of it are the events before the damage."""
LINE = EVENT.ljust(2047) + b"\n"


@pytest.mark.parametrize(
    "value",
    [
        DAMAGED,
        gzip.compress(array([EVENT, b"{}"])),
        gzip.compress(b"[]"),
        gzip.compress(array([array([EVENT])])),
        EVENT.ljust(2047) + b"\n",
    ],
    ids=["damaged behind its first member", "one is bad", "none", "nested", "cut"],
)
def test_a_value_whose_events_are_not_all_there_and_valid_stays(server: Server, value: bytes) -> None:
    where = StreamPartition("stream", "life", "0")
    judge = RecordJudge("events", "kafka", (), KEY)
    sent = value * 40 if value.endswith(b"\n") else value  # the first 32 lines are kept
    server.log.append(judge(IncomingRecord(where, 7, sent, refused="an older reader did not know this"), lambda: NOW).records)
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    assert server.client.post(RETRY.format(item["event_id"])).status_code == 422
    assert len(server.stored()) == 1
