"""Amazon's client, as the input uses it: no answer sends it elsewhere, and each connection is checked."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lineage_bridge.config.outbound import Outbound
from lineage_bridge.errors import SourceError
from lineage_bridge.inputs.files.s3 import S3Settings
from lineage_bridge.inputs.files.s3_bucket import S3Store
from lineage_bridge.inputs.files.store import FoundFile
from lineage_bridge.sources.common.settings import SourceContext

LISTING = (
    b"<ListBucketResult><Name>bucket</Name><KeyCount>1</KeyCount><IsTruncated>false</IsTruncated><Contents><Key>a.json</Key>"
    b'<LastModified>2026-05-01T10:00:00.123Z</LastModified><ETag>"1"</ETag><Size>5000</Size></Contents></ListBucketResult>'
)


class Answering(BaseHTTPRequestHandler):
    """Answers as its server says: `status`, `headers`, `body`; `asked` is what came."""

    server: "Server"

    def do_GET(self) -> None:
        """Answer."""
        self.server.asked.append(f"{self.command} {self.path}")
        status, headers, body = self.server.answer
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET  # noqa: N815 - the name that the base class calls

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # its name there
        """Nothing is logged."""


class Server(ThreadingHTTPServer):
    """A server of this machine."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.asked: list[str] = []
        self.answer: tuple[int, dict[str, str], bytes] = (200, {}, b"")


@contextmanager
def serving() -> Iterator[Server]:
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def opened(port: int, host: str = "127.0.0.1", outbound: str = "") -> S3Store:
    settings = {"bucket": "bucket", "region": "eu-west-1", "anonymous": True, "endpoint_url": f"http://{host}:{port}", "timeout_s": 5}
    return S3Store(S3Settings.model_validate(settings, context=SourceContext(outbound=Outbound.parse(outbound))))


@pytest.mark.parametrize("names_region", [True, False], ids=["region", "nowhere"])
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_answer_sends_it_to_another_host(status: int, names_region: bool) -> None:
    with serving() as other, serving() as first:
        elsewhere = f"127.0.0.1:{other.server_port}"
        body = f"<Error><Code>TemporaryRedirect</Code><Endpoint>{elsewhere}</Endpoint><Bucket>bucket</Bucket></Error>".encode()
        headers = {"Location": f"http://{elsewhere}/bucket/a.json", **({"x-amz-bucket-region": "eu-west-2"} if names_region else {})}
        first.answer = (status, headers, body)
        store = opened(first.server_port)
        with pytest.raises(SourceError):
            store.check()
        with pytest.raises(SourceError):
            list(store.entries("bucket", recursive=False))
        with pytest.raises(OSError, match=r"a\.json"):
            store.open(FoundFile("a.json", "", 10, 0)).read(10)
    assert len(first.asked) == 3
    assert other.asked == []


def test_nothing_is_sent_to_a_name_that_has_another_address_when_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = socket.getaddrinfo, []

    def rebinding(host: Any, *rest: Any, **more: Any) -> Any:
        if host == "rebinding.example.com":
            calls.append(host)
            return real("127.0.0.2" if len(calls) == 1 else "127.0.0.1", *rest, **more)
        return real(host, *rest, **more)

    with serving() as server:
        monkeypatch.setattr(socket, "getaddrinfo", rebinding)
        store = opened(server.server_port, "rebinding.example.com", "127.0.0.2")
        with pytest.raises(SourceError, match=r"rebinding.example.com \(127.0.0.1\) is not among the addresses that may be called"):
            store.check()
    assert len(calls) > 1
    assert server.asked == []


def test_a_store_that_answers_with_something_else_than_asked_for_is_an_error() -> None:
    with serving() as server:
        store = opened(server.server_port)
        server.answer = (200, {}, LISTING)
        assert [(found.path, found.size, found.mtime_ns) for found in store.entries("bucket", recursive=True)] == [
            ("bucket/a.json", 5000, 1_777_629_600_123_000_000)
        ]
        server.answer = (200, {"ETag": '"1"'}, b"x" * 5000)
        with pytest.raises(OSError, match="did not return the requested byte range"):
            store.open(FoundFile("a.json", "", 5000, 0)).read(10)
        server.answer = (412, {}, b"<Error><Code>PreconditionFailed</Code></Error>")
        with pytest.raises(OSError, match="PreconditionFailed"):
            store.open(FoundFile("a.json", "", 5000, 0)).read(10)
