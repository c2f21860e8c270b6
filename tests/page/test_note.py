"""What a view shows as a note: link, names, time and a small picture, on the clipboard, or to be copied by hand."""

import re
from urllib.parse import urlencode
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import EMAIL, PAYMENTS, REVENUE, TABLE, TOPIC, open_view

NOTED = {
    "lineage": (f"view/lineage?{urlencode({**TOPIC, 'up': 2, 'down': 2})}", "Lineage of", TOPIC["name"]),
    "impact": (f"view/impact?{urlencode(TABLE)}", "Blast radius of", TABLE["name"]),
    "trace": (f"view/trace?{urlencode({**EMAIL, 'direction': 'downstream'})}", "Where it goes: email of", EMAIL["name"]),
    "ledger": (f"view/ledger?{urlencode(REVENUE)}", "Hop ledger of", REVENUE["name"]),
}
_READ = """async () => {
    const [item] = await navigator.clipboard.read();
    const [plain, html] = await Promise.all(['text/plain', 'text/html'].map(async type => (await item.getType(type)).text()));
    return {plain, html};
}"""
_REFUSED = "() => Object.defineProperty(navigator, 'clipboard', {value: undefined})"


@pytest.mark.parametrize("view", NOTED)
def test_a_view_is_copied_as_a_note_with_a_key(page: Page, shown: Shown, view: str) -> None:
    address, subject, name = NOTED[view]
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_view(page, shown.url + address)
    expect(page.get_by_role("button", name="Note")).to_be_visible()
    page.keyboard.press("n")
    expect(page.get_by_role("button", name="copied")).to_be_visible()
    note = page.evaluate(_READ)
    first, second, *_ = note["plain"].splitlines()
    assert first.startswith(f"**{subject}** `{name}` in `")
    assert re.search(r"(as of|from) 20\d\d-\d\d-\d\dT", second)
    assert page.url in note["plain"].splitlines()
    assert re.search(rf"<svg [^>]*>.*{re.escape(name)}.*</svg>", note["html"], re.DOTALL)
    assert subject in note["html"]
    assert page.url.replace("&", "&amp;") in note["html"]


def test_a_note_that_may_not_be_put_on_the_clipboard_is_shown_with_its_picture(page: Page, shown: Shown) -> None:
    page.add_init_script(f"({_REFUSED})()")
    open_view(page, f"{shown.url}view/lineage?{urlencode(PAYMENTS)}")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    page.keyboard.press("n")
    text = page.get_by_role("textbox", name="Note in Markdown")
    expect(text).to_be_focused()
    expect(text).to_have_value(re.compile(r"^\*\*Lineage of\*\* `payments` in `ns`\nas of 20"))
    assert text.evaluate("field => field.selectionEnd - field.selectionStart === field.value.length"), "all of it is selected"
    with page.expect_download() as download:
        page.get_by_role("button", name="Its picture as SVG").press("Enter")
    svg = ET.parse(download.value.path()).getroot()
    assert int(svg.attrib["width"]) <= 960
    assert int(svg.attrib["height"]) <= 600
    page.keyboard.press("Escape")
    expect(text).to_have_count(0)


def test_the_keys_name_the_note(page: Page, shown: Shown) -> None:
    open_view(page, shown.url)
    page.locator("main").press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("copy a lineage, ledger, blast radius or trace as a note")
