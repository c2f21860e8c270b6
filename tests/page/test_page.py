"""What a person does with the page, in a browser."""

import gzip
import json
from collections.abc import Iterator
from datetime import datetime
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect
from tests.page.conftest import HOSTILE, ROOT, Shown

from lineage_bridge.demo.pipeline import CDC_REPORT_S, REBALANCE_S
from lineage_bridge.openlineage.times import format_time

REVENUE = {"kind": "dataset", "namespace": "snowflake://acme-analytics", "name": "analytics_db.analytics.daily_revenue_summary"}
TOPIC = {"kind": "dataset", "namespace": "kafka://broker.internal:9092", "name": "order-events-enriched"}
TABLE = {"kind": "dataset", "namespace": "postgres://commerce-db.internal:5432", "name": "commerce.public.orders"}
ORDERS = {"kind": "dataset", "namespace": "kafka://broker.internal:9092", "name": "commerce.public.orders"}
ENRICHMENT = {"kind": "job", "namespace": "flink-jobs", "name": "order-enrichment"}
CUSTOMERS = {"namespace": "postgres://commerce-db.internal:5432", "name": "commerce.public.customers"}
EMAIL = {**CUSTOMERS, "field": "email"}
LISTS = (
    "datasets",
    "jobs",
    "aliases",
    "drift",
    "runs",
    "events",
    "quarantine",
    "tasks",
    "sources",
    "inputs",
    "targets",
    "keys",
    "sessions",
)
DBT = {"namespace": "dbt", "name": "dbt-run-shop"}
PAYMENTS = {"kind": "dataset", "namespace": "ns", "name": "payments"}
VIEWS = {
    "home": "",
    "search": "view/search?q=orders",
    "lineage": f"view/lineage?{urlencode({**TOPIC, 'up': 2, 'down': 2})}",
    "picked": f"view/lineage?{urlencode({**TOPIC, **{f'picked_{key}': value for key, value in TABLE.items()}})}",
    "list": f"view/lineage?{urlencode({**TOPIC, 'as': 'list'})}",
    "time": f"view/lineage?{urlencode({**PAYMENTS, 'bar': 24, 'from': '2020-01-01T00:00:00Z'})}",
    "filtered": f"view/lineage?{urlencode({**TOPIC, 'up': 2, 'system': 'kafka', 'fold': 'yes'})}",
    "pulse": f"view/lineage?{urlencode({**TOPIC, 'pulse': 'live'})}",
    "statistics": f"view/lineage?{urlencode({**TOPIC, 'about': 'statistics'})}",
    "sql": f"view/lineage?{urlencode({**ENRICHMENT, 'about': 'sql'})}",
    "events behind a dataset": f"view/lineage?{urlencode({**TOPIC, 'about': 'events'})}",
    "ledger": f"view/ledger?{urlencode(REVENUE)}",
    "impact": f"view/impact?{urlencode(TABLE)}",
    "trace": f"view/trace?{urlencode({**EMAIL, 'direction': 'downstream'})}",
    "paths": "view/paths?" + urlencode({**TABLE, **{f"to_{key}": value for key, value in REVENUE.items()}}),
    "estate": "view/estate",
    "estate as a list": "view/estate?as=list",
    "unknown": "view/nowhere",
    **{name: f"view/{name}" for name in LISTS},
    "runs of a job": f"view/runs?{urlencode(DBT)}",
    "source": "view/sources?open=broker",
    "input": "view/inputs?open=events",
    "target": "view/targets?open=catalog",
    "no run": "view/runs?open=00000000-0000-4000-8000-00000000dead",
}


def open_view(page: Page, url: str) -> None:
    page.goto(url)
    expect(page.locator("main h1, main .empty strong").first).to_be_visible()
    expect(page.locator(".loading")).to_have_count(0)


def test_the_wrong_revenue_is_found_in_three_actions(page: Page, shown: Shown) -> None:
    page.goto(shown.url)
    search = page.get_by_role("combobox", name="Search")
    expect(search).to_be_focused()
    search.press_sequentially("daily_revenue_summary")
    expect(page.get_by_role("listbox").get_by_role("option").first).to_contain_text("analytics_db.analytics.daily_revenue_summary")
    search.press("Enter")
    expect(page.locator(".react-flow__node")).not_to_have_count(0)
    page.keyboard.press("l")
    marked = page.locator("tr.diverged")
    expect(marked).to_have_count(1)
    expect(marked).to_contain_text("commerce-cdc")
    expect(marked).to_contain_text("first divergence")
    expect(marked).to_contain_text("1.28")
    page.get_by_role("link", name="What has changed since?").press("Enter")
    expect(page.locator(".node.root")).to_contain_text("commerce-cdc")
    good = moment_of(page)
    assert shown.now_us - REBALANCE_S * 1_000_000 > good > shown.now_us - (REBALANCE_S + CDC_REPORT_S) * 1_000_000 - 120_000_000


def moment_of(page: Page) -> int:
    """The time with which the lineage is compared, by its address; UTC microseconds."""
    return int(datetime.fromisoformat(parse_qs(urlsplit(page.url).query)["from"][0]).timestamp()) * 1_000_000


def test_the_time_bar_goes_to_the_last_time_at_which_it_was_right(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode(REVENUE)}")
    page.keyboard.press("h")
    button = page.get_by_role("button", name="Last good")
    button.press("Enter")
    expect(page.get_by_role("status").filter(has_text="commerce-cdc was right until")).to_be_visible()
    expect(page.get_by_role("slider", name="Compared with the lineage as of")).to_be_visible()
    assert moment_of(page) < shown.now_us - REBALANCE_S * 1_000_000
    page.reload()
    expect(page.get_by_role("slider", name="Compared with the lineage as of")).to_be_visible()
    open_view(page, f"{shown.url}view/lineage?{urlencode({**PAYMENTS, 'bar': 24})}")
    button.press("Enter")
    expect(page.get_by_role("status").filter(has_text="knows no time")).to_be_visible()
    assert "from" not in parse_qs(urlsplit(page.url).query)


def test_graph_and_list_have_the_same_nodes(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + VIEWS["lineage"])
    drawn = page.locator(".react-flow__node")
    expect(drawn).to_have_count(11)
    names = {label.split(" in ")[0].split(" ", 1)[1] for label in drawn.evaluate_all("nodes => nodes.map(node => node.ariaLabel)")}
    page.keyboard.press("t")
    rows = page.locator("tbody th .full-name > .name")
    expect(rows).to_have_count(11)
    assert set(rows.all_inner_texts()) == names


@pytest.mark.parametrize("width", [1440, 390])
def test_the_whole_picture_is_in_sight_at_first(page: Page, shown: Shown, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    open_view(page, shown.url + VIEWS["lineage"])
    expect(page.locator(".react-flow__node")).to_have_count(11)
    page.wait_for_function("""() => {
        const stage = document.querySelector(".canvas").getBoundingClientRect();
        return [...document.querySelectorAll(".react-flow__node")].every(node => {
            const { left, top, right, bottom } = node.getBoundingClientRect();
            return left >= stage.left && top >= stage.top && right <= stage.right && bottom <= stage.bottom;
        });
    }""")


def where_nodes_are(page: Page) -> dict[str, str]:
    """The place of each drawn node, by its label without what changed."""
    script = "nodes => nodes.map(node => [node.ariaLabel.split(',')[0], node.style.transform])"
    return dict(page.locator(".react-flow__node").evaluate_all(script))


def test_a_new_column_and_a_redeployed_job_are_two_changes_and_nothing_moves(page: Page, shown: Shown) -> None:
    hour_us = 3_600_000_000
    times = {"from": format_time(shown.now_us - 5 * hour_us), "at": format_time(shown.now_us - 5 * hour_us // 2)}
    drawn = page.locator(".react-flow__node")
    open_view(page, f"{shown.url}view/lineage?{urlencode({**PAYMENTS, 'bar': 24, 'at': times['from']})}")
    expect(drawn).to_have_count(3)
    before = where_nodes_are(page)
    open_view(page, f"{shown.url}view/lineage?{urlencode({**PAYMENTS, 'bar': 24, **times})}")
    expect(page.locator(".time-bar .summary")).to_have_text("0 added, 0 removed, 2 changed")
    expect(page.locator(".node .change")).to_have_text(["• changed", "• changed"])
    assert where_nodes_are(page) == before
    expect(page.locator(".side .diff")).to_have_text("added currency STRING")
    page.locator(".react-flow__node", has_text="load").click()
    expect(page.locator(".side pre.removed")).to_have_text("INSERT INTO payments SELECT id FROM raw")
    expect(page.locator(".side pre.added")).to_have_text("INSERT INTO payments SELECT id, currency FROM raw")
    page.keyboard.press("t")
    expect(page.locator("tbody td", has_text="changed")).to_have_count(2)


def test_the_time_bar_is_moved_with_keys_from_change_to_change(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode(PAYMENTS)}")
    page.keyboard.press("h")
    expect(page.locator(".track .tick.appeared")).to_have_count(2)
    handle = page.get_by_role("slider", name="Lineage as of")
    expect(handle).to_have_attribute("aria-valuetext", "now")
    expect(page.locator(".react-flow__node")).to_have_count(5)
    handle.press("PageDown")
    handle.press("PageDown")
    expect(page.locator(".react-flow__node")).to_have_count(3)
    page.reload()
    expect(page.locator(".react-flow__node")).to_have_count(3)
    handle.press("End")
    expect(page.locator(".react-flow__node")).to_have_count(5)
    handle.press("ArrowLeft")
    expect(handle).not_to_have_attribute("aria-valuetext", "now")
    handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", "now")


def test_the_pulse_has_the_rates_of_the_links_and_can_be_held(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode(TOPIC)}")
    page.keyboard.press("p")
    labels = page.locator(".pulse .react-flow__edge-text")
    expect(labels).not_to_have_count(0)
    rates = sorted(labels.all_text_contents())
    assert all(rate.endswith(" rows/s") for rate in rates)
    page.get_by_role("button", name="Hold").click()
    expect(page.get_by_role("button", name="Live again")).to_be_visible()
    page.reload()
    expect(labels).to_have_count(len(rates))
    assert sorted(labels.all_text_contents()) == rates
    page.keyboard.press("t")
    listed = {text for text in page.locator("tbody small").all_inner_texts() if text}
    assert listed >= set(rates)


def test_expanding_is_a_view_that_back_undoes(page: Page, shown: Shown) -> None:
    open_view(page, f"{shown.url}view/lineage?{urlencode(TOPIC)}")
    drawn = page.locator(".react-flow__node")
    expect(drawn).to_have_count(6)
    page.get_by_role("button", name="Show 1 more downstream", include_hidden=True).click()
    expect(drawn).to_have_count(8)
    page.reload()
    expect(drawn).to_have_count(8)
    page.go_back()
    expect(drawn).to_have_count(6)


def test_an_email_address_is_traced_to_where_it_is_masked(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + VIEWS["trace"])
    expect(page.locator("tbody tr").last).to_contain_text("customer_email_hash")
    expect(page.locator("tbody tr").last).to_contain_text("masked")
    expect(page.get_by_text("have column evidence")).to_be_visible()
    expect(page.locator("tbody")).not_to_contain_text("orders_fact")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_survives_a_reload(page: Page, shown: Shown, view: str) -> None:
    open_view(page, shown.url + VIEWS[view])
    address, text = page.url, page.locator("main h1, main .empty").first.inner_text()
    page.reload()
    expect(page.locator("main h1, main .empty").first).to_have_text(text, use_inner_text=True)
    assert page.url == address


def violations(page: Page, **options: object) -> list[tuple[str, list[str]]]:
    """What axe finds wrong with the page as it is: rules, with the first elements that break them."""
    page.evaluate((ROOT / "web" / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8"))
    answer = page.evaluate("options => axe.run(document, {resultTypes: ['violations'], ...options})", options)
    return [(item["id"], [node["html"][:200] for node in item["nodes"]][:3]) for item in answer["violations"]]


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_axe_finds_nothing(page: Page, shown: Shown, theme: str) -> None:
    """Themes differ in their colours alone."""
    found = {}
    rules = {"runOnly": ["color-contrast"]} if theme != "light" else {}
    page.add_init_script(f"localStorage.setItem('lineage-bridge-theme', '{theme}')")
    for name, view in VIEWS.items():
        open_view(page, shown.url + view)
        if name == "lineage":
            expect(page.locator(".react-flow__node")).not_to_have_count(0)
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        if wrong := violations(page, **rules):
            found[name] = wrong
    assert found == {}, json.dumps(found, indent=1)


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_name_is_shown_whole_and_harmless(page: Page, shown: Shown, kind: str) -> None:
    name = HOSTILE[kind]
    open_view(page, f"{shown.url}view/lineage?{urlencode({'kind': 'dataset', 'namespace': 'ns', 'name': name})}")
    expect(page.locator(".react-flow__node")).to_have_count(3)
    text = page.locator(".side h2").evaluate("heading => heading.textContent")
    assert text == "".join(f"⟨U+{ord(c):04X}⟩" if c in "\u200b\u202e\u200d" else c for c in name)


def test_who_has_no_key_is_asked_for_one(page: Page, shown: Shown) -> None:
    page.goto(shown.guarded_url + VIEWS["impact"])
    page.get_by_label("API key").fill("lb_mistyped")
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("alert")).to_contain_text("The key was refused")
    page.get_by_label("API key").fill(shown.key)
    page.get_by_role("button", name="Enter").click()
    expect(page.get_by_role("heading", name="Blast radius")).to_be_visible()
    expect(page.locator(".person")).to_contain_text("reader")


def test_a_phone_shows_every_view_without_moving_sideways(page: Page, shown: Shown) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for view in VIEWS.values():
        open_view(page, shown.url + view)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), view


def initial_scripts() -> Iterator[bytes]:
    """The scripts that every view loads."""
    static = ROOT / "src" / "lineage_bridge" / "api" / "web" / "static"
    index = (static / "index.html").read_text(encoding="utf-8")
    yield from (path.read_bytes() for path in sorted((static / "assets").glob("*.js")) if path.name in index)


@pytest.mark.usefixtures("built")
def test_the_first_script_is_small() -> None:
    sizes = [len(gzip.compress(script)) for script in initial_scripts()]
    assert sizes
    assert sum(sizes) <= 220 * 1024
