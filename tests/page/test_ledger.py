"""The hop ledger, and the search for the last good time, while answers are on their way."""

from urllib.parse import urlencode

from playwright.sync_api import Page, Route, expect
from tests.page.conftest import Shown
from tests.page.test_page import PAYMENTS, REVENUE, open_view

CDC = {"kind": "job", "namespace": "kafka-connect", "name": "commerce-cdc"}


def hold(page: Page, url: str) -> list[Route]:
    """The requests to addresses of this form, from now on; each waits until it is sent on."""
    held: list[Route] = []

    def take(route: Route) -> None:
        held.append(route)

    page.route(url, take)
    return held


def test_what_changed_at_the_hops_is_never_that_of_another_window(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/ledger?{urlencode(PAYMENTS)}")
    changes = page.locator("table.ledger th small:not(:has(.state))")
    expect(changes).not_to_have_count(0)
    held = hold(page, "**/api/v1/graph/timeline?*")
    page.get_by_label("Window").select_option("72")
    expect(page.get_by_text("Looking for what changed in this time")).to_be_visible()
    expect(changes).to_have_count(0)
    held[0].continue_()
    expect(changes).not_to_have_count(0)


def test_a_search_for_the_last_good_time_leads_nobody_back_who_has_gone_on(page: Page, shown: Shown) -> None:
    held = hold(page, "**/api/v1/graph/ledger?*")
    open_view(page, f"{shown.url}view/lineage?{urlencode({**REVENUE, 'bar': 24})}")
    page.get_by_role("button", name="Last good").press("Enter")
    expect(page.get_by_role("status").filter(has_text="Searching the ledger")).to_be_visible()
    page.keyboard.press("w")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Estate")
    there = page.url
    with page.expect_response("**/api/v1/graph/ledger?*"):
        held[0].continue_()
    page.wait_for_load_state("networkidle")
    assert page.url == there


def test_the_rebalance_is_a_tick_of_the_time_bar_and_a_change_of_the_ledgers_hop(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/ledger?{urlencode({**REVENUE, 'hours': 24})}")
    diverged = page.locator("table.ledger tr.diverged").filter(has_text="commerce-cdc")
    expect(diverged.first).to_contain_text("rebalanced between")
    open_view(page, f"{shown.url}view/lineage?{urlencode({**CDC, 'bar': 24})}")
    expect(page.locator(".track .tick.rebalanced")).to_have_count(1)
    page.get_by_text("within this time").click()
    expect(page.locator("ol.marks li").filter(has_text="rebalanced between")).to_contain_text("commerce-cdc")
