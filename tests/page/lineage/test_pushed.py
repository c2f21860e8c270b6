"""Rates that the server pushes, and what the page does where it does not, in a browser."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, Request, expect
from tests.api.support import Server, running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import listening
from tests.page.test_page import open_view

from lineage_bridge.api.answering.lanes import Cost
from lineage_bridge.api.app import create_app
from lineage_bridge.api.services import StreamPace
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

VIEW = {"kind": "dataset", "namespace": "ns", "name": "a", "down": 1, "up": 1, "pulse": "live"}
LATER_MS = 30_000
HIDE = """value => {
    Object.defineProperty(document, "hidden", {value, configurable: true});
    document.dispatchEvent(new Event("visibilitychange"));
}"""
"""Makes a page believe that it cannot be seen, or can."""


def moved(server: Server, rows: int, job: str = "load", read: str = "a", written: str = "b") -> bytes:
    """A run that read and wrote rows a minute ago."""
    return run_event(
        job=job,
        run=f"00000000-0000-4000-8000-{rows:012}",
        time_us=server.parts.now_us - 60_000_000 + rows,
        inputs=[{**dataset(read), "inputFacets": {"inputStatistics": facet(rowCount=rows)}}],
        outputs=[{**dataset(written), "outputFacets": {"outputStatistics": facet(rowCount=rows)}}],
    )


@pytest.fixture(scope="module")
def flowing(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[tuple[Server, str]]:  # noqa: ARG001 - the page is built before
    """A server with a job that reads and writes, and its address."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(Path(tmp_path_factory.mktemp("flowing")), store) as server:
        server.parts.now_us = time.time_ns() // 1000
        server.send(moved(server, 3600), moved(server, 7200, "further", "b", "c"))
        with listening(create_app(replace(server.services, pace=StreamPace(tick_s=0.2)))) as url:
            yield server, url


def asked(page: Page) -> list[str]:
    """The paths and questions about the pulse that the page sends from now on."""
    found: list[str] = []

    def note(request: Request) -> None:
        if "/graph/pulse" in request.url:
            found.append(request.url)

    page.on("request", note)
    return found


def test_rates_are_pushed_for_what_is_drawn_and_nobody_asks_for_them(page: Page, flowing: tuple[Server, str]) -> None:
    server, url = flowing
    questions = asked(page)
    open_view(page, f"{url}view/lineage?{urlencode(VIEW)}")
    labels = page.locator(".react-flow__edge-text")
    expect(labels.filter(has_text="1.0 rows/s")).to_have_count(2)
    server.send(moved(server, 10_800))
    expect(labels.filter(has_text="4.0 rows/s")).to_have_count(2, timeout=LATER_MS)
    (question,) = [urlsplit(each) for each in questions]
    assert question.path.endswith("/graph/pulse/stream")
    assert len(parse_qs(question.query)["datasets"][0].split(",")) == 2
    page.keyboard.press("t")
    assert server.services.lanes[Cost.STREAMING].running == 1
    page.keyboard.press("p")
    expect(page.locator("tbody small", has_text="rows/s")).to_have_count(0)
    page.wait_for_timeout(100)
    while server.services.lanes[Cost.STREAMING].running:
        page.wait_for_timeout(20)


def test_where_a_stream_is_refused_the_page_asks(page: Page, flowing: tuple[Server, str]) -> None:
    server, url = flowing
    questions = asked(page)
    page.route("**/graph/pulse/stream*", lambda route: route.fulfill(status=503, json={"error": {"code": "overloaded", "message": "no"}}))
    open_view(page, f"{url}view/lineage?{urlencode({**VIEW, 'name': 'c'})}")
    labels = page.locator(".react-flow__edge-text")
    expect(labels.filter(has_text="2.0 rows/s")).to_have_count(2, timeout=LATER_MS)
    server.send(moved(server, 14_400, "further", "b", "c"))
    expect(labels.filter(has_text="6.0 rows/s")).to_have_count(2, timeout=LATER_MS)
    assert [urlsplit(each).path.rpartition("/")[2] for each in questions][:2] == ["stream", "pulse"]


def test_a_page_that_cannot_be_seen_has_no_stream(page: Page, flowing: tuple[Server, str]) -> None:
    server, url = flowing
    questions = asked(page)
    open_view(page, f"{url}view/lineage?{urlencode({**VIEW, 'name': 'b'})}")
    labels = page.locator(".react-flow__edge-text").filter(has_text="rows/s")
    expect(labels).to_have_count(4)
    with page.expect_request("**/graph/pulse/stream*", timeout=LATER_MS):
        page.evaluate(HIDE, arg=True)
        while server.services.lanes[Cost.STREAMING].running:
            page.wait_for_timeout(20)
        page.evaluate(HIDE, arg=False)
    expect(labels).to_have_count(4)
    assert [urlsplit(each).path.rpartition("/")[2] for each in questions] == ["stream", "stream"]
