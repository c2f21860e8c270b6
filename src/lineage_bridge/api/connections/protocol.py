"""HTTP/1.1 on a connection, also for clients that offer to switch to another protocol.

Java's own client offers HTTP/2 (`Upgrade: h2c`) with a request, even with a POST and its body. A server may ignore the offer (RFC 9110,
7.8), but the parser treats what follows such headers as bytes of the other protocol, so the body would be lost.

A client is disconnected if it does not finish its request or does not read its answer: heads have a size and a time limit, bodies a minimum
rate.
"""

from typing import Final

from httptools import HttpParserError, HttpParserUpgrade

from lineage_bridge.api.connections.bounded import BoundedConnection
from lineage_bridge.api.connections.heads import check_head, origin_form
from lineage_bridge.api.connections.limits import MOST_HEADERS, ConnectionLimits
from lineage_bridge.api.connections.table import ConnectionTable

_CHUNK_HEADS: Final = 8
"""The maximum bytes of chunk framing for each byte of a chunked body, beyond the bytes that a head may have."""
_OFFER: Final = frozenset({b"upgrade", b"http2-settings"})


class Protocol(BoundedConnection):
    """uvicorn's HTTP/1.1 protocol. A request that offers an upgrade is parsed a second time without the offer."""

    def data_received(self, data: bytes) -> None:
        """Parse received bytes, and close the connection if the request's head becomes too large."""
        if self._is_refused:
            return
        if not self._unfinished:
            self._expect("head", self.limits.head_s)
        self._received += len(data)
        if self._unfinished == "body" and not self.cycle.response_complete:
            self._deadline += len(data) / self.limits.body_rate
        self._parse(data)
        if self._unfinished == "head" and self._received > self.limits.head_bytes:
            self._refuse("head_too_large" if self.headers else "target_too_long")
        elif self._unfinished == "body" and self._received > 2 * self.limits.head_bytes + _CHUNK_HEADS * self._body:
            self._refuse("malformed_request", "the body is sent in chunks that are nearly empty")

    def _parse(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            if self.parser.get_method() == b"CONNECT":
                self._refuse("no_proxy")
            else:
                self._parse(self._head_without_offer() + data[offer.args[0] :])
        except HttpParserError:
            self._refuse("malformed_request", self._problem)

    def on_message_begin(self) -> None:
        """Begin to parse a request."""
        if self._unfinished != "head":
            self._expect("head", self.limits.head_s)
        self._head_size = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Append a piece of the request target."""
        super().on_url(url)
        self._count_head(len(url), "target_too_long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header. Trailers after a body are dropped, because they have not been checked (RFC 9110, 6.5.1)."""
        if self._unfinished == "body":
            return
        super().on_header(name, value)
        self._count_head(len(name) + len(value), "head_too_large")

    def _count_head(self, size: int, code: str) -> None:
        """Count bytes of a request's head. Raises ValueError, which ends the parsing, if the head is too large."""
        self._head_size += size
        if self._head_size > self.limits.head_bytes or len(self.headers) > MOST_HEADERS:
            self._refuse(code)
            raise ValueError(code)

    def on_headers_complete(self) -> None:
        """Begin to serve a request, unless it will be parsed again. Raises ValueError for one that is not valid."""
        if self.parser.should_upgrade():
            return
        try:
            self.url, self.headers[:] = origin_form(self.parser.get_method(), self.url, self.headers)
            check_head(self.parser.get_http_version(), self.headers)
        except ValueError as error:
            self._problem = str(error)
            raise
        self._expect("body", self.limits.body_s)
        super().on_headers_complete()
        self._has_cycle = True

    def on_body(self, body: bytes) -> None:
        """Pass a piece of the body on to the application."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body, unless the request will be parsed again."""
        if not self.parser.should_upgrade():
            self._expect("", 0.0)
            self.table.set_waiting(self, is_waiting=self.cycle.response_complete)
            super().on_message_complete()

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % (name, _without_offer(name, value)) for name, value in self.headers if name not in _OFFER]
        return b"\r\n".join([*lines, b"", b""])


def limited(limits: ConnectionLimits) -> type[Protocol]:
    """Make a subclass of the protocol with the limits of a server."""
    return type("LimitedProtocol", (Protocol,), {"limits": limits, "table": ConnectionTable(limits)})


def _without_offer(name: bytes, value: bytes) -> bytes:
    """A header's value without the token by which the client offers another protocol."""
    if name != b"connection":
        return value
    return b", ".join(option for option in map(bytes.strip, value.split(b",")) if option.lower() not in _OFFER)
