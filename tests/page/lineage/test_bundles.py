"""Consumer groups that read the same, as one node of the picture, in a browser."""

import time
from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import listening
from tests.page.test_page import open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

BROKER = "kafka://broker:9092"
GROUPS = 6
VIEW = {"kind": "dataset", "namespace": BROKER, "name": "orders", "fold": "yes"}


@pytest.fixture(scope="module")
def groups(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server on which six consumer groups and a connector read a topic."""
    store = tmp_path_factory.mktemp("groups") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    kinds = {f"group {number}": ("KAFKA", "CONSUMER_GROUP") for number in range(GROUPS)} | {"sink": ("KAFKA_CONNECT", "")}
    with running(tmp_path_factory.mktemp("page"), store) as server:
        server.parts.now_us = time.time_ns() // 1000
        server.send(
            *(
                run_event(
                    job=job,
                    run=f"00000000-0000-4000-8000-{number:012}",
                    time_us=server.parts.now_us - 60_000_000,
                    job_facets={"jobType": facet(processingType="STREAMING", integration=integration, jobType=type_)},
                    inputs=[dataset("orders", BROKER)],
                    outputs=[dataset("copy", "s3://lake")] if job == "sink" else [],
                )
                for number, (job, (integration, type_)) in enumerate(kinds.items())
            )
        )
        with listening(create_app(server.services)) as url:
            yield url


def test_they_are_one_node_that_counts_them_in_graph_and_list(page: Page, groups: str) -> None:
    open_view(page, f"{groups}view/lineage?{urlencode(VIEW)}")
    cards = page.locator(".react-flow__node")
    bundle = cards.filter(has_text=f"{GROUPS} consumer groups")
    expect(bundle).to_have_count(1)
    expect(cards).to_have_count(3)
    bundle.click()
    expect(page.get_by_role("complementary").locator("li")).to_have_count(GROUPS)
    page.keyboard.press("t")
    row = page.locator("tbody tr", has_text=f"{GROUPS} consumer groups").filter(has=page.get_by_role("button", name="Show each"))
    expect(row.locator("th li")).to_have_count(GROUPS)


def test_they_are_taken_apart_with_a_key_and_the_address_has_it(page: Page, groups: str) -> None:
    open_view(page, f"{groups}view/lineage?{urlencode(VIEW)}")
    cards = page.locator(".react-flow__node")
    cards.filter(has_text="consumer groups").click()
    expect(page.locator(".node.chosen")).to_contain_text("consumer groups")
    page.keyboard.press("d")
    expect(cards.filter(has_text="group ")).to_have_count(GROUPS)
    expect(page.locator(".react-flow__node:focus")).to_contain_text("group ")
    expect(page.locator(".node.chosen")).to_contain_text("group ")
    assert "apart=readers-" in page.url
    page.reload()
    expect(cards.filter(has_text="group ")).to_have_count(GROUPS)
    page.keyboard.press("f")
    page.get_by_role("button", name="Count consumer groups again").press("Enter")
    expect(cards.filter(has_text=f"{GROUPS} consumer groups")).to_have_count(1)


def test_who_folds_them_with_one_of_them_selected_has_their_node_selected(page: Page, groups: str) -> None:
    open_view(page, f"{groups}view/lineage?{urlencode({**VIEW, 'fold': ''})}")
    page.locator(".react-flow__node", has_text="group 3").click()
    expect(page.locator(".node.chosen")).to_contain_text("group 3")
    page.keyboard.press("o")
    expect(page.locator(".node.chosen")).to_contain_text(f"{GROUPS} consumer groups")
    expect(page.locator(".react-flow__node:focus")).to_contain_text("consumer groups")
