"""A worker's REST API that answers what it is told to: for refusals and half answers that no real worker gives when asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

SILENCE = -1
"""An answer that does not come."""


class FakeWorker:
    """`answers`: path (without the query; `/connectors?` is the expanded listing) to JSON, or to a status, or to bytes sent as they are."""

    def __init__(self, answers: dict[str, Any]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.url, self.over = "", threading.Event()

    def answer(self, path: str) -> tuple[int, bytes]:
        self.asked.append(path)
        key = "/connectors?" if path.startswith("/connectors?") else path.partition("?")[0]
        found = self.answers.get(key, 404)
        if isinstance(found, bytes):
            return 200, found
        if isinstance(found, int):
            return found, json.dumps({"error_code": found, "message": f"no answer for {key}"}).encode()
        return 200, json.dumps(found).encode()


@contextmanager
def fake_worker(answers: dict[str, Any]) -> Iterator[FakeWorker]:
    fake = FakeWorker(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer is one packet, so nobody waits for an acknowledgement

        def do_GET(self) -> None:  # the name is that of the standard library
            status, body = fake.answer(self.path)
            if status == SILENCE:
                self.close_connection = fake.over.wait(10)
                return
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            self.wfile.flush()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fake
    finally:
        fake.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


def entry(
    name: str, config: dict[str, str], direction: str = "source", state: str = "RUNNING", tasks: tuple[str, ...] = ("RUNNING",)
) -> dict:
    """A connector as the expanded listing has it."""
    tasks_json = [{"id": number, "state": state, "worker_id": "w:8083"} for number, state in enumerate(tasks)]
    return {
        "info": {
            "name": name,
            "config": {"name": name, **config},
            "tasks": [{"connector": name, "task": p["id"]} for p in tasks_json],
            "type": direction,
        },
        "status": {"name": name, "connector": {"state": state, "worker_id": "w:8083"}, "tasks": tasks_json, "type": direction},
    }


def worker_with(*entries: dict, **more: Any) -> dict[str, Any]:
    """The answers of a worker that has these connectors, with what else it answers."""
    names = [connector["info"]["name"] for connector in entries]
    classes = {connector["info"]["config"]["connector.class"] for connector in entries}
    own: dict[str, Any] = {
        f"/connectors/{name}/{what}": answer
        for name in names
        for what, answer in (("tasks", []), ("topics", {name: {"topics": []}}), ("offsets", {"offsets": []}))
    }
    return {
        "/": {"version": "4.3.1", "commit": "c", "kafka_cluster_id": "cluster"},
        "/connectors?": dict(zip(names, entries, strict=True)),
        "/connectors": names,
        "/connector-plugins": [{"class": name, "type": "source", "version": "1"} for name in sorted(classes)],
        **{f"/connector-plugins/{name}/config": [] for name in classes},
        **own,
        **more,
    }
