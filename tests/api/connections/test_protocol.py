"""Requests on a real connection, byte by byte, as clients send them that offer another protocol."""

import json
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest
import uvicorn
from tests.ports import free_port
from tests.serving import COMMAND, bare_environment

from lineage_bridge.api.connections.limits import ConnectionLimits
from lineage_bridge.api.connections.protocol import Protocol, limited

BODY = b'{"an": "event"}'
JAVA = b"Connection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA\r\nUpgrade: h2c\r\n"
"""What Java's own client adds to the first request of a connection."""


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """Answers what it was asked."""
    body, more = b"", True
    while more:
        message = await receive()
        body, more = body + message.get("body", b""), message.get("more_body", False)
    headers = {name.decode(): value.decode() for name, value in scope["headers"]}
    answer = json.dumps({"method": scope["method"], "path": scope["path"], "headers": headers, "body": body.decode()}).encode()
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(answer))]})
    await send({"type": "http.response.body", "body": answer})


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    yield from serving(limited(ConnectionLimits()))


def serving(protocol: type[Protocol], app: Any = echo) -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(app, loop="asyncio", http=protocol, lifespan="off", log_config=None))
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


def request(extra: bytes = JAVA, body: bytes = BODY, method: bytes = b"POST") -> bytes:
    length = b"Content-Length: %d\r\n" % len(body) if body else b""
    return method + b" /lineage?x=1 HTTP/1.1\r\nHost: here\r\n" + extra + length + b"X-Mine: Connection, Upgrade\r\n\r\n" + body


def answers(port: int, *pieces: bytes, number: int = 1) -> list[Any]:
    """What is answered, in `number` answers, to bytes that come in pieces."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rb") as read:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
            if len(pieces) > 1:
                time.sleep(0.002)
        return [answer(read) for _ in range(number)]


def answer(read: Any) -> Any:
    assert read.readline().split()[1] == b"200"
    length = 0
    while (line := read.readline().strip()) != b"":
        name, _, value = line.partition(b":")
        length = int(value) if name.lower() == b"content-length" else length
    return json.loads(read.read(length))


def test_a_body_behind_an_offer_is_read_and_the_offer_is_gone(port: int) -> None:
    (answer,) = answers(port, request())
    assert (answer["method"], answer["path"], answer["body"]) == ("POST", "/lineage", BODY.decode())
    assert answer["headers"] == {"host": "here", "connection": "", "content-length": str(len(BODY)), "x-mine": "Connection, Upgrade"}


@pytest.mark.parametrize("at", range(0, len(request()), 9))
def test_a_request_may_come_in_any_pieces(port: int, at: int) -> None:
    whole = request()
    (answer,) = answers(port, whole[:at], whole[at : at + 1], whole[at + 1 :])
    assert answer["body"] == BODY.decode()


def test_every_request_of_a_connection_may_carry_an_offer(port: int) -> None:
    answer = answers(port, request() + request(b"") + request(body=b"{}") + request(method=b"GET", body=b""), number=4)
    assert [each["body"] for each in answer] == [BODY.decode(), BODY.decode(), "{}", ""]


def test_a_body_in_chunks_is_read(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: here\r\n" + JAVA + b"Transfer-Encoding: chunked\r\n\r\n"
    (answer,) = answers(port, head, b'4\r\n{"an\r\n', b'b\r\n": "event"}\r\n0\r\n\r\n')
    assert answer["body"] == BODY.decode()


def test_an_offer_of_another_protocol_is_declined_too(port: int) -> None:
    for offer in (b"websocket", b"TLS/1.2"):
        (answer,) = answers(port, request(b"Connection: keep-alive, Upgrade\r\nUpgrade: " + offer + b"\r\n"))
        assert (answer["body"], answer["headers"]["connection"]) == (BODY.decode(), "keep-alive")


def test_bytes_that_are_no_request_are_refused_and_the_connection_is_closed(port: int) -> None:
    for bad in (b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org\r\n\r\n", b"no request\r\n\r\n", JAVA + b"\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(bad)
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 400 ")


@pytest.fixture(scope="module")
def impatient() -> Iterator[int]:
    yield from serving(limited(ConnectionLimits(head_s=0.3, body_s=0.3, body_rate=100)))


def ending(port: int, *pieces: bytes, pause_s: float = 0.0) -> bytes:
    """All that is answered to pieces, of which each is sent after a pause, until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rb") as read:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause_s)
        except ConnectionError:
            pass
        try:
            return read.read()
        except ConnectionError:
            return b""


def test_a_head_that_never_ends_is_refused(impatient: int) -> None:
    start = b"GET / HTTP/1.1\r\nHost: here\r\nX-Long: "
    assert b" 431 " in ending(impatient, start, *[b"x" * 16_384] * 4)
    assert b" 408 " in ending(impatient, start)
    assert b" 408 " in ending(impatient, start, *[b"x"] * 8, pause_s=0.06), "bytes one by one do not make it longer"
    assert b" 408 " in ending(impatient), "nor does a connection that says nothing stay"


def test_a_body_has_a_rate(impatient: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: here\r\nContent-Length: 200\r\n\r\n"
    assert b" 408 " in ending(impatient, head, *[b"x"] * 8, pause_s=0.06)
    with socket.create_connection(("127.0.0.1", impatient), timeout=10) as connection, connection.makefile("rb") as read:
        connection.sendall(head)
        for _ in range(10):
            connection.sendall(b"x" * 20)
            time.sleep(0.06)
        assert answer(read)["body"] == "x" * 200


def test_a_second_request_has_its_own_time(impatient: int) -> None:
    with socket.create_connection(("127.0.0.1", impatient), timeout=10) as connection, connection.makefile("rb") as read:
        for _ in range(3):
            connection.sendall(request(b""))
            assert answer(read)["body"] == BODY.decode()
            time.sleep(0.2)
        connection.sendall(b"GET / HT")
        assert b" 408 " in read.read()


@pytest.fixture(scope="module")
def crowded() -> Iterator[int]:
    yield from serving(limited(ConnectionLimits(connections=2, head_s=600.0)))


def opened(stack: ExitStack, port: int, sent: bytes = b"") -> tuple[socket.socket, Any]:
    """A connection, and what is read from it."""
    connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=60))
    connection.sendall(sent)
    return connection, stack.enter_context(connection.makefile("rb"))


def test_a_connection_too_many_is_refused_while_all_others_are_served(crowded: int) -> None:
    with ExitStack() as stack:
        started = [opened(stack, crowded, request(b"Expect: 100-continue\r\n")[:-1]) for _ in range(2)]
        for _, read in started:
            assert (read.readline(), read.readline()) == (b"HTTP/1.1 100 Continue\r\n", b"\r\n")
        refused = ending(crowded, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert b" 503 " in refused
        assert b"\r\nRetry-After: 5\r\n".lower() in refused.lower()
        assert b'"code":"too_many_connections"' in refused
        for connection, read in started:
            connection.sendall(BODY[-1:])
            assert answer(read)["body"] == BODY.decode()


def test_a_connection_that_waits_gives_way(crowded: int) -> None:
    with ExitStack() as stack:
        _, silent = opened(stack, crowded)
        _, kept_read = opened(stack, crowded, request(b""))
        assert answer(kept_read)["body"] == BODY.decode()
        _, third = opened(stack, crowded, request(b""))
        assert answer(third)["body"] == BODY.decode()
        assert b'"code":"too_many_connections"' in silent.read()
        _, fourth = opened(stack, crowded, request(b""))
        assert answer(fourth)["body"] == BODY.decode()
        assert kept_read.read() == b"", "what was served before is closed without a word"


def test_headers_behind_a_body_are_no_headers(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    (found,) = answers(port, head + b"2\r\n{}\r\n0\r\nX-Forwarded-User: admin\r\nOrigin: https://evil\r\n\r\n")
    assert (found["body"], sorted(found["headers"])) == ("{}", ["host", "transfer-encoding"])


def test_chunks_that_are_nearly_all_framing_are_refused(port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    (found,) = answers(port, head + b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n")
    assert found["body"] == "x" * 50_000
    refused = ending(port, head, *[b"1;" + b"a" * 40_000 + b"\r\nx\r\n"] * 8, pause_s=0.05)
    assert b'"code":"malformed_request"' in refused


def test_a_request_behind_another_is_refused_without_a_word_that_could_be_taken_for_its_answer(port: int) -> None:
    assert ending(port, request(b"") + b"no request\r\n\r\n") == b""
    chunked = b"POST / HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n"
    assert ending(port, request(b"") + chunked) == b"", "nor one whose body is none"


def test_a_client_that_does_not_read_is_disconnected() -> None:
    gone = threading.Event()

    async def endless(_: Any, receive: Any, send: Any) -> None:
        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            gone.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(watch)
            await send({"type": "http.response.start", "status": 200, "headers": []})
            while not gone.is_set():
                await send({"type": "http.response.body", "body": b"x" * 65_536, "more_body": True})
                await anyio.lowlevel.checkpoint()

    with contextmanager(serving)(limited(ConnectionLimits(read_s=0.3)), endless) as unread, ExitStack() as stack:
        opened(stack, unread, b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
        assert gone.wait(20)


def test_settings_limit_the_connections_of_a_server(tmp_path: Path) -> None:
    port = free_port()
    limits = ("--max-connections", "3", "--max-connections-per-address", "2", "--head-bytes", "1024", "--head-timeout-s", "120")
    command = [*COMMAND, "api", "--port", str(port), "--data-dir", str(tmp_path / "data"), *limits]
    with subprocess.Popen(command, env=bare_environment(), stderr=subprocess.DEVNULL, cwd=tmp_path) as process:
        try:
            deadline = time.monotonic() + 120
            while not answers_health(port):
                assert process.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.1)
            assert b" 431 " in ending(port, b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ", b"x" * 2048)
            with ExitStack() as stack:
                first, *_ = [opened(stack, port) for _ in range(3)]
                assert b'"code":"too_many_connections_of_address"' in first[1].read()
        finally:
            process.terminate()


def answers_health(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection, connection.makefile("rb") as read:
            connection.sendall(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            return b" 200 " in read.readline()
    except ConnectionError:
        return False
