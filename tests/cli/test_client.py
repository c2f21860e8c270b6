"""The client of commands against a server that closes connections."""

import socket
import threading
from collections.abc import Iterator

import pytest

from lineage_bridge.cli.client import Client
from lineage_bridge.errors import UnavailableError

ANSWER = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n{"events": [1]}'


class Closing:
    """A server that answers the first request of each connection, and closes the connection when the second one comes."""

    def __init__(self) -> None:
        self.requests: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._socket.accept()
            with connection:
                first = connection.recv(65536)
                if not first:
                    return
                self.requests.append(first.split(b"\r\n")[0])
                connection.sendall(ANSWER)
                connection.recv(65536)

    def close(self) -> None:
        socket.create_connection(self._socket.getsockname()).close()
        self._thread.join()
        self._socket.close()


@pytest.fixture
def closing() -> Iterator[Closing]:
    server = Closing()
    yield server
    server.close()


def test_a_question_is_asked_again_when_its_connection_is_closed(closing: Closing):
    with Client(closing.url) as client:
        for path in ("/first", "/second", "/third"):
            assert client.get(path) == {"events": [1]}
    assert closing.requests == [b"GET /first HTTP/1.1", b"GET /second HTTP/1.1", b"GET /third HTTP/1.1"]


def test_events_are_sent_again_when_their_connection_is_closed(closing: Closing):
    with Client(closing.url) as client:
        assert [client.post_events(b"[]", "application/json") for _ in range(2)] == [{"events": [1]}] * 2


def test_what_must_not_happen_twice_is_not_sent_again(closing: Closing):
    with Client(closing.url) as client:
        client.get("/first")
        with pytest.raises(UnavailableError, match="closed the connection without an answer"):
            client.post("/tasks")
    assert len(closing.requests) == 1
