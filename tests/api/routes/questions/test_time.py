"""Questions of an earlier time, differences, drift, ended flows and liveness over HTTP."""

from typing import Any

import pytest
from tests.api.support import NOW, Server
from tests.events import RUNS, T0, dataset, facet, job_event, run_event

from lineage_bridge.graph.ids import DAY_US
from lineage_bridge.openlineage.times import format_time

HOUR = 3_600_000_000
STREAM = {"jobType": facet(processingType="STREAMING", integration="TEST")}


def moved(source: str, target: str, time_us: int, run: str, job: str = "job") -> bytes:
    return run_event(run=run, job=job, time_us=time_us, inputs=[dataset(source)], outputs=[dataset(target)])


def edges(answer: dict[str, Any]) -> list[tuple[str, str]]:
    names = {node["id"]: node["name"] for node in answer["nodes"]}
    return sorted((names[edge["source"]], names[edge["target"]]) for edge in answer["edges"])


def test_a_neighbourhood_is_asked_as_of_a_time(server: Server) -> None:
    server.send(moved("a", "b", T0, RUNS[0]), moved("a", "c", T0 + HOUR, RUNS[1]))
    now = server.ask("/graph/neighbourhood", namespace="ns", name="a")
    assert edges(now) == [("a", "b"), ("a", "c")]
    assert (now.get("at"), now["resolution"]) == (None, "exact")
    then = server.ask("/graph/neighbourhood", namespace="ns", name="a", at=format_time(T0 + 1))
    assert edges(then) == [("a", "b")]
    assert (then["at"], then["resolution"]) == (format_time(T0 + 1), "day")
    midnight = server.ask("/graph/neighbourhood", namespace="ns", name="a", at=format_time(T0 - T0 % DAY_US))
    assert edges(midnight) == []
    assert midnight["resolution"] == "exact"
    lineage = server.ask("/lineage/datasets/lineage", namespace="ns", name="a", direction="downstream", at=format_time(T0 + 1))
    assert [[output["name"] for output in event["outputs"]] for event in lineage["events"]] == [["b"]]
    assert server.ask("/graph/neighbourhood", 422, namespace="ns", name="a", at="yesterday")["error"]


def test_a_diff_around_a_node_and_of_all_jobs(server: Server) -> None:
    server.send(moved("a", "b", T0, RUNS[0]), moved("a", "c", T0 + HOUR, RUNS[1], job="other"))
    around: list[dict[str, Any]] = [{"namespace": "ns", "name": "a"}, {}]
    for which in around:
        answer = server.ask("/graph/diff", since=format_time(T0 + 1), **which)
        names = {node["id"]: node["name"] for node in answer["nodes"]}
        assert {(c["change"], names[c["edge"]["target"]]) for c in answer["changes"] if c["kind"] == "edge"} == {("appeared", "c")}
        assert {c["node"]["name"] for c in answer["changes"] if c["kind"] == "node"} - {"other"} == {"c"}
        back = server.ask("/graph/diff", since=format_time(T0 + 1), until=format_time(T0 + 2), **which)
        assert back["changes"] == []
    pages, offset = [], 0
    while True:
        page = server.ask("/graph/diff", since=format_time(T0 - 1), limit=1, offset=offset)
        pages += page["changes"]
        if "next" not in page:
            break
        offset = page["next"]
    assert {c["edge"]["target"] for c in pages if c["kind"] == "edge"} == {
        c["edge"]["target"] for c in server.ask("/graph/diff", since=format_time(T0 - 1))["changes"] if c["kind"] == "edge"
    }
    assert server.ask("/graph/diff", 422, since=format_time(T0), until=format_time(T0 - 1))["error"]


def test_a_diff_contains_changed_labels(server: Server) -> None:
    server.send(moved("a", "b", T0 - 20 * DAY_US, RUNS[0]))
    (change,) = [
        c
        for c in server.ask("/graph/diff", namespace="ns", name="a", since=format_time(T0), until=format_time(T0 + 20 * DAY_US))["changes"]
        if c["kind"] == "edge"
    ]
    assert (change["change"], change["label_before"], change["edge"]["label"]) == ("changed", "current", "stale")


def test_drift_is_declared_but_not_observed_or_the_reverse(server: Server) -> None:
    server.send(
        job_event("job", T0, inputs=[dataset("a"), dataset("x")], outputs=[dataset("b")]),
        moved("a", "b", T0 + HOUR, RUNS[0]),
        run_event(run=RUNS[1], time_us=T0 + 2 * HOUR, inputs=[dataset("y")]),
        moved("p", "q", T0, RUNS[2], job="undeclared"),
    )
    answer = server.ask("/graph/drift")
    assert answer["jobs"] == 1
    assert {(d["drift"], d["what"], d["node"]["name"], d.get("target", {}).get("name"), d["since"]) for d in answer["drifts"]} == {
        ("declared", "input", "x", None, format_time(T0)),
        ("declared", "flow", "x", "b", format_time(T0)),
        ("observed", "input", "y", None, format_time(T0 + 2 * HOUR)),
    }
    assert server.ask("/graph/drift", namespace="elsewhere*")["drifts"] == []


def test_a_flow_is_ended_and_the_end_undone(server: Server) -> None:
    server.send(moved("a", "b", T0, RUNS[0]))
    order = {"job": {"namespace": "jobs", "name": "job"}, "source": {"namespace": "ns", "name": "a"}}
    ask: dict[str, Any] = {"namespace": "ns", "name": "a"}
    assert server.client.post("/api/v1/operations/end", json=order).status_code == 202
    server.fold()
    assert edges(server.ask("/graph/neighbourhood", **ask)) == []
    (edge,) = server.ask("/graph/neighbourhood", ended=True, **ask)["edges"]
    assert edge["label"] == "ended"
    server.parts.now_us += 1
    assert server.client.post("/api/v1/operations/unend", json=order).status_code == 202
    server.fold()
    assert edges(server.ask("/graph/neighbourhood", **ask)) == [("a", "b")]


@pytest.mark.parametrize("order", [{}, {"job": {"namespace": "n", "name": "j"}}, {"job": {"namespace": "n"}, "source": None}], ids=str)
def test_an_end_without_a_flow_is_422(server: Server, order: dict[str, Any]) -> None:
    assert server.client.post("/api/v1/operations/end", json=order).status_code == 422


@pytest.mark.parametrize(
    ("silent_us", "state"), [(30_000_000, "alive"), (600_000_000, "silent"), (2 * DAY_US, "gone")], ids=["alive", "silent", "gone"]
)
def test_liveness_of_a_stream_follows_its_heartbeats(server: Server, silent_us: int, state: str) -> None:
    beats = [run_event("RUNNING", time_us=T0 + beat * 60_000_000) for beat in range(1, 8)]
    server.send(run_event("START", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=STREAM), *beats)
    server.send(moved("p", "q", T0, RUNS[1], job="batch"))
    server.parts.now_us = T0 + 7 * 60_000_000 + silent_us
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="a")
    assert [edge["liveness"] for edge in answer["edges"]] == [state]
    assert [port["liveness"] for port in answer["ports"]] == [state]
    assert [run["liveness"] for run in server.ask(f"/graph/runs/{RUNS[0]}")["runs"]] == [state]
    assert "liveness" not in server.ask("/graph/neighbourhood", namespace="ns", name="p")["edges"][0]


def test_a_stream_without_progress_is_idle(server: Server) -> None:
    def beat(number: int, rows: int) -> bytes:
        access = ("outputFacets", {"outputStatistics": facet(rowCount=rows)})
        return run_event("RUNNING", time_us=T0 + number * 60_000_000, outputs=[dataset("b", access=access)], job_facets=STREAM)

    server.send(
        run_event("START", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=STREAM), *(beat(n, 10 * n) for n in range(1, 5))
    )
    server.parts.now_us = T0 + 5 * 60_000_000
    assert server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"][0]["liveness"] == "alive"
    server.send(*(beat(n, 40) for n in range(5, 9)))
    server.parts.now_us = T0 + 9 * 60_000_000
    assert server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"][0]["liveness"] == "idle"


@pytest.mark.parametrize("end", ["ABORT", "FAIL", "COMPLETE"])
def test_a_stream_that_has_ended_is_not_alive(server: Server, end: str) -> None:
    minute = 60_000_000
    beats = [run_event("RUNNING", time_us=T0 + beat * minute) for beat in range(1, 8)]
    server.send(run_event("START", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=STREAM), *beats)
    server.send(run_event(end, time_us=T0 + 7 * minute + 1_000_000))
    server.parts.now_us = T0 + 7 * minute + 30_000_000
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="a")
    shown = [*answer["edges"], *answer["ports"], *server.ask(f"/graph/runs/{RUNS[0]}")["runs"]]
    assert [item.get("liveness") for item in shown] == [None] * 3
    server.send(run_event("RUNNING", time_us=T0 + 9 * minute))
    server.parts.now_us = T0 + 9 * minute + 30_000_000
    answer = server.ask("/graph/neighbourhood", namespace="ns", name="a")
    shown = [*answer["edges"], *answer["ports"], *server.ask(f"/graph/runs/{RUNS[0]}")["runs"]]
    assert [item["liveness"] for item in shown] == ["alive"] * 3


def test_a_stream_is_alive_while_another_of_its_runs_goes_on(server: Server) -> None:
    minute = 60_000_000
    for run in RUNS[:2]:
        beats = [run_event("RUNNING", run=run, time_us=T0 + beat * minute) for beat in range(1, 8)]
        server.send(run_event("START", run=run, inputs=[dataset("a")], outputs=[dataset("b")], job_facets=STREAM), *beats)
    server.send(run_event("ABORT", run=RUNS[1], time_us=T0 + 7 * minute + 1_000_000))
    server.parts.now_us = T0 + 7 * minute + 30_000_000
    assert [edge["liveness"] for edge in server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"]] == ["alive"]
    server.parts.now_us = T0 + 30 * minute
    assert "liveness" not in server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"][0]


def test_a_failure_of_debezium_that_it_retries_is_no_end(server: Server) -> None:
    retrying = {"jobType": facet(processingType="STREAMING", integration="DEBEZIUM")}
    server.send(
        run_event("START", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=retrying),
        run_event("FAIL", time_us=T0 + 1_000_000),
        run_event("RUNNING", time_us=T0 + 2_000_000),
    )
    server.parts.now_us = T0 + 10_000_000
    assert server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"][0]["liveness"] == "alive"


def test_a_stream_that_is_quiet_for_thirty_days_keeps_its_edge(server: Server) -> None:
    server.send(run_event("START", inputs=[dataset("a")], outputs=[dataset("b")], job_facets=STREAM))
    server.parts.now_us = NOW + 40 * DAY_US
    (edge,) = server.ask("/graph/neighbourhood", namespace="ns", name="a")["edges"]
    assert (edge["label"], edge["liveness"]) == ("stale", "gone")
