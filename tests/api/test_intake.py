import gzip
import json
import zlib
from typing import Any

import pytest
from tests.api.support import LINEAGE, FailingLog, Server, changed
from tests.corpora.verdicts import ACCEPTED, BAD, EVENT, REJECTED, named
from tests.events import facet, run_event

from lineage_bridge.api import position_tokens
from lineage_bridge.errors import LogError, LogFullError, UnavailableError
from lineage_bridge.graph.ids import event_id
from lineage_bridge.graph.log_record import RecordKind
from lineage_bridge.ingest.payload import SAMPLE_BYTES
from lineage_bridge.openlineage.wire import MAX_BYTES

OTHER = run_event(job="other")
NDJSON = {"content-type": "application/x-ndjson"}


@pytest.mark.parametrize(("event", "repairs"), ACCEPTED.values(), ids=ACCEPTED)
def test_an_accepted_event_is_durable_as_sent(server: Server, event: bytes, repairs: list[str]) -> None:
    answer = server.client.post(LINEAGE, content=event)
    assert answer.status_code == 201, answer.text
    outcome = answer.json()
    (record,) = server.stored()
    assert (record.kind, record.body, record.note, record.channel) == (RecordKind.EVENT, event, b"", "http")
    assert outcome["status"] == "accepted"
    assert outcome["event_id"] == record.event_id.hex() == event_id(event).hex()
    assert sorted({repair["code"] for repair in outcome["repairs"]}) == repairs
    assert all(repair["path"].startswith("$") for repair in outcome["repairs"])
    assert outcome["position"] == answer.headers["x-lineage-position"]
    server.fold()
    assert server.ask("/quarantine")["items"] == []


@pytest.mark.parametrize(("event", "status", "code"), REJECTED.values(), ids=REJECTED)
def test_a_rejected_event_is_kept_with_its_reason(server: Server, event: bytes, status: int, code: str) -> None:
    answer = server.client.post(LINEAGE, content=event)
    assert answer.status_code == status, answer.text
    outcome = answer.json()
    assert (outcome["status"], outcome["code"]) == ("rejected", code)
    (record,) = server.stored()
    assert record.kind == RecordKind.REJECTED
    assert record.body == event if len(event) <= SAMPLE_BYTES else event.startswith(record.body)
    assert json.loads(record.note) == {name: outcome[name] for name in ("code", "path", "message")}
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    assert (item["event_id"], item["code"], item["path"]) == (outcome["event_id"], code, outcome["path"])


def test_an_array_answers_with_the_outcome_of_each_event(server: Server) -> None:
    answer = server.client.post(LINEAGE, content=b"[" + b" ,\n".join([EVENT, BAD, changed(EVENT, eventType="done")]) + b"]")
    assert answer.status_code == 201
    outcome = answer.json()
    assert (outcome["accepted"], outcome["rejected"]) == (2, 1)
    assert [(event["index"], event["status"]) for event in outcome["events"]] == [
        (0, "accepted"),
        (1, "rejected"),
        (2, "accepted"),
    ]
    assert outcome["events"][1]["code"] == "no_subject"
    assert outcome["events"][2]["repairs"] == [{"code": "event_type", "path": "$.eventType"}]
    assert "repairs" not in outcome["events"][0]
    assert [record.body for record in server.stored()][:2] == [EVENT, BAD]


def test_an_array_without_a_good_event_is_422_and_an_empty_one_201(server: Server) -> None:
    assert server.client.post(LINEAGE, content=b"[" + BAD + b", 1]").status_code == 422
    answer = server.client.post(LINEAGE, content=b" [ ] ")
    assert (answer.status_code, answer.json()["accepted"], answer.json()["events"]) == (201, 0, [])


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"[" + EVENT + b"," + OTHER + b"]", {}),
        (b'{"events": [' + EVENT + b"," + OTHER + b"]}", {}),
        (b'{"sender": "x", "events": [' + EVENT + b", " + OTHER + b"]}", {"content-type": "text/plain"}),
        (EVENT + b"\n" + OTHER, {}),
        (EVENT + b"\r\n\r\n" + OTHER + b"\r\n", NDJSON),
        (gzip.compress(b"[" + EVENT + b"," + OTHER + b"]", mtime=0), {"content-encoding": "gzip"}),
        (gzip.compress(EVENT + b"\n", mtime=0) + gzip.compress(OTHER, mtime=0), {"content-encoding": "GZIP", **NDJSON}),
        (zlib.compress(EVENT + b"\n" + OTHER), {"content-encoding": "deflate"}),
    ],
    ids=["array", "events", "events as text", "lines", "ndjson", "gzip", "gzip of two members", "deflate"],
)
def test_several_events_come_in_many_forms(server: Server, body: bytes, headers: dict[str, str]) -> None:
    answer = server.client.post(LINEAGE, content=body, headers=headers)
    assert (answer.status_code, answer.json()["accepted"]) == (201, 2), answer.text
    assert [record.body for record in server.stored()] == [EVENT, OTHER]


def test_an_event_over_several_lines_is_one_event(server: Server) -> None:
    pretty = json.dumps(json.loads(EVENT), indent=2).encode()
    assert server.client.post(LINEAGE, content=pretty).json()["status"] == "accepted"
    assert [record.body for record in server.stored()] == [pretty]


def test_one_line_of_ndjson_is_answered_as_lines_are(server: Server) -> None:
    assert server.client.post(LINEAGE, content=EVENT, headers=NDJSON).json()["accepted"] == 1


def test_a_bad_line_concerns_that_line_alone(server: Server) -> None:
    answer = server.client.post(LINEAGE, content=EVENT + b"\n{truncated\n" + OTHER).json()
    assert [event["status"] for event in answer["events"]] == ["accepted", "rejected", "accepted"]
    assert answer["events"][1]["code"] == "not_json"


def test_a_list_of_events_inside_an_event_is_only_a_member(server: Server) -> None:
    event = changed(EVENT, events=[1, 2])
    assert server.client.post(LINEAGE, content=event).json()["status"] == "accepted"
    assert server.client.post(LINEAGE, content=b'{"events": 1}').json()["code"] == "no_subject"


def test_bad_text_in_an_array_is_cut_out_as_it_was_sent(server: Server) -> None:
    broken = EVENT.replace(b'"job"}', b'"\\ud800\\u0000 ,[\\"]"}')
    for body in (b"[ 1 ," + broken + b" , " + OTHER + b"]", b'{"events": [1,' + broken + b"," + OTHER + b"]}"):
        answer = server.client.post(LINEAGE, content=body).json()
        assert [event["status"] for event in answer["events"]] == ["rejected", "accepted", "accepted"]
        assert [record.body for record in server.stored()][-3:] == [b"1", broken, OTHER]


@pytest.mark.parametrize("body", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'[{"a": 1}', b"[1] x"])
def test_a_broken_array_is_refused_as_one_event(server: Server, body: bytes) -> None:
    answer = server.client.post(LINEAGE, content=body)
    assert answer.status_code in (400, 422)
    assert answer.json()["code"] in ("not_json", "too_deep")
    assert [record.body for record in server.stored()] == [body if len(body) <= SAMPLE_BYTES else body[: len(server.stored()[0].body)]]


@pytest.mark.parametrize("path", [LINEAGE, f"{LINEAGE}/batch", f"{LINEAGE}/events"])
@pytest.mark.parametrize("encoding", ["", "gzip"])
def test_a_body_over_the_limit_is_413_and_a_sample_is_kept(server: Server, path: str, encoding: str) -> None:
    client = server.client_of(max_body_bytes=200_000)
    fits, over = EVENT.ljust(200_000), EVENT.ljust(200_001)
    pack = gzip.compress if encoding else bytes
    headers = {"content-encoding": encoding}
    assert client.post(LINEAGE, content=pack(fits), headers=headers).status_code == 201
    answer = client.post(path, content=pack(over), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    record = server.stored()[-1]
    assert (record.kind, record.body) == (RecordKind.REJECTED, over[:SAMPLE_BYTES])


def test_an_event_over_the_limit_within_a_larger_body_is_413(server: Server) -> None:
    over = EVENT.ljust(MAX_BYTES + 1)
    client = server.client_of(max_body_bytes=MAX_BYTES + 10)
    assert client.post(LINEAGE, content=over).json()["code"] == "too_large"
    assert server.stored()[-1].body == over[:SAMPLE_BYTES]


def test_a_compression_bomb_is_413(server: Server) -> None:
    client = server.client_of(max_body_bytes=1_000_000)
    bomb = gzip.compress(bytes(200_000_000))
    assert len(bomb) < 1_000_000
    answer = client.post(LINEAGE, content=bomb, headers={"content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_large_body_never_stops_in_the_middle_of_the_log(server: Server) -> None:
    big = named(facets={"sql": facet(query="x" * 10_000_000)})
    answer = server.client.post(LINEAGE, content=b"[" + big + b"," + EVENT + b"]")
    assert (answer.status_code, answer.json()["accepted"]) == (201, 2)
    assert [len(record.body) for record in server.stored()] == [len(big), len(EVENT)]


@pytest.mark.parametrize("packed", [gzip.compress(EVENT, mtime=0)[:-4], gzip.compress(EVENT, mtime=0) + b"x", b"no gzip", EVENT])
def test_a_broken_stream_is_no_json(server: Server, packed: bytes) -> None:
    answer = server.client.post(LINEAGE, content=packed, headers={"content-encoding": "gzip"})
    assert (answer.status_code, answer.json()["code"]) == (400, "not_json")
    assert server.stored()[0].kind == RecordKind.REJECTED


def test_an_unknown_encoding_is_415_and_the_hint_names_a_known_one(server: Server) -> None:
    answer = server.client.post(LINEAGE, content=EVENT, headers={"content-encoding": "br"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "encoding")
    assert "gzip" in answer.json()["error"]["hint"]
    assert server.stored() == []


def test_too_many_events_are_refused_as_one(server: Server) -> None:
    client = server.client_of(max_events=2)
    assert client.post(LINEAGE, content=EVENT + b"\n" + EVENT).status_code == 201
    answer = client.post(LINEAGE, content=b"[1,2,3]")
    assert (answer.status_code, answer.json()["code"]) == (413, "too_many")
    assert (server.stored()[-1].kind, server.stored()[-1].body) == (RecordKind.REJECTED, b"[1,2,3]")
    client.post(LINEAGE, content=b"[1,2,3" + b" " * SAMPLE_BYTES + b"]")
    assert len(server.stored()[-1].body) == SAMPLE_BYTES


def test_secrets_are_masked_before_anything_is_written(server: Server) -> None:
    secret = b"hunter2hunter2"
    event = named(facets={"custom": facet(password=secret.decode())})
    broken = b'{"password": "' + secret + b'", '
    for body in (event, b"[" + event + b"]", event + b"\n" + event, broken, b"[" + broken):
        server.client.post(LINEAGE, content=body)
    records = server.stored()
    assert len(records) == 6
    assert all(secret not in record.body + record.note for record in records)
    assert all(record.event_id == event_id(record.body) for record in records)
    segments = list((server.folder / "log").iterdir())
    assert all(secret not in path.read_bytes() for path in segments if path.is_file())


def test_the_standards_batch_call(server: Server) -> None:
    def batch(*events: bytes) -> Any:
        answer = server.client.post(f"{LINEAGE}/batch", content=b"[" + b",".join(events) + b"]")
        assert answer.status_code == 200
        return answer.json()

    assert batch(EVENT, OTHER)["status"] == "success"
    mixed = batch(EVENT, BAD)
    assert mixed["status"] == "partial_success"
    assert mixed["summary"] == {"received": 2, "successful": 1, "failed": 1, "retriable": 0, "non_retriable": 1}
    (failed,) = mixed["failed_events"]
    assert (failed["index"], failed["retriable"]) == (1, False)
    assert failed["reason"].startswith("no_subject")
    assert batch(BAD)["status"] == "failure"
    assert batch()["status"] == "success"
    assert server.client.post(f"{LINEAGE}/batch", content=b"no json").status_code == 400


def test_the_events_call_counts_stored_events(server: Server) -> None:
    def post(body: bytes) -> tuple[int, Any]:
        answer = server.client.post(f"{LINEAGE}/events", content=body)
        return answer.status_code, answer.json()

    status, answer = post(b"[" + EVENT + b"," + BAD + b"," + OTHER + b"]")
    assert (status, answer["events_stored"], answer["rejected"]) == (201, 2, 1)
    assert post(EVENT)[1]["events_stored"] == 1
    assert post(b"[]")[0] == 201
    assert post(BAD)[0] == 422
    assert post(b"[" + BAD + b"]")[0] == 422
    assert post(b"no json")[0] == 400


def test_a_repeated_event_is_kept_each_time_and_listed_once(server: Server) -> None:
    first = server.client.post(LINEAGE, content=EVENT).json()["event_id"]
    server.send(EVENT, EVENT, EVENT)
    assert len(server.stored()) == 4
    assert server.ask("/lineage/events") == [json.loads(EVENT)]
    assert first == event_id(EVENT).hex()


@pytest.mark.parametrize(
    ("log", "status", "code"),
    [
        (FailingLog(refusal=UnavailableError("too much waits", "later")), 503, "unavailable"),
        (FailingLog(failure=LogFullError("the disk is full", "free space")), 507, "log_full"),
        (FailingLog(failure=LogError("the disk is broken")), 503, "log_failed"),
        (FailingLog(refusal=LogError("closed")), 503, "log_failed"),
    ],
    ids=["overload", "full", "broken", "closed"],
)
@pytest.mark.parametrize("path", [LINEAGE, f"{LINEAGE}/batch", f"{LINEAGE}/events"])
def test_what_is_not_durable_is_never_acknowledged(server: Server, log: FailingLog, status: int, code: str, path: str) -> None:
    for body in (EVENT, b"[" + EVENT + b"]", b"no json"):
        answer = server.client_of(log=log).post(path, content=body)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert ("retry-after" in answer.headers) == (status == 503)
        assert "event_id" not in answer.text


def test_overload_of_a_real_log_is_503(server: Server) -> None:
    answer = server.client.post(LINEAGE, content=EVENT)
    assert answer.status_code == 201
    server.log.close()
    assert server.client.post(LINEAGE, content=EVENT).status_code == 503


def test_a_position_covers_what_was_sent(server: Server) -> None:
    server.client.post(LINEAGE, content=OTHER)
    sent = position_tokens.decode(server.client.post(LINEAGE, content=EVENT).json()["position"])
    server.fold()
    with server.pool.reader() as reader:
        assert position_tokens.covers(reader.progress.position(), sent)
    *_, (offset, _) = server.records.log.read(0, server.records.durable_end())
    assert not position_tokens.covers({("log", 0): offset}, sent)
    assert not position_tokens.covers({}, sent)


@pytest.mark.parametrize("path", ["", "/batch", "/events"])
def test_a_trailing_slash_does_not_change_the_address(server: Server, path: str) -> None:
    answers = [server.client.post(LINEAGE + path + end, content=b"[" + EVENT + b"]", follow_redirects=False) for end in ("", "/")]
    assert answers[0].is_success
    assert answers[0].status_code == answers[1].status_code
    assert [record.body for record in server.stored()] == [EVENT, EVENT]
