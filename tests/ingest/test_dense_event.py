"""An event that is full of secrets is taken: its facets are masked whole, and what it names keeps its names."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.events import T0, run_event
from tests.ingest.test_effort import Kept

from lineage_bridge.ingest.dense_event import PROSE, mask_facets
from lineage_bridge.ingest.ingest import Ingested, Sender, ingest
from lineage_bridge.ingest.payload import Payload
from lineage_bridge.openlineage.facets import KINDS
from lineage_bridge.openlineage.verdict import Rejected

MASK = "********"
KEY = b"k" * 32
MANY = 3_000
SECRETS: dict[str, object] = {
    "an array of texts": [f"token=hunter2x{number}" for number in range(MANY)],
    "members": {f"password{number}": f"hunter2x{number}" for number in range(MANY)},
    "names and values": [{"name": "password", "value": f"hunter2x{number}"} for number in range(MANY)],
    "options": [text for number in range(MANY) for text in ("--password", f"hunter2x{number}")],
    "a text": "\n".join(f"password=hunter2x{number}" for number in range(MANY)),
    "YAML": "".join(f"db{number}:\n  password: hunter2x{number}\n" for number in range(MANY)),
    "JSON in a text": json.dumps([{"password": f"hunter2x{number}"} for number in range(MANY)]),
    "rows of a table": {
        "columns": ["id", "password"],
        "rows": [[number, f"hunter2x{number}"] for number in range(MANY)] + ["token=a1"] * MANY,
    },
}
CARRIERS: dict[str, Callable[[object], bytes]] = {
    "run facet": lambda value: run_event(run_facets={"x": {"_producer": "https://p", "value": value, "language": "de"}}),
    "facet that is no object": lambda value: run_event(run_facets={"x": value}),
    "job facet": lambda value: run_event(job_facets={"sourceCode": {"language": "SQL", "sourceCode": value}}),
    "facet of an output": lambda value: run_event(outputs=[{"namespace": "n", "name": "t", "facets": {"x": {"a": value}}}]),
    "facet of an input's access": lambda value: run_event(inputs=[{"namespace": "n", "name": "t", "inputFacets": {"x": {"a": value}}}]),
    "member of a run": lambda value: run_event().replace(b'"runId"', b'"x": %b, "runId"' % json.dumps(value).encode()),
    "member of an event": lambda value: run_event()[:-1] + b', "x": %b}' % json.dumps(value).encode(),
}


def ingested(body: bytes) -> Ingested:
    return ingest(Payload(body), Sender("http"), Kept(), T0, key=KEY)


def masked(event: bytes) -> bytes:
    found = ingested(event)
    assert found.accepted == 1
    return found.events[0].record.body


@pytest.mark.parametrize("carrier", CARRIERS)
@pytest.mark.parametrize("secrets", SECRETS)
def test_an_event_full_of_secrets_is_taken_without_any_of_them(secrets: str, carrier: str) -> None:
    body = masked(CARRIERS[carrier](SECRETS[secrets]))
    assert b"hunter2" not in body
    assert MASK.encode() in body
    assert masked(body) == body


def test_a_masked_facet_keeps_its_producer_and_the_names_of_its_members() -> None:
    secrets = SECRETS["an array of texts"]
    facets = {"x": {"_producer": "https://p", "_schemaURL": "https://s", "list": secrets, "language": "de", "token": 1}, "y": {"a": 1}}
    stored = json.loads(masked(run_event(run_facets=facets)))["run"]["facets"]
    assert stored == {"x": {"_producer": "https://p", "_schemaURL": "https://s", "list": MASK, "language": MASK, MASK: MASK}, "y": {"a": 1}}


@pytest.mark.parametrize("where", ["$.run", "$"])
def test_members_that_name_each_other_are_masked_together(where: str) -> None:
    event = json.loads(run_event(run_facets={"x": SECRETS["an array of texts"]}))
    (event["run"] if where == "$.run" else event).update({"key": "password", "value": "hunter2"})
    stored = json.loads(masked(json.dumps(event).encode()))
    assert (stored["run"] if where == "$.run" else stored)["value"] == MASK


@pytest.mark.parametrize(
    "beside",
    [
        {"name": "password", "value": "hunter2xyz"},
        {"name": "password", "value": {"a": "hunter2xyz"}},
        {"columns": ["id", "password"], "rows": [["1", "hunter2xyzA9"], ["2", "hunter2xyzA9"]]},
    ],
)
def test_members_beside_facets_that_are_none_are_masked_together(beside: dict[str, object]) -> None:
    stored = masked(run_event(run_facets={"x": SECRETS["an array of texts"], **beside}))
    assert b"hunter2" not in stored
    assert masked(stored) == stored


@pytest.mark.parametrize("where", ["inputs", "facets", "producer"])
def test_members_of_an_event_with_other_shapes_than_its_own_are_masked_with_the_rest(where: str) -> None:
    event = json.loads(run_event())
    rows = [["1", "hunter2xyzA9"], ["2", "hunter2xyzA9"]]
    (event["run"] if where == "facets" else event).update({"columns": ["id", "password"], where: rows, "x": SECRETS["an array of texts"]})
    (found,) = ingested(json.dumps(event).encode()).events
    assert b"hunter2" not in found.record.body


def test_of_many_members_without_a_meaning_a_single_mask_is_left() -> None:
    event = json.loads(run_event())
    event |= {f"password{number}": f"hunter2x{number}" for number in range(MANY)}
    stored = json.loads(masked(json.dumps(event).encode()))
    assert stored == json.loads(run_event()) | {MASK: MASK}


def test_names_do_not_depend_on_how_many_secrets_there_are() -> None:
    """Of a dataset whose name has a secret, of columns, and of a parent."""
    dataset = {
        "namespace": "https://u:hunter2@h",
        "name": "t/token=hunter2x9",
        "facets": {
            "schema": {"fields": [{"name": "token=hunter2x8", "type": "STRING"}, {"name": "access_token", "type": "STRING"}]},
            "columnLineage": {"fields": {"b": {"inputFields": [{"namespace": "n", "name": "x?token=hunter2x7", "field": "password"}]}}},
            "symlinks": {"identifiers": [{"namespace": "n", "name": "l/token=hunter2x6", "type": "TABLE"}]},
        },
    }
    parent = {"run": {"runId": "0198c0de-0000-7000-8000-000000000001"}, "job": {"namespace": "n", "name": "p/token=hunter2x5"}}
    few, many = (
        json.loads(masked(run_event(run_facets={"parent": parent, "x": {"a": value}}, outputs=[dataset])))
        for value in ("token=hunter2x4", SECRETS["an array of texts"])
    )
    assert many["run"]["facets"].pop("x") == {"a": MASK}
    assert few["run"]["facets"].pop("x") == {"a": f"token={MASK}"}
    assert few == many
    assert "hunter2" not in json.dumps(many)


@given(st.permutations(range(4)), st.integers(1, 3))
def test_an_event_is_masked_alike_alone_and_among_others(order: list[int], cut: int) -> None:
    dense = [f"token=hunter2x{number}" for number in range(400)]
    events = [run_event(run_facets={"x": {"a": value}}) for value in (dense, "token=hunter2", dense[:50], [1])]
    alone = {event: masked(event) for event in events}
    for part in (order[:cut], order[cut:]):
        sent = [events[number] for number in part]
        together = ingested(b"[" + b",".join(sent) + b"]").events
        assert [event.record.body for event in together] == [alone[event] for event in sent]


def test_too_many_names_with_secrets_are_refused_and_no_other_event_with_them() -> None:
    names = [{"namespace": "n", "name": f"t/token=hunter2x{number}"} for number in range(MANY)]
    costly = run_event(inputs=names)
    (event,) = ingested(costly).events
    assert isinstance(event.verdict, Rejected)
    assert event.verdict.code == "too_costly"
    assert b"hunter2" not in event.record.body
    first, other = ingested(b"[" + costly + b"," + run_event() + b"]").events
    assert isinstance(first.verdict, Rejected)
    assert not isinstance(other.verdict, Rejected)


def test_a_hundred_names_with_a_signature_are_taken() -> None:
    names = [{"namespace": "n", "name": f"t{number}?sv=2020&sp=r&se=2026-01-01T00:00:00Z&sig=hunter2x{number}"} for number in range(100)]
    stored = json.loads(masked(run_event(inputs=names)))["inputs"]
    assert [dataset["name"] for dataset in stored] == [f"t{number}" for number in range(100)]


def test_a_payload_of_small_events_full_of_secrets_is_refused_if_it_is_large() -> None:
    event = run_event(run_facets={"x": {"a": [f"token=hunter2x{number}" for number in range(40)]}})
    found = ingested(b"[" + b",".join([event] * 1_000) + b"]")
    assert found.is_refused_whole
    assert b"hunter2" not in found.events[0].record.body


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"inputs": [1}', b"[" * 10_000])
def test_of_bytes_that_are_no_event_nothing_is_masked_whole(body: bytes) -> None:
    assert mask_facets(body) is None


@pytest.mark.parametrize(
    "body", [b'{"a": 1}', b'{"run": {"facets": {"x": 1}}}', b'{"inputs": [1], "outputs": 1, "run": 1, "job": {"facets": 1}}']
)
def test_nothing_is_masked_whole_where_nothing_is_suspicious(body: bytes) -> None:
    assert mask_facets(body) is body


def test_facets_that_name_datasets_or_columns_are_never_masked_whole() -> None:
    keys = {key for _, key in KINDS}
    assert keys >= PROSE
    for key in keys:
        event: Any = {"job": {"namespace": "n", "name": "j", "facets": {key: {"a": "token=hunter2"}}}}
        body = json.dumps(event).encode()
        assert (mask_facets(body) != body) == (key in PROSE)
