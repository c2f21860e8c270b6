"""The process that publishes continuously, killed (SIGKILL) while its target is down, or in the middle of what it sends: a second server
has everything once in the end.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from uuid import NAMESPACE_URL, uuid5

import pytest
from tests.cli.conftest import COMMAND, Server, serving
from tests.events import dataset, run_event
from tests.servers.web.faulty import Faulty

from lineage_bridge.cli.client import Client, Json


@contextmanager
def publishing(server: Server) -> Iterator["subprocess.Popen[bytes]"]:
    environment = {**os.environ, "LINEAGE_BRIDGE_DATA_DIR": str(server.paths.data_dir)}
    process = subprocess.Popen([*COMMAND, "publisher"], env=environment)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def until(holds: Callable[[], bool], shown: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline, shown()
        time.sleep(0.05)


def test_a_killed_publisher_goes_on_where_it_was(server: Server, faulty: Callable[[str], Faulty]) -> None:
    proxy = faulty(server.url)  # what it answers itself is all that is sent there
    proxy.answer(201, "/lineage")
    name = "followed"
    settings = {"url": proxy.url, "publish": "continuous", "debounce_s": 0.2, "tries": 1, "namespaces": ["to-follow"]}

    def sent() -> int:
        return sum(request.startswith("POST /api/v1/lineage") for request in proxy.requests)

    with Client(server.url) as client:

        def stands() -> Json:
            found: Json = client.get(f"/api/v1/targets/{name}")["continuous"]
            return found

        def send(job: str) -> None:
            client.post_events(
                run_event(job=job, inputs=[dataset("p", "to-follow")], outputs=[dataset("q", "to-follow")]), "application/json"
            )
            server.fold()

        def published() -> bool:
            server.fold()  # also the head of the audit trail, which the server appends without waiting for it
            return bool(stands()["state"] == "idle")

        send("first-to-follow")
        client.post("/api/v1/targets", json.dumps({"name": name, "kind": "openlineage", "settings": settings}).encode())
        with publishing(server):
            until(lambda: published() and sent() == 1, lambda: (stands(), proxy.requests))
            proxy.refuse()
            send("second-to-follow")
            until(lambda: stands().get("last_error", {}).get("code") == "unreachable", lambda: (stands(), proxy.requests))
        assert stands()["state"] == "stopped"
        send("third-to-follow")
        proxy.mend()
        proxy.answer(201, "/lineage")
        with publishing(server):
            until(lambda: published() and stands().get("lag_changes") == 0, lambda: (stands(), proxy.requests))
            assert (sent(), "last_error" in stands()) == (3, False)
            client.post(f"/api/v1/targets/{name}/pause")
            assert stands()["state"] == "paused"
        client.delete(f"/api/v1/targets/{name}")


def test_a_publisher_killed_while_it_sends_loses_and_doubles_nothing(
    server: Server, faulty: Callable[[str], Faulty], tmp_path_factory: pytest.TempPathFactory
) -> None:
    jobs, name = {f"half-{number:02}" for number in range(30)}, "second"
    with serving(tmp_path_factory.mktemp("second")) as second, Client(server.url) as client, Client(second.url) as there:
        proxy = faulty(second.url)
        settings = {"url": proxy.url, "publish": "continuous", "debounce_s": 0.2, "at_once": 2, "namespaces": ["halves"], "tries": 1}

        def sent() -> int:
            server.fold()  # also the head of the audit trail
            return sum(request.startswith("POST /api/v1/lineage") for request in proxy.requests)

        def has_sent(requests: int) -> bool:
            return sent() >= requests

        def is_idle() -> bool:
            sent()
            found: Json = client.get(f"/api/v1/targets/{name}")["continuous"]
            return bool(found["state"] == "idle" and found.get("lag_changes") == 0)

        for job in sorted(jobs):
            event = run_event(
                run=str(uuid5(NAMESPACE_URL, job)), job=job, inputs=[dataset("p", "halves")], outputs=[dataset(job, "halves")]
            )
            client.post_events(event, "application/json")
        server.fold()
        client.post("/api/v1/targets", json.dumps({"name": name, "kind": "openlineage", "settings": settings}).encode())
        before = 0
        for _ in range(3):  # each is killed while requests are under way whose answers break off, so what became of them is unknown
            proxy.cut("/lineage")
            with publishing(server):
                until(partial(has_sent, before + 2), lambda: proxy.requests)
            proxy.mend()
            before = sent()
        with publishing(server):
            until(is_idle, lambda: (client.get(f"/api/v1/targets/{name}"), sent()))
        client.delete(f"/api/v1/targets/{name}")
        second.fold()
        listed = there.get("/api/v1/lineage/datasets", namespace="halves", limit=1000)
        assert sorted(found["name"] for found in listed) == [*sorted(jobs), "p"]
        runs = [there.get("/api/v1/graph/runs", namespace="jobs", name=job)["runs"] for job in sorted(jobs)]
        assert {len(of_job) for of_job in runs} == {1}, runs
