"""HTTP/1.1 on a connection, also for clients that offer to upgrade to another protocol.

Java's own client offers HTTP/2 (`Upgrade: h2c`) with a request, even with a POST and its body. A server may ignore the offer
(RFC 9110, 7.8), but the parser treats what follows such headers as bytes of the other protocol, so the body would be lost.

A client that does not finish its request is disconnected: the head of a request has a size and a time, its body a rate.
"""

from asyncio import BaseTransport, TimerHandle
from dataclasses import dataclass
from typing import ClassVar

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OFFER = frozenset({b"upgrade", b"http2-settings"})


@dataclass(frozen=True)
class ConnectionLimits:
    """How much connections may take.

    `connections` may be open at once; a further one is told to come back later, and closed. A request line and headers have at most
    `head_bytes`, and `head_s` seconds from the connection or their first byte on; a body has `body_s` seconds, and one more for each
    `body_rate` bytes of it.
    """

    connections: int = 512
    head_bytes: int = 1 << 16
    head_s: float = 10.0
    body_s: float = 60.0
    body_rate: int = 1024


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1; a request with an offer is parsed a second time, without the offer."""

    limits: ClassVar = ConnectionLimits()

    _unfinished = ""
    """What the client has not sent to its end: `head`, `body`, or nothing."""
    _received = 0
    _deadline = 0.0
    _timer: TimerHandle | None = None

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type]  # asyncio's transport, as uvicorn expects
        self._expect("head", self.limits.head_s)
        if len(self.connections) > self.limits.connections:
            self._refuse("503 Service Unavailable", "Too many connections are open; try again later.")

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._expect("", 0.0)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and close the connection if the request's head becomes too large."""
        if not self._unfinished:
            self._expect("head", self.limits.head_s)
        self._received += len(data)
        if self._unfinished == "body":
            self._deadline += len(data) / self.limits.body_rate
        self._parse(data)
        if self._unfinished == "head" and self._received > self.limits.head_bytes:
            self._refuse("431 Request Header Fields Too Large", "The request line and headers are too large.")

    def _parse(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            if self.parser.get_method() == b"CONNECT":
                self.send_400_response("This is not a proxy.")
            else:
                self._parse(self._head_without_offer() + data[offer.args[0] :])
        except HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def on_headers_complete(self) -> None:
        """Begin to serve a request, unless it will be parsed again."""
        if not self.parser.should_upgrade():
            self._expect("body", self.limits.body_s)
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request's body, unless the request will be parsed again."""
        if not self.parser.should_upgrade():
            self._expect("", 0.0)
            super().on_message_complete()

    def _expect(self, what: str, seconds: float) -> None:
        """Wait for the end of a head or a body, for so long; with nothing, wait for nothing."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        self._unfinished, self._received = what, 0
        if what:
            self._deadline = self.loop.time() + seconds
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)

    def _check_deadline(self) -> None:
        """Close the connection if its time is over. Time in which we did not read is not the client's."""
        self._timer = None
        if self.flow.read_paused:
            self._deadline = self.loop.time() + self.limits.body_s
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)
        else:
            self._refuse("408 Request Timeout", "The request was not complete in time.")

    def _refuse(self, status: str, message: str) -> None:
        self._expect("", 0.0)
        if not self.transport.is_closing():
            head = f"HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {len(message)}\r\nConnection: close\r\n\r\n"
            self.transport.write((head + message).encode())
        self.transport.close()

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % (name, _without_offer(name, value)) for name, value in self.headers if name not in _OFFER]
        return b"\r\n".join([*lines, b"", b""])


def limited(limits: ConnectionLimits) -> type[Protocol]:
    """The protocol with limits of its own."""
    return type("LimitedProtocol", (Protocol,), {"limits": limits})


def _without_offer(name: bytes, value: bytes) -> bytes:
    """A header's value without a word of the offer."""
    if name != b"connection":
        return value
    return b", ".join(option for option in map(bytes.strip, value.split(b",")) if option.lower() not in _OFFER)
