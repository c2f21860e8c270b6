"""Several nodes that are picked in the lineage, and the one blast radius of them, in a browser."""

from urllib.parse import urlencode

from playwright.sync_api import Locator, Page, expect
from tests.page.conftest import Shown
from tests.page.test_blast_radius import drawn, listed
from tests.page.test_page import EMAIL, TOPIC, open_view

ENRICHED = f"dataset {TOPIC['name']} in {TOPIC['namespace']}"


def card(page: Page, label: str) -> Locator:
    return page.locator(f'.react-flow__node[aria-label^="{label}"]')


def test_nodes_are_picked_with_keys_and_have_one_blast_radius(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TOPIC, 'up': 1, 'down': 1})}")
    expect(card(page, ENRICHED)).to_be_visible()
    page.keyboard.press("x")
    picked = page.get_by_role("list", name="Picked nodes").get_by_role("listitem")
    expect(picked).to_have_text([TOPIC["name"]])
    page.keyboard.press("ArrowRight")
    second = page.evaluate("document.activeElement.ariaLabel").split(",")[0]
    assert second != ENRICHED
    page.keyboard.press("Space")
    expect(picked).to_have_count(2)
    name = second.split()[1]
    expect(page.get_by_role("status").filter(has_text="picked")).to_have_text(f"2 nodes picked, the last {name}")
    for label in (ENRICHED, second):
        assert (card(page, label).get_attribute("aria-label") or "").endswith(", picked")
    page.reload()
    expect(page.locator(".node.picked")).to_have_count(2)
    page.keyboard.press("t")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(2)
    page.keyboard.press("t")
    expect(page.locator(".node.picked")).to_have_count(2)
    page.keyboard.press("b")
    expect(page.locator("h1")).to_contain_text("Blast radius of")
    expect(page.locator(".node.root")).to_have_count(2)
    expect(page.locator("tbody tr").first).to_be_visible()
    assert drawn(page) == listed(page) | {ENRICHED, second}
    page.keyboard.press("Backspace")
    expect(page.locator(".node.picked")).to_have_count(2)


def test_a_click_with_a_modifier_picks_and_leaves_and_a_checkbox_does_the_same(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode(TOPIC)}")
    picked = page.locator(".node.picked")
    for modifier in ("Control", "Shift"):
        card(page, ENRICHED).click(modifiers=[modifier])
        expect(picked).to_have_count(1)
        card(page, ENRICHED).click(modifiers=[modifier])
        expect(picked).to_have_count(0)
    page.keyboard.press("t")
    boxes = page.get_by_role("checkbox")
    for box in boxes.all():
        box.press("Space")
    expect(page.get_by_role("link", name=f"Impact of these {boxes.count()}")).to_be_visible()
    page.get_by_role("button", name=f"Without {TOPIC['name']}", exact=True).press("Enter")
    expect(page.get_by_role("checkbox", checked=True)).to_have_count(boxes.count() - 1)
    page.get_by_role("button", name="Pick none").press("Enter")
    expect(page.get_by_role("group", name="Picked")).to_have_count(0)
    assert "picked" not in page.url


def test_the_key_of_the_blast_radius_follows_a_chosen_column(page: Page, shown: Shown) -> None:
    table = {"kind": "dataset", "namespace": EMAIL["namespace"], "name": EMAIL["name"]}
    open_view(page, f"{shown.url}view/lineage?{urlencode({**table, 'down': 2})}")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    page.keyboard.press("c")
    page.locator(".columns button", has_text="email").first.click()
    expect(page.locator(".chip", has_text="Column email")).to_be_visible()
    page.keyboard.press("b")
    expect(page.locator("h1")).to_contain_text("Where to: email")


def test_everything_that_a_list_shows_has_one_blast_radius(page: Page, shown: Shown) -> None:
    """Such as all jobs of one Flink cluster."""
    open_view(page, f"{shown.url}view/jobs?namespace=flink-jobs")
    rows = page.locator("tbody tr")
    expect(rows.first).to_be_visible()
    jobs = rows.count()
    page.get_by_role("link", name="Impact of").press("Enter")
    expect(page.locator("h1")).to_contain_text("Blast radius of")
    expect(page.locator(".node.root")).to_have_count(jobs)
    assert listed(page)
    assert not [label for label in listed(page) if label.endswith(" in flink-jobs")]
