"""HTTP/1.1 on a connection, also for clients that offer to upgrade to another protocol.

Java's own client offers HTTP/2 (`Upgrade: h2c`) with a request, even with a POST and its body. A server may ignore the offer
(RFC 9110, 7.8), but the parser treats what follows such headers as bytes of the other protocol, so the body would be lost.
"""

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OFFER = frozenset({b"upgrade", b"http2-settings"})


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1; a request with an offer is parsed a second time, without the offer."""

    def data_received(self, data: bytes) -> None:
        """Parse received bytes."""
        self._unset_keepalive_if_required()
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade as offer:
            if self.parser.get_method() == b"CONNECT":
                self.send_400_response("This is not a proxy.")
            else:
                self.data_received(self._head_without_offer() + data[offer.args[0] :])
        except HttpParserError:
            self.send_400_response("Invalid HTTP request received.")

    def on_headers_complete(self) -> None:
        """Begin to serve a request, unless it will be parsed again."""
        if not self.parser.should_upgrade():
            super().on_headers_complete()

    def on_message_complete(self) -> None:
        """End a request's body, unless the request will be parsed again."""
        if not self.parser.should_upgrade():
            super().on_message_complete()

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % (name, _without_offer(name, value)) for name, value in self.headers if name not in _OFFER]
        return b"\r\n".join([*lines, b"", b""])


def _without_offer(name: bytes, value: bytes) -> bytes:
    """A header's value without a word of the offer."""
    if name != b"connection":
        return value
    return b", ".join(option for option in map(bytes.strip, value.split(b",")) if option.lower() not in _OFFER)
