"""Tasks over HTTP: extractions are started, followed, cancelled and resumed, and no credential comes back."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import NOW, Server, running, task_service
from tests.sources import stepwise
from tests.sources.stepwise import Plane

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import SECOND_US, format_time
from lineage_bridge.sources.runtime.poller import Poller

TASKS = "/api/v1/tasks"
CLOUD = {"key": "CLOUDKEY", "secret": "${env:CLOUD_SECRET}"}
TOPICS, CONNECT = "topics env-1/lkc-1", "connect env-1/lkc-1"


class TaskClient:
    """Starts tasks, and delivers their events to the graph."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def post(self, path: str = "/extract", status: int = 202, **request: Any) -> Any:
        answer = self.server.client.post(TASKS + path, **request)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, task: str, status: int = 200) -> Any:
        answer = self.server.client.get(f"{TASKS}/{task}")
        assert answer.status_code == status, answer.text
        return answer.json()

    def deliver(self) -> None:
        for message in self.server.source_repository.pending_messages(100):
            assert self.server.client.post(message.path, content=message.body).is_success
            self.server.source_repository.remove_message(message.number)

    def ended(self, task: str, *, bring: bool = True) -> Any:
        """A task when it has ended; meanwhile all is brought to the graph."""
        until = time.monotonic() + 20
        while (answer := self.get(task))["status"] in ("pending", "running"):
            assert time.monotonic() < until, answer
            if bring:
                self.deliver()
            if bring and answer["progress"][-1:] == ["waiting for the graph"]:
                self.server.fold()
            time.sleep(0.02)
        return answer

    def extract(self, **request: Any) -> Any:
        return self.ended(self.post(**request)["task_id"])

    def waits(self, step: str, task: str) -> None:
        until = time.monotonic() + 20
        while not any(step in line for line in self.get(task)["progress"]):
            assert time.monotonic() < until, self.get(task)
            time.sleep(0.02)

    def wait_until_held(self, task: str) -> None:
        """Wait until a task is held at its second plane, and its first one is stored."""
        assert stepwise.SCRIPT.is_waiting.wait(20)
        until = time.monotonic() + 20
        while ("topics", "observed") not in [(plane["plane"], plane["state"]) for plane in self.get(task)["planes"]]:
            assert time.monotonic() < until, self.get(task)
            time.sleep(0.02)

    def looks_again(self, what: str) -> None:
        """Returns when tasks have looked for what they wait for some more times, and have not found it."""
        looks, until, seen = self.server.looks, time.monotonic() + 20, self.server.looks[what]
        while looks[what] < seen + 3:
            assert time.monotonic() < until, f"nobody looks whether it is {what}"
            time.sleep(0.02)


@pytest.fixture
def server(tmp_path: Path, empty_store: Path) -> Iterator[Server]:
    with running(tmp_path, empty_store, stepwise.KINDS) as started:
        yield started


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Iterator[stepwise.Script]:
    monkeypatch.setenv("CLOUD_SECRET", "cloud-hush")
    made = stepwise.Script([Plane(TOPICS, ("t",)), Plane(CONNECT, ("a", "b"))])
    monkeypatch.setattr(stepwise, "SCRIPT", made)
    yield made
    for plane in made.planes:
        if plane.hold:
            plane.hold.set()


@pytest.fixture
def tasks(server: Server, script: stepwise.Script) -> TaskClient:
    server.sources.add("cloud", "confluent", {"cloud": CLOUD}, replace=False)
    assert not script.polls
    return TaskClient(server)


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
    assert "fault of LineageBridge" in tasks.extract()["error"]
    script.error = None
    assert tasks.extract()["status"] == "completed"


SECRETS = {
    "cloud_credentials": {"api_key": "CK", "api_secret": "hush-1"},
    "cluster_credentials": {"lkc-1": {"api_key": "KK", "api_secret": "hush-2"}},
    "sr_credentials": {"env-1": {"api_key": "RK", "api_secret": "hush-3"}},
    "flink_credentials": {"env-1": {"api_key": "FK", "api_secret": "hush-4"}},
    "ksqldb_credentials": {"lksqlc-1": {"api_key": "QK", "api_secret": "hush-5"}},
    "tableflow_credentials": {"env-1": {"api_key": "TK", "api_secret": "hush-6"}},
    "metrics_credentials": {"api_key": "MK", "api_secret": "hush-7"},
    "sr_endpoints": {"env-1": "https://psrc.example"},
}


def test_credentials_of_a_request_are_used_and_never_come_back(
    tasks: TaskClient, script: stepwise.Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    done = tasks.extract(json=SECRETS)
    assert (script.polls[0]["cloud"], script.polls[0]["kafka"]) == ("hush-1", {"lkc-1": "hush-2"})
    assert done["params"]["credentials"] == [
        "cloud",
        "flink env-1",
        "kafka lkc-1",
        "ksqldb lksqlc-1",
        "metrics",
        "registry env-1",
        "tableflow env-1",
    ]
    tasks.extract()
    assert script.polls[1]["cloud"] == "cloud-hush"
    assert script.polls[1]["kafka"] == {}
    answer = json.dumps(done) + tasks.server.client.get(TASKS).text + tasks.server.client.get("/api/v1/sources").text + caplog.text
    files = b"".join(path.read_bytes() for path in tasks.server.folder.rglob("*") if path.is_file())
    for secret in ("hush", "CK", "KK", "RK", "FK", "QK", "TK", "MK"):
        assert f'"{secret}' not in answer
        assert "hush-" not in answer
        assert b"hush-" not in files


WRONG = [
    b'{"cloud_credentials": {"api_key": "CK", "api_secret": "hush"}',
    b'{"cloud_credentials": "hush"}',
    b'{"cloud_credentials": {"api_key": "CK", "api_secret": ["hush"]}}',
    b'{"cloud_credentials": {"api_key": "CK", "api_secrets": "hush"}}',
    b'{"cloud_credentials": {"api_key": "", "api_secret": "hush"}}',
    b'{"cluster_credentials": {"lkc-1": {"api_key": 5, "api_secret": "hush"}}}',
    b'{"unheard": "hush"}',
    b'{"sr_endpoints": {"env-1": "https://u:hush@h"}}',
    b'{"metrics_lookback_hours": -1, "cloud_credentials": {"api_key": "CK", "api_secret": "hush"}}',
    b'{"off": ["unheard"]}',
    b'["hush"]',
    b"hush",
]


def test_an_invalid_request_is_refused_and_not_quoted(tasks: TaskClient) -> None:
    for body in WRONG:
        answer = tasks.server.client.post(f"{TASKS}/extract", content=body)
        assert answer.status_code == 422, body
        assert "hush" not in answer.text
    assert tasks.server.client.get(TASKS).json() == []


def test_ids_that_differ_between_query_and_body_are_refused(tasks: TaskClient) -> None:
    answer = tasks.post(status=422, params={"environment_ids": "env-1"}, json={"environment_ids": ["env-2"]})
    assert "environment_ids" in answer["error"]["message"]


def test_the_source_of_a_task(server: Server, script: stepwise.Script) -> None:
    tasks = TaskClient(server)
    assert "cloud_credentials" in tasks.post(status=422)["error"]["hint"]
    assert tasks.extract(json=SECRETS)["source"] == "confluent"
    assert tasks.extract(json=SECRETS)["source"] == "confluent"
    assert script.polls[1]["before"], "the second begins where the first ended"
    assert server.client.get("/api/v1/sources").json() == {"sources": []}
    server.sources.add("one", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("two", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("else", "kafka", {"bootstrap_servers": "b:9092"}, replace=False)
    assert "one, two" in tasks.post(status=422)["error"]["hint"]
    assert tasks.extract(params={"source": "two"})["source"] == "two"
    assert tasks.extract(json={"source": "one"})["source"] == "one"
    assert "three" in tasks.post(status=422, json={"source": "three"})["error"]["message"]
    assert "tasks cannot extract" in tasks.post(status=422, json={"source": "else"})["error"]["message"]


def test_a_running_task_is_cancelled_and_resumed(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes[1].hold = hold = threading.Event()
    task = tasks.post()["task_id"]
    tasks.wait_until_held(task)
    assert {plane["plane"]: plane["state"] for plane in tasks.get(task)["planes"]} == {
        "discovery": "observed",
        "topics": "observed",
        "connect": "asked",
    }
    tasks.server.client.post(f"{TASKS}/{task}/cancel")
    stopped = tasks.ended(task)
    assert (stopped["status"], stopped["error"], stopped["cancelled"], stopped["resumable"]) == ("failed", "cancelled", True, True)
    assert [plane["plane"] for plane in stopped["planes"]] == ["discovery", "topics"]
    hold.set()
    assert tasks.post(f"/{task}/resume")["status"] == "pending"
    done = tasks.ended(task)
    assert (done["status"], done["cancelled"], done["error"]) == ("completed", False, None)
    assert script.polls[1]["done"] == {"discovery", TOPICS}
    assert script.polls[1]["before"]["planes"] == {TOPICS: ["t"]}
    assert len(tasks.server.ask("/lineage/jobs")) == 3
    assert tasks.server.client.delete(f"{TASKS}/{task}").status_code == 422


def test_a_source_has_one_running_task_and_the_next_waits(tasks: TaskClient, script: stepwise.Script) -> None:
    tasks.server.sources.add("other", "confluent", {"cloud": CLOUD}, replace=False)
    script.planes[1].hold = threading.Event()
    first, second, third, *more = (tasks.post(params={"source": "cloud"})["task_id"] for _ in range(6))
    tasks.wait_until_held(first)
    other = tasks.post(params={"source": "other"})["task_id"]
    until = time.monotonic() + 10
    while len(script.polls) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert [tasks.get(task)["status"] for task in (first, second, third, other)] == ["running", "pending", "pending", "running"]
    assert tasks.server.looks["turn"] == 2, "those that wait have not begun"
    assert tasks.server.client.delete(f"{TASKS}/{second}").json()["error"] == "cancelled"
    for task in more:
        tasks.server.client.delete(f"{TASKS}/{task}")
    script.planes[1].hold.set()
    assert [tasks.ended(task)["status"] for task in (first, third, other)] == ["completed"] * 3
    assert [task["task_id"] for task in tasks.server.client.get(TASKS).json()] == [other, *reversed(more), third, second, first]
    assert len(script.polls) == 3


def test_credentials_are_sent_again_to_resume(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    task = tasks.post(json=SECRETS)["task_id"]
    tasks.wait_until_held(task)
    tasks.server.client.delete(f"{TASKS}/{task}")
    tasks.ended(task)
    script.planes[1].hold.set()
    refused = tasks.post(f"/{task}/resume", status=422)
    assert "kafka lkc-1" in refused["error"]["message"]
    again = {name: SECRETS[name] for name in SECRETS if name.endswith("credentials")}
    tasks.post(f"/{task}/resume", json=again)
    assert tasks.ended(task)["status"] == "completed"
    assert script.polls[1]["kafka"] == {"lkc-1": "hush-2"}


def test_a_task_whose_process_ended_is_interrupted_and_resumable(tasks: TaskClient, script: stepwise.Script) -> None:
    server = tasks.server
    script.planes[1].hold = hold = threading.Event()
    running = tasks.post()["task_id"]
    waiting = tasks.post()["task_id"]
    tasks.wait_until_held(running)
    fresh = task_service(server, first=10)
    again = TaskClient(server)
    server.client = server.client_of(tasks=fresh)
    for task in (running, waiting):
        answer = again.get(task)
        assert (answer["status"], answer["error"], answer["resumable"], answer["cancelled"]) == ("failed", "interrupted", True, False)
    server.tasks.close()
    hold.set()
    try:
        again.post(f"/{running}/resume")
        assert again.ended(running)["status"] == "completed"
        assert script.polls[-1]["done"] == {"discovery", TOPICS}
        assert len(server.ask("/lineage/jobs")) == 3
    finally:
        fresh.close()


def test_closing_interrupts_what_runs_and_what_waits(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    ids = [tasks.post()["task_id"] for _ in range(2)]
    tasks.wait_until_held(ids[0])
    tasks.server.tasks.close()
    assert [tasks.get(task)["error"] for task in ids] == ["interrupted", "interrupted"]


def test_a_poll_and_a_task_take_turns(tasks: TaskClient, script: stepwise.Script) -> None:
    server = tasks.server
    script.planes[1].hold = threading.Event()
    task = tasks.post()["task_id"]
    tasks.wait_until_held(task)
    take = server.tasks._context.hold_source
    poller = Poller(
        server.sources.records,
        server.source_repository,
        lambda _: None,
        lambda: NOW + 3600 * SECOND_US,
        hold_source=take,
        kinds=stepwise.KINDS,
    )
    record = server.sources.record("cloud")
    poller.poll_locked(record)
    assert len(script.polls) == 1, "the poll waits for its turn"
    script.planes[1].hold.set()
    assert tasks.ended(task)["status"] == "completed"
    poller.poll_locked(record)
    assert len(script.polls) == 1, "the source has been looked at since it was found to be due"
    poller.poll_locked(server.sources.record("cloud"))
    assert (len(script.polls), script.polls[1]["before"]["emitted"]) == (2, 3)
    with take("cloud") as mine:
        assert mine
        waits = tasks.post()["task_id"]
        tasks.looks_again("turn")
        assert tasks.get(waits)["status"] == "pending"
        assert len(script.polls) == 2
    assert tasks.ended(waits)["status"] == "completed"


def test_an_extraction_that_a_poll_overtook_stores_nothing_more(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes[1].hold = hold = threading.Event()
    task = tasks.post()["task_id"]
    tasks.wait_until_held(task)
    poller = Poller(tasks.server.sources.records, tasks.server.source_repository, lambda _: None, lambda: NOW, kinds=stepwise.KINDS)
    script.planes = []
    poller.poll(tasks.server.sources.record("cloud"))
    hold.set()
    answer = tasks.ended(task)
    assert (answer["status"], answer["error"]) == ("failed", "source cloud was removed or polled by another process meanwhile")
    assert tasks.server.ask("/sources/cloud")["polls"] == 1
    tasks.deliver()
    tasks.server.fold()
    assert len(tasks.server.ask("/lineage/jobs")) == 1


def test_a_source_removed_meanwhile_stays_removed(tasks: TaskClient, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    task = tasks.post()["task_id"]
    tasks.wait_until_held(task)
    tasks.server.sources.remove("cloud")
    script.planes[1].hold.set()
    assert "removed" in tasks.ended(task)["error"]
    assert tasks.server.source_repository.states() == {}


def test_tasks_are_listed_by_kind_and_status_in_pages(tasks: TaskClient, script: stepwise.Script) -> None:
    done = [tasks.extract()["task_id"] for _ in range(3)]
    script.error = SourceError("no")
    failed = tasks.extract()["task_id"]
    client = tasks.server.client
    assert [task["task_id"] for task in client.get(TASKS).json()] == [failed, *reversed(done)]
    assert [task["task_id"] for task in client.get(TASKS, params={"status": "failed"}).json()] == [failed]
    assert client.get(TASKS, params={"task_type": "enrich"}).json() == []
    page = client.get(TASKS, params={"limit": 2, "offset": 1})
    assert [task["task_id"] for task in page.json()] == [done[2], done[1]]
    assert "offset=3" in page.headers["Link"]
    assert client.get(TASKS, params={"status": "done"}).status_code == 422
    assert tasks.get("none", status=404)["error"]["code"] == "not_found"


def test_only_this_machine_starts_and_stops(tasks: TaskClient) -> None:
    away = tasks.server.client_of("10.0.0.9")
    for call in (
        lambda: away.post(f"{TASKS}/extract"),
        lambda: away.post(f"{TASKS}/x/resume"),
        lambda: away.post(f"{TASKS}/x/cancel"),
        lambda: away.delete(f"{TASKS}/x"),
    ):
        assert call().status_code == 403
    assert away.get(TASKS).status_code == 200


def test_enrichment_is_501(tasks: TaskClient) -> None:
    assert tasks.post("/enrich", status=501)["error"]["code"] == "not_implemented"
