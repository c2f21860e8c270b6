"""What publishing an unchanged graph costs: the reads that a target needs to be compared, and no write."""

from collections.abc import Callable

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import added, published
from tests.catalogs.places import OVER_HTTP, Place, everything, make_place
from tests.servers.web.faulty import Faulty

READS = {
    "marquez": 4,  # of each job, and of the dataset by itself
    "openmetadata-entities": 12,  # of each job, of each dataset, and of the edges that lead to those that jobs write
    "databricks": 15,  # of each job, itself and what is on both sides; a list's first page is empty
    "datahub": 3,
    "google": 9,  # of each job, its process, runs and links
    "atlan": 2,  # of the connection, and of up to a hundred jobs
}
"""How many requests the graph's three jobs and its dataset by itself cost; others are not read."""


@pytest.mark.parametrize("kind", [*OVER_HTTP, "openlineage-runs", "datazone"])
def test_an_unchanged_graph_costs_only_reads(
    request: pytest.FixtureRequest, ours: Server, faulty: Callable[[str], Faulty], kind: str
) -> None:
    place = make_place(kind, request, ours)
    address = "endpoint_url" if "endpoint_url" in place.settings else "url"
    proxy = faulty(place.settings[address])
    added(ours, place, **{address: proxy.url})
    if "there" in place.more:
        place.more["there"].page = 1000
    published(ours)
    proxy.requests.clear()
    report = published(ours)
    assert (report.counts, report.drift) == ({}, [])
    assert len(proxy.requests) == READS.get(kind, 0), proxy.requests
    assert {found.partition(" ")[0] for found in proxy.requests} <= ({"POST"} if kind == "atlan" else {"GET"})


def test_an_unchanged_graph_leaves_the_file(request: pytest.FixtureRequest, ours: Server) -> None:
    place = make_place("files", request, ours)
    added(ours, place)
    published(ours)
    path = ours.folder / "published" / "lineage.ndjson"
    before = path.stat()
    assert published(ours).counts == {}
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.servers
@pytest.mark.parametrize("kind", ["kafka", "kinesis"])
def test_an_unchanged_graph_writes_no_record(request: pytest.FixtureRequest, ours: Server, kind: str) -> None:
    place = make_place(kind, request, ours)
    added(ours, place)
    published(ours)
    assert published(ours).counts == {}
    assert _records(request, place) == 4


def _records(request: pytest.FixtureRequest, place: Place) -> int:
    if place.kind == "kafka":
        return len(everything(request.getfixturevalue("kafka"), place.settings["topic"]))
    return len(place.more["there"].records(place.settings["stream"]))
