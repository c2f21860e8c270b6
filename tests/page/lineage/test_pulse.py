"""What is written on links has room between the cards, in a browser."""

import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import listening
from tests.page.test_page import open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

MINUTE_US = 60_000_000
FLOWS = {
    "first": ("a", "b", 1),
    "second": ("b", "c", 1),
    "past": ("a", "c", 1),
    "stopped": ("b", "d", 40),
}
"""Jobs: what each reads and writes, and how many minutes ago it reported last. The promised interval is one minute."""
WHOLE = {"kind": "dataset", "namespace": "ns", "name": "a", "up": 0, "down": 6}
OVERLAPS = """() => {
    const boxes = selector => [...document.querySelectorAll(selector)].map(each => [each.textContent, each.getBoundingClientRect()]);
    return boxes(".react-flow__edge-textwrapper").flatMap(([label, a]) => boxes(".react-flow__node .node").flatMap(([card, b]) =>
        a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom ? [[label, card]] : []));
}"""
"""Labels and the cards that they share points with."""


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server with streams, one of which is silent."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("streams"), store) as server:
        server.parts.now_us = time.time_ns() // 1000
        promise = {"eventTrigger": "PERIODIC", "eventContentMode": "ACCUMULATIVE", "windowDuration": 60}
        for number, (job, (read, written, minutes)) in enumerate(FLOWS.items()):
            rows = facet(rowCount=360_000 * (number + 1))
            server.send(
                run_event(
                    "RUNNING",
                    run=f"00000000-0000-4000-8000-{number:012}",
                    job=job,
                    time_us=server.parts.now_us - minutes * MINUTE_US,
                    job_facets={"jobType": facet(processingType="STREAMING", integration="FLINK", emissionPattern=promise)},
                    inputs=[{**dataset(read), "inputFacets": {"inputStatistics": rows}}],
                    outputs=[{**dataset(written), "outputFacets": {"outputStatistics": rows}}],
                )
            )
        with listening(create_app(server.services)) as url:
            yield url


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 800)])
@pytest.mark.parametrize(("fold", "written"), [("", "last rows 40 min ago"), ("yes", "through")])
def test_no_card_lies_upon_what_is_written_on_a_link(page: Page, streams: str, fold: str, written: str, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    open_view(page, f"{streams}view/lineage?{urlencode({**WHOLE, 'fold': fold})}")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.keyboard.press("p")
    labels = page.locator(".react-flow__edge-text")
    expect(labels.filter(has_text="rows/s" if not fold else written)).not_to_have_count(0)
    expect(labels.filter(has_text=written)).not_to_have_count(0)
    page.wait_for_function(f"() => ({OVERLAPS})().length === 0")
