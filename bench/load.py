"""A cheap HTTP client that keeps many connections busy: requests are made ahead, answers are read no further than needed."""

import asyncio
import socket
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec

CALL = "/api/v1/lineage"


@dataclass
class Answers:
    """What came back: seconds of each request, and how often each status."""

    seconds: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)
    wall_s: float = 0.0


def single(bodies: list[bytes], port: int, key: str = "") -> list[bytes]:
    """One request for each event, with an API key if there is one."""
    return [_request(body, port, "application/json", f"Authorization: Bearer {key}\r\n" if key else "") for body in bodies]


def batches(bodies: list[bytes], port: int, size: int) -> list[bytes]:
    """Arrays of `size` events, which must be JSON."""
    return [_request(b"[" + b",".join(bodies[at : at + size]) + b"]", port, "application/json") for at in range(0, len(bodies), size)]


def is_json(body: bytes) -> bool:
    """Whether an event can be part of an array."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
    except msgspec.DecodeError:
        return False
    return True


def _request(body: bytes, port: int, kind: str, more: str = "") -> bytes:
    head = f"POST {CALL} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n{more}\r\n"
    return head.encode() + body


def fire(requests: list[bytes], port: int, connections: int) -> Answers:
    """Send all requests over this many connections, each waiting for its answer before the next."""
    return asyncio.run(_fire(requests, port, connections))


def paced(requests: Iterator[bytes], port: int, pause_s: float, seconds: float) -> Answers:
    """Send requests over one connection for so many seconds, each a pause after the answer to the one before."""
    answers = Answers()
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            sent = time.monotonic()
            connection.sendall(next(requests))
            answers.statuses[int(_whole_answer(connection).split(b" ", 2)[1])] += 1
            answers.seconds.append(time.monotonic() - sent)
            time.sleep(pause_s)
    answers.wall_s = time.monotonic() - began
    return answers


def _whole_answer(connection: socket.socket) -> bytes:
    received = b""
    while True:
        received += connection.recv(1 << 16)
        head, end, body = received.partition(b"\r\n\r\n")
        if end and len(body) == int(head.lower().split(b"content-length:", 1)[1].split(b"\r\n", 1)[0]):
            return received


async def _fire(requests: list[bytes], port: int, connections: int) -> Answers:
    answers, waiting = Answers(), iter(requests)
    lanes = [await asyncio.open_connection("127.0.0.1", port) for _ in range(connections)]
    began = time.monotonic()

    async def lane(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        for request in waiting:
            sent = time.monotonic()
            writer.write(request)
            answers.statuses[await _answer(reader)] += 1
            answers.seconds.append(time.monotonic() - sent)

    await asyncio.gather(*(lane(*pair) for pair in lanes))
    answers.wall_s = time.monotonic() - began
    for _, writer in lanes:
        writer.close()
    return answers


async def _answer(reader: asyncio.StreamReader) -> int:
    """Read one answer; its status."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:", 1)[1].split(b"\r\n", 1)[0])
    await reader.readexactly(length)
    return int(head.split(b" ", 2)[1])
