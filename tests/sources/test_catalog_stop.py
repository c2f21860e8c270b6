"""A poll of a catalog that is stopped ends after the page or question that is under way."""

import threading
from collections.abc import Sequence

import pytest
from tests.events import T0

from lineage_bridge.errors import StoppedError
from lineage_bridge.sources.common.catalog.assets import Asset
from lineage_bridge.sources.common.catalog.observer import CatalogObserver
from lineage_bridge.sources.common.catalog.walk import Page
from lineage_bridge.sources.common.settings import SourceSettings
from lineage_bridge.sources.common.shared_metadata import NO_METADATA


class Endless:
    """Listings with a thousand pages, whose first page stops the poll."""

    listings: Sequence[str] = ("datasets", "jobs")
    pages_at_once = 1000
    asked_at_once = 20

    def __init__(self, stop: threading.Event) -> None:
        self.stop = stop
        self.asked: list[tuple[str, str]] = []

    def page(self, listing: str, cursor: str) -> Page:
        self.asked.append((listing, cursor))
        self.stop.set()
        return Page((), str(int(cursor or 0) + 1))

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        del listing, ids
        return set()

    def selects(self, *_: object) -> bool:
        return True

    def close(self) -> None:
        """Nothing is open."""


def test_a_poll_that_is_stopped_asks_for_no_other_page() -> None:
    stop = threading.Event()
    there = Endless(stop)
    observer = CatalogObserver("lake", SourceSettings(), "datahub", there, "unknown://")
    observer.stop = stop
    with pytest.raises(StoppedError):
        observer.observe(None, NO_METADATA, T0)
    assert there.asked == [("datasets", "")]


class Emptied(Endless):
    """Listings of fifty datasets, and then of none; the first question whether they exist stops the poll."""

    listings = ("datasets",)
    ids = tuple(f"{number:02}" for number in range(50))

    def page(self, listing: str, cursor: str) -> Page:
        del listing, cursor
        return Page([(id_, Asset(("ns", id_), {"documentation": {"description": id_}})) for id_ in self.ids], "")

    def missing(self, listing: str, ids: Sequence[str]) -> set[str]:
        self.asked += [(listing, id_) for id_ in ids]
        self.stop.set()
        return set(ids)


def test_a_poll_that_is_stopped_asks_for_no_further_missing_assets() -> None:
    stop = threading.Event()
    there = Emptied(stop)
    observer = CatalogObserver("lake", SourceSettings(), "datahub", there, "unknown://")
    observer.stop = stop
    before = observer.observe(None, NO_METADATA, T0).snapshot
    there.ids = ()
    with pytest.raises(StoppedError):
        observer.observe(before, NO_METADATA, T0)
    assert [id_ for _, id_ in there.asked] == [f"{number:02}" for number in range(20)]
    observer.stop = None
    assert len(observer.observe(before, NO_METADATA, T0).events) == 50
