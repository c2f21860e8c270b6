"""A server before a server of Kinesis' API that answers some calls by itself, and holds each request against botocore's service model."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import botocore.session
import httpx
from botocore.validate import ParamValidator
from tests.ports import HOST
from tests.servers.kinesis import Kinesis

MODEL = botocore.session.Session().get_service_model("kinesis")


class Faults:
    """`calls` are the operations that came, with their parameters. `fail` says what comes of those that follow; records whose sequence
    numbers are in `trimmed` are deleted. The clock of its answers is `behind_s` seconds slow.
    """

    def __init__(self, target: Kinesis) -> None:
        self.target, self.url = target, ""
        self.calls: list[tuple[str, dict[str, Any]]] = []
        self.invalid: list[str] = []
        self.trimmed: set[str] = set()
        self.behind_s = 0.0
        self._failing: list[tuple[str, str, str, int]] = []
        self._refusing: list[tuple[str, int]] = []

    def refuse_records(self, code: str, *counts: int) -> None:
        """For each count, one call of PutRecords whose first records, so many of them, are answered with an error and not written."""
        self._refusing += [(code, count) for count in counts]

    def fail(self, operation: str, code: str, times: int = 1, where: str = "") -> None:
        """Calls of an operation, whose parameters contain `where`, are answered with an error of the service model."""
        assert any(code == shape.name for shape in MODEL.operation_model(operation).error_shapes), f"{operation} has no {code}"
        self._failing.append((operation, code, where, times))

    def mend(self) -> None:
        """All calls are passed on."""
        self._failing.clear()

    def answer(self, operation: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
        """Status and body of the answer to a call."""
        asked = json.loads(body or b"{}")
        self.calls.append((operation, asked))
        self._hold_against_model(operation, asked)
        for number, (failing, code, where, times) in enumerate(self._failing):
            if failing == operation and where in json.dumps(asked) and times:
                self._failing[number] = (failing, code, where, times - 1)
                return 400, json.dumps({"__type": code, "message": f"{code} by the test"}).encode()
        refused: list[dict[str, str]] = []
        if operation == "PutRecords" and self._refusing:
            code, count = self._refusing.pop(0)
            refused = [{"ErrorCode": code, "ErrorMessage": f"{code} by the test"}] * min(count, len(asked["Records"]))
            body = json.dumps({**asked, "Records": asked["Records"][len(refused) :]}).encode()
            if len(refused) == len(asked["Records"]):
                return 200, json.dumps({"FailedRecordCount": len(refused), "Records": refused}).encode()
        kept = {name: value for name, value in headers.items() if name.lower() not in ("host", "content-length", "accept-encoding")}
        passed = httpx.post(self.target.url, content=body, headers=kept, trust_env=False, verify=False, timeout=60)
        content = passed.content
        if operation == "GetRecords" and self.trimmed and passed.is_success:
            answer = passed.json()
            answer["Records"] = [record for record in answer["Records"] if record["SequenceNumber"] not in self.trimmed]
            content = json.dumps(answer).encode()
        if refused:
            assert passed.is_success, content
            answer = passed.json()
            content = json.dumps({**answer, "FailedRecordCount": len(refused), "Records": refused + answer["Records"]}).encode()
        return passed.status_code, content

    def _hold_against_model(self, operation: str, asked: dict[str, Any]) -> None:
        shape = MODEL.operation_model(operation).input_shape
        assert shape is not None
        known = {name: value for name, value in asked.items() if name not in ("Timestamp", "Data")}
        self.invalid += [f"{operation}: unknown {name}" for name in asked if name not in shape.members]
        required = [name for name in shape.required_members if name not in asked]
        report = ParamValidator().validate(known, shape)
        self.invalid += [f"{operation}: {name} is missing" for name in required]
        if report.has_errors():
            self.invalid.append(f"{operation}: {report.generate_report()}")


@contextmanager
def before(target: Kinesis) -> Iterator[Faults]:
    """Faults before a server."""
    faults = Faults(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"] or 0))
            operation = self.headers["x-amz-target"].rpartition(".")[2]
            status, content = faults.answer(operation, body, dict(self.headers))
            self.send_response(status)
            self.send_header("content-type", "application/x-amz-json-1.1")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def handle(self) -> None:
            with suppress(ConnectionError):  # whoever asked was killed
                super().handle()

        def finish(self) -> None:
            with suppress(ConnectionError):
                super().finish()

        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string((timestamp or time.time()) - faults.behind_s)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer((HOST, 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    faults.url = f"http://{HOST}:{server.server_port}"
    try:
        yield faults
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert faults.invalid == []
