"""The six questions of docs/page.md, each asked from the start page with keys alone; what is seen then is the picture in docs/pictures.

`make pictures` takes them anew. Each run checks that they show what they are for, and that they are small.
"""

import os
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.api.support import running
from tests.events import KEY
from tests.page.conftest import HOUR_US, ROOT, listening
from tests.page.test_page import CUSTOMERS, ORDERS, REVENUE, TABLE, TOPIC, open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.demo.events import events
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.write.apply import GraphWriter

FOLDER = "TEST_PICTURES"
"""The variable that names the folder to which the pictures are written."""
PICTURES = ROOT / "docs" / "pictures"
NOW = datetime(2026, 6, 12, 14, 30, tzinfo=timezone.utc)
NOW_US = int(NOW.timestamp()) * 1_000_000
WIDTH, HEIGHT = 1440, 900
TALL = {"blast-radius": 1200}
"""The heights of windows that show more."""
MOST_BYTES = 250_000


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server that has the demo and nothing else, on one day."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("demo"), store) as server:
        server.parts.now_us = NOW_US
        server.parts.pipeline = {"state": "running", "pid": 7, "beat_us": NOW_US, "error": None}
        server.send(*events(NOW_US, "pictures"))
        with listening(create_app(server.services)) as url:
            yield url


@pytest.fixture
def seen(browser: Browser) -> Iterator[Page]:
    """A page as a picture shows it, on that day."""
    context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce", color_scheme="light")
    page = context.new_page()
    page.clock.set_fixed_time(NOW)
    yield page
    context.close()


def jump(page: Page, url: str) -> None:
    open_view(page, f"{url}view/lineage?{urlencode({**TOPIC, 'up': 2})}")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.keyboard.press("Control+k")
    page.keyboard.type("email")
    expect(page.get_by_role("dialog").get_by_role("option")).not_to_have_count(0)


def blast_radius(page: Page, url: str) -> None:
    open_view(page, f"{url}view/lineage?{urlencode(TABLE)}")
    page.keyboard.press("b")
    expect(page.locator("tbody tr")).to_have_count(12)


def flowing(page: Page, url: str) -> None:
    open_view(page, f"{url}view/lineage?{urlencode(ORDERS)}")
    page.keyboard.press("p")
    labels = page.locator(".pulse .react-flow__edge-text")
    expect(labels.filter(has_text="0.70 rows/s")).to_have_count(1)
    expect(labels.filter(has_text="0.90 rows/s")).to_have_count(1)


def column_trace(page: Page, url: str) -> None:
    open_view(page, f"{url}view/trace?{urlencode({**CUSTOMERS, 'field': 'email', 'direction': 'downstream'})}")
    expect(page.locator("tbody .state", has_text="masked")).to_have_count(1)


def hop_ledger(page: Page, url: str) -> None:
    open_view(page, f"{url}view/lineage?{urlencode(REVENUE)}")
    page.keyboard.press("l")
    expect(page.locator("tr.diverged")).to_contain_text("commerce-cdc")


def time_bar(page: Page, url: str) -> None:
    around = {"bar": 48, "from": format_time(NOW_US - 31 * HOUR_US), "at": format_time(NOW_US - 29 * HOUR_US)}
    open_view(page, f"{url}view/lineage?{urlencode({**TOPIC, **around})}")
    expect(page.locator(".time-bar .summary")).to_have_text("0 added, 0 removed, 2 changed")
    expect(page.locator(".side .diff")).to_have_text("added status STRING")


SCENES: dict[str, Callable[[Page, str], None]] = {
    "jump": jump,
    "blast-radius": blast_radius,
    "pulse": flowing,
    "column-trace": column_trace,
    "hop-ledger": hop_ledger,
    "time-bar": time_bar,
}


@pytest.mark.parametrize("scene", SCENES)
def test_a_picture_shows_what_it_is_for(seen: Page, demo: str, tmp_path: Path, scene: str) -> None:
    height = TALL.get(scene, HEIGHT)
    seen.set_viewport_size({"width": WIDTH, "height": height})
    SCENES[scene](seen, demo)
    folder = Path(os.environ.get(FOLDER, tmp_path))
    folder.mkdir(parents=True, exist_ok=True)
    # No more than what is there: a short list leaves the rest of the window empty.
    bottom = seen.evaluate("""() => {
        const whole = document.querySelector('.lineage') ? '.stage, .time-bar' : 'main .column > *';
        return Math.max(...[...document.querySelectorAll(whole)].map(each => each.getBoundingClientRect().bottom));
    }""")
    picture = seen.screenshot(
        path=folder / f"{scene}.png", animations="disabled", clip={"x": 0, "y": 0, "width": WIDTH, "height": min(height, bottom)}
    )
    assert len(picture) <= MOST_BYTES


def test_the_pictures_are_in_the_docs_and_small() -> None:
    page = (ROOT / "docs" / "page.md").read_text(encoding="utf-8")
    pictures = sorted(PICTURES.glob("*.png"))
    assert [path.stem for path in pictures] == sorted(SCENES)
    assert [path.name for path in pictures if f"](pictures/{path.name})" not in page] == []
    assert [path.name for path in pictures if path.stat().st_size > MOST_BYTES] == []
