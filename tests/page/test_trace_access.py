"""Who can see the values of a column trace, and columns of the same name where it meets flows without column evidence."""

import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import running
from tests.events import KEY, RUNS, columns, dataset, dataset_event, facet, run_event, schema
from tests.page.conftest import HOSTILE, listening
from tests.page.test_answers import saved
from tests.page.test_page import open_view, violations

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

KAFKA = "kafka://broker:9092"
TRACE = {"kind": "dataset", "namespace": KAFKA, "name": "users", "field": "email", "direction": "downstream"}
BOTH = {**TRACE, "access": "yes", "suggestions": "yes"}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """A server with a topic whose rights are known, a copy of which they are not, and flows without column lineage."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("page"), store) as server:
        now = server.parts.now_us = time.time_ns() // 1000
        hostile = [f"User:{name}" for name in HOSTILE.values()]
        rights = facet(
            mayRead=["User:*", "User:sa-1", *hostile], mayWrite=["User:sa-1"], exceptRead=["User:eve"], names={"User:sa-1": "order service"}
        )
        lineage = columns(email=[(KAFKA, "users", "email")], **{name: [(KAFKA, "users", name)] for name in HOSTILE.values()})
        topic = dataset("users", KAFKA)
        server.send(
            dataset_event(dataset("users", KAFKA, kafka_access=rights), time_us=now - 1),
            run_event(run=RUNS[0], job="land users", inputs=[topic], outputs=[dataset("lake", columnLineage=lineage)], time_us=now - 1),
            run_event(
                run=RUNS[1],
                job="sync <b>crm</b>",
                inputs=[topic],
                outputs=[dataset("crm", schema=schema("E_MAIL", "id", *HOSTILE.values()))],
                time_us=now - 1,
            ),
        )
        with listening(create_app(server.services)) as address:
            yield address


def address_of(url: str, **changed: str) -> str:
    return f"{url}view/trace?{urlencode({**TRACE, **changed})}"


def test_who_can_see_the_values_is_a_button_a_list_and_a_file(page: Page, url: str, tmp_path: Path) -> None:
    open_view(page, address_of(url))
    digest = page.locator(".digest").get_attribute("title")
    page.get_by_role("button", name="Who can see it").press("Enter")
    rows = page.get_by_role("region", name="Who can see it").locator("tbody tr")
    expect(rows).to_have_count(2)
    users = rows.filter(has_text="everybody (User:*)")
    expect(users.locator("td").nth(1)).to_contain_text("but not User:eve")
    expect(users.locator("td").nth(2)).to_have_text("order service (User:sa-1)")
    expect(users.locator("td").nth(3)).to_contain_text("land users")
    expect(rows.filter(has_text="not known: no source reports it for this system").locator("td").nth(3)).to_have_text("land users")
    expect(page.get_by_text("Of 1 dataset it is not known who may read and write.")).to_be_visible()
    assert page.locator(".digest").get_attribute("title") != digest
    file = {row["dataset"]: row for row in saved(page, tmp_path)}
    assert file["users"]["may_write"] == "order service (User:sa-1)"
    assert file["lake"]["may_read"] == "not known: no source reports it for this system"
    assert "access=yes" in page.url
    page.reload()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Where it is now").press("Enter")
    expect(page.get_by_role("region", name="Where it is")).to_be_visible()
    assert "access=yes" not in page.url


def test_columns_of_the_same_name_are_apart_from_what_is_evident(page: Page, url: str) -> None:
    open_view(page, address_of(url))
    digest = page.locator(".digest").get_attribute("title")
    counted = page.get_by_text("1 of 2 flows on the way have column evidence")
    expect(counted).to_be_visible()
    suggestions = page.get_by_role("region", name="Columns of the same name behind them")
    expect(suggestions).to_have_count(0)
    page.get_by_label("suggest columns by name").press("Space")
    expect(suggestions.locator("li")).to_have_count(1)
    expect(suggestions.locator("li")).to_contain_text("same name, no evidence")
    assert suggestions.locator("li").evaluate("item => getComputedStyle(item).borderTopStyle") == "dashed"
    expect(counted).to_be_visible()
    expect(page.get_by_role("region", name="Flows").locator("tbody tr")).to_have_count(1)
    assert page.locator(".digest").get_attribute("title") == digest
    page.reload()
    expect(suggestions.locator("li")).to_have_count(1)
    suggestions.get_by_role("link", name="E_MAIL").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Where to: E_MAIL")


@pytest.mark.parametrize("theme", ["light", "dark", "contrast"])
def test_axe_finds_nothing_with_both_shown(page: Page, url: str, theme: str) -> None:
    page.add_init_script(f"localStorage.setItem('lineage-bridge-theme', '{theme}')")
    for width in (1440, 390):
        page.set_viewport_size({"width": width, "height": 900})
        open_view(page, address_of(url, **BOTH))
        expect(page.get_by_role("region", name="Who can see it").locator("tbody tr")).to_have_count(2)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert violations(page) == []


def test_hostile_names_of_principals_jobs_and_columns_do_no_harm(page: Page, url: str) -> None:
    for name in HOSTILE.values():
        open_view(page, address_of(url, **{**BOTH, "field": name}))
        expect(page.locator(".suggestions li")).to_have_count(1)
        assert page.locator("main img, main script, main iframe, main table b b").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_side_of_a_dataset_has_who_may_read_and_write_it(page: Page, url: str) -> None:
    open_view(page, f"{url}view/lineage?{urlencode({'kind': 'dataset', 'namespace': KAFKA, 'name': 'users', 'about': 'access'})}")
    side = page.get_by_role("tabpanel")
    expect(side).to_contain_text("order service (User:sa-1)")
    expect(side).to_contain_text("land users")
    assert violations(page) == []
