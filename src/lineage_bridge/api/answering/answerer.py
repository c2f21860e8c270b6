"""Answers the questions that the API passes on over a local socket (relay.py)."""

import asyncio
import logging
import socket
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive

from lineage_bridge.api.answering.frames import (
    ENCODER,
    GREETING,
    LAST,
    QUESTION_DECODER,
    WRITTEN,
    AnswerStart,
    Question,
    frame,
    read_frame,
)
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.limits.callers import Caller, set_caller

_PIECE: Final = 1 << 18
"""The maximum bytes of one answer that the API's process holds in memory."""
_log = logging.getLogger(__name__)


async def answer_questions(app: ASGIApp, listener: socket.socket) -> None:
    """Answer the questions of a `Relay` until cancelled."""
    connections: dict[asyncio.Task[None], StreamWriter] = {}

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        task = asyncio.current_task()
        if task:
            connections[task] = writer
            task.add_done_callback(connections.pop)
        try:
            writer.write(GREETING)
            await _answer_each(app, reader, writer)
        except (OSError, IncompleteReadError):
            _log.debug("the API closed the connection before the answer was complete")
        except Exception as error:  # noqa: BLE001 - the boundary of a question; what it raises was logged and answered by the app
            _log.debug("a question failed: %r", error)
        finally:
            writer.close()

    server = await asyncio.start_unix_server(answer, sock=listener)
    try:
        await asyncio.get_running_loop().create_future()
    finally:
        server.close()
        for writer in connections.values():
            writer.close()
        await asyncio.gather(*connections, return_exceptions=True)
        await server.wait_closed()


async def _answer_each(app: ASGIApp, reader: StreamReader, writer: StreamWriter) -> None:
    """Answer the questions of a connection until it is closed, or until an answer remains incomplete.

    The next question may arrive while the app still finishes its work on a question that was answered. So a single task reads the
    connection, and tells the app only whether the connection has ended.
    """
    arriving = asyncio.create_task(read_frame(reader))
    try:
        is_complete = True
        while is_complete:
            try:
                content, _ = await arriving
            except IncompleteReadError:
                return
            question = QUESTION_DECODER.decode(content)
            arriving = asyncio.create_task(read_frame(reader))
            CURRENT_VISIBILITY.set(question.visibility)
            frames = _Frames(writer)
            await app(_scope(question), _until_gone(arriving), frames.send)
            is_complete = frames.is_complete
    finally:
        arriving.cancel()
        await asyncio.wait([arriving])
        if not arriving.cancelled():
            arriving.exception()  # that the connection was closed is expected


def _scope(question: Question) -> dict[str, Any]:
    path = question.prefix + question.path
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": question.query,
        "root_path": question.prefix,
        "headers": question.headers,
        "client": question.client,
        "server": question.server,
        "state": {WRITTEN: question.written},
    }
    set_caller(scope, Caller(*question.caller))
    return scope


def _until_gone(arriving: "asyncio.Task[tuple[bytes, bool]]") -> Receive:
    """The ASGI messages that a question receives: an empty body; then, if the connection closes before `arriving` has read the next
    question, the disconnect of the client.
    """
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await asyncio.wait([arriving])
        if arriving.cancelled() or arriving.exception():
            return {"type": "http.disconnect"}
        # The API has the whole answer: nobody disconnects from this question any more.
        never: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        return await never

    return receive


class _Frames:
    """Writes one answer to the connection. Status and headers are written together with the first piece of the body."""

    def __init__(self, writer: StreamWriter) -> None:
        self.is_complete = False
        self._writer, self._start = writer, b""

    async def send(self, message: Message) -> None:
        """Write an ASGI message of the answer to the API, as frames."""
        if message["type"] == "http.response.start":
            self._start = frame(ENCODER.encode(AnswerStart(message["status"], list(message["headers"]))))
            return
        body, more = message.get("body", b""), message.get("more_body", False)
        if not (body or self._start) and more:
            return
        for at in range(0, len(body) or 1, _PIECE):
            piece = body[at : at + _PIECE]
            self._writer.write(self._start + frame(piece, LAST if not more and at + _PIECE >= len(body) else 0))
            self._start = b""
            await self._writer.drain()
        self.is_complete = not more
