"""Tasks and polls of one source take turns."""

import threading
import time

from tests.api.routes.operations.tasks.task_client import CLOUD, TASKS, TaskClient
from tests.api.support import NOW
from tests.sources import stepwise

from lineage_bridge.openlineage.times import SECOND_US
from lineage_bridge.sources.runtime.poller import Poller


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
    assert (answer["status"], answer["error"]) == (
        "failed",
        "source cloud was removed, or polled by another process, during the extraction",
    )
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
