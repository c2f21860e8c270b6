"""Restores requests to what their clients sent, from a proxy's headers and from the path prefix under which it shows the server."""

from typing import Final

from starlette.datastructures import Headers
from starlette.types import Scope

from lineage_bridge.access.forwarding import NOT_FORWARDED, forwarded
from lineage_bridge.access.networks import Networks
from lineage_bridge.config.external import ExternalAddress

_CLIENT: Final = "lineage_bridge.client"
_PREFIX: Final = "lineage_bridge.prefix"
_SENT_HOST: Final = "lineage_bridge.sent_host"


def restore_request(scope: Scope, proxies: Networks, external: ExternalAddress | None) -> None:
    """Set the scheme, the host and the path of a request to those that its client used.

    The address of the connection is not changed, because no header may decide whether credentials are required.
    """
    found = forwarded(Headers(scope=scope), proxies) if proxies and peer_address(scope) in proxies else NOT_FORWARDED
    prefix = external.prefix if external else found.prefix
    if found.scheme:
        scope["scheme"] = found.scheme
    if found.client:
        scope[_CLIENT] = found.client
    if found.host:
        scope[_SENT_HOST] = Headers(scope=scope).get("host", "")
        scope["headers"] = [(b"host", found.host.encode()), *((name, value) for name, value in scope["headers"] if name != b"host")]
    if prefix:
        scope["root_path"] = scope[_PREFIX] = prefix
        scope["path"] = _below(prefix, scope["path"])


def route_path(scope: Scope) -> str:
    """The path of a request without the path prefix of the server."""
    path: str = scope["path"]
    return path[len(server_prefix(scope)) :]


def server_prefix(scope: Scope) -> str:
    """The path prefix below which a proxy shows the server; empty if it is shown at the root of its host."""
    prefix: str = scope.get(_PREFIX, "")
    return prefix


def client_address(scope: Scope) -> str:
    """The address of the client, from the proxy's headers if the request came through a trusted proxy."""
    found: str = scope.get(_CLIENT, "")
    return found or peer_address(scope)


def hosts_of(scope: Scope) -> frozenset[str]:
    """The hosts to which a request was addressed: the one that the client named, and the one on the connection if a proxy states
    another.
    """
    hosts = {Headers(scope=scope).get("host", ""), scope.get(_SENT_HOST, "")}
    return frozenset(filter(None, hosts))


def peer_address(scope: Scope) -> str:
    """The address of the other end of the connection; empty if it has none."""
    return (scope.get("client") or ("",))[0]


def _below(prefix: str, path: str) -> str:
    """A path below the server's prefix, whether or not a proxy has removed the prefix from it."""
    return path if path.startswith(f"{prefix}/") else prefix + (path if path != prefix else "/")
