"""The lists of what a server is made of, in a browser."""

import re
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import LATE, Shown
from tests.page.test_page import DBT, LISTS, open_view


def sign_in(page: Page, shown: Shown, view: str) -> None:
    """Open a view of the server that asks for keys, as somebody who may read."""
    page.goto(shown.guarded_url + view)
    page.get_by_label("API key").fill(shown.key)
    page.get_by_role("button", name="Enter").click()


@pytest.mark.parametrize("width", [1440, 390])
def test_every_list_is_found_in_the_navigation_with_keys_alone(page: Page, shown: Shown, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_view(page, shown.url)
    seen = []
    for section in ("Inventory", "Activity", "Connections", "Access"):
        page.get_by_role("navigation", name="Sections").get_by_role("link", name=section).press("Enter")
        links = page.get_by_role("navigation", name=section, exact=True).get_by_role("link")
        expect(links.first).to_have_attribute("aria-current", "page")
        for link in links.all():
            link.press("Enter")
            expect(link).to_have_attribute("aria-current", "page")
            expect(page.locator(".loading")).to_have_count(0)
            expect(page.locator("main tbody tr, main .empty").first).to_be_visible()
            seen.append(page.url.rsplit("/", 1)[1])
    assert sorted(seen) == sorted(LISTS)


def test_a_list_is_narrowed_and_its_address_says_so(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/datasets")
    page.get_by_label("Name", exact=True).fill("order-events*")
    page.get_by_role("button", name="Narrow").click()
    names = page.locator("tbody th .full-name > .name")
    expect(names).to_have_text(["order-events-enriched"])
    page.reload()
    expect(names).to_have_text(["order-events-enriched"])
    names.first.click()
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.go_back()
    page.get_by_label("Name", exact=True).fill("nothing at all")
    page.keyboard.press("Enter")
    expect(page.locator(".empty")).to_contain_text("Nothing matches")
    page.get_by_role("link", name="Show all").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value("")


def test_a_list_goes_on_page_by_page(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/events")
    first = page.locator("tbody tr")
    expect(first).to_have_count(50)
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Next").click()
    expect(page.get_by_text("51 to 100")).to_be_visible()
    assert page.url.endswith("view/events?offset=50")
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Previous").click()
    expect(page.get_by_text("1 to 50", exact=True)).to_be_visible()


def test_a_run_is_shown_in_its_time_with_the_runs_inside_of_it(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/runs?{urlencode(DBT)}")
    page.locator("tbody th a").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("Run")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.locator(".gantt i")).to_have_count(3)
    boxes = rows.locator(".gantt i").evaluate_all("bars => bars.map(bar => bar.getBoundingClientRect().toJSON())")
    outer, *inner = boxes
    assert all(outer["left"] <= bar["left"] and bar["right"] <= outer["right"] + 1 for bar in inner)
    rows.nth(1).locator("a").first.click()
    expect(page.locator(".facts")).to_contain_text("Inside of")
    page.get_by_role("link", name="Events", exact=True).last.click()
    expect(page.locator("tbody tr")).not_to_have_count(0)
    page.locator("tbody button", has_text="Show").first.click()
    expect(page.locator("tr.below pre")).to_contain_text('"eventTime"')


def test_a_rejected_event_is_shown_harmlessly_and_judged_again(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/quarantine?code=no_time")
    expect(page.locator("tbody .full-name > .name")).to_have_text(LATE)
    page.locator("tbody button", has_text="Show").click()
    expect(page.locator("tr.below pre")).to_contain_text(LATE)
    page.get_by_role("button", name="Replay").click()
    expect(page.get_by_role("alert")).to_contain_text("EventTime is missing")


def test_what_a_key_may_not_is_said_with_the_scope_that_is_missing(page: Page, shown: Shown) -> None:
    sign_in(page, shown, "view/keys")
    expect(page.get_by_role("alert")).to_contain_text("lacks the scope 'admin'")
    page.get_by_role("link", name="Activity").click()
    page.get_by_role("link", name="Quarantine").click()
    page.locator("tbody button", has_text="Show").click()
    expect(page.locator("tr.below")).to_contain_text("Replaying an event needs the scope operate.")
    expect(page.get_by_role("button", name="Replay")).to_have_count(0)


def test_a_target_is_planned_and_published_to_by_whom_may(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/targets?open=catalog")
    expect(page.get_by_text("Nothing was published to it")).to_be_visible()
    expect(page.get_by_role("region", name="Operations").locator("tbody tr").first).to_contain_text("planned")
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("dialog", name="Publish").get_by_role("button", name="Publish").click()
    expect(page.get_by_role("region", name="What was published").locator("tbody tr")).not_to_have_count(0)
    expect(page.get_by_text(re.compile("a publication, began"))).to_be_visible()


def test_a_source_is_paused_and_resumed(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + "view/sources")
    page.get_by_role("link", name="broker").click()
    page.get_by_role("button", name="Pause").click()
    expect(page.locator("main .state", has_text="paused")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
