"""Each answer of the page is one, in the graph, in the list and as a file, for whoever has its address, and with keys alone."""

import csv
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, Page, expect
from tests.api.support import running
from tests.events import KEY, dataset, run_event
from tests.page.conftest import Shown, listening
from tests.page.test_page import CUSTOMERS, EMAIL, PAYMENTS, REVENUE, TABLE, TOPIC, VIEWS, open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.store.write.apply import GraphWriter

JOB = {"kind": "job", "namespace": "flink-jobs", "name": "order-enrichment"}
SINKS = [
    ("kafka://broker.internal:9092", "commerce.public.customers", "email"),
    ("kafka://broker.internal:9092", "order-events-enriched", "customer_email_hash"),
    ("snowflake://acme-analytics", "analytics_db.raw.orders_enriched", "customer_email_hash"),
    ("snowflake://acme-analytics", "analytics_db.analytics.orders_fact", "customer_email_hash"),
]
MANY = 4999
SETTLED_WITHIN = 40
"""How often a view is looked at until it must have come to rest."""


def saved(page: Page, tmp_path: Path) -> list[dict[str, str]]:
    """What the view saves as CSV."""
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV", exact=True).press("Enter")
    path = tmp_path / "saved.csv"
    download.value.save_as(path)
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("direction", ["downstream", "upstream"])
@pytest.mark.parametrize("root", [TABLE, TOPIC, REVENUE, JOB, PAYMENTS], ids=lambda root: root["name"])
def test_graph_list_and_file_of_a_blast_radius_have_the_same_nodes(
    page: Page, shown: Shown, tmp_path: Path, root: dict[str, str], direction: str
) -> None:
    open_view(page, f"{shown.url}view/impact?{urlencode({**root, 'direction': direction})}")
    expect(page.locator("tbody tr, .empty").first).to_be_visible()
    cells = "rows => rows.map(row => [row.cells[1].textContent, ...[...row.cells[0].querySelectorAll('.name')].map(n => n.textContent)])"
    listed = {(kind, namespace, name) for kind, name, namespace in page.locator("tbody tr").evaluate_all(cells)}
    assert {(row["kind"], row["namespace"], row["name"]) for row in saved(page, tmp_path)} == listed
    reach = {"up": 0, "down": 20} if direction == "downstream" else {"up": 20, "down": 0}
    open_view(page, f"{shown.url}view/lineage?{urlencode({**root, **reach})}")
    labels = page.locator(".react-flow__node").evaluate_all("nodes => nodes.map(node => node.ariaLabel.split(',')[0])")
    assert set(labels) - {f"{root['kind']} {root['name']} in {root['namespace']}"} == {
        f"{kind} {name} in {space}" for kind, space, name in listed
    }
    assert len(labels) == (len(listed) + 1 if listed else 0), "a node alone is no graph"


@pytest.fixture(scope="module")
def wide(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server on which very much depends on one dataset."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("wide"), store) as server:
        server.send(run_event(job="spread", inputs=[dataset("root")], outputs=[dataset(f"part {number}") for number in range(MANY)]))
        with listening(create_app(server.services)) as url:
            yield url


def test_a_blast_radius_of_thousands_is_gone_through_part_by_part_and_saved_whole(page: Page, wide: str, tmp_path: Path) -> None:
    page.set_default_timeout(60_000)
    page.goto(f"{wide}view/impact?{urlencode({'kind': 'dataset', 'namespace': 'ns', 'name': 'root'})}")
    rows, more = page.locator("tbody tr"), page.get_by_role("button", name=re.compile("^Show more"))
    expect(page.locator(".figures")).to_contain_text("4,999 datasets", timeout=60_000)
    expect(rows).to_have_count(200)
    more.press("Enter")
    expect(rows).to_have_count(1200)
    for _ in range(4):
        more.press("Enter")
    expect(rows).to_have_count(MANY + 1)
    expect(more).to_have_count(0)
    assert len(saved(page, tmp_path)) == MANY + 1


def test_a_trace_has_every_sink_stops_at_the_hash_and_is_the_same_as_of_the_same_time(page: Page, shown: Shown, tmp_path: Path) -> None:
    question = {**EMAIL, "direction": "downstream", "at": format_time(shown.now_us)}
    open_view(page, f"{shown.url}view/trace?{urlencode(question)}")
    expect(page.get_by_text("2 of 2 flows on the way have column evidence")).to_be_visible()
    until_masked = saved(page, tmp_path)
    assert [(row["target_namespace"], row["target"], row["target_column"]) for row in until_masked] == SINKS[:2]
    assert [row["masked"] for row in until_masked] == ["", "yes"]
    assert {row["target_owner"] for row in until_masked} <= {"team:commerce", "team:data-platform"}
    assert {row["target_retention"] for row in until_masked} == {"unknown"}
    assert all(re.fullmatch(r"[0-9a-f]{32}", row["event_id"]) for row in until_masked), "a pinned trace has proofs"
    listed = "rows => rows.map(row => [row.cells[3].textContent, row.cells[4].textContent])"
    assert page.locator("tbody tr").evaluate_all(listed) == [[row["target_owner"], row["target_retention"]] for row in until_masked]
    digest = page.locator(".digest").get_attribute("title")
    assert digest
    page.get_by_label("continue behind masking").press("Space")
    expect(page.locator("tbody tr")).to_have_count(len(SINKS))
    rows = saved(page, tmp_path)
    assert sorted((row["target_namespace"], row["target"], row["target_column"]) for row in rows) == sorted(SINKS)
    assert page.locator(".digest").get_attribute("title") != digest
    open_view(page, f"{shown.url}view/trace?{urlencode(question)}")
    expect(page.locator(".digest")).to_have_attribute("title", digest)


def test_where_a_value_is_now_leaves_out_what_is_masked_in_the_list_and_the_file(page: Page, shown: Shown, tmp_path: Path) -> None:
    open_view(page, f"{shown.url}view/trace?{urlencode({**EMAIL, 'direction': 'downstream'})}")
    page.get_by_role("button", name="Where it is now").press("Enter")
    expect(page.get_by_label("Left out").first).to_contain_text("1 dataset left out: reached by masked values alone.")
    rows = page.get_by_role("region", name="Where it is").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("region", name="Left out")).to_contain_text("order-events-enriched")
    file = saved(page, tmp_path)
    assert [(row["dataset"], row["columns"]) for row in file] == [(EMAIL["name"], "email"), ("commerce.public.customers", "email")]
    assert [row["namespace"] for row in file] == [SINKS[0][0], EMAIL["namespace"]]
    assert [bool(row["last_written"]) for row in file] == [True, False], "no run wrote the table"
    assert "held=yes" in page.url
    page.get_by_role("button", name="Where it is now").press("Enter")
    expect(page.get_by_role("region", name="Flows")).to_be_visible()


def test_a_pinned_trace_keeps_its_time_in_the_address(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/trace?{urlencode({**EMAIL, 'direction': 'downstream'})}")
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.get_by_role("button", name="Pin the time to copy it as a report")).to_be_disabled()
    page.get_by_role("button", name="Pin the time", exact=True).press("Enter")
    expect(page.get_by_role("button", name=re.compile("^As of 20"))).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("button", name="Copy as a report in Markdown")).to_be_enabled()
    assert "at=20" in page.url
    expect(page.locator("tbody tr")).to_have_count(2)


def what_is_seen(page: Page) -> dict[str, list[str]]:
    """Heads, cards with their places, rows, and what is pressed or chosen, once nothing is being asked for."""
    expect(page.locator(".loading")).to_have_count(0)
    script = """() => {
        const all = (selector, text) => [...document.querySelectorAll(selector)].map(text);
        return {
            heads: all("main h1, main h2", node => node.textContent),
            cards: all(".react-flow__node", node => `${node.ariaLabel} ${node.style.transform} ${node.className}`).sort(),
            links: all(".react-flow__edge", node => node.dataset.id ?? "").sort(),
            rows: all("main tbody tr", row => (row.cells[0]?.textContent ?? "")),
            pressed: all("main [aria-pressed=true], main [aria-selected=true]", node => node.textContent),
            fields: all("main select, main input", field => `${field.value} ${field.checked ?? ""}`),
        };
    }"""
    seen: dict[str, list[str]] = page.evaluate(script)
    return seen


def settled(page: Page) -> dict[str, list[str]]:
    """What is seen when it does not change any more."""
    before: dict[str, list[str]] = {}
    for _ in range(SETTLED_WITHIN):
        if (seen := what_is_seen(page)) == before:
            return seen
        before = seen
        page.wait_for_timeout(300)
    raise AssertionError(f"{page.url} does not come to rest")


@pytest.mark.parametrize("view", [name for name in VIEWS if name not in ("unknown", "events")])
def test_an_address_shows_a_colleague_the_same(browser: Browser, page: Page, shown: Shown, view: str) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    other = context.new_page()
    for each in (page, other):  # at one time, as a view without a time shows the present
        each.clock.set_fixed_time(shown.now_us / 1_000_000)
    open_view(page, shown.url + VIEWS[view])
    open_view(other, page.url)
    assert settled(other) == settled(page)
    context.close()


def leads_on(before: str, word: str, url: str) -> bool:
    """Whether an address is another one than before, and has a word."""
    return word in url and url != before


def test_what_was_changed_with_keys_is_in_the_address(browser: Browser, page: Page, shown: Shown) -> None:
    """Hops, an expansion, a chosen node, its columns, folded jobs, a held pulse: all of them at once."""
    open_view(page, f"{shown.url}view/lineage?{urlencode(TOPIC)}")
    drawn = page.locator(".react-flow__node")
    expect(drawn).to_have_count(6)
    page.keyboard.press("+")
    expect(drawn).to_have_count(11)
    for key, shown_by in (("ArrowRight", "selected="), ("ArrowRight", "selected="), ("c", "open="), ("o", "fold=yes"), ("p", "pulse=live")):
        before = page.url
        page.keyboard.press(key)
        page.wait_for_url(partial(leads_on, before, shown_by))
    hold = page.get_by_role("button", name="Hold")
    expect(hold).to_be_enabled()
    hold.press("Enter")
    expect(page.get_by_role("button", name="Live again")).to_be_visible()
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    other = context.new_page()
    open_view(other, page.url)
    expect(other.get_by_role("button", name="Live again")).to_be_visible()
    mine, theirs = settled(page), settled(other)
    assert {key for key in mine if mine[key] != theirs[key]} == set()
    context.close()


def tabbed_to(page: Page, name: str) -> None:
    """Press Tab until what has this name has the focus."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"Tab never led to {name}")


def test_from_a_jump_to_paths_trace_and_impact_with_keys_alone(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    expect(page.get_by_role("heading", name="The estate")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("commerce.public.customers postgres")
    expect(page.get_by_role("dialog").get_by_role("option")).to_have_count(1)
    page.keyboard.press("Enter")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    expect(page.locator(".side .fields li")).not_to_have_count(0)
    lineage = page.url
    page.keyboard.press("Control+k")
    page.keyboard.type("orders_fact snowflake")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_contain_text("dataset")
    page.keyboard.press("Shift+Enter")
    expect(page.locator("main h1")).to_contain_text(CUSTOMERS["name"])
    expect(page.locator("ol.paths > li")).to_have_count(1)
    expect(page.locator("ol.paths > li")).to_contain_text("order-events-enriched")
    page.keyboard.press("Backspace")
    expect(page.locator(".side .fields li")).not_to_have_count(0)
    assert page.url == lineage
    tabbed_to(page, "email")
    page.keyboard.press("Enter")
    expect(page.locator("main h1")).to_contain_text("email")
    tabbed_to(page, "goes to")
    page.keyboard.press("Enter")
    expect(page.locator("tbody .state", has_text="masked")).to_have_count(1)
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.keyboard.press("b")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Blast radius")
    expect(page.locator("tbody tr").first).to_be_visible()


def searched(page: Page, shown: Shown, text: str, option: str) -> None:
    """Search from the start page, and open what has these words."""
    page.goto(shown.url)
    page.get_by_role("combobox", name="Search").press_sequentially(text)
    page.get_by_role("listbox").get_by_role("option", name=re.compile(option)).click()
    expect(page.locator(".react-flow__node")).not_to_have_count(0)


def test_what_breaks_if_this_topic_changes_is_found_in_three_actions(page: Page, shown: Shown) -> None:
    searched(page, shown, "order-events-enriched", "^order-events-enriched")
    page.get_by_role("toolbar").get_by_role("link", name="Impact").click()
    expect(page.get_by_role("row", name=re.compile("Executive Revenue Dashboard"))).to_be_visible()


def test_where_there_is_no_path_it_says_how_far_each_side_reaches(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/paths?{urlencode({**PAYMENTS, **{f'to_{key}': value for key, value in TABLE.items()}})}")
    empty = page.locator("main .empty")
    expect(empty).to_contain_text("payments leads to 1 dataset and 1 job.")
    expect(empty).to_contain_text(f"{TABLE['name']} comes from 0 datasets and 0 jobs.")
    empty.get_by_role("link", name="1 dataset").press("Enter")
    expect(page.locator("h1")).to_contain_text("Blast radius of")


def test_where_this_address_goes_is_found_in_three_actions(page: Page, shown: Shown) -> None:
    searched(page, shown, "email", "^commerce.public.customers dataset in postgres")
    page.get_by_role("link", name="Where does email go?").click()
    expect(page.locator("tbody tr")).to_have_count(2)
    expect(page.locator("tbody tr").last).to_contain_text("customer_email_hash")
    expect(page.locator("tbody tr").last).to_contain_text("masked")
