"""A JobManager that answers what it is told: recorded answers by path, refusals, half answers; and a gateway that knows some DDL."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

ANSWERS = Path(__file__).parent / "answers"


def recorded(name: str) -> Any:
    return json.loads((ANSWERS / f"{name}.json").read_text())


@dataclass
class Stand:
    """`answers`: path to a value that is sent as JSON, to bytes, or to a status that refuses. `metrics`: path to the sums by id.

    `rows`: statement to the one value it gives; the gateway fails at others. `said` are those that it was given.
    """

    url: str
    answers: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, dict[str, int]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    rows: dict[str, str] = field(default_factory=dict)
    statements: list[str] = field(default_factory=list)

    def answer(self, path: str, query: dict[str, list[str]]) -> tuple[int, bytes]:
        self.asked.append(path)
        if path in self.metrics and path not in self.answers:
            sums = self.metrics[path]
            if "get" not in query:
                return 200, json.dumps([{"id": id_} for id_ in sums]).encode()
            member = "value" if path.count("/") == 3 else "sum"
            names = query["get"][0].split(",")
            # Flink answers with no metric at all if one of them does not exist.
            known = all(id_ in sums for id_ in names)
            return 200, json.dumps([{"id": id_, member: str(sums[id_])} for id_ in names] if known else []).encode()
        if path.startswith("/v1/") and path not in self.answers:
            return 200, json.dumps(self._gateway(path)).encode()
        found = self.answers.get(path, 404)
        if isinstance(found, int):
            return found, json.dumps({"errors": [f"refused with {found}"]}).encode()
        return 200, found if isinstance(found, bytes) else json.dumps(found).encode()

    def _gateway(self, path: str) -> dict[str, Any]:
        """The session is 1; an operation has the index of its statement."""
        if path == "/v1/sessions":
            return {"sessionHandle": "1"}
        if path == "/v1/sessions/1/statements":
            return {"operationHandle": str(len(self.statements) - 1)}
        parts = path.split("/")
        row = self.rows.get(self.statements[int(parts[5])]) if len(parts) > 5 else None
        if path.endswith("/status"):
            return {"status": "ERROR" if row is None else "FINISHED"}
        return {"resultType": "EOS", "results": {"data": [{"fields": [row]}]}} if len(parts) > 5 else {"status": "CLOSED"}


@contextmanager
def standing() -> Iterator[Stand]:
    """A stand that serves; it refuses what it has no answer to."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            stand.statements += [body["statement"]] if "statement" in body else []
            self.do_GET()

        def do_DELETE(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.do_GET()

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            status, body = stand.answer(parts.path, parse_qs(parts.query))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    stand = Stand(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield stand
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
