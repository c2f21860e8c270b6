"""The hops of a path on the command line: what is unread, what would measure a side, and where consoles show it."""

import time
import uuid

import pytest
from tests.events import dataset, facet, run_event

from lineage_bridge.cli.client import Client
from lineage_bridge.cli.console import format_seconds

KAFKA = "kafka://ledger-broker:9092"
LAG = {"topics": {"sales": 7_200}, "stuck": {"sales": {"partitions": 2, "worst": 1, "rows": 900}}}
GROUP = {"jobType": facet(processingType="STREAMING", integration="KAFKA", jobType="CONSUMER_GROUP")}
PAGE = "https://console.example/sales"


@pytest.fixture(scope="module", autouse=True)
def events(server):
    report = run_event(
        "RUNNING",
        run=str(uuid.UUID(int=777)),
        namespace=KAFKA,
        job="ledger-group",
        time_us=time.time_ns() // 1000 - 60_000_000,
        inputs=[dataset("sales", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=86_400)}))],
        outputs=[dataset("sales-copy", dataSource=facet(name="shop", uri=PAGE))],
        run_facets={"kafka_lag": facet(**LAG)},
        job_facets=GROUP,
    )
    copied = run_event("COMPLETE", job="ledger-next", namespace="flink://c", inputs=[dataset("sales-copy")], outputs=[dataset("sales-end")])
    with Client(server.url) as client:
        client.post_events(b"[" + report + b"," + copied + b"]", "application/json")
    server.fold()


def test_a_hop_says_what_is_unread_and_where_to_look(call, server):
    lines = call("ledger", KAFKA, "sales", "ns", "sales-end", "--url", server.url).out.splitlines()
    (group,) = [line for line in lines if "ledger-group" in line]
    assert "7,200 rows, 2 h to read, 2 partitions stuck" in group
    assert "not reported (needs a source of kind flink)" in next(line for line in lines if "ledger-next" in line)
    assert f"shop: {PAGE}" in lines


@pytest.mark.parametrize(("seconds", "text"), [(0.0, "0 s"), (59.6, "59.6 s"), (60, "1 min"), (5_400, "1.5 h"), (172_800, "2 days")])
def test_a_length_of_time_has_its_largest_unit(seconds, text):
    assert format_seconds(seconds) == text
