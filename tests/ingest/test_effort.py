"""Masking costs what a body weighs: large bodies are masked as small ones are, and what costs too much is refused."""

import json
from concurrent.futures import Future
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events import T0, run_event
from tests.openlineage.test_redaction import BODIES

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.effort import LEAST_NS, Effort, TooCostlyError
from lineage_bridge.ingest.ingest import Ingested, Sender, ingest
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload
from lineage_bridge.openlineage.json_text import SMALL
from lineage_bridge.openlineage.queries.names import MAX_QUERY
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.openlineage.verdict import Rejected

HEAD = b'{"eventType":"START","run":{"runId":"x","facets":{"a":'


class Kept:
    """A log that keeps what it is given."""

    def __init__(self) -> None:
        self.records: list[LogRecord] = []

    def submit(self, records: Any) -> "Future[list[int]]":
        self.records += records
        done: Future[list[int]] = Future()
        done.set_result(list(range(len(records))))
        return done

    def end(self) -> int:
        return 0


def ingested(body: bytes, log: Kept | None = None) -> Ingested:
    return ingest(Payload(body), Sender("http"), log or Kept(), T0)


@given(BODIES, st.lists(BODIES, max_size=3))
def test_a_large_body_is_masked_as_a_small_one(body: Any, others: list[Any]) -> None:
    around = {"filling": [{"a": "x", "b": 1}] * SMALL}
    for value in ([body, *others], {"a": body, "b": others}, [{"c": 1, "d": [body]}, *others]):
        small = json.loads(mask(json.dumps(value).encode()))
        large = json.loads(mask(json.dumps([around, value, around]).encode()))
        assert large == [around, small, around]


def test_what_costs_too_much_is_refused_with_a_reason_and_a_sample() -> None:
    log = Kept()
    found = ingested(HEAD + b"[" + b"{}," * 4_000_000 + b"{}]}}}", log)
    (event,) = found.events
    assert isinstance(event.verdict, Rejected)
    assert (event.verdict.code, found.single, found.is_refused_whole) == ("too_costly", True, True)
    (record,) = log.records
    assert len(record.body) <= 1 << 14


EVENT = run_event(job_facets={"sql": {"query": "QUERY"}}, inputs=[], outputs=[{"namespace": "n", "name": "t", "facets": {}}])
COLUMNS = b'{"columnLineage":{"fields":{"b":{"inputFields":[{"namespace":"n","name":"a","field":"b"}]}}}}'
JUDGED = {
    "facets": lambda: run_event(run_facets={f"f{number}": {} for number in range(200_000)}),
    "malformed items": lambda: EVENT.replace(b'"facets": {}', b'"facets": {"schema":{"fields":[{}' + b",{}" * 150_000 + b"]}}"),
    "bad text behind much else": lambda: run_event(run_facets={"a": [1] * 800_000 + ["\x00"]}),
    "tiny events": lambda: b"[" + b",".join([b"1"] * 5_000) + b"]",
    "queries": lambda: (
        b"["
        + b",".join(
            [
                EVENT.replace(b"QUERY", b"with a as (select b from c) select " + b"b," * 50_000).replace(
                    b'"facets": {}', b'"facets":' + COLUMNS
                )
            ]
            * 10
        )
        + b"]"
    ),
}


@pytest.mark.parametrize("name", JUDGED)
def test_what_costs_too_much_to_judge_is_refused(name: str) -> None:
    log = Kept()
    found = ingested(JUDGED[name](), log)
    assert [(event.verdict.code, found.is_refused_whole) for event in found.events if isinstance(event.verdict, Rejected)] == [
        ("too_costly", True)
    ]
    assert len(log.records[0].body) <= 1 << 14


@pytest.mark.parametrize(
    ("body", "code", "most"),
    [
        (b'{"password": "hunter2", "a": "' + b"x" * 200_000, "not_json", SAMPLE_BYTES),
        (b'{"password": "hunter2", "a": "\xff' + b"x" * 200_000 + b'"}', "not_json", SAMPLE_BYTES),
        (b'{"password": "hunter2", "a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "too_deep", 1 << 12),
    ],
)
def test_of_what_no_event_can_be_read_from_the_beginning_is_kept(body: bytes, code: str, most: int) -> None:
    log = Kept()
    (event,) = ingested(body, log).events
    assert isinstance(event.verdict, Rejected)
    assert event.verdict.code == code
    (record,) = log.records
    assert record.body.startswith(b'{"password": "********"')
    assert len(record.body) <= most + 10


def test_a_script_of_a_megabyte_with_one_password_is_taken() -> None:
    query = "SELECT o.a, sum(o.b) FROM shop.orders o WHERE o.status = 'paid' AND o.c > 17 -- nightly\n" * 12_000
    assert ingested(run_event(job_facets={"sql": {"query": query + "; SET password = 'hunter2'"}})).accepted == 1


def test_ordinary_events_cost_little() -> None:
    event = run_event(run_facets={"x": {"password": "hunter2", "url": "https://a:b@c/d", "sql": "select token from t where token = 'x'"}})
    assert ingested(b"[" + b",".join([event] * 50) + b"]").accepted == 50


def test_many_events_with_a_few_secrets_each_are_taken() -> None:
    properties = {
        "spark.hadoop.fs.s3a.secret.key": "abc1",
        "spark.jars": "/x",
        **{f"spark.setting.{number}": number for number in range(30)},
    }
    facets = {"x": {"password": "hunter2", "url": "https://a:b@c/d"}, "spark_properties": {"properties": properties}}
    events = [run_event(run_facets={**facets, "y": {"_producer": "p", "token": f"x{number}"}}) for number in range(2_500)]
    assert ingested(b"[" + b",".join(events) + b"]").accepted == 2_500


def test_a_table_of_two_thousand_columns_is_taken() -> None:
    fields = [{"name": f"c{number}_access_token", "type": "STRING", "description": f"the password of {number}"} for number in range(2_000)]
    assert ingested(run_event(outputs=[{"namespace": "n", "name": "t", "facets": {"schema": {"fields": fields}}}])).accepted == 1


def test_a_script_of_half_a_megabyte_with_secrets_is_taken() -> None:
    query = "SELECT a, token, 'password' AS b FROM shop.orders WHERE secret_key = 'hunter2' AND c > 17 -- nightly\n" * 5_000
    found = ingested(run_event(job_facets={"sql": {"query": query}}))
    assert found.accepted == 1


def test_a_long_array_of_secrets_becomes_one_mask() -> None:
    assert json.loads(mask(json.dumps({"password": ["x"] * 5_000, "a": 1}).encode())) == {"password": ["********"], "a": 1}
    assert json.loads(mask(json.dumps({"password": ["x"] * 5}).encode())) == {"password": ["********"] * 5}
    for named, value in (("password", ["********"]), ("color", ["x"] * 5_000)):
        assert json.loads(mask(json.dumps([{"name": named, "value": ["x"] * 5_000}, "token=abc1"]).encode()))[0]["value"] == value


@pytest.mark.parametrize("secret", [["--password", "hunter2"], ["--user", "me:hunter2"], ["-u", "me:hunter2"], ["token=hunter2"]])
def test_a_secret_in_a_long_array_is_masked_wherever_it_is(secret: list[str]) -> None:
    for before in (["x"] * 3_000, [1, -1] * 3_000, ["cmd", "--x", "y"]):
        masked = json.loads(mask(json.dumps({"a": [*before, *secret, *before]}).encode()))["a"]
        assert "hunter2" not in json.dumps(masked)
        assert (masked[: len(before)], masked[-len(before) :]) == (before, before)


def test_effort_ends() -> None:
    effort = Effort(LEAST_NS)
    with pytest.raises(TooCostlyError):
        effort.spend(LEAST_NS + 1)
    effort.spend(LEAST_NS)
    with pytest.raises(TooCostlyError):
        effort.spend(1)


def test_half_a_secret_is_not_kept_where_the_beginning_ends() -> None:
    log = Kept()
    before = b'{"a": "' + b"x" * (SAMPLE_BYTES - 30) + b" jdbc://me:"
    (event,) = ingested(before + b"hunter2" * 20 + b"@host/db " + b"x" * 200_000, log).events
    assert isinstance(event.verdict, Rejected)
    assert b"hunter2" not in log.records[0].body


@pytest.mark.parametrize("ends", [b"", b"]" * 8_000 + b"}"])
def test_a_small_body_of_brackets_is_refused_before_they_are_read(ends: bytes) -> None:
    log = Kept()
    (event,) = ingested(b'{"password": "hunter2", "a": ' + b"[" * 8_000 + ends, log).events
    assert isinstance(event.verdict, Rejected)
    assert event.verdict.code == "too_deep"
    assert log.records[0].body.startswith(b'{"password": "********"')
    assert len(log.records[0].body) <= 1 << 12


def test_the_longest_query_whose_expressions_are_read_is_not_too_costly() -> None:
    query = b"with a as (select b from c) select " + b"b," * ((MAX_QUERY - 100) // 2)
    event = EVENT.replace(b"QUERY", query).replace(b'"facets": {}', b'"facets":' + COLUMNS)
    assert ingested(event).accepted == 1


@pytest.mark.parametrize("secret", ["", "password=hunter2Xyzzy42 "])
def test_of_an_event_that_was_cut_off_values_that_are_left_open_are_masked(secret: str) -> None:
    body = f'{{"a": "{secret}token", "b": [{{"value": "hunter3Xyzzy42", "c": ["hunter4Xyzzy42", "words"'.encode()
    log = Kept()
    (event,) = ingested(body, log).events
    assert isinstance(event.verdict, Rejected)
    assert event.verdict.code == "not_json"
    kept = log.records[0].body
    assert (b"Xyzzy42" in body, b"Xyzzy42" in kept, kept.count(b"********")) == (True, False, 2 + bool(secret))
    assert kept.endswith(b'"b": [{"value": "********", "c": ["********", "words"')


def test_an_event_that_was_cut_off_and_costs_too_much_is_kept_in_part() -> None:
    log = Kept()
    ingested(b'{"a": [' + b'"token a", ' * 4_000, log)
    assert len(log.records[0].body) < 2_000
    ingested(b"token " * 2_000, log)
    assert len(log.records[1].body) <= len(b"token " * 2_000)
