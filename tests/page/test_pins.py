"""Pins of the page: short links to views, kept by the server."""

import re
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import TOPIC, open_view


def test_a_view_is_kept_under_a_short_link_that_shows_a_colleague_the_same(browser: Browser, page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TOPIC, 'up': 2, 'down': 0, 'as': 'list'})}")
    expect(page.locator("main table tbody tr").first).to_be_visible()
    rows = page.locator("main table tbody tr").count()
    page.keyboard.press("k")
    dialog = page.get_by_role("dialog", name="Pins")
    expect(dialog.get_by_role("textbox", name="What this view shows")).to_be_focused()
    page.keyboard.type("wrong <b>revenue</b>")
    dialog.get_by_role("button", name="Keep this view").press("Enter")
    link = dialog.locator("code").text_content() or ""
    assert re.fullmatch(re.escape(shown.url) + "view/pin/[a-z2-7]{16}", link)
    expect(dialog.get_by_role("link", name="wrong <b>revenue</b>")).to_be_visible()
    context = browser.new_context()
    other = context.new_page()
    other.goto(link)
    expect(other.locator("main table tbody tr")).to_have_count(rows)
    assert other.url == page.url
    context.close()
    dialog.get_by_role("button", name="Remove wrong <b>revenue</b>").press("Enter")
    expect(dialog.get_by_role("link", name="wrong <b>revenue</b>")).to_have_count(0)
    page.goto(link)
    expect(page.get_by_role("alert")).to_contain_text("There is no pin")


def test_every_pin_is_found_and_its_names_turn_no_button_round(page: Page, shown: Shown) -> None:
    for number in range(51):
        asked = page.request.post(f"{shown.url}api/v1/pins", data={"address": "view/estate", "name": f"{number}\u202eeunever"})
        assert asked.status == 201
    (oldest,) = page.request.get(f"{shown.url}api/v1/pins?offset=50").json()["pins"]
    open_view(page, f"{shown.url}view/estate")
    page.keyboard.press("k")
    dialog = page.get_by_role("dialog", name="Pins")
    expect(dialog.get_by_role("listitem")).to_have_count(50)
    dialog.get_by_role("button", name="Older").press("Enter")
    expect(dialog.get_by_role("listitem")).to_have_count(1)
    shown_name = oldest["name"].replace("\u202e", "⟨U+202E⟩")
    dialog.get_by_role("button", name=f"Remove {shown_name}", exact=True).press("Enter")
    expect(dialog.get_by_role("listitem")).to_have_count(0)
    expect(dialog.get_by_role("button", name="Older")).to_be_disabled()
    dialog.get_by_role("button", name="Newer").press("Enter")
    expect(dialog.get_by_role("listitem")).to_have_count(50)
    for pin in page.request.get(f"{shown.url}api/v1/pins").json()["pins"]:
        assert page.request.delete(f"{shown.url}api/v1/pins/{pin['id']}").ok
