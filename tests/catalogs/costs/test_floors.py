"""How long publications to targets with a limit of requests take: hardly longer than the limit makes necessary. The clock is a virtual one,
which only waiting sets forward.
"""

from collections.abc import Callable
from typing import Any

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.costs.quotas import Limited, QuotaThere, WindowThere
from tests.catalogs.places import OVER_HTTP, Place, make_place
from tests.catalogs.standins.dataplex import Dataplex
from tests.catalogs.standins.server import answering
from tests.catalogs.targets.databricks.test_databricks_tables import HERE
from tests.events import dataset, job_event, schema
from tests.servers.web.faulty import Faulty

RATE, JOBS, SLACK = 2, 8, 1.2


def _dataplex(request: pytest.FixtureRequest, ours: Server) -> Place:
    """An entry for each topic of the jobs."""
    login = make_place("google", request, ours).settings
    server = answering(Dataplex().handle)
    url = server.__enter__()
    request.addfinalizer(lambda: server.__exit__(None, None, None))
    kept = {name: login[name] for name in ("project", "location", "token", "poll_s")}
    return Place("dataplex", {**kept, "url": url, "create_types": True, "topics": ["ns"]}, set, more={"objects": 2 * JOBS + 6})


def _statements(request: pytest.FixtureRequest, ours: Server) -> Place:
    """Statements for each table that the jobs write, beside the jobs."""
    place = make_place("databricks", request, ours)
    for number in range(JOBS):
        place.more["there"].sql.add(f"main.many.t{number}", "Id", "price")
        place.more["there"].tables[f"main.many.t{number}"] = ["Id", "price"]
    topic = dataset("orders", "kafka://broker:9092")
    tables = [dataset(f"main.many.t{number}", HERE, schema=schema("id", "price")) for number in range(JOBS)]
    ours.send(*(job_event(f"sink{number}", inputs=[topic], outputs=[table]) for number, table in enumerate(tables)))
    place.settings |= {"namespaces": ["kafka://*"], "table_namespaces": [HERE]}
    place.more["objects"] = 2 * JOBS
    return place


PLACES: dict[str, Callable[[pytest.FixtureRequest, Server], Place]] = {"dataplex": _dataplex, "statements": _statements}


@pytest.mark.parametrize("settings", [{"calls_per_s": RATE}, {}], ids=["paced", "refused"])
@pytest.mark.parametrize("kind", [*OVER_HTTP, "datazone", *PLACES])
def test_a_publication_takes_what_the_limit_makes_necessary(
    request: pytest.FixtureRequest, ours: Server, faulty: Callable[[str], Faulty], kind: str, settings: dict[str, Any]
) -> None:
    place = PLACES[kind](request, ours) if kind in PLACES else make_place(kind, request, ours)
    ours.send(*(job_event(f"job{number}", inputs=[dataset(f"in{number}")], outputs=[dataset(f"out{number}")]) for number in range(JOBS)))
    address = "endpoint_url" if "endpoint_url" in place.settings else "url"
    proxy = faulty(place.settings[address])
    added(ours, place, **{address: proxy.url}, at_once=1, **settings)

    def wait(seconds: float) -> None:
        ours.parts.now_us += round(seconds * 1_000_000)

    ours.wait = wait
    limit = proxy.limit(RATE, lambda: ours.parts.now_us / 1_000_000)
    began_us = ours.parts.now_us
    report = published(ours)
    assert settings or limit.refused or kind == "openmetadata"  # which takes many events in a request
    taken_s = (ours.parts.now_us - began_us) / 1_000_000
    objects = place.more.get("objects", JOBS + 3 + place.has_datasets)
    assert (report.state, report.outcomes) == ("done", {"done": objects})
    assert limit.floor_s <= taken_s <= SLACK * limit.floor_s
    assert not settings or limit.refused == 0
    assert published(ours).counts == {}


POSTS = frozenset({"POST"})
"""The calls that DataZone's limit of 20 events a second counts; Atlan's of 400 calls a minute counts all."""


@pytest.mark.parametrize(
    ("kind", "jobs", "counted"),
    [("datazone", 77, (QuotaThere, 20, 1.0, POSTS)), ("atlan", 210, (WindowThere, 400, 60.0))],
    ids=["datazone", "atlan"],
)
def test_a_documented_limit_is_kept_without_being_told(
    request: pytest.FixtureRequest, ours: Server, kind: str, jobs: int, counted: tuple[Any, ...]
) -> None:
    made, (quota, *limit) = make_place(kind, request, ours), counted
    calls = quota(*limit, clock_s=lambda: ours.parts.now_us / 1_000_000)
    there = Limited(made.more["there"].handle, [calls], {})
    ours.send(*(job_event(f"job{number}", inputs=[dataset("a")], outputs=[dataset("b")]) for number in range(jobs)))

    def wait(seconds: float) -> None:
        ours.parts.now_us += round(seconds * 1_000_000)

    ours.wait = wait
    address = "endpoint_url" if "endpoint_url" in made.settings else "url"
    with answering(there.handle) as url:
        added(ours, made, **{address: url}, at_once=1)
        began_us = ours.parts.now_us
        assert published(ours).outcomes == {"done": jobs + 3}
    taken_s = (ours.parts.now_us - began_us) / 1_000_000
    assert there.refused == 0
    assert 0 < there.floor_s <= taken_s <= SLACK * there.floor_s
