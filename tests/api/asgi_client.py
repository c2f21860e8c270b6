"""A client of an application in this process, which answers in one event loop for all, as a server's applications do.

Starlette's own client changes threads nine times for a request, which takes longer than most answers; this one does so once. It takes
an answer when it is complete: where a test reads the beginning of one that goes on, it needs Starlette's.
"""

from concurrent.futures import Future
from functools import cache
from threading import Thread
from typing import Any

import anyio
import httpx2 as httpx  # the one that Starlette's client is made of
from anyio.from_thread import BlockingPortal
from starlette.testclient import TestClient


@cache
def event_loop() -> BlockingPortal:
    """The one event loop of this process in which applications answer. To begin one takes longer than most answers."""
    started: Future[BlockingPortal] = Future()

    async def run() -> None:
        async with BlockingPortal() as portal:
            started.set_result(portal)
            await portal.sleep_until_stopped()

    Thread(target=anyio.run, args=(run,), name="event-loop", daemon=True).start()
    return started.result()


class _Answering(httpx.BaseTransport):
    """Has an application answer requests of a client that does not know of event loops."""

    def __init__(self, app: Any, peer: tuple[str, int]) -> None:
        self._transport = httpx.ASGITransport(app, client=peer)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.read()
        return event_loop().call(self._answer, request)

    async def _answer(self, request: httpx.Request) -> httpx.Response:
        answer = await self._transport.handle_async_request(request)
        return httpx.Response(answer.status_code, headers=answer.headers.raw, stream=httpx.ByteStream(await answer.aread()))


def asgi_client(app: Any, base_url: str, peer: tuple[str, int]) -> TestClient:
    """A client of an application, to which it is the program at this address. What the application raises, a request raises."""
    client = TestClient(app, base_url=base_url, client=peer)
    client.portal = event_loop()
    client._transport = _Answering(app, peer)
    return client
