"""OpenMetadata: results of a request by event, and what its endpoint does not hold."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.openmetadata import EVENT, problem_of
from tests.events import RUNS, columns, dataset, facet, job_event, run_event


@pytest.fixture
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place("openmetadata", request, ours)
    added(ours, place)
    return place


def test_events_that_fail_are_told_apart_and_those_that_may_succeed_are_sent_again(ours: Server, there: Place) -> None:
    server = there.more["there"]
    server.failing = {"clean": False, "load": True}
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"done": 1, "failed": 1, "refused": 1})
    assert {item.name: item.detail for item in report.operations if item.outcome != "done"} == dict.fromkeys(
        ("clean", "load"), "cannot be used"
    )
    server.failing = {}
    again = published(ours)
    assert [(item.name, item.outcome) for item in again.operations] == [("load", "done")]
    assert again.kept == {"refused there before, and unchanged since": 1}
    assert published(ours).counts == {}


def test_a_server_that_skips_completed_runs_is_an_error_with_a_hint(ours: Server, there: Place) -> None:
    there.more["there"].types = {"START"}
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"failed": 3})
    assert "eventTypeFilter" in report.error


def test_what_it_does_not_hold_is_left_out_and_counted(ours: Server, there: Place) -> None:
    schema = facet(fields=[{"name": "x", "ordinal_position": 1}, {"name": "y", "type": "record", "fields": [{"name": "z", "type": "int"}]}])
    odd: dict[str, Any] = {
        "symlinks": facet(identifiers=[{"namespace": "n", "name": "m", "type": "TABLE"}]),
        "storage": facet(storageLayer="delta"),
    }
    made = dataset("made", schema=schema, columnLineage=columns(x=[("ns", "src", "k")]), **odd)
    ours.send(
        run_event(run=RUNS[3], job="rich", job_facets={"sql": facet(query="SELECT 1")}, inputs=[dataset("src")], outputs=[made]),
        job_event("reads", inputs=[dataset("a")]),
    )
    report = published(ours)
    assert report.outcomes == {"done": 4}
    assert report.not_expressible["jobs without inputs or without outputs"] == 1
    assert report.not_expressible["facets that OpenMetadata does not hold"] >= 1
    assert report.not_expressible["transformations of columns"] == 2
    event = next(event for event in there.more["there"].events if event["job"]["name"] == "rich")
    assert event["outputs"][0]["facets"]["schema"]["fields"] == [{"name": "x", "type": "unknown"}, {"name": "y", "type": "record"}]
    assert event["outputs"][0]["facets"]["columnLineage"]["fields"] == {
        "x": {"inputFields": [{"namespace": "ns", "name": "src", "field": "k"}]}
    }


def test_an_event_that_spoils_a_request_does_not_hold_up_the_others(ours: Server, there: Place) -> None:
    there.more["there"].spoiling = {"load"}
    report = published(ours)
    assert report.outcomes == {"done": 2, "refused": 1}
    assert [(item.name, item.detail) for item in report.operations if item.outcome == "refused"] == [("load", "answered 400: spoiled")]


def test_many_events_are_few_requests(ours: Server, there: Place) -> None:
    ours.send(*(job_event(f"job-{number}", inputs=[dataset("a")], outputs=[dataset("z")]) for number in range(97)))
    assert published(ours).outcomes == {"done": 100}
    assert sorted(there.more["there"].sizes) == [50, 50]


def test_the_stand_in_refuses_what_the_schemas_do_not_have() -> None:
    event = {"eventTime": "t", "producer": "p", "schemaURL": "s", "run": {"runId": RUNS[0]}, "job": {"namespace": "n", "name": "j"}}
    assert problem_of(event, EVENT, "$") == ""
    assert problem_of({**event, "extra": 1}, EVENT, "$") == 'Unrecognized field "extra" at $'
    assert problem_of({**event, "run": {"runId": "no"}}, EVENT, "$") == "$.run.runId must be uuid"
    assert problem_of({**event, "inputs": [{"name": "d"}]}, EVENT, "$") == "$.inputs[0].namespace must not be null"
