"""Gives each request an id, which its answer and its log lines contain. Counts each request, and logs it if the settings say so."""

import logging
import os
import re
from time import perf_counter
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.api.guard import principal_name
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.api.telemetry.counters import UNMATCHED, Counters
from lineage_bridge.api.web.forwarding import client_address, route_path
from lineage_bridge.config.log_format import REQUEST_ID
from lineage_bridge.tracing import TRACEPARENT, TraceSpan, span

HEADER: Final = b"x-request-id"
_USABLE: Final = re.compile(rb"[A-Za-z0-9._:/+=@-]{1,128}")
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_UNANSWERED: Final = 499
"""The status recorded for a request whose client disconnected before the answer, as in nginx's logs."""
_log = logging.getLogger(__name__)


def parent_of(scope: Scope) -> str:
    """The `traceparent` header of a request; empty if it has none that is ASCII."""
    found = next((value for name, value in scope["headers"] if name == TRACEPARENT.encode()), b"")
    return found.decode() if found.isascii() else ""


def take_request_id(scope: Scope) -> str:
    """The id of a request: the client's own if it is valid, else a new one, which is added to the request's headers."""
    for name, value in scope["headers"]:
        if name == HEADER and _USABLE.fullmatch(value):
            id_ = str(value, "ascii")
            break
    else:
        id_ = os.urandom(8).hex()
        scope["headers"] = [*((name, value) for name, value in scope["headers"] if name != HEADER), (HEADER, id_.encode())]
    REQUEST_ID.set(id_)
    return id_


class RequestTelemetry:
    """Serves requests with an application, counts them and logs them."""

    def __init__(self, counters: Counters, routes: RouteRequirements, *, log_requests: bool) -> None:
        self._counters, self._routes, self._log_requests = counters, routes, log_requests

    async def __call__(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, and record its id, duration and status."""
        with span(scope["method"], kind="SERVER", parent=parent_of(scope)) as serving:
            await self._serve(app, scope, receive, send, serving)

    async def _serve(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send, serving: TraceSpan) -> None:
        started, id_ = perf_counter(), take_request_id(scope)
        status, size = _UNANSWERED, 0

        async def send_with_id(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (HEADER, id_.encode())]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        self._counters.in_progress.inc()
        try:
            await app(scope, receive, send_with_id)
        finally:
            self._counters.in_progress.dec()
            self._record(scope, status, size, perf_counter() - started, serving)

    def _record(self, scope: Scope, status: int, size: int, seconds: float, serving: TraceSpan) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "OTHER"
        route = self._routes.template(method, route_path(scope)) or UNMATCHED
        self._counters.count_request(method, route, status, seconds)
        serving.describe(f"{method} {route}", {"http.request.method": method, "http.route": route, "http.response.status_code": status})
        if status >= 500:
            serving.fail(str(status))
        if not self._log_requests:
            return
        principal = principal_name(scope)
        fields = {
            "method": method,
            "path": scope["path"],
            "route": route,
            "status": status,
            "bytes": size,
            "duration_ms": round(1000 * seconds, 3),
            "peer": client_address(scope),
            "principal": principal or None,
        }
        _log.info("%s %s %d, %d bytes in %.1f ms", method, scope["path"], status, size, 1000 * seconds, extra={"fields": fields})
