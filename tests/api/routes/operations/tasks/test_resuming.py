"""Tasks that are cancelled, interrupted and resumed."""

import threading

from tests.api.routes.operations.tasks.task_client import SECRETS, TASKS, TOPICS, TaskClient
from tests.api.support import task_service
from tests.sources import stepwise


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
