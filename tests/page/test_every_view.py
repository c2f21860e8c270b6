"""What holds in every view: names of strangers do no harm, nothing moves for who wants calm, and nothing happens while nothing happens."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import HOSTILE, Shown
from tests.page.test_page import VIEWS, open_view

SHOWN_MOST = 120
"""How many characters of a name a heading or a row shows; its title has more, and the side of the lineage has all."""


def written(name: str) -> str:
    """A name as the page writes it: what cannot be seen, as its code."""
    return "".join(f"⟨U+{ord(c):04X}⟩" if c in "\u200b\u202e\u200d" else c for c in name)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_does_no_harm_in_any_view(page: Page, shown: Shown, kind: str) -> None:
    named = {"kind": "dataset", "namespace": "ns", "name": HOSTILE[kind]}
    clean = {"to_kind": "dataset", "to_namespace": "ns", "to_name": HOSTILE[kind]}
    views = {
        "list": f"view/lineage?{urlencode({**named, 'as': 'list'})}",
        "pulse": f"view/lineage?{urlencode({**named, 'pulse': 'live', 'bar': 24})}",
        "ledger": f"view/ledger?{urlencode(named)}",
        "impact": f"view/impact?{urlencode({**named, 'direction': 'upstream'})}",
        "trace": f"view/trace?{urlencode({**named, 'field': HOSTILE[kind]})}",
        "paths": "view/paths?" + urlencode({"kind": "dataset", "namespace": "ns", "name": "clean", **clean}),
        "datasets": f"view/datasets?{urlencode({'namespace': 'ns'})}",
        "search": f"view/search?{urlencode({'q': HOSTILE[kind][:200]})}",
    }
    end = written(HOSTILE[kind])[-40:]
    for name, view in views.items():
        open_view(page, shown.url + view)
        seen = page.evaluate("document.querySelector('main').textContent")
        assert end in seen, name
        assert page.locator("main img, main script, main iframe").count() == 0, name
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


def test_nothing_moves_for_who_wants_calm(page: Page, shown: Shown) -> None:
    moving = """() => [...document.querySelectorAll('*')]
        .map(each => [each, getComputedStyle(each)])
        .filter(([, {animationName, animationDuration, transitionDuration}]) =>
            (animationName !== 'none' && parseFloat(animationDuration) > 0.01) ||
            transitionDuration.split(',').some(time => parseFloat(time) > 0.01))
        .map(([each]) => each.outerHTML.slice(0, 100))"""
    for name, view in VIEWS.items():
        open_view(page, shown.url + view)
        assert page.evaluate(moving) == [], name


@pytest.mark.parametrize("view", ["home", "lineage", "pulse", "time", "ledger"])
def test_nothing_is_drawn_while_nothing_happens(page: Page, shown: Shown, view: str) -> None:
    """A page that nobody touches costs nothing between two answers of the server."""
    open_view(page, shown.url + VIEWS[view])
    if view == "pulse":  # its rates are pushed, so the network is never idle
        expect(page.locator(".pulse .react-flow__edge-text").filter(has_text="rows/s")).not_to_have_count(0)
    else:
        page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)
    drawn = page.evaluate("""async () => {
        let frames = 0, changes = 0;
        const ask = window.requestAnimationFrame;
        window.requestAnimationFrame = work => { frames += 1; return ask(work); };
        const watched = new MutationObserver(found => { changes += found.length; });
        watched.observe(document.querySelector('main'), {subtree: true, childList: true, attributes: true});
        await new Promise(resolve => setTimeout(resolve, 2000));
        watched.disconnect();
        window.requestAnimationFrame = ask;
        const running = document.getAnimations().filter(({playState}) => playState === 'running').length;
        return {frames, changes, running};
    }""")
    assert drawn["running"] == 0
    assert drawn["frames"] <= 2, "no loop that asks for frame after frame"
    assert drawn["changes"] <= 20, "at most the answer of one question"
