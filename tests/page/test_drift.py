"""Drift has a list: from the start page, narrowed by its address, page by page, and as a file."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import running
from tests.events import KEY, dataset, job_event, run_event, schema
from tests.page.conftest import HOUR_US, listening
from tests.page.test_answers import saved
from tests.page.test_page import open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

JOBS = 60


@pytest.fixture(scope="module")
def drifted(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server with many jobs that read something else than was declared."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("drifted"), store) as server:
        for number in range(JOBS):
            run = f"00000000-0000-4000-8000-{number:012}"
            server.send(
                job_event(job=f"job {number:02}", inputs=[dataset("declared")]),
                run_event(run=run, job=f"job {number:02}", inputs=[dataset("read")]),
            )
        for hours, columns in ((3, ("id", "phone")), (2, ("id", "email"))):
            written = dataset("declared", schema=schema(*columns))
            server.send(run_event("RUNNING", time_us=server.services.clock_us() - hours * HOUR_US, job="writer", outputs=[written]))
        with listening(create_app(server.services)) as url:
            yield url


def test_drift_leads_from_the_start_page_to_its_list_which_is_the_file_as_well(page: Page, drifted: str, tmp_path: Path) -> None:
    open_view(page, drifted)
    page.get_by_role("link", name="differ from what was declared").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Drift")
    rows = page.locator("tbody tr")
    expect(rows).to_have_count(50)
    names = rows.locator("th .full-name > .name").all_inner_texts()
    found = saved(page, tmp_path)
    assert [row["name"] for row in found] == names
    assert {(row["drift"], row["node_name"]) for row in found} == {("declared", "declared"), ("observed", "read")}


def test_the_list_of_drift_goes_on_behind_the_jobs_that_it_has_shown(page: Page, drifted: str, tmp_path: Path) -> None:
    open_view(page, f"{drifted}view/drift")
    seen: list[tuple[str, str]] = []
    while True:
        seen += [(row["name"], row["drift"]) for row in saved(page, tmp_path)]
        following = page.get_by_role("link", name="Next", exact=True)
        if not following.count():
            break
        before = page.url
        following.press("Enter")
        expect(page).not_to_have_url(before)
        expect(page.locator(".loading")).to_have_count(0)
    assert len(seen) == len(set(seen)) == 2 * JOBS
    # Offsets count jobs, so nobody knows where the page before begins.
    page.get_by_role("link", name="First", exact=True).press("Enter")
    expect(page).to_have_url(f"{drifted}view/drift")


def test_the_list_of_drift_is_narrowed_by_its_address(page: Page, drifted: str) -> None:
    open_view(page, f"{drifted}view/drift?name=job+0*")
    expect(page.locator("tbody tr")).to_have_count(20)
    expect(page.get_by_label("Job", exact=True)).to_have_value("job 0*")


def test_the_start_page_names_the_columns_of_changed_schemas(page: Page, drifted: str) -> None:
    open_view(page, drifted)
    changed = page.get_by_role("article").filter(has_text="schema change within a week")
    expect(changed).to_contain_text("added email; removed phone")
    changed.get_by_role("link").press("Enter")
    expect(page.get_by_role("complementary")).to_contain_text("email")
