"""What every target over HTTP does while the server is busy, broken, refuses credentials or one object, or breaks off answers."""

from collections.abc import Callable

import msgspec
import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, Other, added, published
from tests.catalogs.places import OVER_HTTP, Place, make_place
from tests.events import dataset, job_event
from tests.servers.web.faulty import Faulty


@pytest.fixture(params=OVER_HTTP)
def http_place(request: pytest.FixtureRequest, ours: Server) -> Place:
    return make_place(request.param, request, ours)


@pytest.fixture
def proxy(http_place: Place, faulty: Callable[[str], Faulty], ours: Server) -> Faulty:
    """A proxy before a target with one call at once; it is the target `there`."""
    found = faulty(http_place.settings["url"])
    added(ours, http_place.behind(found), at_once=1)
    return found


def _objects(place: Place) -> int:
    return 3 + place.has_datasets


def test_a_storm_of_429_and_503_passes_and_waits_are_as_long_as_asked(ours: Server, http_place: Place, proxy: Faulty) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    proxy.answer(429, http_place.writes, times=2, headers={"Retry-After": "7"})
    proxy.answer(503, http_place.writes, times=2, headers={"Retry-After": "11"})
    assert published(ours).outcomes == {"done": _objects(http_place)}
    assert waits == [7.0, 7.0, 11.0, 11.0]
    assert http_place.edges() == EDGES


def test_a_storm_while_it_is_read_passes(ours: Server, http_place: Place, proxy: Faulty) -> None:
    if not http_place.reads:
        pytest.skip("nothing is read")
    proxy.answer(503, times=3)
    assert published(ours).outcomes == {"done": _objects(http_place)}


def test_a_server_that_stays_broken_is_given_up_and_the_rest_is_sent_later(ours: Server, http_place: Place, proxy: Faulty) -> None:
    added(ours, http_place.behind(proxy), at_once=1, tries=2)
    proxy.answer(500, http_place.writes)
    report = published(ours)
    assert (report.state, report.outcomes.get("done")) == ("failed", None)
    assert "answered 500" in report.error
    proxy.mend()
    assert published(ours).outcomes == {"done": _objects(http_place)}
    assert http_place.edges() == EDGES


def test_one_that_stays_broken_does_not_hold_up_others_and_is_sent_later(ours: Server, http_place: Place, proxy: Faulty) -> None:
    added(ours, http_place.behind(proxy), at_once=1, tries=2)
    together = http_place.more.get("answers_in_batches", False)
    proxy.answer(500, http_place.writes, times=4 if together else 2)
    report = published(ours)
    assert (report.state, report.outcomes) == ("failed", {"done": _objects(http_place) - 1, "failed": 1})
    assert "answered 500" in report.error
    assert published(ours).outcomes == {"done": 1}
    assert http_place.edges() == EDGES


@pytest.mark.parametrize("status", [302, 404, 520])
def test_a_proxy_that_leads_nowhere_for_a_while_refuses_nothing_for_good(ours: Server, other: Other, faulty: Callable, status: int) -> None:
    proxy = faulty(other.url)
    ours.targets.add("there", "openlineage", {"url": proxy.url, "events": "jobs", "tries": 1}, replace=True)
    proxy.answer(status)
    report = published(ours)
    assert (report.state, set(report.outcomes)) == ("failed", {"failed"})
    proxy.mend()
    assert published(ours).outcomes == {"done": 4}


def test_an_answer_that_breaks_off_is_asked_for_again(ours: Server, http_place: Place, proxy: Faulty) -> None:
    proxy.cut(http_place.writes, times=1)
    assert published(ours).outcomes == {"done": _objects(http_place)}
    assert http_place.edges() == EDGES


def test_credentials_that_are_refused_end_the_publication(ours: Server, proxy: Faulty) -> None:
    proxy.answer(401)
    assert [check.works for check in ours.targets.test("there")] == [True, False]
    before = len(proxy.requests)
    report = published(ours)
    assert (report.state, report.outcomes.get("done", 0)) == ("failed", 0)
    assert "answered 401" in report.error
    assert len(proxy.requests) == before + 1


def test_one_that_is_refused_does_not_hold_up_others_and_is_sent_again_when_it_changes(
    ours: Server, http_place: Place, proxy: Faulty
) -> None:
    if http_place.more.get("answers_in_batches"):
        pytest.skip("refusals are in the answer of a batch")
    proxy.answer(422, http_place.writes, times=1, body=b'{"code": "bad_name", "message": "no such service"}')
    report = published(ours)
    assert report.outcomes == {"done": _objects(http_place) - 1, "refused": 1}
    refused = report.operations[0]
    assert (refused.outcome, refused.detail) == ("refused", "answered 422: bad_name: no such service")
    again = published(ours)
    assert (again.counts, again.kept) == ({}, {"refused there before, and unchanged since": 1})
    ours.send(job_event(refused.name, time_us=ours.parts.now_us, inputs=[dataset("new")], outputs=[dataset("newer")]))
    assert published(ours).outcomes == {"done": 1}


def test_each_request_is_a_call_for_the_limit(ours: Server, http_place: Place, proxy: Faulty) -> None:
    added(ours, http_place.behind(proxy), calls_per_s=1, at_once=1)
    waits: list[float] = []
    ours.wait = waits.append
    published(ours)
    # The clock stands still. The first request has the second that is unused; shorter waits are for what is processed later.
    assert len([wait for wait in waits if wait >= 1]) == max(0, len(proxy.requests) - 1)
    assert http_place.edges() == EDGES


def test_one_that_is_too_busy_for_each_third_request_gets_everything(ours: Server, http_place: Place, proxy: Faulty) -> None:
    """What costs many requests does not begin anew with each that is refused."""
    ours.send(*(job_event(f"more{number}", inputs=[dataset("a")], outputs=[dataset("b")]) for number in range(12)))
    proxy.answer(429, headers={"Retry-After": "1"}, every=3)
    waits: list[float] = []
    ours.wait = waits.append
    report = published(ours)
    assert (report.state, report.outcomes) == ("done", {"done": _objects(http_place) + 12})
    assert len([wait for wait in waits if wait >= 1]) == len(proxy.requests) // 3
    assert published(ours).outcomes == {}


@pytest.mark.parametrize(("delay", "wait_s"), [("7s", 7.0), ("7.500000000s", 7.5), ("0s", 1.0)])
def test_a_wait_that_google_states_in_the_body_is_as_long_as_asked(
    ours: Server, http_place: Place, proxy: Faulty, delay: str, wait_s: float
) -> None:
    waits: list[float] = []
    ours.wait = waits.append
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}
    error = {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": [{"@type": "type.googleapis.com/google.rpc.Help", "links": []}, info]}
    proxy.answer(429, http_place.writes, times=2, body=msgspec.json.encode({"error": error}))
    assert published(ours).outcomes == {"done": _objects(http_place)}
    assert waits == [wait_s, wait_s]
