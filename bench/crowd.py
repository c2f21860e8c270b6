"""Many clients at once, in a process of their own: each repeats its question, until all vanish in the middle of their answers."""

import asyncio
import multiprocessing
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from time import monotonic

from typing_extensions import Self

_RETRY_S = 0.25
"""How long a refused client waits, which is less than it is told to."""
_CHUNK = 1 << 16


@dataclass
class Answered:
    """Statuses of the answers that began, how many came to their end, the bytes of all, and the connections that broke."""

    statuses: Counter[str]
    finished: int = 0
    bytes: int = 0


class Crowd:
    """Clients of a server, one for each path, while it is entered."""

    def __init__(self, port: int, paths: Sequence[str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._ours, theirs = context.Pipe()
        self._process = context.Process(target=_ask, args=(theirs, port, list(paths)), daemon=True)

    def __enter__(self) -> Self:
        self._process.start()
        self._ours.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join()

    def leave(self) -> Answered:
        """All clients vanish at once; what they were answered until then."""
        self._ours.send(None)
        answered: Answered = self._ours.recv()
        self._process.join()
        return answered


def _ask(pipe: "Connection[Answered | None, None]", port: int, paths: list[str]) -> None:
    answered = Answered(Counter())

    async def main() -> None:
        clients = [asyncio.create_task(_client(port, path, answered)) for path in paths]
        pipe.send(None)
        await asyncio.get_running_loop().run_in_executor(None, pipe.recv)
        pipe.send(answered)
        os._exit(len(clients) < 0)  # as a killed program: no connection is closed in order

    asyncio.run(main())


async def _client(port: int, path: str, answered: Answered) -> None:
    while True:
        status = await ask(port, path, answered)
        if status != "200":
            await asyncio.sleep(_RETRY_S)


async def ask(port: int, path: str, answered: Answered) -> str:
    """Ask one question, and read its answer to the end; the status."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            status = (await reader.readuntil(b"\r\n\r\n")).split(b" ", 2)[1].decode()
            answered.statuses[status] += 1
            while chunk := await reader.read(_CHUNK):
                answered.bytes += len(chunk)
            answered.finished += status == "200"
        finally:
            writer.close()
    except (OSError, asyncio.IncompleteReadError):
        status = "broken"
        answered.statuses[status] += 1
    return status


def ask_once(port: int, path: str) -> tuple[str, int, float]:
    """Status, bytes and seconds of one question."""
    answered, began = Answered(Counter()), monotonic()
    status = asyncio.run(ask(port, path, answered))
    return status, answered.bytes, monotonic() - began
