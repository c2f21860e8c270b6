"""A client of tasks over HTTP."""

import time
from typing import Any

from tests.api.support import Server
from tests.sources import stepwise

TASKS = "/api/v1/tasks"
CLOUD = {"key": "CLOUDKEY", "secret": "${env:CLOUD_SECRET}"}
TOPICS, CONNECT = "topics env-1/lkc-1", "connect env-1/lkc-1"
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
