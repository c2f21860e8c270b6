"""Too much, too large, too deep, too slow: the documented answer, memory within bounds, and others served meanwhile."""

import gzip
import json
import socket
import zlib
from collections import Counter
from contextlib import ExitStack, suppress
from typing import Any

import httpx
import pytest
from tests.api.attacks.conftest import MIB, Attacked
from tests.api.attacks.raw import answered, connected, until_closed
from tests.events import run_event

LINEAGE = "/api/v1/lineage"
SLOW, IDLE = 400, 1000


@pytest.fixture
def client(attacked: Attacked) -> Any:
    headers = {"authorization": f"Bearer {attacked.key}"}
    with httpx.Client(base_url=attacked.url, headers=headers, trust_env=False, timeout=60) as client:
        yield client


@pytest.mark.parametrize(
    "headers",
    [
        [f"X-{number}: 1" for number in range(130)],
        [f"X-{number}: 1" for number in range(100_000)],
        [f"X: {'x' * MIB}"],
        [f"{'x' * MIB}: 1"],
        [f"Cookie: {'a=b; ' * 20_000}"],
    ],
    ids=["a few too many", "very many", "a long value", "a long name", "a long cookie"],
)
def test_floods_of_headers(attacked: Attacked, headers: list[str]) -> None:
    with attacked.serving_others():
        statuses, code = answered(attacked, attacked.head(LINEAGE, *headers) + b"\r\n")
        assert (statuses, code) in [([431], "head_too_large"), ([], "")], "the answer is lost if the client still sends"
    if len(headers) == 130:
        assert statuses == [431]


def test_a_long_target(attacked: Attacked) -> None:
    with attacked.serving_others():
        assert answered(attacked, attacked.head(f"/{'x' * 60_000}", "Connection: close") + b"\r\n")[0] == [404]
        for size in (70_000, MIB):
            assert answered(attacked, attacked.head(f"/{'x' * size}") + b"\r\n") in [([414], "target_too_long"), ([], "")]


DEEP = {
    "arrays": "[" * 10_000 + "]" * 10_000,
    "objects": '{"a":' * 10_000 + "1" + "}" * 10_000,
    "unclosed arrays": "[" * 10_000,
    "unclosed objects": '{"a":' * 10_000,
    "both": '[{"a":' * 10_000 + "1" + "}]" * 10_000,
}


def test_deep_json(attacked: Attacked, client: httpx.Client) -> None:
    event = json.loads(run_event(job="deep"))
    with attacked.serving_others():
        for name, deep in DEEP.items():
            for path in (LINEAGE, f"{LINEAGE}/batch", f"{LINEAGE}/events"):
                answer = client.post(path, content=deep)
                assert answer.status_code in (200, 400, 413, 422), (name, path)
                assert answer.json().get("status", "failure") in ("failure", "rejected"), (name, path)
            for path in ("/api/v1/operations/erase", "/api/v1/sources", "/api/v1/tasks/extract", "/api/v1/graphs/x/import"):
                assert client.post(path, content=deep).status_code in (400, 404, 422), (name, path)
            inside = json.dumps({**event, "run": {**event["run"], "facets": {"f": "DEEP"}}}).replace('"DEEP"', deep)
            assert client.post(LINEAGE, content=inside).status_code in (400, 422), name


def bomb(size: int, level: int = 9) -> bytes:
    """Zeros, packed."""
    packer = zlib.compressobj(level, wbits=zlib.MAX_WBITS | 16)
    piece = bytes(MIB)
    return b"".join([*(packer.compress(piece) for _ in range(size // MIB)), packer.flush()])


def test_gzip_bombs(attacked: Attacked, client: httpx.Client) -> None:
    packed = bomb(256 * MIB)
    bombs = {
        "one": packed,
        "many members": gzip.compress(bytes(MIB)) * 200,
        "empty members": gzip.compress(b"") * 100_000,
        "a bomb in a bomb": gzip.compress(packed),
        "cut": packed[: len(packed) // 2],
    }
    with attacked.serving_others():
        for name, body in bombs.items():
            assert len(body) < 3 * MIB
            for path in (LINEAGE, "/api/v1/graphs/x/import"):
                answer = client.post(path, content=body, headers={"content-encoding": "gzip"})
                assert answer.status_code in (400, 404, 413, 422), name
        code = client.post(LINEAGE, content=packed, headers={"content-encoding": "gzip"}).json()["code"]
        assert code == "too_large"


def test_bodies_of_four_hundred_slow_clients(attacked: Attacked) -> None:
    head = attacked.head(LINEAGE, "Content-Length: 100000") + b"\r\n{"
    with ExitStack() as stack, attacked.serving_others():
        slow = [stack.enter_context(connected(attacked, head, f"127.0.0.{2 + number % 2}")) for number in range(SLOW)]
        for _ in range(5):
            attacked.check_served()
            for connection in slow:
                with suppress(ConnectionError):
                    connection.sendall(b" ")
        ends = Counter(b"too_slow" in until_closed(connection) for connection in slow)
    assert ends == {True: SLOW}


def test_a_thousand_idle_connections(attacked: Attacked) -> None:
    with ExitStack() as stack, attacked.serving_others():
        idle = [stack.enter_context(connected(attacked, b"GET / HT" if number % 2 else b"")) for number in range(IDLE)]
        attacked.check_served()
        open_ = [found for found in attacked.process.net_connections() if found.status == "ESTABLISHED"]
        assert len(open_) < 300, "those of one address"
        answers = Counter(ending_of(connection) for connection in idle)
    assert answers["too_many_connections_of_address"] > IDLE // 2
    assert set(answers) == {"too_many_connections_of_address", "too_slow"}


def ending_of(connection: socket.socket) -> str:
    """The code of the error that a connection ends with."""
    return until_closed(connection).rpartition(b'"code":"')[2].partition(b'"')[0].decode()


def test_chunks_that_never_end(attacked: Attacked) -> None:
    head = attacked.head(LINEAGE, "Transfer-Encoding: chunked") + b"\r\n"
    with attacked.serving_others():
        assert answered(attacked, head + b"1;" + b"a" * MIB)[0] in ([400], [])
        assert answered(attacked, head + b"7fffffffffffffff\r\n{") == ([408], "too_slow")


def test_pipelined_requests_are_answered_in_their_order(attacked: Attacked) -> None:
    ask = attacked.head("/api/v1/sources", method="GET") + b"\r\n"
    last = attacked.head("/api/v1/sources", "Connection: close", method="GET") + b"\r\n"
    with attacked.serving_others():
        assert answered(attacked, ask * 500 + last)[0] == [200] * 501
