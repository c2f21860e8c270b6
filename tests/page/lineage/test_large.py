"""A picture of many nodes, in a browser: links on a canvas, cards only where they are in sight."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import Server, running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import ROOT, listening
from tests.page.test_page import open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

JOBS = 80
VIEW = {"kind": "dataset", "namespace": "ns", "name": "hub", "down": 1, "up": 0}
INK = """canvas => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    return data.reduce((sum, value, at) => at % 4 === 3 && value > 0 ? sum + 1 : sum, 0);
}"""
"""How many points of a canvas are painted."""


def rows(server: Server, count: int) -> list[bytes]:
    """Jobs that each read one dataset and wrote `count` rows to one of their own."""
    statistics = facet(rowCount=count)
    return [
        run_event(
            job=f"job {number}",
            run=f"00000000-0000-4000-8000-{count:04}{number:08}",
            time_us=server.parts.now_us - 60_000_000 + count,
            inputs=[dataset("hub")],
            outputs=[{**dataset(f"part {number}"), "outputFacets": {"outputStatistics": statistics}}],
        )
        for number in range(JOBS)
    ]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[tuple[Server, str]]:  # noqa: ARG001 - the page is built before
    """A server with a hub that many jobs read, and its address."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(Path(tmp_path_factory.mktemp("large")), store) as server:
        server.send(*rows(server, 3600))
        with listening(create_app(server.services)) as url:
            yield server, url


def test_links_are_painted_and_only_cards_in_sight_are_made(page: Page, large: tuple[Server, str]) -> None:
    _, url = large
    open_view(page, f"{url}view/lineage?{urlencode(VIEW)}")
    expect(page.locator("canvas.lines")).to_have_count(1)
    expect(page.locator(".react-flow__node.selected, .node.root")).to_have_count(1)
    expect(page.locator(".react-flow__edges .react-flow__edge")).to_have_count(0)
    assert 0 < page.locator(".react-flow__node").count() < 2 * JOBS
    page.wait_for_function(f"() => ({INK})(document.querySelector('canvas.lines')) > 0")
    page.keyboard.press("t")
    expect(page.locator("tbody tr")).to_have_count(2 * JOBS + 1)


def test_keys_lead_to_cards_that_were_out_of_sight(page: Page, large: tuple[Server, str]) -> None:
    _, url = large
    open_view(page, f"{url}view/lineage?{urlencode(VIEW)}")
    page.locator(".node.root").click()
    seen = set()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown"):
        page.keyboard.press(key)
        expect(page.locator(".node.chosen")).to_have_count(1)
        seen.add(page.locator(".node.chosen .name").first.inner_text())
    assert len(seen) == 3


def test_a_change_of_rates_paints_the_links_and_renders_no_card(page: Page, large: tuple[Server, str]) -> None:
    server, url = large
    open_view(page, f"{url}view/lineage?{urlencode({**VIEW, 'pulse': 'live'})}")
    canvas = page.locator("canvas.lines")
    expect(canvas).to_have_attribute("data-rates", re.compile("[1-9]"))
    before = canvas.get_attribute("data-rates")
    page.evaluate("""() => {
        window.changes = 0;
        new MutationObserver(found => { window.changes += found.length; })
            .observe(document.querySelector('.react-flow__nodes'), {subtree: true, childList: true, attributes: true});
    }""")
    server.send(*rows(server, 7200))
    expect(canvas).not_to_have_attribute("data-rates", before or "", timeout=30_000)
    assert page.evaluate("window.changes") == 0
    page.keyboard.press("t")
    expect(page.locator("tbody small", has_text="rows/s").first).to_be_visible()


def test_the_map_is_three_shapes_however_many_cards_and_a_press_on_it_moves_the_picture(page: Page, large: tuple[Server, str]) -> None:
    _, url = large
    open_view(page, f"{url}view/lineage?{urlencode(VIEW)}")
    overview = page.get_by_role("img", name="Map of the whole picture")
    expect(overview.locator("path")).to_have_count(3)
    assert (overview.locator(".cards").get_attribute("d") or "").count("M") == 2 * JOBS + 1
    expect(page.locator(".node.root")).to_be_visible()
    box = overview.bounding_box()
    assert box
    overview.click(position={"x": box["width"] / 2, "y": 20})
    expect(page.locator(".node.root")).to_have_count(0)
    expect(page.locator(".react-flow__node")).not_to_have_count(0)


@pytest.mark.usefixtures("built")
def test_the_scripts_of_the_lineage_are_compiled_while_they_load() -> None:
    """The comment is only obeyed at the very beginning."""
    assets = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static" / "assets"
    first = {path.name.partition("-")[0] for path in assets.glob("*.js") if path.read_text().startswith("//# allFunctionsCalledOnLoad\n")}
    assert {"index", "Lineage"} <= first
    assert "Work" not in first
