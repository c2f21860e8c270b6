"""Passes questions to the process that answers them, over a local socket, and returns its answers to the clients.

One connection carries one question at a time. The answering process greets a new connection, reads a question, and writes the answer in
frames: its status and headers, then the pieces of its body, of which the last is marked. The connection then waits for another question.
If it closes earlier, the other process has ended.
"""

import asyncio
import socket
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Final, NamedTuple

import anyio
from starlette.types import Message, Receive, Scope, Send

from lineage_bridge.api.answering.frames import ENCODER, GREETING, START_DECODER, AnswerStart, Question, frame, read_frame
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.limits.callers import caller_in
from lineage_bridge.api.web.forwarding import route_path, server_prefix
from lineage_bridge.errors import UnavailableError
from lineage_bridge.tracing import TRACEPARENT, traceparent

_GREETING_S: Final = 30.0
"""How long a question waits for the answering process to start, in seconds."""
_PROBE_S: Final = 5.0
_IDLE: Final = 32
"""The maximum number of connections that are kept for later questions."""


class _EndingProtocol(asyncio.StreamReaderProtocol):
    """Closes a connection as soon as the other process has closed it, also while no question uses it."""

    def eof_received(self) -> bool:
        """Do not keep the connection open."""
        super().eof_received()
        return False


class _KeptConnection(NamedTuple):
    """A greeted connection to the answering process, and the event loop to which it belongs."""

    loop: asyncio.AbstractEventLoop
    reader: StreamReader
    writer: StreamWriter

    def is_usable(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Whether another question can be asked in this loop."""
        return self.loop is loop and not self.reader.at_eof() and not self.writer.is_closing()


class Relay:
    """An ASGI application that passes each question to the process at a local socket, which answers it.

    `written` returns the position token of the events that this process has written to a topic, which the other process cannot know.
    """

    def __init__(self, path: str, written: Callable[[], str] = str) -> None:
        self.path, self._written = path, written
        self._idle: deque[_KeptConnection] = deque()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - a question has no body
        """Pass on one question and return its answer. Raises UnavailableError if the answering process does not answer, or ends before its
        answer is complete.
        """
        question = frame(ENCODER.encode(_question(scope, self._written())))
        kept = self._kept()
        # A kept connection may belong to a process that has ended since.
        asked = await _asked(kept, question) if kept else None
        if asked is None:
            kept = await self._connected()
            asked = await _asked(kept, question)
        if kept is None or asked is None:
            raise _unavailable()
        try:
            await _pass_on(asked, kept.reader, send)
        except BaseException as error:
            kept.writer.close()
            if isinstance(error, OSError | IncompleteReadError):
                raise _unavailable() from error
            raise
        self._keep(kept)

    async def _connected(self) -> _KeptConnection:
        loop = asyncio.get_running_loop()
        reader = StreamReader(loop=loop)
        try:
            transport, protocol = await loop.create_unix_connection(lambda: _EndingProtocol(reader, loop=loop), self.path)
        except OSError as error:
            raise _unavailable() from error
        writer = StreamWriter(transport, protocol, reader, loop)
        try:
            with anyio.fail_after(_GREETING_S):
                await reader.readexactly(len(GREETING))
        except BaseException as error:
            writer.close()
            if isinstance(error, OSError | IncompleteReadError):
                raise _unavailable() from error
            raise
        return _KeptConnection(loop, reader, writer)

    def _kept(self) -> _KeptConnection | None:
        """Take an idle connection that an earlier question has used; None if there is none."""
        loop = asyncio.get_running_loop()
        while self._idle:
            connection = self._idle.pop()
            if connection.is_usable(loop):
                return connection
            if not connection.loop.is_closed():
                connection.loop.call_soon_threadsafe(connection.writer.close)
        return None

    def _keep(self, connection: _KeptConnection) -> None:
        if len(self._idle) < _IDLE:
            self._idle.append(connection)
        else:
            connection.writer.close()

    async def fetch(self, path: str) -> bytes:
        """Ask the answering process a question of the server itself, and return the body. Raises UnavailableError if its status is
        not 200.
        """
        status, body = 0, bytearray()

        async def collect(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            body.extend(message.get("body", b""))

        await self({"path": path, "query_string": b"", "headers": []}, _nothing, collect)
        if status != 200:
            raise _unavailable()
        return bytes(body)

    def is_answered(self) -> bool:
        """Whether the answering process accepts questions now."""
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(_PROBE_S)
            probe.connect(self.path)
            return probe.recv(len(GREETING)) == GREETING
        return False


async def _asked(connection: _KeptConnection, question: bytes) -> AnswerStart | None:
    """Ask a question. Returns the beginning of the answer, or None if the connection was closed before."""
    try:
        connection.writer.write(question)
        return START_DECODER.decode((await read_frame(connection.reader))[0])
    except BaseException as error:
        connection.writer.close()
        if isinstance(error, OSError | IncompleteReadError):
            return None
        raise


async def _pass_on(start: AnswerStart, reader: StreamReader, send: Send) -> None:
    """Send the answer whose pieces arrive at `reader`."""
    await send({"type": "http.response.start", "status": start.status, "headers": start.headers})
    is_last = False
    while not is_last:
        piece, is_last = await read_frame(reader)
        await send({"type": "http.response.body", "body": piece, "more_body": not is_last})


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _unavailable() -> UnavailableError:
    return UnavailableError(
        "the process that answers questions is not running", "ask again in a moment: the server restarts that process by itself"
    )


def _question(scope: Scope, written: str) -> Question:
    caller = caller_in(scope)
    return Question(
        server_prefix(scope),
        route_path(scope),
        scope["query_string"],
        _with_span(scope["headers"]),
        scope.get("client"),
        scope.get("server"),
        (caller.name, caller.is_unlimited),
        CURRENT_VISIBILITY.get(),
        written,
    )


def _with_span(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of a question, with the trace context of the span in which it is passed on."""
    parent, name = traceparent(), TRACEPARENT.encode()
    return [*(header for header in headers if header[0] != name), (name, parent.encode())] if parent else headers
