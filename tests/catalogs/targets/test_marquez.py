"""Marquez: the stand-in answers as a real one did, and what only a real one's rules make necessary."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.marquez import Marquez
from tests.catalogs.standins.server import answering
from tests.events import RUNS, columns, dataset, facet, job_event, run_event, schema

SAMPLES = Path(__file__).parents[2] / "samples"
CALLS = [json.loads(line) for line in (SAMPLES / "marquez" / "calls.jsonl").read_text().splitlines()]
STREAMING = {"jobType": facet(processingType="STREAMING", integration="FLINK")}


@pytest.fixture
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place("marquez", request, ours)
    added(ours, place)
    return place


def _comparable(answer: Any) -> Any:
    """What the stand-in has of an answer."""
    if not isinstance(answer, dict):
        return answer
    if "fields" in answer:
        return {field["name"]: field["type"] for field in answer["fields"]}
    if "inputs" in answer:
        return [sorted((d["namespace"], d["name"]) for d in answer[side]) for side in ("inputs", "outputs")]
    return {key: value for key, value in answer.items() if key in ("code", "errors")}


def test_the_stand_in_answers_what_a_real_one_answered() -> None:
    with answering(Marquez().handle) as url, httpx.Client(base_url=url) as client:
        for line in (SAMPLES / "food_delivery_events.ndjson").read_bytes().splitlines():
            answer = client.post("/api/v1/lineage", content=line)
            assert (answer.status_code, answer.content) == (201, b"")
        tried = [call for call in CALLS if "delete" not in call["name"]]
        for call in tried:
            body = call["body"] if isinstance(call["body"], str) else json.dumps(call["body"])
            answer = client.request(call["method"], call["path"], content=body if call["body"] is not None else None)
            assert answer.status_code == call["status"], call["name"]
            assert _comparable(answer.json()) == _comparable(call["answer"]), call["name"]
    assert len(tried) > 10


def test_edges_that_a_stream_had_before_come_back(ours: Server, there: Place) -> None:
    for number, outputs in enumerate((["b"], ["c"], ["b"])):
        ours.parts.now_us += 1_000_000
        time_us = ours.parts.now_us
        ours.send(job_event("stream", time_us, job_facets=STREAMING, inputs=[dataset("a")], outputs=[dataset(name) for name in outputs]))
        assert published(ours).state == "done"
        assert {edge for edge in there.edges() if edge[0] == "stream"} == {("stream", "a", outputs[0])}, number
        assert published(ours).drift == []
    assert there.more["there"].jobs["jobs", "stream"]["type"] == "STREAM"


def test_columns_are_there_and_those_that_it_would_not_connect_are_counted(ours: Server, there: Place) -> None:
    made = dataset("made", schema=schema("v", "w"), columnLineage=columns(v=[("ns", "src", "k")], w=[("ns", "src", "unknown")]))
    ours.send(run_event(run=RUNS[3], job="columns", inputs=[dataset("src", schema=schema("k"))], outputs=[made]))
    report = published(ours)
    assert report.not_expressible == {"column edges without a schema at both ends": 1}
    assert ("ns", "src", "k", "ns", "made", "v") in there.more["there"].columns


def test_names_and_facets_that_it_refuses_are_left_out_and_counted(ours: Server, there: Place) -> None:
    odd = {"jobType": facet(processingType="BATCH"), "sql": facet(query=5), "documentation": {"description": "d"}, "x" * 300: facet()}
    ours.send(
        run_event(run=RUNS[3], job="odd", job_facets=odd, inputs=[dataset("t", "{a}, b"), dataset("a")], outputs=[dataset("z")]),
        run_event(run=RUNS[4], job="elsewhere", namespace="{a}, b", inputs=[dataset("a")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 5}
    assert {edge for edge in there.edges() if edge[0] == "odd"} == {("odd", "a", "z")}
    assert report.not_expressible["datasets in namespaces with characters that Marquez refuses"] == 1
    assert report.not_expressible["jobs in namespaces with characters that Marquez refuses"] == 1
    assert report.not_expressible["facets that Marquez refuses"] >= 1


def test_every_dataset_has_a_source_since_its_list_of_sources_fails_without(ours: Server, there: Place) -> None:
    published(ours)
    events = there.more["there"].events
    datasets = [found for event in events for side in ("inputs", "outputs") for found in event.get(side, ())]
    datasets += [event["dataset"] for event in events if "dataset" in event]
    assert datasets
    assert all(found["facets"]["dataSource"]["name"] for found in datasets)


def test_what_it_cannot_read_is_refused_although_it_answers_500(ours: Server, there: Place, faulty: Any) -> None:
    proxy = faulty(there.settings["url"])
    added(ours, there.behind(proxy), at_once=1)
    proxy.answer(500, "/lineage", times=1, body=b'{"code": 400, "message": "Cannot deserialize"}')
    report = published(ours)
    assert report.outcomes == {"done": 3, "refused": 1}
    assert report.operations[0].detail == "answered 500: Cannot deserialize"


def test_names_are_escaped_in_paths(ours: Server, there: Place) -> None:
    names = ("a/b c", "naïve?#%", "a:b", "x" * 300)
    for run, name in zip(RUNS, names, strict=False):
        ours.send(run_event(run=run, job=name, namespace="kafka://broker:9092", inputs=[dataset("a")], outputs=[dataset("z")]))
    published(ours)
    assert {edge for edge in there.edges() if edge[2] == "z"} == {(name, "a", "z") for name in names}
    assert published(ours).counts == {}
    added(ours, there, exclude_namespaces=["*"])
    assert set(published(ours, prune=True).outcomes) == {"done"}
    assert there.edges() == set()
