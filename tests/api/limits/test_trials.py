"""Tests of sources, inputs and targets that get no answer hold up nothing else."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from itertools import islice

from tests.api.support import LINEAGE, Server
from tests.events import run_event

SOURCE = "/api/v1/sources/silent"
MORE_THAN_THREADS = 44
ENOUGH_S = 60.0


@contextmanager
def silent_server(accepted: list[socket.socket]) -> Iterator[socket.socket]:
    """A server that never answers; the connections that it accepted are closed with it."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        listener.settimeout(ENOUGH_S)
        try:
            yield listener
        finally:
            listener.close()
            for connection in accepted:
                connection.close()


def test_tests_without_an_answer_leave_room_for_all_else(server: Server) -> None:
    greedy, modest = server.key("greedy", "operate"), server.key("modest", "operate", "ingest", "read")
    accepted: list[socket.socket] = []
    with (
        server.asking_for_keys() as client,
        ThreadPoolExecutor(MORE_THAN_THREADS + 4) as callers,
        silent_server(accepted) as listener,
    ):
        settings = {"url": f"http://127.0.0.1:{listener.getsockname()[1]}", "timeout_s": 600}
        body = {"name": "silent", "kind": "connect", "settings": settings}
        assert client.post("/api/v1/sources", json=body, headers=greedy).status_code == 201
        tests = [callers.submit(client.post, f"{SOURCE}/test", headers=greedy) for _ in range(MORE_THAN_THREADS)]
        accepted += [listener.accept()[0] for _ in range(4)]
        refused = [call.result() for call in islice(as_completed(tests, ENOUGH_S), MORE_THAN_THREADS - 4)]
        assert {(a.status_code, a.json()["error"]["code"], a.headers["retry-after"]) for a in refused} == {(503, "too_many_tests", "5")}
        others = [
            callers.submit(client.get, SOURCE, headers=modest),
            callers.submit(client.get, "/api/v1/health", headers=modest),
            callers.submit(client.post, LINEAGE, content=run_event(), headers=modest),
            callers.submit(client.post, "/api/v1/inputs/none/test", headers=greedy),
            callers.submit(client.post, "/api/v1/targets/none/test", headers=greedy),
            callers.submit(client.post, "/api/v1/targets/none/test", headers=modest),
        ]
        assert [call.result(ENOUGH_S).status_code for call in others] == [200, 200, 201, 503, 503, 404]
    ended = [call.result() for call in tests if call.result().status_code == 200]
    assert [answer.json()["works"] for answer in ended] == [False] * 4
