"""Masking costs what a body weighs: large bodies are masked as small ones are, and what costs too much is refused."""

import json
from concurrent.futures import Future
from typing import Any

import pytest
from bench.body_shapes import SHAPES
from hypothesis import given
from hypothesis import strategies as st
from tests.events import T0, run_event
from tests.openlineage.test_redaction import BODIES

from lineage_bridge.graph.log_record import LogRecord
from lineage_bridge.ingest.effort import JUDGING_NS, LEAST_BYTES, MASKING_EVENT_NS, MASKING_NS, SECOND_NS, Effort, TooCostlyError
from lineage_bridge.ingest.ingest import Ingested, Sender, ingest
from lineage_bridge.ingest.payload import SAMPLE_BYTES, Payload, split_payload
from lineage_bridge.openlineage.json_text import SMALL
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


COSTLY = {
    "secrets in pairs": b"[" + b",".join([b'{"name":"password","value":"x"}'] * 100_000) + b"]",
    "texts": b"[" + b",".join(b'"token=%d"' % number for number in range(100_000)) + b"]",
    "tiny objects": b"[" + b"{}," * 4_000_000 + b"{}]",
}


PLAIN = {"_producer": "p", "_schemaURL": "s", "note": "kept"}
SMALL_FACET = {"_producer": "p", "_schemaURL": "s", "url": "https://a:hunter2@c/d"}


def withheld_in(verdict: Any) -> list[str]:
    return [repair.path for repair in verdict.repairs if repair.code == "withheld"]


@pytest.mark.parametrize("name", COSTLY)
def test_facets_that_cost_too_much_are_withheld_and_the_rest_is_kept(name: str) -> None:
    log = Kept()
    facets = {"plain": PLAIN, "costly": "COSTLY", "small": SMALL_FACET}
    body = run_event(run_facets=facets, inputs=[{"namespace": "n", "name": "a", "facets": {"plain": PLAIN}}])
    (event,) = ingested(body.replace(b'"COSTLY"', COSTLY[name]), log).events
    (record,) = log.records
    if name == "tiny objects":
        assert isinstance(event.verdict, Rejected)
        assert event.verdict.code == "too_costly"
        return
    assert withheld_in(event.verdict) == ["$.run.facets.costly"]
    kept = json.loads(record.body)
    assert kept["run"]["facets"]["plain"] == PLAIN
    assert kept["run"]["facets"]["small"]["_producer"] == "p"
    assert "hunter2" not in json.dumps(kept)
    assert (kept["inputs"][0]["name"], kept["inputs"][0]["facets"]) == ("a", {"plain": PLAIN})
    marker = kept["run"]["facets"]["lineagebridge_withheld"]
    assert (marker["facets"], marker["count"], marker["reason"]) == (["costly"], 1, "too_costly")
    assert b"token=7" not in record.body
    again = Kept()
    assert withheld_in(ingested(record.body, again).events[0].verdict) == ["$.run.facets.costly"]
    assert again.records[0].body == record.body


def test_names_that_cost_too_much_are_refused_without_a_trace_of_them() -> None:
    log = Kept()
    outputs = [{"namespace": "n", "name": f"a?token=hunter{number}"} for number in range(10_000)]
    (event,) = ingested(run_event(outputs=outputs), log).events
    assert isinstance(event.verdict, Rejected)
    assert event.verdict.code == "too_costly"
    assert b"hunter" not in log.records[0].body


def test_bodies_that_cannot_be_kept_are_told_apart() -> None:
    log = Kept()
    for number in range(2):
        ingested(b"[" * 20_000 + b'{"password":%d' % number, log)
    first, second = (json.loads(record.body) for record in log.records)
    assert first["withheld"] != second["withheld"]
    assert first["bytes"] > 20_000


@pytest.mark.parametrize("where", ["inputs", "outputs"])
def test_facets_of_an_access_are_withheld_beside_it(where: str) -> None:
    member = where[:-1] + "Facets"
    datasets: list[dict[str, Any]] = [
        {"namespace": "n", "name": name, member: {"plain": PLAIN, **({"x": "COSTLY"} if name == "b" else {})}} for name in "abc"
    ]
    log = Kept()
    body = run_event(inputs=datasets) if where == "inputs" else run_event(outputs=datasets)
    (event,) = ingested(body.replace(b'"COSTLY"', COSTLY["texts"]), log).events
    assert withheld_in(event.verdict) == [f"$.{where}[1].{member}.x"]
    assert [dataset[member]["plain"] for dataset in json.loads(log.records[0].body)[where]] == [PLAIN] * 3


def test_large_schemas_and_column_lineage_lose_nothing() -> None:
    fields = [
        {"name": f"c{number}" if number % 50 else f"c{number}_token", "type": "STRING", "description": f"what item {number} is, in units"}
        for number in range(5_000)
    ]
    columns = {
        f"c{number}": {
            "inputFields": [{"namespace": "n", "name": "a", "field": f"user_token{number}" if number % 40 == 0 else f"d{number}"}]
        }
        for number in range(5_000)
    }
    facets = {"schema": {"fields": fields}, "columnLineage": {"fields": columns}}
    log = Kept()
    body = run_event(outputs=[{"namespace": "n", "name": "t", "facets": facets}])
    (event,) = ingested(body, log).events
    assert withheld_in(event.verdict) == []
    assert log.records[0].body == body


EVENT = run_event(job_facets={"sql": {"query": "QUERY"}}, inputs=[], outputs=[{"namespace": "n", "name": "t", "facets": {}}])
COLUMNS = b'{"columnLineage":{"fields":{"b":{"inputFields":[{"namespace":"n","name":"a","field":"b"}]}}}}'
JUDGED = {
    "facets": run_event(run_facets={f"f{number}": {} for number in range(200_000)}),
    "malformed items": EVENT.replace(b'"facets": {}', b'"facets": {"schema":{"fields":[{}' + b",{}" * 150_000 + b"]}}"),
    "tiny events": b"[" + b",".join([b"1"] * 5_000) + b"]",
    "queries": b"["
    + b",".join(
        [EVENT.replace(b"QUERY", b"with a as (select b from c) select " + b"b," * 50_000).replace(b'"facets": {}', b'"facets":' + COLUMNS)]
        * 10
    )
    + b"]",
}


@pytest.mark.parametrize("name", JUDGED)
def test_what_costs_too_much_to_judge_is_refused(name: str) -> None:
    log = Kept()
    found = ingested(JUDGED[name], log)
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


def test_bad_text_behind_much_else_is_repaired_without_its_place() -> None:
    (event,) = ingested(run_event(run_facets={"a": [1] * 800_000 + ["\x00"]})).events
    assert "$" in [repair.path for repair in getattr(event.verdict, "repairs", ()) if repair.code == "bad_text"]


@pytest.mark.parametrize("events", [1, 3])
def test_effort_ends(events: int) -> None:
    effort = Effort([b"x" * LEAST_BYTES] * events)
    for _ in range(events):
        effort.begin(LEAST_BYTES)
    assert effort.masking.left_ns == events * (LEAST_BYTES * MASKING_NS + MASKING_EVENT_NS)
    assert effort.second.left_ns == events * LEAST_BYTES * SECOND_NS
    effort.masking.spend(effort.masking.left_ns)
    with pytest.raises(TooCostlyError):
        effort.masking.spend(1)


class Counted(Effort):
    """An effort that remembers what was spent."""

    spent = 0

    def __init__(self, events: Any) -> None:
        super().__init__(events)
        for allowance in (self.judging, self.masking, self.second):
            allowance.spend = self.counting(allowance.spend)  # type: ignore[method-assign]

    def counting(self, spend: Any) -> Any:
        def counted(nanoseconds: int) -> None:
            spend(nanoseconds)
            Counted.spent += nanoseconds

        return counted


@pytest.mark.parametrize("size", [16 << 10, 64 << 10])
@pytest.mark.parametrize("name", SHAPES)
def test_the_counted_work_of_a_body_is_in_proportion_to_its_bytes(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineage_bridge.ingest.ingest.Effort", Counted)
    payload = SHAPES[name](size)
    events = split_payload(payload).items
    Counted.spent = 0
    ingest(payload, Sender("http"), Kept(), T0)
    weight = max(LEAST_BYTES, sum(map(len, events)))
    assert Counted.spent <= weight * (JUDGING_NS + MASKING_NS + SECOND_NS) + len(events) * MASKING_EVENT_NS
