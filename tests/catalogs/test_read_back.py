"""Targets that can be read back: what others put there is left alone, and what others changed is reported and not overwritten."""

import pytest
from tests.api.support import Server
from tests.catalogs.conftest import EDGES, added, published
from tests.catalogs.places import READABLE, Place, make_place

FOREIGN = "was there before, and was not published from here"


@pytest.fixture(params=READABLE)
def there(request: pytest.FixtureRequest, ours: Server) -> Place:
    place = make_place(request.param, request, ours)
    added(ours, place)
    return place


def test_what_somebody_else_put_there_is_left_alone_and_never_deleted(ours: Server, there: Place) -> None:
    there.plant("clean")
    there.plant("theirs")
    report = published(ours)
    assert [(finding.name, finding.finding) for finding in report.drift] == [("clean", FOREIGN)]
    assert report.outcomes == {"done": 2 + there.has_datasets}
    foreign = {("clean", "x", "y"), ("theirs", "x", "y")}
    assert there.edges() == {edge for edge in EDGES if edge[0] != "clean"} | foreign
    added(ours, there, exclude_namespaces=["*"])
    assert published(ours, prune=True).counts == {"delete": 2 + there.has_datasets}
    assert there.edges() == foreign


def test_what_was_there_before_is_replaced_only_with_overwrite_and_never_deleted(ours: Server, there: Place) -> None:
    there.plant("clean")
    assert published(ours, overwrite=True).outcomes == {"done": 3 + there.has_datasets}
    assert there.edges() == EDGES
    assert published(ours).drift == []
    added(ours, there, exclude_namespaces=["*"])
    report = published(ours, prune=True)
    assert report.kept == {"no longer to be published, but was there before it was published": 1}
    assert {edge[0] for edge in there.edges()} == {"clean"}


def test_what_somebody_changed_is_reported_and_overwritten_only_with_overwrite(ours: Server, there: Place) -> None:
    published(ours)
    there.plant("clean")
    report = published(ours)
    assert [(finding.name, finding.finding) for finding in report.drift] == [("clean", "was changed there")]
    assert report.counts == {}
    assert published(ours, overwrite=True).counts == {"update": 1}
    assert there.edges() == EDGES
    assert published(ours).drift == []


def test_a_job_that_is_deleted_and_comes_back_is_there_again(ours: Server, there: Place) -> None:
    published(ours)
    added(ours, there, exclude_namespaces=["*"])
    assert published(ours, prune=True).outcomes == {"done": 3 + there.has_datasets}
    assert there.edges() == set()
    added(ours, there)
    assert published(ours).outcomes == {"done": 3 + there.has_datasets}
    assert there.edges() == EDGES
