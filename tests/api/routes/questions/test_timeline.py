"""When things changed around a node, and how much flows there now, over HTTP."""

from typing import Any

import pytest
from tests.api.support import NOW, Server
from tests.events import RUNS, dataset, facet, run_event

from lineage_bridge.openlineage.times import format_time

HOUR = 3_600_000_000
STREAM = {"jobType": facet(processingType="STREAMING", integration="TEST", jobType="JOB")}
DAY_AGO = NOW - 24 * HOUR
A: dict[str, Any] = {"namespace": "ns", "name": "a"}


def schema(*names: str) -> dict[str, Any]:
    return facet(fields=[{"name": name, "type": "STRING"} for name in names])


def marks(server: Server, **which: Any) -> list[tuple[str, str, str]]:
    found = server.ask("/graph/timeline", **{**A, "since": format_time(DAY_AGO), **which})
    assert found["truncated"] is False
    return [(mark["what"], mark["node"]["name"], mark["at"]) for mark in found["marks"]]


def test_a_new_column_and_a_new_version_of_a_job_are_two_marks(server: Server) -> None:
    def stated(hours_ago: int, query: str, *columns: str) -> bytes:
        topic = dataset("b", schema=schema(*columns))
        sql = facet(query=query)
        return run_event(
            run=RUNS[0], time_us=NOW - hours_ago * HOUR, type_="RUNNING", inputs=[dataset("a")], outputs=[topic], job_facets={"sql": sql}
        )

    server.send(
        stated(30, "SELECT 1", "id"),
        stated(10, "SELECT 1", "id"),
        stated(5, "SELECT 2", "id", "email"),
        stated(1, "SELECT 2", "id", "email"),
    )
    found = marks(server)
    at = format_time(NOW - 5 * HOUR)
    assert found == [("code", "job", at), ("schema", "b", at)]
    answer = server.ask("/graph/timeline", **A, since=format_time(DAY_AGO))
    assert answer["marks"][0]["text"] == "sql"
    versions = server.ask("/graph/schemas", namespace="ns", name="b")["versions"]
    assert [answer["marks"][1][key] for key in ("text", "before")] == [version["version"] for version in versions]
    assert marks(server, until=at) == found
    assert marks(server, since=at) == []


def test_failures_and_starts_of_streams_are_marks(server: Server) -> None:
    around: dict[str, Any] = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
    server.send(
        run_event(run=RUNS[0], time_us=NOW - 40 * HOUR, type_="START", job_facets=STREAM, **around),
        run_event(run=RUNS[0], time_us=NOW - 9 * HOUR, type_="FAIL", job_facets=STREAM),
        run_event(run=RUNS[1], time_us=NOW - 8 * HOUR, type_="START", job_facets=STREAM, **around),
    )
    assert marks(server) == [("failed", "job", format_time(NOW - 9 * HOUR)), ("started", "job", format_time(NOW - 8 * HOUR))]


def test_a_rebalance_is_a_mark_within_the_bounds_of_its_facet(server: Server) -> None:
    def moved(hours_ago: int, **facets: Any) -> bytes:
        around: dict[str, Any] = {"inputs": [dataset("a")], "outputs": [dataset("b")]}
        return run_event(run=RUNS[0], time_us=NOW - hours_ago * HOUR, type_="RUNNING", job_facets={**STREAM, **facets}, **around)

    def bounds(hours_ago: int) -> dict[str, str]:
        return {"since": format_time(NOW - hours_ago * HOUR - 60_000_000), "until": format_time(NOW - hours_ago * HOUR)}

    wrong = [{"since": "x", "until": "y"}, {"since": bounds(1)["until"], "until": bounds(1)["since"]}]
    stated = [moved(hours, kafka_rebalance=facet(what="MEMBERS", **bounds(hours))) for hours in (6, 3, 30)]
    server.send(moved(40), *stated, stated[0], moved(2), *(moved(1, kafka_rebalance=facet(**each)) for each in wrong))
    found = server.ask("/graph/timeline", **A, since=format_time(DAY_AGO))["marks"]
    assert [(mark["what"], mark["node"]["name"], mark["since"], mark["at"]) for mark in found] == [
        ("rebalanced", "job", *bounds(hours).values()) for hours in (6, 3)
    ]


def test_rebalances_that_are_not_looked_at_are_stated(server: Server) -> None:
    def moved(minutes_ago: int) -> bytes:
        at_us = NOW - minutes_ago * 60_000_000
        bounds = {"since": format_time(at_us - 60_000_000), "until": format_time(at_us)}
        facets = {**STREAM, "kafka_rebalance": facet(what="MEMBERS", **bounds)}
        return run_event(run=RUNS[0], time_us=at_us, type_="RUNNING", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=facets)

    server.send(*map(moved, range(202)))
    for since, is_cut in ((NOW - 24 * HOUR, True), (NOW - 3 * HOUR, False)):
        answer = server.ask("/graph/timeline", **A, since=format_time(since), until=format_time(NOW))
        assert answer["truncated"] is is_cut


def test_a_flow_that_appears_is_a_mark_within_a_minute(server: Server) -> None:
    server.send(
        run_event(run=RUNS[0], time_us=NOW - 40 * HOUR, inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event(run=RUNS[1], job="other", time_us=NOW - 3 * HOUR, inputs=[dataset("a")], outputs=[dataset("c")]),
    )
    (mark,) = server.ask("/graph/timeline", **A, since=format_time(DAY_AGO))["marks"]
    assert (mark["what"], mark["node"]["name"]) == ("appeared", "other")
    assert mark["since"] < format_time(NOW - 3 * HOUR) <= mark["at"]
    assert format_time(NOW - 3 * HOUR + 60_000_000) >= mark["at"]


@pytest.mark.parametrize(("minutes", "is_cut"), [(1 << 18, False), ((1 << 18) + 1, True)])
def test_a_change_that_is_looked_for_less_finely_than_a_minute_is_stated(server: Server, minutes: int, is_cut: bool) -> None:
    server.send(
        run_event(run=RUNS[0], time_us=NOW - 300 * 24 * HOUR, inputs=[dataset("a")], outputs=[dataset("b")]),
        run_event(run=RUNS[1], job="other", time_us=NOW - 30 * 24 * HOUR, inputs=[dataset("a")], outputs=[dataset("c")]),
    )
    answer = server.ask("/graph/timeline", **A, since=format_time(NOW - minutes * 60_000_000), until=format_time(NOW))
    assert (len(answer["marks"]), answer["truncated"]) == (1, is_cut)


@pytest.mark.parametrize("window", [{"since": format_time(NOW)}, {"since": "never"}])
def test_an_impossible_window_is_refused(server: Server, window: dict[str, Any]) -> None:
    server.send(run_event(inputs=[dataset("a")], outputs=[dataset("b")]))
    assert server.ask("/graph/timeline", 422, **A, **window)["error"]


def test_a_pulse_has_the_rates_of_what_jobs_read_and_wrote_lately(server: Server) -> None:
    def moved(minutes_ago: int, rows: int) -> bytes:
        read = {**dataset("a"), "inputFacets": {"inputStatistics": facet(rowCount=rows)}}
        wrote = {**dataset("b"), "outputFacets": {"outputStatistics": facet(rowCount=rows, size=rows * 100)}}
        time_us = NOW - minutes_ago * 60_000_000
        return run_event(run=RUNS[minutes_ago % 2], time_us=time_us, type_="COMPLETE", inputs=[read], outputs=[wrote])

    server.send(moved(90, 5000), moved(15, 3600))
    answer = server.ask("/graph/pulse", **A)
    flows = {(flow["dataset"]["name"], flow["side"]): flow for flow in answer["flows"]}
    assert sorted(flows) == [("a", "input"), ("b", "output")]
    assert flows["a", "input"]["rows_per_second"] == pytest.approx(1.0)
    assert flows["b", "output"]["bytes_per_second"] == pytest.approx(100.0)
    assert flows["b", "output"]["last"] == format_time(NOW - 15 * 60_000_000)
    assert flows["b", "output"]["job"]["name"] == "job"
    earlier = server.ask("/graph/pulse", **A, until=format_time(NOW - 80 * 60_000_000))
    assert earlier["flows"][0]["rows_per_second"] == pytest.approx(5000 / 3600)
    day = server.ask("/graph/pulse", **A, window_s=86_400)
    assert [flow["rows_per_second"] for flow in day["flows"]] == pytest.approx([8600 / 86_400] * 2)
