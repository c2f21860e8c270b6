"""A stand-in of a system's REST API on loopback: what a test says of its state, behind the failures that a test asks for."""

import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit


class Request(NamedTuple):
    """A request: `parts` are the path's, unquoted; `query` has the last of each parameter; `body` is JSON, a form's are bytes."""

    method: str
    parts: tuple[str, ...]
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


class Reply(NamedTuple):
    """An answer; `body` is sent as JSON, bytes as they are."""

    status: int
    body: Any
    content_type: str = "application/json"


UNAUTHORIZED = Reply(401, {"error_code": 401, "message": "Unauthorized"})
Api = Callable[[Request], Reply]


@dataclass
class Standin:
    """A server that answers as `api` does. `failing`: beginning of a path to the answer instead; `asked`: all that was asked so far."""

    api: Api
    credentials: str = ""
    unauthorized: Reply = UNAUTHORIZED
    failing: dict[str, Reply] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    url: str = ""

    def answer(self, request: Request, target: str) -> Reply:
        self.asked.append(f"{request.method} {target}")
        allowed = f"Basic {base64.b64encode(self.credentials.encode()).decode()}"
        if self.credentials and request.headers.get("authorization") != allowed:
            return self.unauthorized
        failure = next((reply for start, reply in self.failing.items() if target.startswith(start)), None)
        return failure or self.api(request)


@contextmanager
def standing(standin: Standin) -> Iterator[Standin]:
    """The server, running."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet for an answer: two of them wait for each other

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            content = self.rfile.read(length)
            request = Request(
                self.command,
                tuple(unquote(part) for part in split.path.strip("/").split("/")),
                {key: values[-1] for key, values in parse_qs(split.query).items()},
                json.loads(content) if content and "form" not in self.headers.get("Content-Type", "") else content or None,
                {key.lower(): value for key, value in self.headers.items()},
            )
            reply = standin.answer(request, self.path)
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    standin.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield standin
    finally:
        server.shutdown()
        server.server_close()
