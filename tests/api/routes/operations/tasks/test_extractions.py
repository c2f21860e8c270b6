"""Extractions over HTTP: what is observed, what fails, and when a task is complete."""

from typing import Any

from tests.api.routes.operations.tasks.task_client import CONNECT, TOPICS, TaskClient
from tests.api.support import NOW
from tests.sources import stepwise
from tests.sources.stepwise import Plane

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import format_time


def test_an_extraction_without_a_body_is_followed_to_its_end(tasks: TaskClient) -> None:
    started = tasks.post()
    assert (started["status"], started["task_type"], started["result"], started["error"]) == ("pending", "extract", None, None)
    done = tasks.ended(started["task_id"])
    assert (done["status"], done["result"], done["unknown"]) == ("completed", {"graph_id": "g", "node_count": 3, "edge_count": 2}, [])
    assert [(plane["plane"], plane["scope"], plane["state"], plane["events"]) for plane in done["planes"]] == [
        ("discovery", "", "observed", 0),
        ("topics", "env-1/lkc-1", "observed", 1),
        ("connect", "env-1/lkc-1", "observed", 2),
    ]
    assert done["progress"][0] == "started"
    assert f"{CONNECT}: observed, 2 events" in done["progress"]
    assert (done["created_at"], done["started_at"], done["completed_at"]) == (format_time(NOW),) * 3
    assert len(tasks.server.ask("/lineage/jobs")) == 3
    source = tasks.server.ask("/sources/cloud")
    assert (source["state"], source["polls"], source["events"], source["last_success_at"]) == ("ok", 1, 3, format_time(NOW))


def test_a_task_completes_only_when_the_graph_holds_all(tasks: TaskClient) -> None:
    task = tasks.post()["task_id"]
    tasks.waits("delivering", task)
    tasks.looks_again("delivered")
    answer = tasks.get(task)
    assert (answer["status"], "waiting for the graph" in answer["progress"]) == ("running", False)
    tasks.deliver()
    tasks.waits("waiting for the graph", task)
    tasks.looks_again("folded")
    assert tasks.get(task)["status"] == "running"
    tasks.server.fold()
    assert tasks.ended(task, bring=False)["status"] == "completed"


def test_a_second_extraction_begins_where_the_first_ended(tasks: TaskClient, script: stepwise.Script) -> None:
    tasks.extract()
    tasks.extract(json={})
    assert script.polls[0]["before"] is None
    assert script.polls[1]["before"] == {"planes": {TOPICS: ["t"], CONNECT: ["a", "b"]}, "emitted": 3}
    assert script.polls[1]["cloud"] == "cloud-hush"
    assert tasks.server.ask("/sources/cloud")["polls"] == 2


FILTERS: list[dict[str, Any]] = [
    {"params": {"environment_ids": ["env-1", "env-2"], "cluster_ids": "lkc-1"}},
    {"params": {"environment_ids": "env-2, env-1", "cluster_ids": "lkc-1"}},
    {"json": {"environment_ids": ["env-1", "env-2"], "cluster_ids": ["lkc-1"]}},
    {"params": {"environment_ids": "env-1,env-2"}, "json": {"environment_ids": ["env-2", "env-1"], "cluster_ids": ["lkc-1"]}},
]


def test_filters_come_by_query_or_body(tasks: TaskClient, script: stepwise.Script) -> None:
    for number, request in enumerate(FILTERS):
        done = tasks.extract(**request)
        assert script.polls[number]["only"][:2] == ({"env-1", "env-2"}, {"lkc-1"})
        assert done["params"]["environment_ids"] == ["env-1", "env-2"]


def test_switches_leave_planes_out_of_this_extraction_only(tasks: TaskClient, script: stepwise.Script) -> None:
    body = {"enable_connect": False, "enable_schema_registry": False, "enable_metrics": False, "off": ["groups"]}
    done = tasks.extract(json=body)
    assert script.polls[0]["only"].off == {"connect", "registry", "schema-links", "metrics", "groups"}
    assert [plane["plane"] for plane in done["planes"]] == ["discovery", "topics"]
    tasks.extract(json={"enable_metrics": True, "metrics_lookback_hours": 2})
    assert script.polls[1]["only"].off == frozenset()


def test_planes_that_fail_are_listed_and_the_rest_is_complete(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes += [
        Plane("flink env-1/aws.eu", state="failed", why="it answers 500"),
        Plane("ksqldb env-1/lksqlc-1", state="not_observed", why="no credential"),
        Plane("groups env-1/lkc-1", ("g",), state="partly", why="lag is refused"),
    ]
    done = tasks.extract()
    assert (done["status"], done["error"], done["events"]) == ("completed", None, 4)
    assert done["unknown"] == [
        {"plane": "flink", "scope": "env-1/aws.eu", "state": "failed", "why": ["it answers 500"]},
        {"plane": "ksqldb", "scope": "env-1/lksqlc-1", "state": "not_observed", "why": ["no credential"]},
        {"plane": "groups", "scope": "env-1/lkc-1", "state": "partly", "why": ["lag is refused"]},
    ]
    assert tasks.server.ask("/sources/cloud")["state"] == "partial"


def test_a_task_fails_when_nothing_can_be_observed(tasks: TaskClient, script: stepwise.Script) -> None:
    script.error = SourceError("environments cannot be listed", "mind the key")
    done = tasks.extract()
    assert (done["status"], done["error"], done["hint"]) == ("failed", "environments cannot be listed", "mind the key")
    assert (done["resumable"], done["cancelled"], done["result"]) == (False, False, None)
    tasks.post(f"/{done['task_id']}/resume", status=422)


def test_an_internal_error_fails_its_own_task_only(tasks: TaskClient, script: stepwise.Script) -> None:
    script.error = ZeroDivisionError("x")
    assert "internal error of LineageBridge" in tasks.extract()["error"]
    script.error = None
    assert tasks.extract()["status"] == "completed"
