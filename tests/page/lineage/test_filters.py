"""What narrows the picture of a lineage, in a browser."""

from urllib.parse import urlencode

from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import TOPIC, open_view


def test_a_filter_is_in_the_address_and_graph_and_list_have_the_same(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TOPIC, 'up': 2, 'down': 2})}")
    drawn = page.locator(".react-flow__node")
    expect(drawn).to_have_count(11)
    page.keyboard.press("f")
    panel = page.get_by_role("region", name="Filter")
    panel.get_by_role("group", name="System").get_by_role("checkbox", name="kafka 3", exact=True).press("Space")
    expect(drawn).to_have_count(3)
    expect(page.locator(".react-flow__edge-text")).to_have_text(["through order-enrichment"] * 2)
    expect(panel).to_contain_text("8 nodes not drawn")
    page.reload()
    expect(drawn).to_have_count(3)
    page.keyboard.press("t")
    expect(page.locator("tbody tr")).to_have_count(3)
    expect(page.locator("tbody small", has_text="through order-enrichment").first).to_be_visible()
    panel.get_by_role("button", name="Choose everything").press("Enter")
    expect(page.locator("tbody tr")).to_have_count(11)


def test_trivial_jobs_are_folded_into_the_link_through_them(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TOPIC, 'down': 2})}")
    drawn = page.locator(".react-flow__node")
    expect(drawn.filter(has_text="snowflake-orders-sink")).to_have_count(1)
    page.keyboard.press("o")
    expect(drawn.filter(has_text="snowflake-orders-sink")).to_have_count(0)
    expect(page.locator(".react-flow__edge-text", has_text="through snowflake-orders-sink")).to_have_count(1)
    assert "fold=yes" in page.url


def test_only_one_side_of_a_node_is_kept_by_a_key_and_given_back(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode({**TOPIC, 'up': 3, 'down': 3})}")
    cards, root = page.locator(".react-flow__node"), f"dataset {TOPIC['name']} in {TOPIC['namespace']}"
    expect(cards.first).to_be_visible()

    def labels() -> set[str]:
        return set(cards.evaluate_all("nodes => nodes.map(node => node.ariaLabel.split(',')[0])"))

    whole = labels()
    page.keyboard.press("u")
    chip = page.locator(".chip", has_text="Only what is upstream of")
    expect(chip).to_contain_text(TOPIC["name"])
    expect(cards).not_to_have_count(len(whole))
    up = labels()
    page.keyboard.press("d")
    expect(page.locator(".chip", has_text="Only what is downstream of")).to_be_visible()
    for label in up - {root}:
        expect(page.locator(f'.react-flow__node[aria-label^="{label}"]')).to_have_count(0)
    down = labels()
    assert up | down == whole
    assert up & down == {root}
    page.reload()
    expect(cards).to_have_count(len(down))
    assert labels() == down
    page.get_by_role("button", name="Show both sides again").press("Enter")
    expect(cards).to_have_count(len(whole))
    expect(chip).to_have_count(0)
