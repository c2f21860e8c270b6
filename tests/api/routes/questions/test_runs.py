"""Questions about runs and amounts over HTTP."""

from typing import Any

from tests.api.support import NOW, Server
from tests.events import RUNS, T0, dataset, facet, run_event

from lineage_bridge.openlineage.times import format_time

S = 1_000_000
JOB: dict[str, Any] = {"namespace": "jobs", "name": "task"}


def inside(run: str) -> dict[str, object]:
    return {"parent": facet(run={"runId": run}, job={"namespace": "jobs", "name": "dag"})}


def family(server: Server) -> None:
    server.send(
        run_event("COMPLETE", run=RUNS[0], job="task", time_us=T0, run_facets=inside(RUNS[4])),
        run_event("FAIL", run=RUNS[1], job="task", time_us=T0 + 5 * S, run_facets=inside(RUNS[4])),
    )


def ids(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [run["run_id"] for run in answer["runs"]]


def test_runs_by_state_time_and_parent(server: Server) -> None:
    family(server)
    assert ids(server.ask("/graph/runs", **JOB)) == [RUNS[1], RUNS[0]]
    assert ids(server.ask("/graph/runs", **JOB, state="FAIL")) == [RUNS[1]]
    assert ids(server.ask("/graph/runs", **JOB, until=format_time(T0 + S))) == [RUNS[0]]
    assert ids(server.ask("/graph/runs", **JOB, since=format_time(T0 + S))) == [RUNS[1]]
    assert ids(server.ask("/graph/runs", parent=RUNS[4])) == [RUNS[1], RUNS[0]]
    assert ids(server.ask("/graph/runs", parent=RUNS[4], limit=1, offset=1)) == [RUNS[0]]
    assert server.ask("/graph/runs", 422)["error"]["code"] == "bad_argument"
    assert server.ask("/graph/runs", 422, **JOB, state="GONE")["error"]["code"] == "bad_argument"
    assert server.ask("/graph/runs", 404, parent=RUNS[3])["error"]["code"] == "not_found"


def test_a_tree_begins_with_a_run_that_never_sent_an_event(server: Server) -> None:
    family(server)
    tree = server.ask(f"/graph/runs/{RUNS[4]}/tree")
    assert [(run.get("depth", 0), run["run_id"], run.get("unobserved", False)) for run in tree["runs"]] == [
        (0, RUNS[4], True),
        (1, RUNS[0], False),
        (1, RUNS[1], False),
    ]
    assert server.ask(f"/graph/runs/{RUNS[4]}/tree", limit=2)["truncated"]
    assert server.ask(f"/graph/runs/{RUNS[3]}/tree", 404)


def test_amounts(server: Server) -> None:
    written = dataset("b", access=("outputFacets", {"outputStatistics": facet(rowCount=120, size=2400)}))
    server.send(run_event("RUNNING", time_us=T0 + S, outputs=[written]), run_event("COMPLETE", time_us=T0 + 2 * S))
    window: dict[str, Any] = {"since": format_time(T0), "until": format_time(T0 + 60 * S)}
    answer = server.ask("/graph/statistics", namespace="ns", name="b", **window, bucket=30)
    (series,) = answer["series"]
    assert series == {
        "job": {"namespace": "jobs", "name": "job"},
        "dataset": {"namespace": "ns", "name": "b"},
        "side": "output",
        "runs": 1,
        "samples": 1,
        "first": format_time(T0 + S),
        "last": format_time(T0 + S),
        "counting": ["cumulative"],
        "rows": 120,
        "bytes": 2400,
        "rows_per_second": 2.0,
        "bytes_per_second": 40.0,
        "buckets": [{"start": format_time(T0), "rows": 120, "bytes": 2400}],
    }
    assert (answer["truncated"], answer["since"]) == (False, window["since"])
    assert server.ask("/graph/statistics", run=RUNS[0])["series"][0]["rows"] == 120
    assert server.ask("/graph/statistics", job_namespace="jobs", job_name="job")["until"] == format_time(NOW)


def test_an_invalid_question_about_amounts_is_refused(server: Server) -> None:
    server.send(run_event(outputs=[dataset("b")]))
    assert server.ask("/graph/statistics", namespace="ns", name="b")["series"] == []
    for query in (
        {},
        {"namespace": "ns"},
        {"namespace": "ns", "name": "b", "bucket": 1},
        {"run": RUNS[0], "since": "2027", "until": "2026"},
    ):
        assert server.ask("/graph/statistics", 422, **query)["error"]["code"] == "bad_argument"
    assert server.ask("/graph/statistics", 404, namespace="ns", name="nothing")


def test_the_lineage_of_a_run(server: Server) -> None:
    waits = {"jobDependencies": facet(upstream=[{"job": {"namespace": "jobs", "name": "before"}, "dependency_type": "DIRECT_INVOCATION"}])}
    server.send(
        run_event(run=RUNS[0], job="writer", time_us=T0, outputs=[dataset("d")]),
        run_event(run=RUNS[1], job="reader", time_us=T0 + S, inputs=[dataset("d")], run_facets=waits),
    )
    answer = server.ask(f"/graph/runs/{RUNS[1]}/lineage")
    assert answer["links"] == [{"producer": RUNS[0], "consumer": RUNS[1], "dataset": {"namespace": "ns", "name": "d"}, "by": "latest"}]
    assert [(run["run_id"], run.get("depth", 0)) for run in answer["runs"]] == [(RUNS[1], 0), (RUNS[0], 1)]
    assert server.ask(f"/graph/runs/{RUNS[0]}/lineage", direction="downstream")["links"] == answer["links"]
    assert server.ask(f"/graph/runs/{RUNS[3]}/lineage", 404)
    (run,) = server.ask(f"/graph/runs/{RUNS[1]}")["runs"]
    assert run["dependencies"] == [
        {"direction": "upstream", "job": {"namespace": "jobs", "name": "before"}, "dependency_type": "DIRECT_INVOCATION"}
    ]


def test_runs_show_their_state(server: Server) -> None:
    parent = facet(run={"runId": RUNS[4]}, job={"namespace": "jobs", "name": "dag"})
    server.send(
        run_event("START", run=RUNS[0], time_us=T0, inputs=[dataset("a")]),
        run_event("FAIL", run=RUNS[0], time_us=T0 + 7, run_facets={"parent": parent}),
        run_event("START", run=RUNS[1], time_us=T0 - 9),
    )
    answer = server.ask("/graph/runs", namespace="jobs", name="job")
    assert [run["state"] for run in answer["runs"]] == ["FAIL", "START"]
    assert answer["runs"][0] == {
        "run_id": RUNS[0],
        "job": {"namespace": "jobs", "name": "job"},
        "state": "FAIL",
        "started_at": format_time(T0),
        "ended_at": format_time(T0 + 7),
        "last_seen": format_time(T0 + 7),
        "inputs": [{"namespace": "ns", "name": "a"}],
        "outputs": [],
        "parent_run_id": RUNS[4],
        "parent_job": {"namespace": "jobs", "name": "dag"},
    }
    assert server.ask(f"/graph/runs/{RUNS[0]}")["runs"] == answer["runs"][:1]
    assert len(server.ask("/graph/runs", namespace="jobs", name="job", limit=1)["runs"]) == 1
    server.ask("/graph/runs/nobody", 404)
    server.ask("/graph/runs", 404, namespace="jobs", name="nobody")
