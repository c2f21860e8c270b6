"""A receiver of OpenLineage events over HTTP, as a server's own listener sends them."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.ports import HOST

PATH = "/api/v1/lineage"


@dataclass(frozen=True)
class EventSink:
    """Where events may be sent, with which key (empty: none is asked for), and all that came since the run began, in order."""

    url: str
    key: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)

    def settings_in(self, folder: Path) -> Path:
        """A configuration file that makes OpenLineage's Java client send here."""
        file = folder / "openlineage.yml"
        auth = f"  auth:\n    type: api_key\n    apiKey: {self.key}\n" if self.key else ""
        file.write_text(f"transport:\n  type: http\n  url: {self.url}\n  endpoint: {PATH}\n{auth}", encoding="utf-8")
        return file

    def wait_for(self, matches: Callable[[dict[str, Any]], bool], seconds: float = 60.0) -> dict[str, Any]:
        """The first event that matches; fails when none comes in time."""
        deadline = time.monotonic() + seconds
        while True:
            for event in list(self.events):
                if matches(event):
                    return event
            assert time.monotonic() < deadline, f"not among {len(self.events)} events"
            time.sleep(0.1)


@contextmanager
def started() -> Iterator[EventSink]:
    """A sink that takes events in this process."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            sink.events.extend(body if isinstance(body, list) else [body])
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        sink = EventSink(f"http://{HOST}:{server.server_port}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield sink
        server.shutdown()
