"""A proxy before an HTTP server that fails on command: refuses, hangs, answers with errors, breaks off answers."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal
from urllib.parse import urlsplit, urlunsplit

import httpx
from tests.ports import HOST

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
# Valid for one hop only, or set by the proxy.
OWN_HEADERS = {"connection", "content-encoding", "content-length", "date", "host", "keep-alive", "server", "transfer-encoding"}


@dataclass
class Fault:
    """What happens to requests whose path holds `path`: to the next `times` of them, or to all; of these, to each `every`-th."""

    kind: Literal["hang", "answer", "cut"]
    path: str
    times: int | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    every: int = 1
    seen: int = 0

    def takes(self, path: str) -> bool:
        """Whether the fault applies to a request; if so, it counts as used once."""
        if self.path not in path or self.times == 0:
            return False
        self.seen += 1
        if self.seen % self.every:
            return False
        self.times = self.times and self.times - 1
        return True


class Limit:
    """A limit of requests in a second, and those of one second at once: what exceeds it is refused with 429, and asked to come later."""

    def __init__(self, calls_per_s: int, clock_s: Callable[[], float]) -> None:
        self._rate, self._clock_s = calls_per_s, clock_s
        self._left, self._at = float(calls_per_s), clock_s()
        self.answered = self.refused = 0

    def takes(self) -> bool:
        """Whether a request is taken; it is counted."""
        now = self._clock_s()
        self._left, self._at = min(float(self._rate), self._left + (now - self._at) * self._rate), now
        if self._left < 1 - 1e-6:
            self.refused += 1
            return False
        self._left -= 1
        self.answered += 1
        return True

    @property
    def floor_s(self) -> float:
        """The shortest time in which so many requests are taken."""
        return max(0, self.answered - self._rate) / self._rate


class Faulty:
    """The proxy: `url` leads through it to where `target` is, and `requests` are those that came, in order: `GET /path?query`."""

    def __init__(self, target: str) -> None:
        self.requests: list[str] = []
        self._faults: list[Fault] = []
        self._limit: Limit | None = None
        self._lock = threading.Lock()
        self._mended = threading.Event()
        parts = urlsplit(target)
        self._origin = urlunsplit((parts.scheme, parts.netloc, "", "", ""))
        self._server = self._listen(0)
        self._port: int = self._server.server_port
        self.url = urlunsplit(("http", f"{HOST}:{self._port}", parts.path, "", ""))

    def refuse(self) -> None:
        """From now on nothing listens."""
        self._stop()

    def hang(self, path: str = "", times: int | None = None) -> None:
        """Requests are taken and never answered."""
        self._add(Fault("hang", path, times))

    def answer(
        self,
        status: int,
        path: str = "",
        times: int | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"{}",
        every: int = 1,
    ) -> None:
        """Requests are answered by the proxy: with an error, or with nonsense."""
        self._add(Fault("answer", path, times, status, headers or {}, body, every))

    def cut(self, path: str = "", times: int | None = None) -> None:
        """Answers break off half way, after their length was sent."""
        self._add(Fault("cut", path, times))

    def limit(self, calls_per_s: int, clock_s: Callable[[], float]) -> Limit:
        """From now on, what exceeds a limit is answered with 429 and `Retry-After: 1`."""
        self._limit = Limit(calls_per_s, clock_s)
        return self._limit

    def mend(self) -> None:
        """From now on everything is passed on; what hangs is dropped."""
        with self._lock:
            self._faults.clear()
            self._mended.set()
            self._mended = threading.Event()
        if self._server.socket.fileno() < 0:
            self._server = self._listen(self._port)

    def wait_for(self, request: str, after: int = 0, seconds: float = 60.0) -> int:
        """The number of requests up to the first matching one after `after` requests; fails when none comes in time."""
        deadline = time.monotonic() + seconds
        while request not in self.requests[after:]:
            assert time.monotonic() < deadline, f"no {request} in {self.requests[after:]}"
            time.sleep(0.02)
        return self.requests.index(request, after) + 1

    def close(self) -> None:
        """Ends the proxy."""
        self._mended.set()
        self._stop()

    def _add(self, fault: Fault) -> None:
        with self._lock:
            self._faults.append(fault)

    def _listen(self, port: int) -> ThreadingHTTPServer:
        def handle(request: BaseHTTPRequestHandler) -> None:
            self._handle(request)

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

        for method in METHODS:
            setattr(Handler, f"do_{method}", handle)
        server = ThreadingHTTPServer((HOST, port), Handler)
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        return server

    def _stop(self) -> None:
        if self._server.socket.fileno() >= 0:
            self._server.shutdown()
            self._server.server_close()

    def _handle(self, request: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.requests.append(f"{request.command} {request.path}")
            fault = next((fault for fault in self._faults if fault.takes(request.path)), None)
            mended = self._mended
            is_over = fault is None and self._limit is not None and not self._limit.takes()
        if is_over:
            _send(request, 429, {"Retry-After": "1"}, b"{}", 2)
        elif fault and fault.kind == "hang":
            mended.wait()
        elif fault and fault.kind == "answer":
            _send(request, fault.status, fault.headers, fault.body, len(fault.body))
        else:
            self._pass_on(request, halves=2 if fault else 1)

    def _pass_on(self, request: BaseHTTPRequestHandler, halves: int) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        headers = _passed(request.headers.items())
        answer = httpx.request(request.command, self._origin + request.path, content=body, headers=headers, timeout=60, verify=False)
        _send(
            request,
            answer.status_code,
            _passed(answer.headers.items()),
            answer.content[: len(answer.content) // halves],
            len(answer.content),
        )


def _passed(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    return {name: value for name, value in headers if name.lower() not in OWN_HEADERS}


def _send(request: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], body: bytes, length: int) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name, value)
    request.send_header("Content-Length", str(length))
    request.end_headers()
    request.wfile.write(body)


@contextmanager
def before(target: str) -> Iterator[Faulty]:
    """A proxy that passes everything on until a fault is ordered."""
    proxy = Faulty(target)
    try:
        yield proxy
    finally:
        proxy.close()
