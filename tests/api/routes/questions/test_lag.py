"""How far consumer groups are behind, over HTTP: in the pulse and in the ledger of a path."""

from typing import Any

import pytest
from tests.api.support import NOW, Server
from tests.events import RUNS, dataset, facet, run_event

from lineage_bridge.api.answering.lags import lag_answer
from lineage_bridge.api.schemas.statistics import LagAnswer, StuckAnswer
from lineage_bridge.graph.ids import NodeKind
from lineage_bridge.graph.runs.lag import DatasetLag, StuckParts
from lineage_bridge.model.graph import Node
from lineage_bridge.openlineage.times import format_time

MINUTE = 60_000_000
KAFKA = "kafka://broker:9092"
TOPIC: dict[str, Any] = {"namespace": KAFKA, "name": "orders"}
GROUP = {"jobType": facet(processingType="STREAMING", integration="KAFKA", jobType="CONSUMER_GROUP")}


def report(minutes_ago: int, rows: int, lag: dict[str, Any] | None, number: int = 0, target: str = "t") -> bytes:
    """What a group reports at a time: rows read since its start, and its lag."""
    topic = dataset("orders", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=rows)}))
    return run_event(
        "RUNNING",
        run=RUNS[number],
        job="billing",
        namespace=KAFKA,
        time_us=NOW - minutes_ago * MINUTE,
        inputs=[topic],
        outputs=[dataset(target)],
        run_facets={} if lag is None else {"kafka_lag": facet(**lag)},
        job_facets=GROUP,
    )


def lag_of(rows: int, **stuck: Any) -> dict[str, Any]:
    return {"at": "2026-01-01T00:00:00Z", "rows": rows, "topics": {"orders": rows, "other": 1}, **({"stuck": stuck} if stuck else {})}


def in_pulse(server: Server, **which: Any) -> Any:
    flows = server.ask("/graph/pulse", **TOPIC, **which)["flows"]
    (lag,) = [flow.get("lag") for flow in flows if flow["side"] == "input"]
    return lag


def in_ledger(server: Server, **which: Any) -> Any:
    (hop,) = server.ask("/graph/ledger", target_namespace="ns", target_name="t", **which)["hops"]
    return hop.get("lag")


def test_the_newest_lag_is_in_the_pulse_and_in_the_ledger(server: Server) -> None:
    stuck = {"partitions": 1, "worst": 3, "rows": 80}
    server.send(report(30, 0, lag_of(500)), report(10, 3600, lag_of(120, orders=stuck)), report(20, 1800, lag_of(9_000)))
    assert in_pulse(server) == {"at": format_time(NOW - 10 * MINUTE), "rows": 120, "drain_s": 120.0, "stuck": stuck}
    assert in_ledger(server) == {"at": format_time(NOW - 10 * MINUTE), "rows": 120, "drain_s": 2880.0, "stuck": stuck}
    earlier = {"at": format_time(NOW - 20 * MINUTE), "rows": 9_000, "drain_s": 18_000.0}
    assert in_pulse(server, until=format_time(NOW - 15 * MINUTE)) == earlier


def test_a_connector_has_the_lag_of_its_group_at_topics_of_another_namespace(server: Server) -> None:
    lag = {**lag_of(120), "namespaces": {"orders": KAFKA}}
    event = run_event(
        "RUNNING",
        job="sink",
        namespace="kafka-connect://worker:8083",
        time_us=NOW - MINUTE,
        inputs=[dataset("orders", KAFKA, access=("inputFacets", {"inputStatistics": facet(rowCount=5)}))],
        outputs=[dataset("t")],
        run_facets={"kafka_lag": facet(**lag)},
    )
    server.send(event)
    assert in_pulse(server)["rows"] == 120
    assert in_ledger(server)["rows"] == 120


def test_what_reads_nothing_needs_for_ever(server: Server) -> None:
    server.send(report(30, 50, lag_of(500)), report(10, 50, lag_of(700)), report(90, 50, None))
    assert in_pulse(server) == {"at": format_time(NOW - 10 * MINUTE), "rows": 700}
    server.send(report(5, 50, lag_of(0)))
    assert in_pulse(server) == {"at": format_time(NOW - 5 * MINUTE), "rows": 0, "drain_s": 0.0}


@pytest.mark.parametrize(
    "lag",
    [None, {"topics": {"orders": -1}}, {"topics": {"orders": "many"}}, {"topics": []}, {"_deleted": True}, {"topics": {"else": 7}}],
)
def test_no_lag_is_made_up(server: Server, lag: dict[str, Any] | None) -> None:
    server.send(report(10, 3600, lag))
    assert in_pulse(server) is None
    assert in_ledger(server) is None


def test_a_lag_of_before_the_last_day_does_not_count(server: Server) -> None:
    server.send(report(25 * 60, 0, lag_of(500)), report(10, 3600, None))
    days: dict[str, Any] = {"since": format_time(NOW - 48 * 60 * MINUTE), "until": format_time(NOW)}
    assert in_ledger(server, **days) is None
    server.send(report(23 * 60, 0, lag_of(400)))
    assert in_ledger(server, **days)["rows"] == 400


def test_a_hop_says_what_would_measure_it_and_where_consoles_show_it(server: Server) -> None:
    source = {"name": "shop", "uri": "https://console.example/shop"}
    event = run_event(
        "RUNNING",
        job="billing",
        namespace=KAFKA,
        time_us=NOW - MINUTE,
        inputs=[dataset("orders", KAFKA)],
        outputs=[dataset("t", dataSource=facet(**source))],
        job_facets=GROUP,
    )
    server.send(event)
    (hop,) = server.ask("/graph/ledger", target_namespace="ns", target_name="t")["hops"]
    assert (hop["read"]["collector"], hop["written"]["collector"], hop["lag_collector"]) == ("kafka", "producer", "kafka")
    assert hop["consoles"] == [{"node": hop["target"]["id"], "title": "shop", "url": "https://console.example/shop"}]
    server.send(report(2, 5, None))
    (hop,) = server.ask("/graph/ledger", target_namespace="ns", target_name="t")["hops"]
    assert "collector" not in hop["read"]
    server.send(report(1, 5, lag_of(3)))
    (hop,) = server.ask("/graph/ledger", target_namespace="ns", target_name="t")["hops"]
    assert "lag_collector" not in hop


def test_equal_lags_under_two_names_of_a_dataset_are_one_lag() -> None:
    job, *names = (Node(number, kind, "ns", str(number)) for number, kind in enumerate((NodeKind.JOB, NodeKind.DATASET, NodeKind.DATASET)))
    lags = {job.id: {("ns", "1"): DatasetLag(NOW, 5, StuckParts(1, 3, 4)), ("ns", "2"): DatasetLag(NOW, 5, None)}}
    for ordered in (names, names[::-1]):
        assert lag_answer(lags, job, ordered, 1.0) == LagAnswer(format_time(NOW), 5, 5.0, StuckAnswer(1, 3, 4))
