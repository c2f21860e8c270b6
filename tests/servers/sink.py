"""Where a server's own listener sends OpenLineage events to: a receiver over HTTP, or a topic."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

from tests.ports import HOST

PATH, TOPIC = "/api/v1/lineage", "openlineage-events"


@dataclass(frozen=True)
class EventSink:
    """Where events may be sent, with which key (empty: none is asked for), and all that came since the run began, in order.

    With `bootstrap`, the brokers of Kafka, the events go to TOPIC there instead.
    """

    url: str
    key: str = ""
    events: list[dict[str, Any]] = field(default_factory=list)
    bootstrap: str = ""

    @property
    def transport(self) -> dict[str, Any]:
        """The settings of the transport, by the names that OpenLineage's Java client has for them."""
        if self.bootstrap:
            serializers = {f"{part}.serializer": "org.apache.kafka.common.serialization.StringSerializer" for part in ("key", "value")}
            return {"type": "kafka", "topicName": TOPIC, "properties": {"bootstrap.servers": self.bootstrap, "acks": "all", **serializers}}
        auth = {"auth": {"type": "api_key", "apiKey": self.key}} if self.key else {}
        return {"type": "http", "url": self.url, "endpoint": PATH, **auth}

    def settings_in(self, folder: Path) -> Path:
        """A configuration file that makes OpenLineage's Java client send here."""
        file = folder / "openlineage.yml"
        file.write_text(yaml.safe_dump({"transport": self.transport}), encoding="utf-8")
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
