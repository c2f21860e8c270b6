"""The verdict table as data: every row by an event, for each way by which events come."""

import json
from typing import Any

from tests.api.support import changed
from tests.events import dataset, dataset_event, facet, job_event, run_event

BAD = b'{"eventTime": "2026-01-01T00:00:00Z"}'
EVENT = run_event(inputs=[dataset("in")], outputs=[dataset("out")])
BOTH = json.loads(EVENT) | {"dataset": dataset("d")}


def named(**members: Any) -> bytes:
    return changed(EVENT, job={"namespace": "jobs", "name": "job", **members})


def with_input(**facets: Any) -> bytes:
    return changed(EVENT, inputs=[dataset("in", **facets)])


def nested(levels: int) -> bytes:
    return changed(EVENT, extra=None).replace(b"null", b"[" * levels + b"]" * levels)


ACCEPTED = {
    "a run event": (EVENT, []),
    "a run of a dataset without a job": (changed(dataset_event(dataset("d")), run={"runId": "x"}), []),
    "a dataset event": (dataset_event(dataset("d")), []),
    "a job event": (job_event(inputs=[dataset("a")]), []),
    "a job event with a dataset": (changed(job_event(), dataset=dataset("d")), ["two_kinds"]),
    "a run event with a dataset": (json.dumps(BOTH).encode(), []),
    "no event type": (changed(EVENT, eventType=...), []),
    "the type OTHER": (changed(EVENT, eventType="OTHER"), []),
    "a type of null": (changed(EVENT, eventType=None), ["event_type"]),
    "a type in lower case": (changed(EVENT, eventType="complete"), ["event_type"]),
    "an unknown type": (changed(EVENT, eventType="DONE"), ["event_type"]),
    "a run id that is no UUID": (changed(EVENT, run={"runId": "run-1"}), ["run_id"]),
    "an empty run id": (changed(EVENT, run={"runId": ""}), ["run_id"]),
    "a run id in upper case": (changed(EVENT, run={"runId": "0190A0B1-0000-7000-8000-00000000000A"}), []),
    "a run id without dashes": (changed(EVENT, run={"runId": "0190a0b100007000800000000000000a"}), []),
    "a time without a zone": (changed(EVENT, eventTime="2026-01-01T00:00:00"), ["time_zone"]),
    "a date": (changed(EVENT, eventTime="2026-01-01"), ["date_only"]),
    "a time far ahead": (changed(EVENT, eventTime="2999-01-01T00:00:00Z"), ["future_time"]),
    "a late event": (changed(EVENT, eventTime="1999-01-01T00:00:00Z"), []),
    "no producer": (changed(EVENT, producer=...), ["producer"]),
    "no schemaURL": (changed(EVENT, schemaURL=...), ["schema_url"]),
    "neither": (changed(EVENT, producer=..., schemaURL=...), ["producer", "schema_url"]),
    "inputs of null": (changed(EVENT, inputs=None), ["null"]),
    "a facet of null": (with_input(schema=None), ["null"]),
    "facets of null": (named(facets=None), ["null"]),
    "a facet without its meta": (with_input(schema={"fields": []}), ["facet_meta"]),
    "a schema facet of the wrong type": (with_input(schema=facet(fields=7)), ["facet_shape"]),
    "an SQL facet without a query": (named(facets={"sql": facet()}), ["facet_shape"]),
    "explicit lineage on an input": (with_input(lineage=facet(inputs=[])), ["lineage_carrier"]),
    "a deleted facet": (with_input(schema=facet(_deleted=True)), []),
    "an empty name": (named(name=""), ["empty_name"]),
    "an empty namespace": (named(namespace=""), ["empty_name"]),
    "a lone surrogate": (EVENT.replace(b'"job"}', b'"j\\ud800b"}'), ["bad_text"]),
    "a NUL": (EVENT.replace(b'"job"}', b'"j\\u0000b"}'), ["bad_text"]),
    "unknown members": (changed(EVENT, extra={"deep": [1]}), []),
    "an unknown facet": (with_input(custom=facet(x=1)), []),
    "nested schema fields": (with_input(schema=facet(fields=[{"name": "a", "fields": [{"name": "b"}]}])), []),
    "a key twice": (EVENT[:-1] + b', "eventType": "START"}', []),
    "levels up to the limit": (nested(99), []),
}

REJECTED = {
    "no JSON": (b"hello", 400, "not_json"),
    "nothing": (b"", 400, "not_json"),
    "a truncated event": (EVENT[:-5], 400, "not_json"),
    "something behind the event": (EVENT + b" x", 400, "not_json"),
    "no UTF-8": (EVENT.replace(b'"job"}', b'"j\xff"}'), 400, "not_json"),
    "NaN": (changed(EVENT, extra=float("nan")), 400, "not_json"),
    "levels over the limit": (nested(100), 422, "too_deep"),
    "900 levels": (nested(900), 422, "too_deep"),
    "100,000 brackets in an event": (nested(100_000), 422, "too_deep"),
    "a name too long": (named(name="n" * 8193), 422, "name_too_long"),
    "a number": (b"1", 422, "wrong_type"),
    "a text": (b'"event"', 422, "wrong_type"),
    "inputs that are an object": (changed(EVENT, inputs={}), 422, "wrong_type"),
    "a name that is a number": (named(name=1), 422, "wrong_type"),
    "no job and no dataset": (BAD, 422, "no_subject"),
    "a run without a job": (changed(EVENT, job=...), 422, "no_subject"),
    "a job without a name": (changed(EVENT, job={"namespace": "n"}), 422, "missing_field"),
    "a dataset without a namespace": (changed(EVENT, outputs=[{"name": "x"}]), 422, "missing_field"),
    "a run without an id": (changed(EVENT, run={"facets": {}}), 422, "missing_field"),
    "no time": (changed(EVENT, eventTime=...), 422, "no_time"),
    "a word for a time": (changed(EVENT, eventTime="yesterday"), 422, "no_time"),
    "a number for a time": (changed(EVENT, eventTime=1_700_000_000), 422, "no_time"),
}
