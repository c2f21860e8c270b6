"""Tasks over HTTP: extractions are started, followed, cancelled and resumed, and no credential comes back."""

import json
import logging
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.support import NOW, Server, running, task_desk
from tests.sources import stepwise
from tests.sources.stepwise import Plane

from lineage_bridge.errors import SourceError
from lineage_bridge.openlineage.times import SECOND_US, format_time
from lineage_bridge.sources.runtime.poller import Poller

TASKS = "/api/v1/tasks"
CLOUD = {"key": "CLOUDKEY", "secret": "${env:CLOUD_SECRET}"}
TOPICS, CONNECT = "topics env-1/lkc-1", "connect env-1/lkc-1"


class Hand:
    """Starts tasks, and brings what they told to the graph."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def post(self, path: str = "/extract", status: int = 202, **told: Any) -> Any:
        answer = self.server.client.post(TASKS + path, **told)
        assert answer.status_code == status, answer.text
        return answer.json()

    def get(self, task: str, status: int = 200) -> Any:
        answer = self.server.client.get(f"{TASKS}/{task}")
        assert answer.status_code == status, answer.text
        return answer.json()

    def deliver(self) -> None:
        for parcel in self.server.book.pending_messages(100):
            assert self.server.client.post(parcel.path, content=parcel.body).is_success
            self.server.book.remove_message(parcel.number)

    def ended(self, task: str, *, bring: bool = True) -> Any:
        """A task when it has ended; meanwhile all is brought to the graph."""
        until = time.monotonic() + 20
        while (told := self.get(task))["status"] in ("pending", "running"):
            assert time.monotonic() < until, told
            if bring:
                self.deliver()
            if bring and told["progress"][-1:] == ["waiting for the graph"]:
                self.server.fold()
            time.sleep(0.02)
        return told

    def extract(self, **told: Any) -> Any:
        return self.ended(self.post(**told)["task_id"])

    def waits(self, step: str, task: str) -> None:
        until = time.monotonic() + 20
        while not any(step in line for line in self.get(task)["progress"]):
            assert time.monotonic() < until, self.get(task)
            time.sleep(0.02)

    def stops_at_gate(self, task: str) -> None:
        """Returns when a task waits at the gate of its second plane, and its first one is kept."""
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
def hand(server: Server, script: stepwise.Script) -> Hand:
    server.sources.add("cloud", "confluent", {"cloud": CLOUD}, replace=False)
    assert not script.polls
    return Hand(server)


def test_an_extraction_without_a_body_is_followed_to_its_end(hand: Hand) -> None:
    started = hand.post()
    assert (started["status"], started["task_type"], started["result"], started["error"]) == ("pending", "extract", None, None)
    done = hand.ended(started["task_id"])
    assert (done["status"], done["result"], done["unknown"]) == ("completed", {"graph_id": "g", "node_count": 3, "edge_count": 2}, [])
    assert [(plane["plane"], plane["scope"], plane["state"], plane["events"]) for plane in done["planes"]] == [
        ("discovery", "", "observed", 0),
        ("topics", "env-1/lkc-1", "observed", 1),
        ("connect", "env-1/lkc-1", "observed", 2),
    ]
    assert done["progress"][0] == "started"
    assert f"{CONNECT}: observed, 2 events" in done["progress"]
    assert (done["created_at"], done["started_at"], done["completed_at"]) == (format_time(NOW),) * 3
    assert len(hand.server.ask("/lineage/jobs")) == 3
    source = hand.server.ask("/sources/cloud")
    assert (source["state"], source["polls"], source["events"], source["last_success_at"]) == ("ok", 1, 3, format_time(NOW))


def test_the_answer_comes_only_when_the_graph_holds_all(hand: Hand) -> None:
    task = hand.post()["task_id"]
    hand.waits("delivering", task)
    hand.looks_again("delivered")
    told = hand.get(task)
    assert (told["status"], "waiting for the graph" in told["progress"]) == ("running", False)
    hand.deliver()
    hand.waits("waiting for the graph", task)
    hand.looks_again("folded")
    assert hand.get(task)["status"] == "running"
    hand.server.fold()
    assert hand.ended(task, bring=False)["status"] == "completed"


def test_a_second_extraction_begins_where_the_first_ended(hand: Hand, script: stepwise.Script) -> None:
    hand.extract()
    hand.extract(json={})
    assert script.polls[0]["before"] is None
    assert script.polls[1]["before"] == {"planes": {TOPICS: ["t"], CONNECT: ["a", "b"]}, "emitted": 3}
    assert script.polls[1]["cloud"] == "cloud-hush"
    assert hand.server.ask("/sources/cloud")["polls"] == 2


FILTERS: list[dict[str, Any]] = [
    {"params": {"environment_ids": ["env-1", "env-2"], "cluster_ids": "lkc-1"}},
    {"params": {"environment_ids": "env-2, env-1", "cluster_ids": "lkc-1"}},
    {"json": {"environment_ids": ["env-1", "env-2"], "cluster_ids": ["lkc-1"]}},
    {"params": {"environment_ids": "env-1,env-2"}, "json": {"environment_ids": ["env-2", "env-1"], "cluster_ids": ["lkc-1"]}},
]


def test_filters_come_by_query_or_body(hand: Hand, script: stepwise.Script) -> None:
    for number, told in enumerate(FILTERS):
        done = hand.extract(**told)
        assert script.polls[number]["only"][:2] == ({"env-1", "env-2"}, {"lkc-1"})
        assert done["params"]["environment_ids"] == ["env-1", "env-2"]


def test_switches_leave_planes_out_of_this_extraction_only(hand: Hand, script: stepwise.Script) -> None:
    body = {"enable_connect": False, "enable_schema_registry": False, "enable_metrics": False, "off": ["groups"]}
    done = hand.extract(json=body)
    assert script.polls[0]["only"].off == {"connect", "registry", "schema-links", "metrics", "groups"}
    assert [plane["plane"] for plane in done["planes"]] == ["discovery", "topics"]
    hand.extract(json={"enable_metrics": True, "metrics_lookback_hours": 2})
    assert script.polls[1]["only"].off == frozenset()


def test_what_is_unknown_is_told_and_the_rest_is_whole(hand: Hand, script: stepwise.Script) -> None:
    script.planes += [
        Plane("flink env-1/aws.eu", state="failed", why="it answers 500"),
        Plane("ksqldb env-1/lksqlc-1", state="not_observed", why="no credential"),
        Plane("groups env-1/lkc-1", ("g",), state="partly", why="lag is refused"),
    ]
    done = hand.extract()
    assert (done["status"], done["error"], done["events"]) == ("completed", None, 4)
    assert done["unknown"] == [
        {"plane": "flink", "scope": "env-1/aws.eu", "state": "failed", "why": ["it answers 500"]},
        {"plane": "ksqldb", "scope": "env-1/lksqlc-1", "state": "not_observed", "why": ["no credential"]},
        {"plane": "groups", "scope": "env-1/lkc-1", "state": "partly", "why": ["lag is refused"]},
    ]
    assert hand.server.ask("/sources/cloud")["state"] == "partial"


def test_a_task_fails_when_nothing_at_all_can_be_said(hand: Hand, script: stepwise.Script) -> None:
    script.error = SourceError("environments cannot be listed", "mind the key")
    done = hand.extract()
    assert (done["status"], done["error"], done["hint"]) == ("failed", "environments cannot be listed", "mind the key")
    assert (done["resumable"], done["cancelled"], done["result"]) == (False, False, None)
    hand.post(f"/{done['task_id']}/resume", status=422)


def test_a_fault_of_ours_fails_the_task_and_no_other(hand: Hand, script: stepwise.Script) -> None:
    script.error = ZeroDivisionError("x")
    assert "fault of LineageBridge" in hand.extract()["error"]
    script.error = None
    assert hand.extract()["status"] == "completed"


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
    hand: Hand, script: stepwise.Script, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    done = hand.extract(json=SECRETS)
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
    hand.extract()
    assert script.polls[1]["cloud"] == "cloud-hush"
    assert script.polls[1]["kafka"] == {}
    said = json.dumps(done) + hand.server.client.get(TASKS).text + hand.server.client.get("/api/v1/sources").text + caplog.text
    files = b"".join(path.read_bytes() for path in hand.server.folder.rglob("*") if path.is_file())
    for word in ("hush", "CK", "KK", "RK", "FK", "QK", "TK", "MK"):
        assert f'"{word}' not in said
        assert "hush-" not in said
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


def test_what_cannot_be_is_refused_and_not_repeated(hand: Hand) -> None:
    for body in WRONG:
        answer = hand.server.client.post(f"{TASKS}/extract", content=body)
        assert answer.status_code == 422, body
        assert "hush" not in answer.text
    assert hand.server.client.get(TASKS).json() == []


def test_the_same_ids_said_in_two_ways_are_refused_where_they_differ(hand: Hand) -> None:
    said = hand.post(status=422, params={"environment_ids": "env-1"}, json={"environment_ids": ["env-2"]})
    assert "environment_ids" in said["error"]["message"]


def test_which_source_is_meant(server: Server, script: stepwise.Script) -> None:
    hand = Hand(server)
    assert "cloud_credentials" in hand.post(status=422)["error"]["hint"]
    assert hand.extract(json=SECRETS)["source"] == "confluent"
    assert hand.extract(json=SECRETS)["source"] == "confluent"
    assert script.polls[1]["before"], "the second begins where the first ended"
    assert server.client.get("/api/v1/sources").json() == {"sources": []}
    server.sources.add("one", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("two", "confluent", {"cloud": CLOUD}, replace=False)
    server.sources.add("else", "kafka", {"bootstrap_servers": "b:9092"}, replace=False)
    assert "one, two" in hand.post(status=422)["error"]["hint"]
    assert hand.extract(params={"source": "two"})["source"] == "two"
    assert hand.extract(json={"source": "one"})["source"] == "one"
    assert "three" in hand.post(status=422, json={"source": "three"})["error"]["message"]
    assert "tasks cannot extract" in hand.post(status=422, json={"source": "else"})["error"]["message"]


def test_a_running_task_is_cancelled_and_goes_on_where_it_was(hand: Hand, script: stepwise.Script) -> None:
    script.planes[1].hold = gate = threading.Event()
    task = hand.post()["task_id"]
    hand.stops_at_gate(task)
    assert {plane["plane"]: plane["state"] for plane in hand.get(task)["planes"]} == {
        "discovery": "observed",
        "topics": "observed",
        "connect": "asked",
    }
    hand.server.client.post(f"{TASKS}/{task}/cancel")
    stopped = hand.ended(task)
    assert (stopped["status"], stopped["error"], stopped["cancelled"], stopped["resumable"]) == ("failed", "cancelled", True, True)
    assert [plane["plane"] for plane in stopped["planes"]] == ["discovery", "topics"]
    gate.set()
    assert hand.post(f"/{task}/resume")["status"] == "pending"
    done = hand.ended(task)
    assert (done["status"], done["cancelled"], done["error"]) == ("completed", False, None)
    assert script.polls[1]["done"] == {"discovery", TOPICS}
    assert script.polls[1]["before"]["planes"] == {TOPICS: ["t"]}
    assert len(hand.server.ask("/lineage/jobs")) == 3
    assert hand.server.client.delete(f"{TASKS}/{task}").status_code == 422


def test_one_task_at_a_time_for_a_source_and_the_next_waits(hand: Hand, script: stepwise.Script) -> None:
    hand.server.sources.add("other", "confluent", {"cloud": CLOUD}, replace=False)
    script.planes[1].hold = threading.Event()
    first, second, third, *more = (hand.post(params={"source": "cloud"})["task_id"] for _ in range(6))
    hand.stops_at_gate(first)
    other = hand.post(params={"source": "other"})["task_id"]
    until = time.monotonic() + 10
    while len(script.polls) < 2 and time.monotonic() < until:
        time.sleep(0.02)
    assert [hand.get(task)["status"] for task in (first, second, third, other)] == ["running", "pending", "pending", "running"]
    assert hand.server.looks["turn"] == 2, "those that wait have not begun"
    assert hand.server.client.delete(f"{TASKS}/{second}").json()["error"] == "cancelled"
    for task in more:
        hand.server.client.delete(f"{TASKS}/{task}")
    script.planes[1].hold.set()
    assert [hand.ended(task)["status"] for task in (first, third, other)] == ["completed"] * 3
    assert [task["task_id"] for task in hand.server.client.get(TASKS).json()] == [other, *reversed(more), third, second, first]
    assert len(script.polls) == 3


def test_credentials_are_given_anew_to_go_on(hand: Hand, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    task = hand.post(json=SECRETS)["task_id"]
    hand.stops_at_gate(task)
    hand.server.client.delete(f"{TASKS}/{task}")
    hand.ended(task)
    script.planes[1].hold.set()
    refused = hand.post(f"/{task}/resume", status=422)
    assert "kafka lkc-1" in refused["error"]["message"]
    again = {name: SECRETS[name] for name in SECRETS if name.endswith("credentials")}
    hand.post(f"/{task}/resume", json=again)
    assert hand.ended(task)["status"] == "completed"
    assert script.polls[1]["kafka"] == {"lkc-1": "hush-2"}


def test_a_task_whose_process_ended_says_so_and_goes_on(hand: Hand, script: stepwise.Script) -> None:
    server = hand.server
    script.planes[1].hold = gate = threading.Event()
    running = hand.post()["task_id"]
    waiting = hand.post()["task_id"]
    hand.stops_at_gate(running)
    fresh = task_desk(server, first=10)
    again = Hand(server)
    server.client = server.client_of(tasks=fresh)
    for task in (running, waiting):
        told = again.get(task)
        assert (told["status"], told["error"], told["resumable"], told["cancelled"]) == ("failed", "interrupted", True, False)
    server.tasks.close()
    gate.set()
    try:
        again.post(f"/{running}/resume")
        assert again.ended(running)["status"] == "completed"
        assert script.polls[-1]["done"] == {"discovery", TOPICS}
        assert len(server.ask("/lineage/jobs")) == 3
    finally:
        fresh.close()


def test_closing_interrupts_what_runs_and_what_waits(hand: Hand, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    tasks = [hand.post()["task_id"] for _ in range(2)]
    hand.stops_at_gate(tasks[0])
    hand.server.tasks.close()
    assert [hand.get(task)["error"] for task in tasks] == ["interrupted", "interrupted"]


def test_a_poll_and_a_task_take_turns(hand: Hand, script: stepwise.Script) -> None:
    server = hand.server
    script.planes[1].hold = threading.Event()
    task = hand.post()["task_id"]
    hand.stops_at_gate(task)
    take = server.tasks._context.hold_source
    poller = Poller(
        server.sources.records, server.book, lambda _: None, lambda: NOW + 3600 * SECOND_US, hold_source=take, kinds=stepwise.KINDS
    )
    record = server.sources.record("cloud")
    poller.poll_locked(record)
    assert len(script.polls) == 1, "the poll waits for its turn"
    script.planes[1].hold.set()
    assert hand.ended(task)["status"] == "completed"
    poller.poll_locked(record)
    assert len(script.polls) == 1, "the source has been looked at since it was found to be due"
    poller.poll_locked(server.sources.record("cloud"))
    assert (len(script.polls), script.polls[1]["before"]["emitted"]) == (2, 3)
    with take("cloud") as mine:
        assert mine
        waits = hand.post()["task_id"]
        hand.looks_again("turn")
        assert hand.get(waits)["status"] == "pending"
        assert len(script.polls) == 2
    assert hand.ended(waits)["status"] == "completed"


def test_a_look_that_another_outran_keeps_nothing_more(hand: Hand, script: stepwise.Script) -> None:
    script.planes[1].hold = gate = threading.Event()
    task = hand.post()["task_id"]
    hand.stops_at_gate(task)
    poller = Poller(hand.server.sources.records, hand.server.book, lambda _: None, lambda: NOW, kinds=stepwise.KINDS)
    script.planes = []
    poller.poll(hand.server.sources.record("cloud"))
    gate.set()
    told = hand.ended(task)
    assert (told["status"], told["error"]) == ("failed", "source cloud was removed or polled by another process meanwhile")
    assert hand.server.ask("/sources/cloud")["polls"] == 1
    hand.deliver()
    hand.server.fold()
    assert len(hand.server.ask("/lineage/jobs")) == 1


def test_a_source_removed_meanwhile_is_not_brought_back(hand: Hand, script: stepwise.Script) -> None:
    script.planes[1].hold = threading.Event()
    task = hand.post()["task_id"]
    hand.stops_at_gate(task)
    hand.server.sources.remove("cloud")
    script.planes[1].hold.set()
    assert "removed" in hand.ended(task)["error"]
    assert hand.server.book.states() == {}


def test_tasks_are_listed_by_kind_and_status_in_pages(hand: Hand, script: stepwise.Script) -> None:
    done = [hand.extract()["task_id"] for _ in range(3)]
    script.error = SourceError("no")
    failed = hand.extract()["task_id"]
    client = hand.server.client
    assert [task["task_id"] for task in client.get(TASKS).json()] == [failed, *reversed(done)]
    assert [task["task_id"] for task in client.get(TASKS, params={"status": "failed"}).json()] == [failed]
    assert client.get(TASKS, params={"task_type": "enrich"}).json() == []
    page = client.get(TASKS, params={"limit": 2, "offset": 1})
    assert [task["task_id"] for task in page.json()] == [done[2], done[1]]
    assert "offset=3" in page.headers["Link"]
    assert client.get(TASKS, params={"status": "done"}).status_code == 422
    assert hand.get("none", status=404)["error"]["code"] == "not_found"


def test_only_this_machine_starts_and_stops(hand: Hand) -> None:
    away = hand.server.client_of("10.0.0.9")
    for call in (
        lambda: away.post(f"{TASKS}/extract"),
        lambda: away.post(f"{TASKS}/x/resume"),
        lambda: away.post(f"{TASKS}/x/cancel"),
        lambda: away.delete(f"{TASKS}/x"),
    ):
        assert call().status_code == 403
    assert away.get(TASKS).status_code == 200


def test_enrichment_is_said_to_be_missing(hand: Hand) -> None:
    assert hand.post("/enrich", status=501)["error"]["code"] == "not_implemented"
