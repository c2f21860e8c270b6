"""The guard, which every request passes before its route: it authenticates and authorizes requests, and limits their bodies.

If the server requires no credentials, programs on its own machine may do everything, others may send events and ask questions, and web
pages of other origins may not write.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.access.authentication import CHALLENGE, Authenticators, not_authenticated
from lineage_bridge.access.browsers.signed_in import SignedInBrowsers
from lineage_bridge.access.networks import Networks
from lineage_bridge.api.answering.visibility import CURRENT_VISIBILITY
from lineage_bridge.api.responses import error_response
from lineage_bridge.api.scopes import Requirement, RouteRequirements
from lineage_bridge.api.web.forwarding import client_address, hosts_of, peer_address, restore_request, route_path
from lineage_bridge.api.web.redirects import login_redirect
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import ALL_SCOPES, AccessScope, Principal
from lineage_bridge.ports.access import Authenticator

INSECURE_HEADER: Final = b"x-lineage-insecure"
_READING: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_ADMISSION: Final = "lineage_bridge.admission"
_DRAINED: Final = 4
"""A body that is too large is read and discarded up to this multiple of the limit; the rest stays unread."""
_LOCAL: Final = Principal("", ALL_SCOPES)
_REMOTE: Final = Principal("", frozenset({AccessScope.INGEST, AccessScope.READ}))
_NOBODY: Final = Principal("", frozenset())
_CSP: Final = b"content-security-policy"
SECURITY_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)
NO_CONTENT_POLICY: Final = (_CSP, b"default-src 'none'; frame-ancestors 'none'")
"""The security headers of answers that are not pages."""


@dataclass(frozen=True)
class AccessPolicy:
    """The rules about who may use the server.

    `required`: requests without a principal are refused; otherwise their address decides what they may do. `allowed_hosts` are the host
    names, without port, that requests without a principal may be addressed to; None: any. `is_insecure`: other machines can use the
    server without credentials, and every answer has a header that says so. `browsers` authenticates sessions of browsers; None if there
    are no logins. Headers of `proxies` about their clients are trusted; `external` is the address at which browsers reach the server.
    """

    authenticator: Authenticator = field(default_factory=Authenticators)
    required: bool = False
    allowed_hosts: frozenset[str] | None = None
    is_insecure: bool = False
    browsers: SignedInBrowsers | None = None
    proxies: Networks = field(default_factory=Networks)
    external: ExternalAddress | None = None


class BoundedBody:
    """Passes at most `limit` bytes of a request's body on. `truncated` tells whether there are more."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self.limit, self._receive, self._size = limit, receive, 0

    @property
    def truncated(self) -> bool:
        """Whether the body has more bytes than are passed on."""
        return self._size > self.limit

    async def __call__(self) -> Message:
        """The next ASGI message, with the body cut at the limit."""
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
    """The principal of an admitted request, and its limits. `again` determines the principal anew; it raises RefusedError if the request
    would be refused now.
    """

    principal: Principal
    body: BoundedBody
    again: Callable[[], Principal]


class Guard:
    """Determines the principal of each request, refuses the request if the principal may not send it, and limits its body.

    Requests without a principal are also refused if they are addressed to a foreign host name (DNS rebinding). Writes of any principal are
    refused if a web page of another origin sends them. Host and origin are headers that a browser sets itself; programs that send none of
    them pass.
    """

    def __init__(self, app: ASGIApp, routes: RouteRequirements, policy: AccessPolicy, max_body_bytes: int) -> None:
        self.app, self.routes, self.policy, self.max_body_bytes = app, routes, policy, max_body_bytes
        self.headers = [*SECURITY_HEADERS, (INSECURE_HEADER, b"anyone may use this server")] if policy.is_insecure else [*SECURITY_HEADERS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it with an error."""
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        restore_request(scope, self.policy.proxies, self.policy.external)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *self.headers]
                message["headers"] = headers if any(name == _CSP for name, _ in headers) else [*headers, NO_CONTENT_POLICY]
            await send(message)

        try:
            principal = self._admitted(scope)
        except RefusedError as refusal:
            browsers = self.policy.browsers
            answer = login_redirect(scope, refusal, browsers.external) if browsers else None
            await (answer or error_response(refusal))(scope, receive, send_with_headers)
            return
        body = BoundedBody(receive, self.max_body_bytes)
        scope[_ADMISSION] = Admission(principal, body, partial(self._admitted, scope))
        CURRENT_VISIBILITY.set(principal.visibility)
        await self.app(scope, body, send_with_headers)

    def _admitted(self, scope: Scope) -> Principal:
        """Determine the principal of a request, and check what it may do. Raises RefusedError."""
        headers, method = Headers(scope=scope), scope.get("method", "")
        principal = self._principal(scope, headers)
        needed = self.routes.needed(method, route_path(scope))
        if principal.scopes != ALL_SCOPES:
            _check_scope(principal, needed, headers, required=self.policy.required)
        if principal.visibility is not None and self.routes.is_of_all(method, route_path(scope)):
            problem = f"{principal.name!r} is limited to some namespaces, but this request concerns all namespaces"
            raise RefusedError(403, "limited", problem, "use a key or role that is not limited to namespaces or teams")
        origin = headers.get("origin")
        if method not in _READING and origin is not None and not self._is_own(origin, headers):
            raise RefusedError(
                403,
                "foreign_origin",
                f"web pages of {origin!r} may not send requests that change something",
                "send the request from a program instead of a browser",
            )
        if needed == "internal" and not principal.is_internal:
            raise _only_internal()
        return principal

    def _is_own(self, origin: str, headers: Headers) -> bool:
        external = self.policy.external
        return _netloc(origin) == headers.get("host", "").lower() or (external is not None and origin == external.origin)

    def _signed_in(self, scope: Scope, headers: Headers) -> Principal | None:
        """Determine the principal of a browser's session. Raises RefusedError for a write that was not sent by a page of this server."""
        browsers = self.policy.browsers
        found = browsers.signed_in(headers, client_address(scope)) if browsers else None
        if browsers is None or found is None:
            return None
        if scope.get("method", "") not in _READING:
            browsers.check_write(found, headers)
        return found.principal

    def _principal(self, scope: Scope, headers: Headers) -> Principal:
        """Determine the principal of a request from its credentials. If the server requires none, invalid credentials are ignored.
        Raises RefusedError.
        """
        policy, peer = self.policy, peer_address(scope)
        try:
            principal = policy.authenticator.authenticate(headers, peer)
        except RefusedError:
            if policy.required and self.routes.needed(scope.get("method", ""), route_path(scope)) != "nothing":
                raise
            principal = None
        principal = principal or self._signed_in(scope, headers)
        if principal is not None:
            return principal
        for host in sorted(hosts_of(scope)):
            if policy.allowed_hosts is not None and _without_port(host) not in policy.allowed_hosts:
                raise RefusedError(
                    403, "foreign_host", f"the Host header {host!r} does not name this server", "address it as localhost or 127.0.0.1"
                )
        if policy.required:
            return _NOBODY
        return _LOCAL if _is_loopback(peer) else _REMOTE


def admission(request: Request) -> Admission:
    """What the guard stored about a request: its principal and limits."""
    found: Admission = request.scope[_ADMISSION]
    return found


def principal_name(scope: Scope) -> str:
    """The name of a request's principal. It is empty if the request was refused, or if the server requires no credentials."""
    found: Admission | None = scope.get(_ADMISSION)
    return found.principal.name if found else ""


def admitted_principal(scope: Scope) -> Principal:
    """The principal of a request that the guard admitted."""
    found: Admission = scope[_ADMISSION]
    return found.principal


def _check_scope(principal: Principal, needed: Requirement, headers: Headers, *, required: bool) -> None:
    """Raise RefusedError if a principal lacks the scope that a request requires."""
    if needed == "nothing" or needed in principal.scopes:
        return
    if required and not principal.name:
        raise not_authenticated(headers)
    if needed == "principal":
        return
    if not principal.name:
        raise _not_local()
    if not isinstance(needed, AccessScope):
        raise _only_internal()
    scope = needed.value
    hint = f"use a key that has it (lineage-bridge key create NAME --scope {scope}), or a role that grants it"
    challenge = f'{CHALLENGE}, error="insufficient_scope", scope="{scope}"'
    raise RefusedError(403, "missing_scope", f"{principal.name!r} lacks the scope {scope!r}", hint, challenge)


def require_author(principal: Principal) -> None:
    """Raise RefusedError for a caller on another machine who has no name, because nobody could tell whose changes these are."""
    if not principal.name and AccessScope.OPERATE not in principal.scopes:
        raise _not_local()


def _not_local() -> RefusedError:
    return RefusedError(
        403,
        "not_local",
        "without an API key, only programs on the server's own machine may send this request",
        "run the command on that machine, or send a key with the scope that docs/security.md lists for it, such as operate or admin",
    )


def _only_internal() -> RefusedError:
    return RefusedError(403, "internal", "only LineageBridge's own processes may call this", "send events to POST /api/v1/lineage")


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
