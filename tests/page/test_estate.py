"""The estate in a browser: the same as graph, list and CSV."""

import csv
from pathlib import Path

from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import open_view


def test_the_estate_is_the_same_as_graph_list_and_csv(page: Page, shown: Shown, tmp_path: Path) -> None:
    open_view(page, shown.url)
    page.get_by_role("link", name="What flows between systems").press("Enter")
    cards = page.locator(".react-flow__node")
    expect(cards).not_to_have_count(0)
    answer = page.evaluate("async () => (await fetch(new URL('api/v1/estate', document.baseURI))).json()")
    between = [flow for flow in answer["flows"] if flow["source"] != flow["target"]]
    expect(cards).to_have_count(len(answer["nodes"]))
    expect(page.locator(".react-flow__edge")).to_have_count(len(between))
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").press("Enter")
    download.value.save_as(tmp_path / "estate.csv")
    page.keyboard.press("t")
    rows = page.get_by_role("table", name="Estate").locator("tbody tr")
    expect(rows).to_have_count(len(answer["nodes"]))
    page.reload()
    expect(rows).to_have_count(len(answer["nodes"]))
    names = {node["id"]: (node["system"], node["environment"]) for node in answer["nodes"]}
    with (tmp_path / "estate.csv").open(newline="") as file:
        flows = {
            ((row["source_system"], row["source_environment"]), (row["target_system"], row["target_environment"])): int(row["jobs"])
            for row in csv.DictReader(file)
            if row["source_datasets"] and row["target_datasets"]
        }
    assert flows == {(names[flow["source"]], names[flow["target"]]): flow["jobs"] for flow in answer["flows"]}


def test_the_estate_is_walked_with_keys_and_its_address_has_the_selection(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/estate")
    cards = page.locator(".react-flow__node")
    expect(cards).not_to_have_count(0)
    page.keyboard.press("ArrowRight")
    side = page.get_by_role("complementary", name="Selected node")
    expect(side).to_be_visible()
    first = page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != first)
    named = side.get_by_role("heading", level=2).text_content()
    page.reload()
    expect(side.get_by_role("heading", level=2)).to_have_text(named or "")
    expect(page.locator(".node.chosen")).to_have_count(1)
    side.get_by_role("region", name="Datasets").get_by_role("link").first.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Datasets")


def test_environments_are_counted_by_their_system(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/estate")
    cards = page.locator(".react-flow__node")
    expect(cards.filter(has_text="broker.internal:9092")).to_have_count(1)
    page.get_by_role("button", name="Systems").press("Enter")
    expect(cards.filter(has_text="broker.internal:9092")).to_have_count(0)
    expect(cards.filter(has_text="kafka")).to_have_count(1)
    assert page.url.endswith("scale=system")


def test_the_estate_opens_from_a_lineage(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?kind=dataset&namespace=ns&name=clean")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.keyboard.press("w")
    expect(page.get_by_role("heading", level=1)).to_have_text("Estate")
