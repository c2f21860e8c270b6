"""What stand-ins have in common: JSON over HTTP, answered in threads of this process."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from tests.ports import HOST

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")


class Request(NamedTuple):
    """A request: the parts of its path, decoded, the last values of its query, headers in lower case, its body, and all values."""

    method: str
    parts: tuple[str, ...]
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes
    lists: dict[str, list[str]]


class Answer(NamedTuple):
    """A status, a body (JSON, or bytes as they are), and more headers."""

    status: int
    body: Any = b""
    headers: Mapping[str, str] = MappingProxyType({})


@contextmanager
def answering(handle: Callable[[Request], Answer]) -> Iterator[str]:
    """The address of a server; it answers one request after the other."""
    lock = threading.Lock()

    def answer(request: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(request.path)
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        segments = tuple(map(unquote, parts.path.strip("/").split("/")))
        lists = parse_qs(parts.query)
        query = {name: values[-1] for name, values in lists.items()}
        headers = {name.lower(): value for name, value in request.headers.items()}
        with lock:
            found = handle(Request(request.command, segments, query, headers, body, lists))
        content = found.body if isinstance(found.body, bytes) else json.dumps(found.body).encode()
        request.send_response(found.status)
        for name, value in {"Content-Type": "application/json", **found.headers}.items():
            request.send_header(name, value)
        request.send_header("Content-Length", str(len(content)))
        request.end_headers()
        request.wfile.write(content)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = 1 << 16

        def log_message(self, *_: object) -> None:
            pass

    for method in METHODS:
        setattr(Handler, f"do_{method}", answer)
    with ThreadingHTTPServer((HOST, 0), Handler) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://{HOST}:{server.server_port}"
        server.shutdown()
