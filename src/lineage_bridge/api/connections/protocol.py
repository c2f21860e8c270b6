"""HTTP/1.1 on a connection, also for clients that offer to upgrade to another protocol.

Java's own client offers HTTP/2 (`Upgrade: h2c`) with a request, even with a POST and its body. A server may ignore the offer
(RFC 9110, 7.8), but the parser treats what follows such headers as bytes of the other protocol, so the body would be lost.

A client that does not finish its request is disconnected: the head of a request has a size and a time, its body a rate. So is one that
does not read its answer.
"""

from asyncio import BaseTransport, TimerHandle
from typing import ClassVar, Final

from httptools import HttpParserError, HttpParserUpgrade
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lineage_bridge.api.connections.heads import check_head, origin_form
from lineage_bridge.api.connections.limits import MOST_HEADERS, ConnectionLimits
from lineage_bridge.api.connections.refusals import refusal
from lineage_bridge.api.connections.table import ConnectionTable

LINGER_S: Final = 5.0
"""How long a client may go on to send a body after the answer."""
REFUSED_S: Final = 0.2
"""How long a refused client may read the answer."""
_CHUNK_HEADS: Final = 8
"""How many bytes of framing a body in chunks may have for each byte of its own, after those that a head may have."""
_OFFER: Final = frozenset({b"upgrade", b"http2-settings"})


class Protocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1; a request with an offer is parsed a second time, without the offer."""

    limits: ClassVar[ConnectionLimits]
    table: ClassVar[ConnectionTable["Protocol"]]

    _unfinished = ""
    """What the client has not sent to its end: `head`, `body`, or nothing."""
    _received = _body = _head_size = 0
    _deadline = 0.0
    _timer: TimerHandle | None = None
    _read_timer: TimerHandle | None = None
    _has_cycle = _has_served = _is_refused = False
    _problem = ""

    def connection_made(self, transport: BaseTransport) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)  # type: ignore[arg-type]  # asyncio's transport, as uvicorn expects
        self._expect("head", self.limits.head_s)
        exceeded, victim = self.table.add(self, self.client[0] if self.client else "")
        if victim is not None:
            victim.give_way(exceeded)
        elif exceeded:
            self._refuse(exceeded)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._expect("", 0.0)
        self._stop_read_timer()
        self.table.remove(self)
        super().connection_lost(exc)

    def give_way(self, exceeded: str) -> None:
        """Close a connection whose client has not sent a whole head, because there are too many."""
        if self._has_served and not self._received:
            self.transport.close()
        else:
            self._refuse(exceeded)

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
            self._refuse("malformed_request", "the chunks of the body are nearly empty")

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
        """Begin a request."""
        if self._unfinished != "head":
            self._expect("head", self.limits.head_s)
        self._head_size = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        """Note a piece of the target."""
        super().on_url(url)
        self._count_head(len(url), "target_too_long")

    def on_header(self, name: bytes, value: bytes) -> None:
        """Note a header. Those behind a body are no headers of the request: nobody has checked them (RFC 9110, 6.5.1)."""
        if self._unfinished == "body":
            return
        super().on_header(name, value)
        self._count_head(len(name) + len(value), "head_too_large")

    def _count_head(self, size: int, code: str) -> None:
        """Count bytes of a head, however many came at once. Raises ValueError, which ends its parsing, if they are too many."""
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
        """Pass on a piece of a body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request's body, unless the request will be parsed again."""
        if not self.parser.should_upgrade():
            self._expect("", 0.0)
            self.table.set_waiting(self, is_waiting=self.cycle.response_complete)
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, and not much longer for a body that nobody reads."""
        self._has_served = True
        super().on_response_complete()
        if self._unfinished == "body":
            self._expect("body", LINGER_S)
        elif not self.pipeline:
            self.table.set_waiting(self, is_waiting=True)

    def pause_writing(self) -> None:
        """The client has not read what was sent: give it some time."""
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(self.limits.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """The client reads."""
        self._stop_read_timer()
        super().resume_writing()

    def _stop_read_timer(self) -> None:
        if self._read_timer:
            self._read_timer.cancel()
            self._read_timer = None

    def _expect(self, what: str, seconds: float) -> None:
        """Wait for the end of a head or a body, for so long; with nothing, wait for nothing."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        if what == "body":
            self.table.set_waiting(self, is_waiting=False)
        self._unfinished, self._received, self._body = what, 0, 0
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
            self._refuse("too_slow")

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no request."""
        self._refuse("malformed_request", msg)

    def _refuse(self, code: str, problem: str = "") -> None:
        """Answer with an error, if it can be told from an answer to another request, and close the connection."""
        if self._is_refused:
            return
        may_answer = self._may_answer() and not self.transport.is_closing()
        self._expect("", 0.0)
        self.table.set_waiting(self, is_waiting=False)
        self._is_refused = True
        if not may_answer:
            self.transport.close()
            return
        if self._has_cycle and not self.cycle.response_complete:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self.pipeline.clear()
        self.transport.write(refusal(code, problem))
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # What the client still sends is read: to close before it is read would be an abort, and the answer be lost (RFC 9112, 9.6).
        self.loop.call_later(REFUSED_S, self.transport.close)

    def _may_answer(self) -> bool:
        """Whether the next bytes that are sent would be the answer to the request that is being received."""
        if not self._has_cycle:
            return True
        return not self.cycle.response_started if self._unfinished == "body" else self.cycle.response_complete

    def _head_without_offer(self) -> bytes:
        version = self.parser.get_http_version().encode()
        lines = [b"%b %b HTTP/%b" % (self.parser.get_method(), self.url, version)]
        lines += [b"%b: %b" % (name, _without_offer(name, value)) for name, value in self.headers if name not in _OFFER]
        return b"\r\n".join([*lines, b"", b""])


def limited(limits: ConnectionLimits) -> type[Protocol]:
    """The protocol with limits of its own, for one server."""
    return type("LimitedProtocol", (Protocol,), {"limits": limits, "table": ConnectionTable(limits)})


def _without_offer(name: bytes, value: bytes) -> bytes:
    """A header's value without a word of the offer."""
    if name != b"connection":
        return value
    return b", ".join(option for option in map(bytes.strip, value.split(b",")) if option.lower() not in _OFFER)
