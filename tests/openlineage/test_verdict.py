"""The table of verdicts, row by row."""

from typing import Any

import pytest
from tests.corpora.verdicts import ACCEPTED, REJECTED
from tests.openlineage.support import ABSENT, ARRIVAL_US, META, RUN_ID, clean, event, rejected, repaired, sample_lines, text

from lineage_bridge.openlineage.run_ids import parse_uuid, run_uuid
from lineage_bridge.openlineage.verdict import (
    HTTP_STATUS,
    MAX_REPAIRS,
    Clean,
    Rejected,
    Repaired,
    judge,
    unreadable,
)
from lineage_bridge.openlineage.wire import MAX_BYTES

DATASET = {"namespace": "postgres://h:5432", "name": "db.public.orders"}


# rejected


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"job",
        text(event())[:-1],
        text(event()) + b"x",
        text(event()) + text(event()),
        text(event(note="x")).replace(b'"note": "x"', b'"note": "\xff"'),
        text(event(note="x")).replace(b'"note": "x"', b'"\xff": "x"'),
        b"\xef\xbb\xbf" + text(event()),
        text(event()).decode().encode("utf-16"),
        text(event(note=1)).replace(b'"note": 1', b'"note": NaN'),
        text(event(note=1)).replace(b'"note": 1', b'"note": -Infinity'),
        text(event(note=1)).replace(b'"note": 1', b'"note": 01'),
        text(event(note=1)).replace(b'"note": 1', b'"note": [1,]'),
        text(event(note="x")).replace(b'"note": "x"', b'"note": "a\x00b"'),
        text(event(note="x")).replace(b'"note": "x"', b'"note": "a\\qb"'),
        text(event(job={**DATASET, "facets": {"x": {"y": "z"}}})).replace(b'"z"', b'"\x01"'),
        text(event(job={**DATASET, "facets": {"x": {"y": 1}}})).replace(b'"y": 1', b'"y": .5'),
        text(event(job=5))[:-1],
        b"[" * 100_000,
        b'{"a":' * 200,
    ],
)
def test_what_is_no_json_is_rejected(raw: bytes) -> None:
    code, path = rejected(raw)
    assert (code, path) in {("not_json", "$"), ("too_deep", "$")}
    assert code == "not_json" or raw.startswith(b"[[")


def test_too_large() -> None:
    whole = text(event())
    assert rejected(whole + b" " * (MAX_BYTES + 1 - len(whole))) == ("too_large", "$")
    assert isinstance(judge(whole + b" " * (MAX_BYTES - len(whole)), ARRIVAL_US), Clean)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("member", ["unknown", "facets"])
def test_deeper_than_100_levels_is_rejected(opening: str, closing: str, member: str) -> None:
    def nested(levels: int) -> bytes:
        value = opening * levels + '"}]{["' + closing * levels
        if member == "unknown":
            return text(event(deep=7)).replace(b"7}", f"{value}}}".encode())
        return text(event(job={**DATASET, "facets": {"mine": {**META, "x": 7}}})).replace(b"7}", f"{value}}}".encode())

    above = 1 if member == "unknown" else 4
    assert isinstance(judge(nested(100 - above), ARRIVAL_US), Clean)
    assert rejected(nested(101 - above)) == ("too_deep", "$")


def test_many_brackets_are_not_deep() -> None:
    assert isinstance(judge(text(event(wide=[{"a": [1]}] * 500, braces="[" * 300)), ARRIVAL_US), Clean)


@pytest.mark.parametrize("member", ["namespace", "name"])
def test_name_too_long(member: str) -> None:
    fits, long = {**DATASET, member: "ä" * 8192}, {**DATASET, member: "ä" * 8193}
    assert isinstance(judge(text(event(job=fits, inputs=[fits], outputs=[fits])), ARRIVAL_US), Clean)
    assert rejected(text(event(job=long))) == ("name_too_long", f"$.job.{member}")
    assert rejected(text(event(outputs=[fits, long]))) == ("name_too_long", f"$.outputs[1].{member}")
    assert rejected(text(event(run=ABSENT, job=ABSENT, dataset=long))) == ("name_too_long", f"$.dataset.{member}")
    parent = {**META, "run": {"runId": RUN_ID}, "job": long}
    where = f"$.run.facets.parent.job.{member}"
    assert rejected(text(event(run={"runId": RUN_ID, "facets": {"parent": parent}}))) == ("name_too_long", where)
    parent = {**META, "run": {"runId": RUN_ID}, "job": DATASET, "root": {"run": {"runId": "x"}, "job": long}}
    where = f"$.run.facets.parent.root.job.{member}"
    assert rejected(text(event(run={"runId": RUN_ID, "facets": {"parent": parent}}))) == ("name_too_long", where)


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"inputs": {}}, "$.inputs"),
        ({"outputs": "none"}, "$.outputs"),
        ({"inputs": [DATASET, 5]}, "$.inputs[1]"),
        ({"job": {"namespace": "n", "name": 5}}, "$.job.name"),
        ({"job": []}, "$.job"),
        ({"run": {"runId": 7}}, "$.run.runId"),
        ({"run": "run"}, "$.run"),
        ({"eventType": 1}, "$.eventType"),
        ({"inputs": [{"namespace": None, "name": {}}]}, "$.inputs[0].name"),
        ({"job": {**DATASET, "facets": []}}, "$.job.facets"),
        ({"run": {"runId": RUN_ID, "facets": "x"}}, "$.run.facets"),
        ({"inputs": [{**DATASET, "facets": 1}]}, "$.inputs[0].facets"),
        ({"inputs": [{**DATASET, "inputFacets": [1]}]}, "$.inputs[0].inputFacets"),
        ({"outputs": [{**DATASET, "outputFacets": True}]}, "$.outputs[0].outputFacets"),
    ],
)
def test_wrong_type(changes: dict[str, Any], path: str) -> None:
    assert rejected(text(event(**changes))) == ("wrong_type", path)


@pytest.mark.parametrize("raw", [b"[]", b"null", b"5", b'"event"', b"1e999", b"[{}]"])
def test_what_is_no_object_has_the_wrong_type(raw: bytes) -> None:
    assert rejected(raw) == ("wrong_type", "$")


@pytest.mark.parametrize("run", [ABSENT, {"runId": RUN_ID}, {}, None])
def test_no_subject(run: object) -> None:
    assert rejected(text(event(job=ABSENT, run=run))) == ("no_subject", "$")
    assert rejected(text(event(job=None, dataset=None, run=run))) == ("no_subject", "$")


@pytest.mark.parametrize("member", ["namespace", "name"])
@pytest.mark.parametrize("gone", ["absent", "null"])
def test_missing_field(member: str, gone: str) -> None:
    partial = {**DATASET, member: None} if gone == "null" else {k: v for k, v in DATASET.items() if k != member}
    assert rejected(text(event(job=partial))) == ("missing_field", f"$.job.{member}")
    if gone == "absent":
        assert rejected(text(event(inputs=[partial]))) == ("missing_field", f"$.inputs[0].{member}")
    assert rejected(text(event(dataset=partial))) == ("missing_field", f"$.dataset.{member}")


@pytest.mark.parametrize("run", [{}, {"runId": None}])
def test_a_run_without_id_misses_a_field(run: dict[str, Any]) -> None:
    assert rejected(text(event(run=run))) == ("missing_field", "$.run.runId")


@pytest.mark.parametrize("time", [ABSENT, None, "", "yesterday", 1795000000, 1.5, {}, "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z"])
def test_no_time(time: object) -> None:
    assert rejected(text(event(eventTime=time))) == ("no_time", "$.eventTime")


def test_a_number_beyond_all_bounds_is_no_time() -> None:
    assert rejected(text(event(eventTime=7)).replace(b": 7", b": 1e999")) == ("no_time", "$.eventTime")


def test_every_rejection_has_a_status() -> None:
    assert {code: HTTP_STATUS[code] for code in ("not_json", "too_large", "too_deep")} == {
        "not_json": 400,
        "too_large": 413,
        "too_deep": 422,
    }
    assert set(HTTP_STATUS.values()) == {400, 413, 422}


# kinds


def test_a_run_event() -> None:
    found = clean(text(event()))
    assert (found.kind, found.type, found.raw_type) == ("run", "START", "START")
    assert found.run is not None
    assert found.run.id.hex() == RUN_ID.replace("-", "")
    assert found.run.raw_id == RUN_ID
    assert found.job is not None
    assert (found.job.namespace, found.job.name) == ("jobs", "load")
    assert [(d.namespace, d.name) for d in found.inputs] == [("kafka://a:9092", "orders")]
    assert [(d.namespace, d.name) for d in found.outputs] == [("s3://lake", "orders")]
    assert found.producer == "https://example.org/agent"
    assert found.schema_url.endswith("RunEvent")
    assert ARRIVAL_US - found.time_us == 12 * 3600 * 1_000_000


def test_a_run_event_may_speak_of_a_dataset_too() -> None:
    found = clean(text(event(dataset=DATASET)))
    assert found.kind == "run"
    assert found.dataset is not None
    assert found.dataset.name == DATASET["name"]


def test_a_dataset_event_ignores_its_run() -> None:
    found = clean(text(event(job=ABSENT, dataset=DATASET, run={"facets": None})))
    assert (found.kind, found.run, found.job) == ("dataset", None, None)
    assert found.dataset is not None
    assert (found.inputs, found.outputs, found.type) == ((), (), None)


def test_a_job_event() -> None:
    found = clean(text(event(run=ABSENT, eventType=ABSENT)))
    assert (found.kind, found.run, found.dataset, found.type) == ("job", None, None, None)
    assert len(found.inputs) == len(found.outputs) == 1


def test_job_and_dataset_without_run_are_two_kinds() -> None:
    found, repairs = repaired(text(event(run=ABSENT, dataset=DATASET)))
    assert repairs == [("two_kinds", "$.dataset")]
    assert found.kind == "job"
    assert found.dataset is not None
    assert found.dataset.name == DATASET["name"]


# event type, run id, time, origin


def test_an_absent_event_type_and_other_are_clean() -> None:
    assert clean(text(event(eventType=ABSENT))).type is None
    assert clean(text(event(eventType="OTHER"))).type == "OTHER"


@pytest.mark.parametrize(
    ("raw_type", "type_"),
    [(None, None), ("complete", "COMPLETE"), ("Fail", "FAIL"), ("DONE", "OTHER"), ("", "OTHER"), ("fa\u0131l", "OTHER")],
)
def test_an_odd_event_type_is_repaired(raw_type: str | None, type_: str | None) -> None:
    found, repairs = repaired(text(event(eventType=raw_type)))
    assert repairs == [("event_type", "$.eventType")]
    assert (found.type, found.raw_type) == (type_, raw_type)


@pytest.mark.parametrize("raw_id", [RUN_ID.upper(), RUN_ID.replace("-", ""), RUN_ID.replace("-", "").upper()])
def test_other_forms_of_a_uuid_are_only_normalised(raw_id: str) -> None:
    found = clean(text(event(run={"runId": raw_id})))
    assert found.run is not None
    assert (found.run.id.hex(), found.run.raw_id) == (RUN_ID.replace("-", ""), raw_id)


@pytest.mark.parametrize(
    "raw_id", ["", "run-1", "{" + RUN_ID + "}", RUN_ID.replace("-", "_"), RUN_ID[:-1] + " ", "é" * 36, RUN_ID[:-1] + "g"]
)
def test_another_run_id_becomes_a_uuid_that_is_always_the_same(raw_id: str) -> None:
    found, repairs = repaired(text(event(run={"runId": raw_id})))
    assert repairs == [("run_id", "$.run.runId")]
    assert found.run is not None
    assert found.run.raw_id == raw_id
    assert found.run.id == run_uuid("jobs", "load", raw_id)
    assert found.run.id[6] >> 4 == 5
    assert parse_uuid(raw_id) is None


def test_the_uuid_of_another_run_id_depends_on_the_job() -> None:
    ids = {run_uuid("a", "bc", "1"), run_uuid("ab", "c", "1"), run_uuid("a", "b", "c1"), run_uuid("a", "bc", "2")}
    assert len(ids) == 4
    assert run_uuid("a", "b", RUN_ID) == run_uuid("x", "y", RUN_ID.upper())
    assert run_uuid("jobs", "load", "run-1").hex() == RUN_1, "an id once given stays"


RUN_1 = "ff7713e6327f551b99cb750e426c8523"


@pytest.mark.parametrize(
    ("time", "code"),
    [
        ("2026-11-20T12:00:00", "time_zone"),
        ("2026-11-20", "date_only"),
        ("2026-11-22T00:00:00.000001Z", "future_time"),
    ],
)
def test_an_odd_time_is_repaired(time: str, code: str) -> None:
    assert repaired(text(event(eventTime=time)))[1] == [(code, "$.eventTime")]


def test_a_day_ahead_is_not_yet_the_future() -> None:
    assert clean(text(event(eventTime="2026-11-22T00:00:00Z"))).time_us == ARRIVAL_US + 86_400_000_000


@pytest.mark.parametrize("gone", [ABSENT, None, 5, {}, []])
def test_an_absent_origin_is_repaired(gone: object) -> None:
    found, repairs = repaired(text(event(producer=gone)))
    assert (found.producer, repairs) == ("", [("producer", "$.producer")])
    found, repairs = repaired(text(event(schemaURL=gone)))
    assert (found.schema_url, repairs) == ("", [("schema_url", "$.schemaURL")])


def test_an_origin_that_is_no_uri_is_clean() -> None:
    assert clean(text(event(producer="me", schemaURL=""))).producer == "me"


# facets and null


def test_null_is_read_as_absent() -> None:
    raw = text(
        event(
            dataset=None,
            inputs=None,
            outputs=[None, {**DATASET, "facets": None, "outputFacets": None}],
            run={"runId": RUN_ID, "facets": None},
            job={**DATASET, "facets": {"sql": None, "odd key": None}},
        )
    )
    found, repairs = repaired(raw)
    assert repairs == [
        ("null", "$.dataset"),
        ("null", "$.inputs"),
        ("null", "$.job.facets.sql"),
        ("null", "$.job.facets['odd key']"),
        ("null", "$.outputs[0]"),
        ("null", "$.outputs[1].facets"),
        ("null", "$.outputs[1].outputFacets"),
        ("null", "$.run.facets"),
    ]
    assert found.job is not None
    assert (found.inputs, len(found.outputs), found.job.facets) == ((), 1, {})


def test_a_null_run_makes_a_job_event() -> None:
    found, repairs = repaired(text(event(run=None)))
    assert (found.kind, repairs) == ("job", [("null", "$.run")])


@pytest.mark.parametrize("gone", ["_producer", "_schemaURL"])
@pytest.mark.parametrize("key", ["sql", "mine"])
def test_a_facet_without_meta_is_repaired(gone: str, key: str) -> None:
    for facet in ({**META, "query": "x", gone: None}, {k: v for k, v in {**META, "query": "x"}.items() if k != gone}):
        found, repairs = repaired(text(event(job={**DATASET, "facets": {key: facet}})))
        assert repairs == [("facet_meta", f"$.job.facets.{key}")]
        assert found.job is not None
        assert found.job.facets == {key: text(facet)}


@pytest.mark.parametrize("facet", [{**META}, {**META, "query": 5}, [], "x", 5, True])
def test_a_known_facet_of_a_wrong_shape_is_kept_verbatim(facet: object) -> None:
    found, repairs = repaired(text(event(job={**DATASET, "facets": {"sql": facet}})))
    assert repairs == [("facet_shape", "$.job.facets.sql")]
    assert found.job is not None
    assert found.job.facets == {"sql": text(facet)}


def test_a_facet_can_lack_both_meta_and_shape() -> None:
    _, repairs = repaired(text(event(job={**DATASET, "facets": {"sql": {}}})))
    assert [code for code, _ in repairs] == ["facet_meta", "facet_shape"]


@pytest.mark.parametrize("key", ["sql", "mine"])
def test_deletion_is_checked_first(key: str) -> None:
    found = clean(text(event(job={**DATASET, "facets": {key: {"_deleted": True}}})))
    assert found.job is not None
    assert found.job.facets == {key: b'{"_deleted": true}'}


def test_what_only_looks_like_a_deletion_is_not_one() -> None:
    _, repairs = repaired(text(event(job={**DATASET, "facets": {"sql": {**META, "_deleted": "true"}}})))
    assert repairs == [("facet_shape", "$.job.facets.sql")]


def test_facets_stay_verbatim() -> None:
    facet = b'{ "_producer":"p","_schemaURL" : "s", "n": 1.50e+3, "n": 10000000000000000000000000, "t":"\\u0041\xc3\xa4" }'
    raw = text(event(inputs=[{**DATASET, "facets": {"a.b c": 7}, "inputFacets": {"x": 7}}])).replace(b": 7", b":" + facet)
    found = clean(raw)
    assert found.inputs[0].facets == {"a.b c": facet}
    assert found.inputs[0].access == {"x": facet}


def test_access_facets_belong_to_one_side() -> None:
    both = {**DATASET, "inputFacets": {"i": META}, "outputFacets": {"o": META}}
    found = clean(text(event(inputs=[both], outputs=[both], dataset=both)))
    assert list(found.inputs[0].access) == ["i"]
    assert list(found.outputs[0].access) == ["o"]
    assert found.dataset is not None
    assert found.dataset.access == {}


# texts, unknown and repeated members


@pytest.mark.parametrize("member", ["namespace", "name"])
def test_an_empty_name_is_repaired(member: str) -> None:
    empty = {**DATASET, member: ""}
    _, repairs = repaired(text(event(job=empty, inputs=[empty])))
    assert repairs == [("empty_name", f"$.inputs[0].{member}"), ("empty_name", f"$.job.{member}")]


@pytest.mark.parametrize("bad", [rb"\u0000", rb"\ud800", rb"\uDC00", rb"\udc00\ud800"[:6]])
def test_bad_text_is_replaced(bad: bytes) -> None:
    raw = text(event(job={"namespace": "a", "name": "bXd", "facets": {"kXy": {**META, "v": ["X"]}}})).replace(b"X", bad)
    found, repairs = repaired(raw)
    assert repairs == [
        ("bad_text", "$.job.facets['k\ufffdy']"),
        ("bad_text", "$.job.facets['k\ufffdy'].v[0]"),
        ("bad_text", "$.job.name"),
    ]
    assert found.job is not None
    assert found.job.name == "b\ufffdd"
    assert list(found.job.facets) == ["k\ufffdy"]
    assert rb"[" in found.job.facets["k\ufffdy"]
    assert bad not in found.job.facets["k\ufffdy"]


def test_pairs_and_escaped_backslashes_are_good_text() -> None:
    raw = text(event(job={"namespace": "\U0001f600", "name": r"a\u0000 \ud800"}))
    assert rb"\ud83d\ude00" in raw
    found = clean(raw)
    assert found.job is not None
    assert (found.job.namespace, found.job.name) == ("\U0001f600", r"a\u0000 \ud800")


def test_unknown_members_and_facets_are_clean() -> None:
    clean(text(event(extra={"a": [1, {"b": None}]}, job={**DATASET, "more": 1, "facets": {"new-kind": {**META, "x": None}}})))


@pytest.mark.parametrize(
    "repeat",
    [
        b'"eventType": 5, "eventType": "START"',
        b'"eventType": "DONE", "eventType": "START"',
        b'"eventType": "START", "job": [], "job": {"namespace": "jobs", "name": 1, "name": "load"}',
        b'"eventType": "START", "inputs": [{"namespace": 5, "name": "n", "namespace": "m"}]',
    ],
)
def test_of_repeated_members_the_last_wins(repeat: bytes) -> None:
    raw = text(event(job=ABSENT, inputs=ABSENT)).replace(b'"eventType": "START"', repeat)
    if b"job" not in repeat:
        raw = raw.replace(b'{"eventTime"', b'{"job": {"namespace": "jobs", "name": "load"}, "eventTime"')
    found = clean(raw)
    assert found.type == "START"
    assert found.job is not None
    assert (found.job.namespace, found.job.name) == ("jobs", "load")
    assert all(dataset.namespace == "m" for dataset in found.inputs)


def test_of_repeated_facets_the_last_wins() -> None:
    raw = text(event(job={**DATASET, "facets": {"sql": {**META, "query": "b"}}}))
    found = clean(raw.replace(b'"sql":', b'"sql": 5, "sql":'))
    assert found.job is not None
    assert found.job.facets == {"sql": text({**META, "query": "b"})}


def test_repairs_are_sorted_without_repeats_and_bounded() -> None:
    many = [{"namespace": "", "name": "", "facets": {str(i): {} for i in range(5)}} for _ in range(40)]
    verdict = judge(text(event(inputs=many, eventTime="2026-11-20")), ARRIVAL_US)
    assert isinstance(verdict, Repaired)
    assert len(verdict.repairs) == len(set(verdict.repairs)) == MAX_REPAIRS
    assert list(verdict.repairs) == sorted(verdict.repairs)
    assert verdict.repairs[0].code == "date_only"
    assert verdict == judge(text(event(inputs=many, eventTime="2026-11-20")), ARRIVAL_US)


def test_every_sample_is_accepted() -> None:
    verdicts = [judge(line, 2**62) for line in sample_lines()]
    assert len(verdicts) == 420
    assert not [verdict for verdict in verdicts if isinstance(verdict, Rejected)]
    assert {r.code for v in verdicts if isinstance(v, Repaired) for r in v.repairs} <= {"empty_name"}


@pytest.mark.parametrize("raw", [raw for raw, *_ in (*ACCEPTED.values(), *REJECTED.values())])
def test_what_is_unreadable_is_so_judged(raw: bytes) -> None:
    found = unreadable(raw)
    assert found is None or found == judge(raw, ARRIVAL_US)


def test_of_deep_brackets_and_bytes_that_are_no_text_no_event_can_be_read() -> None:
    found = [unreadable(raw) for raw in (b"[" * 200_000, b"[" * 200 + b"]" * 200, b'"\xff"', b'"\\ud800"', b"{}")]
    assert [verdict and verdict.code for verdict in found] == ["too_deep", "too_deep", "not_json", None, None]
