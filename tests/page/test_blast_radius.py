"""The blast radius of one node or several: groups, and ways that rows light in the graph."""

import csv
import json
import re
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_page import PAYMENTS, REVENUE, TABLE, TOPIC, open_view

SEVERAL = [*TABLE.items(), ("also_kind", "dataset"), ("also_namespace", "ns"), ("also_name", "payments")]
"""The parameters of a blast radius of a table and of what the job `load` writes."""


def drawn(page: Page) -> set[str]:
    labels: list[str] = page.locator(".react-flow__node").evaluate_all("nodes => nodes.map(node => node.ariaLabel.split(',')[0])")
    return set(labels)


def listed(page: Page) -> set[str]:
    cells = "rows => rows.map(row => [row.cells[1].textContent, ...[...row.cells[0].querySelectorAll('.name')].map(n => n.textContent)])"
    rows = page.locator("tbody tr:not(.group)").evaluate_all(cells)
    return {f"{kind} {name} in {namespace}" for kind, name, namespace in rows}


def test_several_nodes_are_one_answer_in_graph_list_and_file(page: Page, shown: Shown, tmp_path: Path) -> None:
    alone = {}
    for root in (TABLE, PAYMENTS):
        open_view(page, f"{shown.url}view/impact?{urlencode(root)}")
        expect(page.locator("tbody tr").first).to_be_visible()
        alone[root["name"]] = listed(page)
    open_view(page, f"{shown.url}view/impact?{urlencode(SEVERAL)}")
    expect(page.locator("h1")).to_contain_text("and 1 other")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    roots = {f"dataset {root['name']} in {root['namespace']}" for root in (TABLE, PAYMENTS)}
    assert listed(page) == set().union(*alone.values()) - roots
    assert drawn(page) == listed(page) | roots
    expect(page.locator(".node.root")).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).press("Enter")
    download.value.save_as(tmp_path / "saved.csv")
    with (tmp_path / "saved.csv").open(encoding="utf-8", newline="") as file:
        saved = list(csv.DictReader(file))
    assert {f"{row['kind']} {row['name']} in {row['namespace']}" for row in saved} == listed(page)
    assert {row["way_known"] for row in saved} <= {"observed", "declared", "inferred"}
    with page.expect_download() as download:
        page.get_by_role("button", name="JSON", exact=True).press("Enter")
    whole = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert {f"{item['node']['kind']} {item['node']['name']} in {item['node']['namespace']}" for item in whole["affected"]} == listed(page)
    assert whole["link"] == page.url
    named = {row["name"]: row for row in saved}
    assert named["totals"]["last_written"]
    assert named["report"]["last_run"]
    totals = page.get_by_role("row", name="totals")
    expect(totals.get_by_role("cell", name=re.compile("written .+ ago"))).to_be_visible()
    expect(totals.get_by_role("cell", name="not known")).to_be_visible()
    for row in saved:
        assert bool(row["last_run"]) == (row["kind"] == "job"), row


def test_one_more_node_is_asked_about_and_left_out_again_with_keys(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/impact?{urlencode(TABLE)}")
    page.get_by_text("And of another dataset or job").press("Enter")
    field = page.get_by_role("combobox", name="One more dataset or job")
    field.fill("payments ns")
    expect(page.get_by_role("listbox").get_by_role("option", name=re.compile("^payments ")).first).to_be_visible()
    field.press("Enter")
    expect(page.get_by_role("list", name="Of").get_by_role("listitem")).to_have_count(2)
    assert "also_name=payments" in page.url
    page.get_by_role("button", name=f"Without {TABLE['name']}").press("Enter")
    expect(page.locator("h1")).to_contain_text("payments")
    assert "also_name" not in page.url
    page.keyboard.press("Backspace")
    expect(page.locator("h1")).to_contain_text("and 1 other")


def test_a_row_lights_its_way_in_the_graph_and_keeps_it(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/impact?{urlencode(SEVERAL)}")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    lit, row = page.locator(".react-flow__node.lit"), page.get_by_role("row", name=re.compile("Executive Revenue Dashboard"))
    expect(lit).to_have_count(0)
    row.get_by_role("link").first.focus()
    expect(lit).not_to_have_count(0)
    looked = set(lit.evaluate_all("nodes => nodes.map(node => node.ariaLabel.split(',')[0])"))
    assert f"dataset {TABLE['name']} in {TABLE['namespace']}" in looked
    assert any("Executive Revenue Dashboard" in label for label in looked)
    assert "dataset payments in ns" not in looked
    expect(page.locator(".react-flow__edge.lit")).to_have_count(len(looked) - 1)
    keep = row.get_by_role("button", name=re.compile("^Light the way"))
    keep.press("Enter")
    expect(keep).to_have_attribute("aria-pressed", "true")
    keep.blur()
    expect(lit).to_have_count(len(looked))
    page.reload()
    expect(page.locator(".react-flow__node.lit")).to_have_count(len(looked))


def test_rows_are_grouped_by_system_and_by_owner_with_counts(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/impact?{urlencode(TOPIC)}")
    expect(page.locator("tbody tr").first).to_be_visible()
    whole = listed(page)
    groups = page.locator("tr.group")
    for by in ("system", "owner"):
        page.get_by_role("button", name=f"by {by}").press("Enter")
        expect(groups.first).to_be_visible()
        assert f"by={by}" in page.url
        assert listed(page) == whole
        texts = groups.evaluate_all("rows => rows.map(row => row.textContent)")
        counts = [re.findall(r"(\d+) datasets?, (\d+) jobs?$", text)[0] for text in texts]
        assert sum(int(datasets) + int(jobs) for datasets, jobs in counts) == len(whole)
        rows = page.locator("tbody").evaluate_all("bodies => bodies.map(body => body.querySelectorAll('tr:not(.group)').length)")
        assert rows == [int(datasets) + int(jobs) for datasets, jobs in counts]
    page.get_by_role("button", name="by system").press("Enter")
    expect(groups.filter(has_text="snowflake")).to_have_count(1)
    page.get_by_role("button", name="List alone").press("Enter")
    expect(page.locator(".react-flow__node")).to_have_count(0)
    assert listed(page) == whole


def test_everything_on_a_cluster_is_one_question(page: Page, shown: Shown) -> None:
    """From the blast radius of one topic, with keys, to that of its whole cluster: what it affects lies outside of it."""
    open_view(page, f"{shown.url}view/impact?{urlencode(TOPIC)}")
    page.get_by_text("Of everything in namespaces").press("Enter")
    field = page.get_by_role("textbox", name="Namespaces")
    expect(field).to_have_value(TOPIC["namespace"])
    field.fill("kafka://broker.*")
    field.press("Enter")
    expect(page.locator("h1")).to_have_text("Blast radius of everything in kafka://broker.*")
    expect(page.locator(".react-flow__node").first).to_be_visible()
    assert not any(row.endswith(f" in {TOPIC['namespace']}") for row in listed(page))
    assert f"dataset {REVENUE['name']} in {REVENUE['namespace']}" in listed(page)
    roots = drawn(page) - listed(page)
    assert len(roots) > 1
    assert all(root.endswith(f" in {TOPIC['namespace']}") for root in roots)
    before = listed(page)
    page.reload()
    expect(page.locator("tbody tr").first).to_be_visible()
    assert listed(page) == before
    open_view(page, f"{shown.url}view/impact?{urlencode({'namespace': 'nats://*'})}")
    expect(page.get_by_text("nothing is in a namespace that matches")).to_be_visible()
