"""A collector of traces: it takes spans by OTLP over HTTP, as OpenTelemetry has published it, and keeps them."""

import gzip
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest, ExportTraceServiceResponse

from lineage_bridge import tracing
from lineage_bridge.tracing import TRACES_PATH

WAIT_S = 60.0


@dataclass(frozen=True)
class SeenSpan:
    """A span as it arrived. Ids are in hexadecimal; `parent` is empty where a trace begins. `text` is all of it, as JSON-like text."""

    program: str
    name: str
    kind: int
    trace: str
    id: str
    parent: str
    attributes: dict[str, Any]
    is_failed: bool
    text: str


@dataclass
class Collector:
    """What arrived so far, and where."""

    url: str = ""
    spans: list[SeenSpan] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def named(self, name: str, count: int = 1) -> list[SeenSpan]:
        """The spans of a name, once there are so many."""
        deadline = time.monotonic() + WAIT_S
        while len(found := [span for span in self.spans if span.name == name]) < count:
            assert time.monotonic() < deadline, sorted(span.name for span in self.spans)
            time.sleep(0.02)
        return found

    def single(self, name: str) -> SeenSpan:
        """The only span of a name."""
        (found,) = self.named(name)
        return found


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens while the block lasts."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            body = gzip.decompress(body) if self.headers.get("Content-Encoding") == "gzip" else body
            assert (self.path, self.headers["Content-Type"]) == (TRACES_PATH, "application/x-protobuf")
            collector.headers.append(dict(self.headers))
            collector.spans += _spans(ExportTraceServiceRequest.FromString(body))
            answer = ExportTraceServiceResponse().SerializeToString()
            self.send_response(200)
            self.send_header("Content-Type", "application/x-protobuf")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            """Write nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        collector.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield collector
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def recording(program: str = "here") -> Iterator[Collector]:
    """A collector to which this process sends its spans; they have arrived when the block ends."""
    with collecting() as collector:
        tracing.start(collector.url, 1.0, program, "1")
        try:
            yield collector
        finally:
            tracing.stop()


def _spans(request: ExportTraceServiceRequest) -> Iterator[SeenSpan]:
    for of in request.resource_spans:
        program = {attribute.key: attribute.value.string_value for attribute in of.resource.attributes}["service.name"]
        for scope in of.scope_spans:
            for span in scope.spans:
                attributes = {found.key: getattr(found.value, found.value.WhichOneof("value")) for found in span.attributes}
                ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                yield SeenSpan(program, span.name, span.kind, *ids, attributes, span.status.code == 2, json.dumps(str(span)))
