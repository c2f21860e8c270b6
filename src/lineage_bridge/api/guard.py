"""Who may speak to a server without keys: programs of this machine, and no web page of another origin."""

from ipaddress import ip_address
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from lineage_bridge.api.responses import of_error
from lineage_bridge.errors import RefusedError

_READING = frozenset({"GET", "HEAD", "OPTIONS"})


class Guard:
    """Refuses requests addressed to a foreign host name (DNS rebinding), and writes sent by a page of another origin.

    Both are told by headers that a browser sets itself; programs that send none of them pass.
    """

    def __init__(self, app: ASGIApp, allowed_hosts: frozenset[str]) -> None:
        self.app, self.allowed_hosts = app, allowed_hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve or refuse one request."""
        refused = self.refusal(scope) if scope["type"] in ("http", "websocket") else None
        await (of_error(refused) if refused else self.app)(scope, receive, send)

    def refusal(self, scope: Scope) -> RefusedError | None:
        """Why a request is not served; None if it is."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if host and _without_port(host) not in self.allowed_hosts:
            return RefusedError(
                403,
                "foreign_host",
                f"this server is not {host!r}",
                "Address it by localhost or 127.0.0.1.",
            )
        if origin is not None and scope.get("method") not in _READING and _netloc(origin) != host.lower():
            return RefusedError(403, "foreign_origin", f"pages of {origin!r} may not write here")
        return None


def check_loopback(request: Request) -> None:
    """Let only this machine operate the server. Raises RefusedError for a peer elsewhere."""
    if request.client is None or not _is_loopback(request.client.host):
        raise RefusedError(403, "not_local", "operations are for programs on the server's own machine")


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
