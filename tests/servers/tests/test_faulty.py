"""The proxy passes requests on, and fails as ordered: for a while, for some paths, for some requests."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import httpx
import pytest

ANSWER = b'{"said": "all of it"}'


@pytest.fixture(scope="module")
def target():
    """A server that answers GET with ANSWER and POST with what it was sent."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_answer(ANSWER)

        def do_POST(self):
            self.send_answer(self.rfile.read(int(self.headers["Content-Length"])))

        def send_answer(self, body):
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", self.headers.get("Accept", ""))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/base"
        server.shutdown()


@pytest.fixture
def proxy(faulty, target):
    return faulty(target)


def test_everything_is_passed_on(proxy):
    answer = httpx.get(f"{proxy.url}/x?y=1", headers={"Accept": "text/plain"})
    assert (answer.content, answer.headers["Content-Type"]) == (ANSWER, "text/plain")
    assert httpx.post(proxy.url, content=b"sent").content == b"sent"
    assert proxy.requests == ["GET /base/x?y=1", "POST /base"]


def test_it_refuses_until_it_is_mended(proxy):
    proxy.refuse()
    for _ in range(2):
        with pytest.raises(httpx.ConnectError):
            httpx.get(proxy.url)
    proxy.mend()
    assert httpx.get(proxy.url).content == ANSWER


def test_it_hangs(proxy):
    proxy.hang()
    with pytest.raises(httpx.ReadTimeout):
        httpx.get(proxy.url, timeout=0.2)
    proxy.mend()
    assert httpx.get(proxy.url).content == ANSWER


def test_it_answers_with_errors_to_some_requests(proxy):
    proxy.answer(429, path="/one", times=2, headers={"Retry-After": "1"})
    answers = [httpx.get(proxy.url + path) for path in ("/two", "/one", "/one", "/one")]
    assert [answer.status_code for answer in answers] == [200, 429, 429, 200]
    assert answers[1].headers["Retry-After"] == "1"


def test_it_breaks_answers_off(proxy):
    proxy.cut(times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(proxy.url)
    assert httpx.get(proxy.url).content == ANSWER
