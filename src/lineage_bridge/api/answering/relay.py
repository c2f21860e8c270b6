"""Passes questions to the process that answers them, over a local socket, and returns its answers to the clients.

One connection carries one question. The answering process greets it, reads the question, and writes the answer in frames: its status and
headers, the pieces of its body, and an empty frame at its end. If the connection closes earlier, the other process has ended.
"""

import asyncio
import logging
import socket
from asyncio import IncompleteReadError, StreamReader, StreamWriter
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.limits.callers import Caller, caller_in, set_caller
from lineage_bridge.api.web.forwarding import route_path, server_prefix
from lineage_bridge.errors import UnavailableError
from lineage_bridge.model.access import Visibility
from lineage_bridge.tracing import TRACEPARENT, traceparent

WRITTEN: Final = "written"
"""The key in the state of a question for the position token of the events that the API's process has written to a topic."""
_GREETING: Final = b"?"
_GREETING_S: Final = 30.0
"""How long a question waits for the answering process to start, in seconds."""
_PROBE_S: Final = 5.0
_PIECE: Final = 1 << 18
"""The maximum bytes of one answer that this process holds in memory."""
_ENCODER, _log = msgspec.msgpack.Encoder(), logging.getLogger(__name__)


class _Question(Struct, array_like=True):
    """The parts of a request that are passed to the answering process, and what its principal may see."""

    prefix: str
    path: str
    query: bytes
    headers: list[tuple[bytes, bytes]]
    client: tuple[str, int] | None
    server: tuple[str, int | None] | None
    caller: tuple[str, bool]
    """The caller whose limits the question counts against."""
    visibility: Visibility | None
    written: str = ""
    """The position token of the events that the API's process has written to a topic."""


class _Start(Struct, array_like=True):
    """The first frame of an answer, with status and headers."""

    status: int
    headers: list[tuple[bytes, bytes]]


_QUESTION, _START = msgspec.msgpack.Decoder(_Question), msgspec.msgpack.Decoder(_Start)


class Relay:
    """An ASGI application that passes each question to the process at a local socket, which answers it.

    `written` returns the position token of the events that this process has written to a topic, which the other process cannot know.
    """

    def __init__(self, path: str, written: Callable[[], str] = str) -> None:
        self.path, self._written = path, written

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - a question has no body
        """Pass on one question and return its answer. Raises UnavailableError if the answering process does not answer, or ends
        before it has.
        """
        try:
            reader, writer = await asyncio.open_unix_connection(self.path)
        except OSError as error:
            raise _unavailable() from error
        try:
            with anyio.fail_after(_GREETING_S):
                await reader.readexactly(len(_GREETING))
            _write_frame(writer, _ENCODER.encode(_question(scope, self._written())))
            start = _START.decode(await _read_frame(reader))
            await send({"type": "http.response.start", "status": start.status, "headers": start.headers})
            while piece := await _read_frame(reader):
                await send({"type": "http.response.body", "body": piece, "more_body": True})
            await send({"type": "http.response.body"})
        except (OSError, IncompleteReadError) as error:
            raise _unavailable() from error
        finally:
            writer.close()

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
            return probe.recv(len(_GREETING)) == _GREETING
        return False


async def _nothing() -> Message:
    return {"type": "http.disconnect"}


def _unavailable() -> UnavailableError:
    return UnavailableError(
        "the process that answers questions is not running", "ask again in a moment: the server restarts that process by itself"
    )


def _question(scope: Scope, written: str) -> _Question:
    caller = caller_in(scope)
    return _Question(
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


async def answer_questions(app: ASGIApp, listener: socket.socket) -> None:
    """Answer the questions of a `Relay` until cancelled."""

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            writer.write(_GREETING)
            question = _QUESTION.decode(await _read_frame(reader))
            CURRENT_VISIBILITY.set(question.visibility)
            await app(_scope(question), _until_gone(reader), _to_frames(writer))
        except (OSError, IncompleteReadError):
            _log.debug("the API closed the connection before the answer was complete")
        except Exception as error:  # noqa: BLE001 - the boundary of a question; what it raises was logged and answered by the app
            _log.debug("a question failed: %r", error)
        finally:
            writer.close()

    server = await asyncio.start_unix_server(answer, sock=listener)
    async with server:
        await server.serve_forever()


def _scope(question: _Question) -> dict[str, Any]:
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


def _until_gone(reader: StreamReader) -> Receive:
    """The ASGI messages that a question receives: an empty body, then the disconnect of its client when the connection closes."""
    asked = False

    async def receive() -> Message:
        nonlocal asked
        if not asked:
            asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        with suppress(OSError):
            await reader.read(1)
        return {"type": "http.disconnect"}

    return receive


def _to_frames(writer: StreamWriter) -> Send:
    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            _write_frame(writer, _ENCODER.encode(_Start(message["status"], list(message["headers"]))))
            return
        body = message.get("body", b"")
        for start in range(0, len(body), _PIECE):
            _write_frame(writer, body[start : start + _PIECE])
            await writer.drain()
        if not message.get("more_body", False):
            _write_frame(writer, b"")
            await writer.drain()

    return send


def _write_frame(writer: StreamWriter, content: bytes) -> None:
    writer.write(len(content).to_bytes(4, "big"))
    writer.write(content)


async def _read_frame(reader: StreamReader) -> bytes:
    return await reader.readexactly(int.from_bytes(await reader.readexactly(4), "big"))
