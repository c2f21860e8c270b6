import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
from tests.api.support import LINEAGE, NOW, Server
from tests.eventlog.support import flip
from tests.events import RUNS, T0, dataset, dataset_event, erase, facet, job_event, run_event, schema

from lineage_bridge.eventlog.record_format import HEAD
from lineage_bridge.eventlog.segment import HEADER_BYTES, segment_path
from lineage_bridge.graph.ids import DAY_US, event_id
from lineage_bridge.graph.log_record import LogRecord, RecordKind
from lineage_bridge.openlineage.times import format_time
from lineage_bridge.openlineage.verdict import Clean, judge

HOUR_US = DAY_US // 24


def step(source: str, target: str, number: int, **more: Any) -> bytes:
    """A job named `number` copies one dataset into another."""
    defaults: dict[str, Any] = {"run": str(UUID(int=number)), "job": f"j{number}", "time_us": T0 + number * HOUR_US}
    return run_event(inputs=[dataset(source)], outputs=[dataset(target)], **{**defaults, **more})


CHAIN = [step("a", "b", 1), step("b", "c", 2), step("c", "d", 3), step("b", "e", 4)]


def lineage(server: Server, name: str, **query: Any) -> Any:
    return server.ask("/lineage/datasets/lineage", namespace="ns", name=name, **query)


def jobs(answer: Any) -> list[str]:
    return [event["job"]["name"] for event in answer["events"]]


# events


def test_events_come_back_as_they_were_sent_newest_first(server: Server) -> None:
    odd = CHAIN[0].replace(b'"job": {', b'"unknown" :  [1.0, "\\ud800"],\n "job": {')
    server.send(odd, CHAIN[1])
    answer = server.client.get(f"{LINEAGE}/events")
    assert answer.content == b"[" + CHAIN[1] + b"," + odd + b"]"
    assert answer.headers["x-lineage-position"]
    assert server.client.get(f"{LINEAGE}/events?order=asc").content == b"[" + odd + b"," + CHAIN[1] + b"]"


def test_events_are_filtered_by_globs_and_times(server: Server) -> None:
    server.send(*CHAIN, run_event(job="other", namespace="elsewhere", run=RUNS[0]))

    def names(**query: Any) -> list[str]:
        return [event["job"]["name"] for event in server.ask("/lineage/events", order="asc", **query)]

    assert names(namespace="else*") == ["other"]
    assert names(namespace="jobs", job="j[13]") == ["j1", "j3"]
    assert names(dataset_namespace="ns", dataset="b") == ["j1", "j2", "j4"]
    assert names(dataset_namespace="ns", dataset="b", job="j[24]") == ["j2", "j4"]
    assert server.client.get(f"{LINEAGE}/events?dataset=b").json()["error"]["code"] == "bad_argument"
    assert server.client.get(f"{LINEAGE}/events?dataset_namespace=ns&dataset=nothing").status_code == 404
    second, third = format_time(T0 + 2 * HOUR_US), format_time(T0 + 3 * HOUR_US)
    assert names(since=second, until=third) == ["j2"]
    assert names(since=second.removesuffix("Z"), until=third.replace("Z", "+00:00")) == ["j2"]
    assert server.client.get(f"{LINEAGE}/events?order=asc&since={second[:-1]}+00:00&limit=1").json()[0]["job"]["name"] == "j2"
    assert names(namespace="nobody") == []


def test_events_come_in_pages_that_lead_to_each_other(server: Server) -> None:
    server.send(*CHAIN)
    url, seen = f"{LINEAGE}/events?limit=3&order=asc&namespace=job*", []
    while url:
        answer = server.client.get(url)
        seen += [event["job"]["name"] for event in answer.json()]
        url = answer.links.get("next", {}).get("url", "")
    assert seen == ["j1", "j2", "j3", "j4"]


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=-1", "limit=1001", "limit=1000000000", "limit=x", "offset=-5", "since=yesterday", "until=2026-13-01", "order=up"],
)
def test_a_bad_argument_is_422(server: Server, query: str) -> None:
    server.fold()
    answer = server.client.get(f"{LINEAGE}/events?{query}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "bad_argument")
    assert query.split("=", maxsplit=1)[0] in answer.json()["error"]["message"]


def test_the_events_of_a_run_come_oldest_first_by_either_id(server: Server) -> None:
    first, last = (step("a", "b", 1, type_=type_, run="dag/run 1", time_us=time) for type_, time in (("START", T0), ("COMPLETE", T0 + 9)))
    server.send(last, first, CHAIN[1])
    assert server.client.get(f"{LINEAGE}/events/dag/run 1").content == b"[" + first + b"," + last + b"]"
    run_id = server.ask("/graph/runs/dag/run 1")["runs"][0]["run_id"]
    assert server.ask(f"/lineage/events/{run_id}") == [json.loads(first), json.loads(last)]
    assert server.ask(f"/lineage/events/{run_id}", limit=1, offset=1) == [json.loads(last)]
    assert server.ask("/lineage/events/nobody", 404)["error"]["code"] == "not_found"


# lists and details


def test_datasets_and_jobs_are_listed_with_current_facets(server: Server) -> None:
    old, new = (
        run_event(time_us=T0 + n, job_facets={"documentation": facet(description=str(n))}, inputs=[dataset("b", schema=schema(f"c{n}"))])
        for n in (1, 2)
    )
    server.send(new, old, step("a", "z", 7))
    datasets = server.ask("/lineage/datasets")
    assert [(d["namespace"], d["name"]) for d in datasets] == [("ns", "a"), ("ns", "b"), ("ns", "z")]
    assert set(datasets[0]) == {"namespace", "name", "facets"}
    assert datasets[1]["facets"] == {"schema": schema("c2")}
    assert server.ask("/lineage/datasets", namespace="n?", name="[bz]")[0] == datasets[1]
    (_, job) = server.ask("/lineage/jobs")
    assert job["facets"] == {"documentation": facet(description="2")}
    assert [j["name"] for j in server.ask("/lineage/jobs", name="j7")] == ["j7"]
    answer = server.client.get(f"{LINEAGE}/datasets?limit=2")
    assert len(answer.json()) == 2
    assert [d["name"] for d in server.client.get(answer.links["next"]["url"]).json()] == ["z"]


def test_a_dataset_is_found_by_its_exact_name(server: Server) -> None:
    server.send(step("a", "t[1]", 1), step("a", "orders", 2))
    assert server.ask("/lineage/datasets/detail", namespace="ns", name="t[1]")["name"] == "t[1]"
    server.ask("/lineage/datasets/detail", 404, namespace="ns", name="o*")
    error = server.ask("/lineage/datasets/detail", 404, namespace="ns", name="order")["error"]
    assert {"namespace": "ns", "name": "orders"} in error["near"]


def test_a_dataset_lists_its_other_names(server: Server) -> None:
    link = facet(identifiers=[{"namespace": "hive://h:1", "name": "db.t", "type": "TABLE"}])
    server.send(run_event(outputs=[dataset("/warehouse/t", symlinks=link)]))
    detail = server.ask("/lineage/datasets/detail", namespace="ns", name="/warehouse/t")
    assert detail["aliases"] == [{"namespace": "hive://h:1", "name": "db.t"}]
    assert detail["canonical"] in (*detail["aliases"], {"namespace": "ns", "name": "/warehouse/t"})


def test_a_job_shows_what_its_newest_run_read_and_wrote(server: Server) -> None:
    server.send(
        step("new", "b", 2, job="etl", run=RUNS[1]),
        step("old", "b", 1, job="etl", run=RUNS[0]),
        run_event("START", job="etl", run=RUNS[2], time_us=T0 + 9 * HOUR_US),
    )
    detail = server.ask("/lineage/jobs/detail", namespace="jobs", name="etl")
    assert detail["job"] == {"namespace": "jobs", "name": "etl", "facets": {}}
    assert [d["name"] for d in detail["latest_inputs"]] == ["new"]
    assert [d["name"] for d in detail["latest_outputs"]] == ["b"]
    assert (detail["latest_run"]["run_id"], detail["latest_run"]["state"]) == (RUNS[1], "COMPLETE")
    near = server.ask("/lineage/jobs/detail", 404, namespace="jobs", name="etll")["error"]["near"]
    assert near == [{"namespace": "jobs", "name": "etl"}]


def test_a_declared_job_shows_its_declared_inputs(server: Server) -> None:
    server.send(job_event("plan", inputs=[dataset("a")], outputs=[dataset("b")]))
    detail = server.ask("/lineage/jobs/detail", namespace="jobs", name="plan")
    assert ([d["name"] for d in detail["latest_inputs"]], [d["name"] for d in detail["latest_outputs"]]) == (["a"], ["b"])
    assert "latest_run" not in detail


# lineage


def test_upstream_is_the_default_and_has_the_printed_shape(server: Server) -> None:
    position = server.send(*CHAIN)
    answer = lineage(server, "c")
    assert answer == {
        "origin": {"namespace": "ns", "name": "c"},
        "direction": "upstream",
        "depth": 5,
        "events": [
            {
                "eventTime": format_time(T0 + number * HOUR_US),
                "eventType": "COMPLETE",
                "run": {"runId": str(UUID(int=number))},
                "job": {"namespace": "jobs", "name": f"j{number}"},
                "inputs": [{"namespace": "ns", "name": source}],
                "outputs": [{"namespace": "ns", "name": target}],
                "producer": answer["events"][0]["producer"],
                "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/RunEvent",
            }
            for number, source, target in ((1, "a", "b"), (2, "b", "c"))
        ],
        "datasets_visited": 3,
        "jobs_visited": 2,
        "truncated": "",
        "settling": False,
        "position": answer["position"],
    }
    assert len(position) == len(answer["position"])


def test_every_event_of_an_answer_is_a_clean_openlineage_event(server: Server) -> None:
    server.send(*CHAIN, job_event("plan", inputs=[dataset("d")], outputs=[dataset("f")]), step("f", "g", 9, run="no uuid", type_="OTHER"))
    events = lineage(server, "g", direction="both", depth=50)["events"]
    assert len(events) == 5
    for event in events:
        assert isinstance(judge(json.dumps(event).encode(), T0 + DAY_US), Clean), event


@pytest.mark.parametrize(
    ("name", "direction", "depth", "expected", "datasets"),
    [
        ("d", "upstream", 1, ["j3"], 2),
        ("d", "upstream", 3, ["j1", "j2", "j3"], 4),
        ("b", "downstream", 1, ["j2", "j4"], 3),
        ("b", "downstream", 2, ["j2", "j3", "j4"], 4),
        ("e", "both", 5, ["j1", "j4"], 3),
        ("a", "upstream", 5, [], 1),
    ],
)
def test_depth_counts_datasets_and_both_is_the_union(
    server: Server, name: str, direction: str, depth: int, expected: list[str], datasets: int
) -> None:
    server.send(*CHAIN)
    answer = lineage(server, name, direction=direction, depth=depth)
    assert (jobs(answer), answer["jobs_visited"], answer["datasets_visited"]) == (expected, len(expected), datasets)


def test_a_run_is_one_event_with_all_its_datasets(server: Server) -> None:
    server.send(
        run_event("START", run=RUNS[0], job="v2", inputs=[dataset("src")], time_us=T0),
        run_event("COMPLETE", run=RUNS[0], job="v2", outputs=[dataset("dst")], time_us=T0 + 5),
    )
    (event,) = lineage(server, "dst")["events"]
    assert (event["inputs"], event["outputs"]) == ([{"namespace": "ns", "name": "src"}], [{"namespace": "ns", "name": "dst"}])
    assert (event["eventType"], event["eventTime"]) == ("COMPLETE", format_time(T0 + 5))


def test_a_cycle_ends(server: Server) -> None:
    server.send(step("p", "q", 1), step("q", "p", 2))
    answer = lineage(server, "p", direction="both", depth=50)
    assert (answer["jobs_visited"], answer["datasets_visited"]) == (2, 2)


def test_a_dataset_under_two_names_counts_once(server: Server) -> None:
    link = facet(identifiers=[{"namespace": "hive", "name": "db.t", "type": "TABLE"}])
    server.send(
        run_event(job="w", run=RUNS[0], inputs=[dataset("s")], outputs=[dataset("t", symlinks=link)]),
        run_event(job="r", run=RUNS[1], inputs=[dataset("db.t", namespace="hive")], outputs=[dataset("u")]),
    )
    answer = lineage(server, "u")
    assert (jobs(answer), answer["datasets_visited"]) == (["r", "w"], 3)


def test_an_unknown_dataset_is_404_with_near_names(server: Server) -> None:
    server.send(step("a", "commerce.orders", 1))
    error = lineage(server, "commerce.order", status=404)["error"]
    assert error["near"][0] == {"namespace": "ns", "name": "commerce.orders"}


@pytest.mark.parametrize("query", [{"depth": 0}, {"depth": 51}, {"direction": "x"}])
def test_an_invalid_walk_is_422(server: Server, query: dict[str, Any]) -> None:
    server.fold()
    lineage(server, "a", status=422, **query)


def test_both_names_are_needed(server: Server) -> None:
    server.fold()
    assert "name" in server.ask("/lineage/datasets/lineage", 422, namespace="ns")["error"]["message"]


def test_erased_runs_leave_every_answer(server: Server) -> None:
    server.send(*CHAIN)
    order = {"runs": [str(UUID(int=2)).upper()]}
    answer = server.client.post("/api/v1/operations/erase", json=order)
    assert (answer.status_code, answer.json()["runs"]) == (202, 1)
    record = server.stored()[-1]
    assert (record.kind, json.loads(record.body)) == (RecordKind.OPERATOR, json.loads(erase(str(UUID(int=2)))))
    server.fold()
    assert jobs(lineage(server, "d")) == ["j3"]
    assert len(server.ask("/lineage/events")) == 3


def test_questions_before_there_is_a_graph_are_503(server: Server) -> None:
    for path in ("/lineage/events", "/lineage/datasets", "/search?q=a", "/quarantine", "/lineage/events/x", "/graph/runs/x"):
        answer = server.client.get("/api/v1" + path)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "no_graph_yet")
        assert answer.headers["retry-after"] == "1"
    assert server.client.get(f"{LINEAGE}/events?min_position=e30&wait=0").status_code == 503


def test_an_event_lost_from_the_log_is_left_out_and_counted(server: Server) -> None:
    server.send(*CHAIN[:3])
    flip(segment_path(server.folder / "log", 1), HEADER_BYTES + HEAD.size + 60)
    for path in ("/lineage/events", f"/lineage/events/{UUID(int=1)}"):
        answer = server.client.get("/api/v1" + path)
        assert (answer.status_code, answer.headers["X-Lineage-Unreadable-Events"]) == (200, "1")
    assert [event["job"]["name"] for event in server.ask("/lineage/events", order="asc")] == ["j2", "j3"]
    assert "X-Lineage-Unreadable-Events" not in server.client.get("/api/v1/lineage/events", params={"job": "j2"}).headers


def test_an_event_that_the_fold_refuses_is_in_quarantine(server: Server) -> None:
    """A rejected body that another transport put into the log as an event is in quarantine all the same."""
    body = b'{"eventTime": 1}'
    server.log.append([LogRecord(RecordKind.EVENT, event_id(body), T0, "kafka", "", b"", body)])
    server.fold()
    (item,) = server.ask("/quarantine")["items"]
    assert (item["code"], item["channel"]) == ("no_subject", "kafka")


def test_a_job_that_only_others_name_is_a_job_event(server: Server) -> None:
    entry = {"type": "DATASET", "namespace": "ns", "name": "t", "inputs": [{"type": "JOB", "namespace": "jobs", "name": "other"}]}
    server.send(run_event(outputs=[dataset("t")], job_facets={"lineage": facet(entries=[entry])}))
    answer = lineage(server, "t")
    assert "job" in jobs(answer)
    for event in answer["events"]:
        assert isinstance(judge(json.dumps(event).encode(), T0 + DAY_US), Clean)


def test_a_dataset_that_declares_its_own_lineage_has_its_own_event(server: Server) -> None:
    own = facet(inputs=[{"type": "DATASET", "namespace": "ns", "name": name} for name in ("x", "a")])
    server.send(dataset_event(dataset("made", lineage=own)), run_event(inputs=[dataset("made")], outputs=[dataset("end")]))
    for asked in ({"name": "a", "direction": "downstream"}, {"name": "end", "direction": "upstream"}):
        answer = lineage(server, **asked)
        of_job, of_dataset = answer["events"]
        assert of_job["job"]["name"] == "job"
        assert of_dataset == {
            "eventTime": format_time(T0),
            "dataset": {"namespace": "ns", "name": "made"},
            "inputs": [{"namespace": "ns", "name": "a"}, {"namespace": "ns", "name": "x"}],
            "outputs": [{"namespace": "ns", "name": "made"}],
            "producer": of_job["producer"],
            "schemaURL": "https://openlineage.io/spec/2-0-2/OpenLineage.json#/$defs/DatasetEvent",
        }
        assert answer["jobs_visited"] == 1


class CountingReader:
    """A reader, or a part of one, that counts the calls of its methods."""

    def __init__(self, part: Any, calls: list[str]) -> None:
        self.part, self.calls = part, calls

    def __getattr__(self, name: str) -> Any:
        member = getattr(self.part, name)
        if not callable(member):
            return CountingReader(member, self.calls)
        self.calls.append(name)
        return member


@pytest.mark.parametrize("at", [None, format_time(NOW)])
def test_the_store_is_asked_as_often_for_many_jobs_as_for_one(server: Server, at: str | None) -> None:
    calls: list[str] = []

    @contextmanager
    def graph() -> Iterator[Any]:
        with server.pool.reader() as reader:
            yield CountingReader(reader, calls)

    def asked() -> list[str]:
        calls.clear()
        query = {"namespace": "ns", "name": "target", "depth": "1"} | ({"at": at} if at else {})
        answer = server.client_of(graph=graph).get("/api/v1/lineage/datasets/lineage", params=query)
        assert answer.status_code == 200
        counted = sorted(calls)
        assert answer.json()["jobs_visited"] >= 1
        return counted

    def job(number: int) -> list[bytes]:
        source, target = dataset(f"source{number}"), dataset("target")
        return [
            run_event(job=f"ran{number}", inputs=[source], outputs=[target], run=f"0190a0b1-0000-7000-8000-00000000000{number}"),
            job_event(job=f"declared{number}", inputs=[source], outputs=[target]),
            dataset_event(dataset("target", lineage=facet(inputs=[{"type": "DATASET", "namespace": "ns", "name": f"own{number}"}]))),
        ]

    server.send(*job(1))
    once = asked()
    server.send(*job(2), *job(3))
    assert asked() == once
