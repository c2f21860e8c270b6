"""A connection with time limits for what its client sends and reads. If a client exceeds one, it gets an error and is disconnected."""

from asyncio import BaseTransport, TimerHandle
from typing import ClassVar, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from lineage_bridge.api.connections.limits import ConnectionLimits
from lineage_bridge.api.connections.refusals import refusal
from lineage_bridge.api.connections.table import ConnectionTable

LINGER_S: Final = 5.0
"""How long, in seconds, a client may continue to send a body after it was answered."""
REFUSED_S: Final = 0.2
"""How long, in seconds, a refused client has to read the answer."""


class BoundedConnection(HttpToolsProtocol):
    """A connection of uvicorn with time limits. The HTTP parser calls `_expect` to state what the client has to do next, and by when."""

    limits: ClassVar[ConnectionLimits]
    table: ClassVar[ConnectionTable["BoundedConnection"]]

    _unfinished = ""
    """The part of the request that is still incomplete: `head`, `body`, or an empty string."""
    _received = _body = _head_size = 0
    _deadline = 0.0
    _timer: TimerHandle | None = None
    _read_timer: TimerHandle | None = None
    _has_cycle = _has_served = _is_refused = False
    _problem = ""

    def connection_made(self, transport: BaseTransport) -> None:
        """Start the time limit within which the first request must arrive."""
        super().connection_made(transport)  # type: ignore[arg-type]  # asyncio's transport, as uvicorn expects
        self._expect("head", self.limits.head_s)
        exceeded, victim = self.table.add(self, self.client[0] if self.client else "")
        if victim is not None:
            victim.give_way(exceeded)
        elif exceeded:
            self._refuse(exceeded)

    def connection_lost(self, exc: Exception | None) -> None:
        """End all time limits, because the connection is closed."""
        self._expect("", 0.0)
        self._stop_read_timer()
        self.table.remove(self)
        super().connection_lost(exc)

    def give_way(self, exceeded: str) -> None:
        """Close this connection because too many are open. It was chosen because its client has not sent the whole head of a request."""
        if self._has_served and not self._received:
            self.transport.close()
        else:
            self._refuse(exceeded)

    def on_response_complete(self) -> None:
        """Wait for the next request. If the body was not read, wait only briefly for its end."""
        self._has_served = True
        super().on_response_complete()
        if self._unfinished == "body":
            self._expect("body", LINGER_S)
        elif not self.pipeline:
            self.table.set_waiting(self, is_waiting=True)

    def pause_writing(self) -> None:
        """Start the time limit for reading, because the send buffer is full."""
        super().pause_writing()
        if self._read_timer is None:
            self._read_timer = self.loop.call_later(self.limits.read_s, self.transport.abort)

    def resume_writing(self) -> None:
        """End the time limit for reading, because the client reads again."""
        self._stop_read_timer()
        super().resume_writing()

    def _stop_read_timer(self) -> None:
        if self._read_timer:
            self._read_timer.cancel()
            self._read_timer = None

    def _expect(self, what: str, seconds: float) -> None:
        """Start the time limit for what the client has to send next: a head or a body. With an empty string, end the limit."""
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
        """Close the connection if its time limit has passed. Time in which the server itself paused reading does not count."""
        self._timer = None
        if self.flow.read_paused:
            self._deadline = self.loop.time() + self.limits.body_s
        if self.loop.time() < self._deadline:
            self._timer = self.loop.call_at(self._deadline, self._check_deadline)
        else:
            self._refuse("too_slow")

    def send_400_response(self, msg: str) -> None:
        """Answer bytes that are not a valid request with an error, and close the connection."""
        self._refuse("malformed_request", msg)

    def _refuse(self, code: str, problem: str = "") -> None:
        """Close the connection. An error is sent first, unless the client could mistake it for the answer to another request."""
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
        # The rest of the request is read before the connection is closed. Otherwise, the client might lose the answer (RFC 9112, 9.6).
        self.loop.call_later(REFUSED_S, self.transport.close)

    def _may_answer(self) -> bool:
        """Whether the next bytes sent would be the answer to the request that is being received."""
        if not self._has_cycle:
            return True
        if self._unfinished == "body":
            return not self.pipeline and not self.cycle.response_started
        return self.cycle.response_complete
