"""How far consumer groups are behind, in the pulse and in the hop ledger, and the pages of consoles, in a browser."""

import csv
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect
from tests.api.support import running
from tests.events import KEY, dataset, facet, run_event
from tests.page.conftest import listening
from tests.page.lineage.test_large import INK
from tests.page.test_page import open_view

from lineage_bridge.api.app import create_app
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

MINUTE_US = 60_000_000
KAFKA = "kafka://broker:9092"
STUCK = {"orders": {"partitions": 1, "worst": 4, "rows": 900}}
CONSOLE = "https://dbc-1.cloud.databricks.com/explore/data/main/sales/orders"
TABLE = {"namespace": "unitycatalog://dbc-1.cloud.databricks.com", "name": "main.sales.orders"}
GROUP = {"jobType": facet(processingType="STREAMING", integration="KAFKA", jobType="CONSUMER_GROUP")}
COUNTED = {"dataQualityMetrics": facet(columnMetrics={"order_id": {"distinctCount": 3_125}})}
TOPIC = {"kind": "dataset", "namespace": KAFKA, "name": "orders", "up": 1, "down": 2}


NOTCHES = """() => {
    const canvas = document.querySelector("canvas.lines");
    const context = canvas.getContext("2d");
    context.fillStyle = getComputedStyle(canvas).getPropertyValue("--bad");
    const bad = [1, 3, 5].map(at => parseInt(context.fillStyle.slice(at, at + 2), 16));
    const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
    const isBad = at => data[at + 3] === 255 && bad.every((part, by) => data[at + by] === part);
    return data.reduce((sum, _, at) => at % 4 === 0 && isBad(at) ? sum + 1 : sum, 0);
}"""
"""How many points of a canvas have the colour of notches."""
MANY = 80


@pytest.fixture(scope="module")
def behind(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server with a group that lags, whose topic a connector writes without saying how much, and a table behind it."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("behind"), store) as server:
        server.parts.now_us = now_us = time.time_ns() // 1000
        reports = [
            run_event(
                "RUNNING",
                run="00000000-0000-4000-8000-000000000001",
                job="billing",
                namespace=KAFKA,
                time_us=now_us - minutes * MINUTE_US,
                inputs=[dataset("orders", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=rows), **COUNTED}))],
                outputs=[dataset(TABLE["name"], TABLE["namespace"])],
                run_facets={"kafka_lag": facet(topics={"orders": 1_200}, **({"stuck": STUCK} if minutes == 1 else {}))},
                job_facets=GROUP,
            )
            for minutes, rows in ((2, 0), (1, 3_600))
        ]
        written = run_event(
            "RUNNING",
            run="00000000-0000-4000-8000-000000000002",
            job="cdc",
            namespace="kafka-connect://worker:8083",
            time_us=now_us - MINUTE_US,
            outputs=[dataset("orders", KAFKA)],
            inputs=[dataset("shop.orders", "postgres://db:5432")],
            job_facets={"lineagebridge_console": facet(title="Kafka Connect", url="http://worker:8083/connectors/cdc/status")},
        )
        server.send(*reports, written)
        with listening(create_app(server.services)) as url:
            yield url


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[str]:  # noqa: ARG001 - the page is built before
    """The address of a server with a topic that many groups read, all without a lag; one stands still at a partition."""
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("crowded"), store) as server:
        server.parts.now_us = now_us = time.time_ns() // 1000
        server.send(
            *(
                run_event(
                    "RUNNING",
                    run=f"00000000-0000-4000-8000-{number:012}",
                    job=f"group {number}",
                    namespace=KAFKA,
                    time_us=now_us - MINUTE_US,
                    inputs=[dataset("orders", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=3_600)}))],
                    outputs=[dataset(f"part {number}")],
                    run_facets={"kafka_lag": facet(topics={"orders": 900}, **({"stuck": STUCK} if number == MANY // 2 else {}))},
                    job_facets=GROUP,
                )
                for number in range(MANY)
            )
        )
        with listening(create_app(server.services)) as url:
            yield url


def test_the_pulse_has_the_lag_behind_the_rate_and_a_notch_where_partitions_are_stuck(page: Page, behind: str) -> None:
    open_view(page, f"{behind}view/lineage?{urlencode(TOPIC)}")
    page.keyboard.press("p")
    expect(page.locator(".react-flow__edge-text").filter(has_text="1.0/s, 20 min lag, 1 stuck")).to_have_count(1)
    expect(page.locator("path.notch title")).to_have_text("partition 4 is stuck, with 900 unread")
    worst = page.get_by_role("region", name="Pulse").get_by_role("listitem")
    expect(worst.first).to_contain_text("billing")
    expect(worst.first).to_contain_text("lagging")
    expect(worst.first).to_contain_text("partition 4 is stuck")


def test_a_ledger_has_the_lag_what_would_measure_and_where_consoles_show_it(page: Page, behind: str) -> None:
    open_view(page, f"{behind}view/ledger?{urlencode({'kind': 'dataset', **TABLE, 'hours': 1})}")
    row = page.locator("table.ledger tbody tr").filter(has_text="billing")
    expect(row).to_contain_text("1,200")
    expect(row).to_contain_text("20 min to read")
    expect(row).to_contain_text("partition 4 is stuck, with 900 unread")
    expect(row.get_by_role("cell").filter(has_text="3,125 distinct in order_id")).to_have_count(1)
    cdc = page.locator("table.ledger tbody tr").filter(has_text="cdc")
    expect(cdc).to_contain_text("a connect source would")
    expect(cdc.get_by_role("cell").filter(has_text="3,125 distinct in order_id")).to_have_count(1)
    expect(cdc).to_contain_text("its own events would")
    for inside, title, url in ((row, "Databricks", CONSOLE), (cdc, "Kafka Connect", "http://worker:8083/connectors/cdc/status")):
        link = inside.locator("a[target=_blank]").filter(has_text=title)
        expect(link).to_have_attribute("href", url)
        expect(link).to_have_attribute("rel", "noopener noreferrer")
    with page.expect_download() as saved:
        page.get_by_role("button", name="CSV").click()
    rows = list(csv.DictReader(io.StringIO(Path(saved.value.path()).read_text(encoding="utf-8-sig"))))
    (group,) = [entry for entry in rows if entry["job"] == "billing"]
    assert (group["unread"], group["seconds_to_read"], group["partitions_stuck"], group["consoles"]) == ("1200", "1200", "1", CONSOLE)
    assert (group["distinct_read"], group["distinct_written"]) == ("3125", "")
    assert {entry["read_collector"] for entry in rows} == {"", "producer"}


def test_a_link_on_the_canvas_of_a_large_picture_has_the_notch_too(page: Page, crowded: str) -> None:
    open_view(page, f"{crowded}view/lineage?{urlencode(TOPIC)}")
    expect(page.locator("canvas.lines")).to_have_count(1)
    page.wait_for_function(f"() => {{ const painted = {INK}; return painted(document.querySelector('canvas.lines')) > 0; }}")
    assert page.evaluate(NOTCHES) == 0
    page.keyboard.press("p")
    expect(page.locator("canvas.lines")).to_have_attribute("data-rates", re.compile("[1-9]"))
    page.wait_for_function(f"() => ({NOTCHES})() > 0")
