"""What is known of the selected node, beside the picture: amounts over time, SQL with its columns, events as they were sent."""

import re
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page, expect
from tests.page.conftest import Shown
from tests.page.test_answers import saved
from tests.page.test_page import ENRICHMENT, PAYMENTS, TOPIC, open_view


def test_amounts_of_a_dataset_are_charts_tables_and_a_file(page: Page, shown: Shown, tmp_path: Path) -> None:
    open_view(page, shown.url + f"view/lineage?{urlencode(TOPIC)}")
    page.get_by_role("tab", name="Statistics").press("Enter")
    charts = page.locator("figure.chart")
    expect(charts.first).to_contain_text("written by")
    expect(charts.first.get_by_role("img")).to_have_attribute("aria-label", re.compile(r"^[1-9][\d,]* rows in \d+ runs?, \d+ of 24 bars"))
    drawn = charts.first.locator("rect").count()
    charts.first.locator("summary").press("Enter")
    expect(charts.first.locator("tbody tr")).to_have_count(drawn)
    rows = saved(page, tmp_path)
    assert {row["dataset"] for row in rows} == {TOPIC["name"]}
    assert {row["side"] for row in rows} == {"input", "output"}
    assert sum(row["side"] == "output" and row["rows"] != "" for row in rows) == drawn
    page.get_by_label("Over").select_option("a week")
    expect(charts.first.get_by_role("img")).to_have_attribute("aria-label", re.compile("of 28 bars"))
    assert "about=statistics" in page.url
    page.reload()
    expect(charts.first).to_be_visible()


def test_a_dataset_without_amounts_is_said_to_have_none(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + f"view/lineage?{urlencode({**PAYMENTS, 'about': 'statistics'})}")
    expect(page.locator(".side .empty")).to_contain_text("No run has reported amounts")


def test_the_columns_of_a_chosen_flow_are_marked_in_the_sql_of_its_job(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + f"view/lineage?{urlencode({**ENRICHMENT, 'about': 'sql'})}")
    sql = page.locator("pre.sql")
    expect(sql).to_contain_text("SELECT")
    whole = sql.inner_text()
    expect(sql.locator("mark")).to_have_count(0)
    page.get_by_label("Column that it writes").select_option(label=f"customer_email_hash of {TOPIC['name']}")
    expect(sql.locator("mark.from").first).to_have_text("email")
    expect(sql.locator("mark.into").first).to_have_text("customer_email_hash")
    assert sql.inner_text() == whole
    marked = sql.locator("mark").all_inner_texts()
    page.reload()
    expect(sql.locator("mark")).to_have_count(len(marked))


def test_the_events_behind_a_dataset_are_shown_whole_with_the_way_to_their_runs(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + f"view/lineage?{urlencode({**PAYMENTS, 'about': 'events'})}")
    found = page.locator("details.event")
    expect(found).to_have_count(5)
    found.first.locator("summary").press("Enter")
    expect(found.first.locator("pre")).to_contain_text('"name": "payments"')
    expect(found.first).to_contain_text("load")
    found.first.get_by_role("link").first.press("Enter")
    expect(page.locator("h1")).to_contain_text("Run 00000000-0000-4000-8000-000000000001")


def test_the_events_of_a_job_go_on_page_by_page(page: Page, shown: Shown) -> None:
    open_view(page, shown.url + f"view/lineage?{urlencode({**ENRICHMENT, 'about': 'events'})}")
    found = page.locator("details.event")
    expect(found).to_have_count(10)
    newest = found.first.locator("time").get_attribute("datetime") or ""
    page.get_by_role("button", name="Older").press("Enter")
    expect(page.locator(".side")).to_contain_text("11 to 20")
    assert (found.first.locator("time").get_attribute("datetime") or "") < newest
