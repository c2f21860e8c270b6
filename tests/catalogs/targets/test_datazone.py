"""DataZone: events are taken now and processed later, and what became of them is asked for."""

from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import Place, make_place
from tests.catalogs.standins.amazon import model_of
from tests.catalogs.standins.datazone import DataZone
from tests.catalogs.standins.glue import Fault
from tests.events import RUNS, dataset, job_event, run_event

from lineage_bridge.errors import ConfigError


@pytest.fixture
def place(request: pytest.FixtureRequest, ours: Server) -> Place:
    made = make_place("datazone", request, ours)
    added(ours, made)
    return made


@pytest.fixture
def there(place: Place) -> DataZone:
    found: DataZone = place.more["there"]
    return found


def test_a_storm_passes_and_waits_are_as_long_as_asked(ours: Server, place: Place, there: DataZone) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    there.faults = [
        Fault("PostLineageEvent", 429, "ThrottlingException", 2, {"Retry-After": "7"}),
        Fault("GetLineageEvent", 503, "InternalServerException", 1, {"Retry-After": "11"}),
    ]
    assert published(ours).outcomes == {"done": 3}
    assert [wait for wait in waits if wait >= 1] == [7.0, 7.0, 11.0]  # others are between questions
    assert place.edges() == EDGES
    assert len(there.events) == 3  # what is sent again has the token that it had


def test_each_request_is_a_call_for_the_limit(ours: Server, place: Place, there: DataZone) -> None:
    added(ours, place, calls_per_s=1, at_once=1)
    waits: list[float] = []
    ours.wait = waits.append
    assert published(ours).outcomes == {"done": 3}
    # The clock stands still. The first request has the second that is unused; each event is sent, and asked for at least once.
    assert len([wait for wait in waits if wait >= 1]) >= 2 * len(there.events) - 1


def test_a_service_that_stays_broken_is_given_up_and_the_rest_is_sent_later(ours: Server, place: Place, there: DataZone) -> None:
    added(ours, place, tries=2)
    there.faults = [Fault("PostLineageEvent", 500, "InternalServerException", 100)]
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    there.faults = []
    assert published(ours).outcomes == {"done": 3}
    assert place.edges() == EDGES


@pytest.mark.parametrize(
    ("status", "code"), [(402, "ServiceQuotaExceededException"), (403, "AccessDeniedException"), (401, "UnauthorizedException")]
)
def test_what_every_event_would_meet_ends_the_publication(ours: Server, there: DataZone, status: int, code: str) -> None:
    there.faults = [Fault("PostLineageEvent", status, code, 1)]
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert code in report.error
    assert published(ours).outcomes == {"done": 3}


def test_one_whose_processing_fails_is_refused_and_sent_again_when_it_changes(ours: Server, there: DataZone) -> None:
    there.failing = {"load"}
    report = published(ours)
    assert report.outcomes == {"done": 2, "refused": 1}
    (refused,) = (item for item in report.operations if item.outcome == "refused")
    assert (refused.name, refused.detail) == ("load", "was accepted, but its processing ended as FAILED")
    assert published(ours).kept == {"refused there before, and unchanged since": 1}
    there.failing = set()
    ours.send(run_event(run=RUNS[4], job="load", inputs=[dataset("new")], outputs=[dataset("c")]))
    assert published(ours).outcomes == {"done": 1}


def test_events_that_are_not_processed_in_time_are_sent_again(ours: Server, place: Place, there: DataZone) -> None:
    added(ours, place, settle_s=0)
    there.slow = True
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"failed": 3})
    there.slow = False
    assert published(ours).outcomes == {"done": 3}


def test_one_that_is_refused_does_not_hold_up_others(ours: Server, there: DataZone) -> None:
    there.faults = [Fault("PostLineageEvent", 400, "ValidationException", 1)]
    assert published(ours).outcomes == {"done": 2, "refused": 1}


def test_names_that_are_too_long_are_left_out_and_counted(ours: Server, there: DataZone) -> None:
    ours.send(job_event("x" * 2090, inputs=[dataset("a")]), job_event("long", inputs=[dataset("a"), dataset("y" * 2090)]))
    report = published(ours)
    assert report.not_expressible["jobs whose names are too long"] == 1
    assert report.not_expressible["datasets whose names are too long"] == 1
    assert [len(event["inputs"]) for event in there.events if event["job"]["name"] == "long"] == [1]


def test_no_event_is_larger_than_the_service_takes(ours: Server, there: DataZone) -> None:
    limit = model_of("datazone").operation_model("PostLineageEvent").input_shape.members["event"].metadata["max"]
    text = {"_producer": "p", "_schemaURL": "s", "description": "x" * limit}
    ours.send(job_event("large", inputs=[dataset("a", documentation=text)], outputs=[dataset("c")]))
    report = published(ours)
    assert report.outcomes == {"done": 4}
    assert report.not_expressible["facets of events that are too large"] > 0
    assert "large" in {event["job"]["name"] for event in there.events}


@pytest.mark.parametrize("wrong", [{"domain": "other"}, {"region": ""}, {"max_bytes": 300_001}, {"secret_access_key": "plain"}])
def test_settings_that_are_wrong(ours: Server, place: Place, wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        added(ours, place, **wrong)


def test_the_check_lists_events_and_says_which_right_is_missing(ours: Server, there: DataZone) -> None:
    assert [check.works for check in ours.targets.test("there")] == [True]
    there.faults = [Fault("ListLineageEvents", 403, "AccessDeniedException", 1)]
    (check,) = ours.targets.test("there")
    assert (check.works, check.hint) == (False, "grant datazone:ListLineageEvents on the domain")
