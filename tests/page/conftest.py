"""The page in Debian's Chromium, over a server that has the demo's pipeline, and names that are hostile."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
import uvicorn
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright
from tests.api.support import Server, running
from tests.events import KEY, dataset, facet, run_event
from tests.ports import HOST, free_port
from tests.servers.chromium import shell

from lineage_bridge.api.app import create_app
from lineage_bridge.demo.events import events
from lineage_bridge.graph.facts.names import Names
from lineage_bridge.store.write.apply import GraphWriter

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = {
    "markup": "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "direction": "orders\u202eslbat\u200b",
    "long": "very.long.name/" * 270,
    "colons": "a:b::c/d//e?f=g#h&i%2F%00",
    "emoji": "👩‍💻 orders 🚀",
}


HOUR_US = 3_600_000_000
expect.set_options(timeout=30_000)  # as long as for everything else: on a busy machine, slow is no fault


def redeployed(now_us: int) -> list[bytes]:
    """A job that, three hours ago, got another version, which writes one column more; and a reader that began two hours ago."""

    def load(hours_ago: int, query: str, *columns: str) -> bytes:
        fields = [{"name": name, "type": "STRING"} for name in columns]
        wrote = dataset("payments", schema=facet(fields=fields))
        run, time_us = f"00000000-0000-4000-8000-{hours_ago:012}", now_us - hours_ago * HOUR_US
        return run_event(
            run=run, job="load", time_us=time_us, inputs=[dataset("payments-raw")], outputs=[wrote], job_facets={"sql": facet(query=query)}
        )

    old, new = (
        ("INSERT INTO payments SELECT id FROM raw", ["id"]),
        ("INSERT INTO payments SELECT id, currency FROM raw", ["id", "currency"]),
    )
    times = [(30, old), (8, old), (3, new), (1, new)]
    read = run_event(
        run="00000000-0000-4000-8000-0000000000ff",
        job="report",
        time_us=now_us - 2 * HOUR_US,
        inputs=[dataset("payments")],
        outputs=[dataset("totals")],
    )
    return [*(load(hours, query, *columns) for hours, (query, columns) in times), read]


LATE = "<i>late</i>"
"""The job of a rejected event."""


def connect(server: Server) -> None:
    """Add a source, an input and a target to which one plan was made, and have an event rejected."""
    kafka = {"bootstrap_servers": "localhost:9092"}
    asked = {
        "sources": {"name": "broker", "kind": "kafka", "settings": kafka},
        "inputs": {"name": "events", "kind": "kafka", "settings": {**kafka, "topics": ["lineage"]}},
        "targets": {"name": "catalog", "kind": "files", "settings": {}},
    }
    for path, body in asked.items():
        answer = server.client.post(f"/api/v1/{path}", json=body)
        assert answer.status_code == 201, answer.text
    assert server.client.post("/api/v1/targets/catalog/publish", json={"plan_only": True}).status_code == 202
    rejected = {
        "eventTime": "yesterday",
        "producer": "https://example.org/late",
        "run": {"runId": "1"},
        "job": {"namespace": "ns", "name": LATE},
    }
    assert server.client.post("/api/v1/lineage", json=rejected).status_code == 422
    server.fold()


@dataclass(frozen=True)
class Shown:
    """The address of a server that shows the page, and the same of one that asks for keys, with a key that reads."""

    url: str
    guarded_url: str
    key: str
    now_us: int


@pytest.fixture(scope="session")
def built() -> None:
    """The page of the sources, built."""
    subprocess.run([sys.executable, ROOT / "tools" / "page.py", "build"], check=True)


@pytest.fixture(scope="session")
def shown(tmp_path_factory: pytest.TempPathFactory, built: None) -> Iterator[Shown]:  # noqa: ARG001 - the page is built before
    store = tmp_path_factory.mktemp("store") / "graph.db"
    GraphWriter(store, Names(KEY)).close()
    with running(tmp_path_factory.mktemp("page"), store) as server:
        server.parts.now_us = time.time_ns() // 1000
        server.parts.pipeline = {"state": "running", "pid": 7, "beat_us": server.parts.now_us, "error": None}
        names = [run_event(job=f"job {key}", inputs=[dataset("clean")], outputs=[dataset(name)]) for key, name in HOSTILE.items()]
        server.send(*events(server.parts.now_us, "page"), *names, *redeployed(server.parts.now_us))
        connect(server)
        key = server.key("reader", "read")["authorization"].removeprefix("Bearer ")
        guarded = replace(server.services, access=server.policy(required=True))
        with listening(create_app(server.services)) as url, listening(create_app(guarded)) as guarded_url:
            yield Shown(url, guarded_url, key, server.parts.now_us)


class listening:  # noqa: N801 - a context manager that reads like one
    """Serves an application on loopback; its value is the address."""

    def __init__(self, app: object) -> None:
        self.port = free_port()
        self.server = uvicorn.Server(uvicorn.Config(app, host=HOST, port=self.port, log_level="error", lifespan="off"))  # type: ignore[arg-type]
        self.thread = threading.Thread(target=self.server.run)

    def __enter__(self) -> str:
        self.thread.start()
        while not self.server.started:
            assert self.thread.is_alive()
            time.sleep(0.01)
        return f"http://{HOST}:{self.port}/"

    def __exit__(self, *_: object) -> None:
        self.server.should_exit = True
        self.thread.join()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, one for all files of its group, which share nothing in it: each page is in a context of its own. A machine where it cannot
    be had fails here, with the way to get it.

    It ends with the group: while it is open, an event loop runs in this thread, and tests that follow could start none.
    """
    found = shell()
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=found.program, env={**os.environ, **found.variables}, args=["--no-sandbox", "--disable-gpu"]
        )
        yield started
        started.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of a browser that has been nowhere; at its end, nothing has failed in it and nothing went elsewhere."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    opened = context.new_page()
    faults: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        faults.append(dialog.message)
        dialog.dismiss()

    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("dialog", dismiss)
    opened.on("console", lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None)
    opened.on("request", lambda request: None if request.url.startswith(f"http://{HOST}:") else faults.append(request.url))
    yield opened
    context.close()
    assert faults == []
