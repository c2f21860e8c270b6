"""One guard before every route: who asks, may they, and how much they may send.

A server without keys serves programs of its own machine, and no web page of another origin.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.api.responses import error_response
from lineage_bridge.errors import RefusedError

_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_INGESTING: Final = re.compile(r"/api/v1/(?:lineage(?:/batch|/events)?/?|graphs/[^/]+/import|quarantine/[^/]+/retry)")
"""Calls that bring events; every other call that writes operates the server."""
_ADMISSION: Final = "lineage_bridge.admission"
_DRAINED: Final = 4
"""How many times the limit is read, and dropped, before the rest of a body that is too large is left unread."""


@dataclass(frozen=True)
class Principal:
    """Who asks: `name` is written into the records of what it sends. `is_local`: its connection comes from this machine."""

    name: str
    is_local: bool


class BoundedBody:
    """Passes on at most `limit` bytes of a request's body; `truncated` if there are more."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self.limit, self._receive, self._size = limit, receive, 0

    @property
    def truncated(self) -> bool:
        """Whether more bytes came than are passed on."""
        return self._size > self.limit

    async def __call__(self) -> Message:
        """The next message, with no more of the body than there is room for."""
        message = await self._receive()
        if message["type"] != "http.request":
            return message
        chunk = message.get("body", b"")
        room = max(0, self.limit - self._size)
        self._size += len(chunk)
        more = message.get("more_body", False) and self._size <= _DRAINED * self.limit
        return {**message, "body": chunk[:room], "more_body": more}


@dataclass(frozen=True)
class Admission:
    """What the guard found out about a request that it let through."""

    principal: Principal
    body: BoundedBody


class Guard:
    """Names the principal of each request, refuses what it may not do, and bounds its body.

    Refused are requests addressed to a foreign host name (DNS rebinding), writes sent by a page of another origin, and operations from
    another machine. Host and origin are headers that a browser sets itself; programs that send none of them pass.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: frozenset[str], max_body_bytes: int) -> None:
        self.app, self.allowed_hosts, self.max_body_bytes = app, allowed_hosts, max_body_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        principal = _authenticate(scope)
        refusal = self._refusal(scope, principal)
        if refusal:
            await error_response(refusal)(scope, receive, send)
            return
        body = BoundedBody(receive, self.max_body_bytes)
        scope[_ADMISSION] = Admission(principal, body)
        await self.app(scope, body, send)

    def _refusal(self, scope: Scope, principal: Principal) -> RefusedError | None:
        """Why a request is not served; None if it is."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host and _without_port(host) not in self.allowed_hosts:
            return RefusedError(403, "foreign_host", f"this server is not {host!r}", "address it as localhost or 127.0.0.1")
        if scope.get("method") in _READING:
            return None
        if origin is not None and _netloc(origin) != host.lower():
            return RefusedError(403, "foreign_origin", f"pages of {origin!r} may not write here", "send the request from a program")
        if not principal.is_local and not _INGESTING.fullmatch(scope["path"]):
            return RefusedError(403, "not_local", "only programs on the server's own machine may operate it", "run the command there")
        return None


def admission(request: Request) -> Admission:
    """What the guard found out about a request."""
    found: Admission = request.scope[_ADMISSION]
    return found


def _authenticate(scope: Scope) -> Principal:
    """The principal of a request. Without keys it has no name: a program of this machine."""
    client = scope.get("client")
    return Principal("", is_local=client is not None and _is_loopback(client[0]))


def _without_port(host: str) -> str:
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
