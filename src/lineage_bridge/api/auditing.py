"""Records changes in the audit trail before they are answered: successful requests that write and need the scope `operate` or `admin`,
imports of a graph, and changes of pins.
"""

import json
from collections.abc import Mapping, MutableMapping
from typing import Any, Final

from anyio import to_thread
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.api.dependencies import PREFIX
from lineage_bridge.api.guard import admitted_principal
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.api.web.forwarding import client_address, route_path
from lineage_bridge.model.audit import Change
from lineage_bridge.openlineage.redaction import mask
from lineage_bridge.ports.access import AuditTrail

_REFUSED: Final = 400
"""An HTTP status of this value or higher means that the request changed nothing."""
_BODY_BYTES: Final = 16_384
"""The maximum size, in bytes, of a request body that the audit trail records; larger bodies are not recorded."""
_NAMED: Final = ("name", "source", "operation")
"""Members of a request body that name the changed object. The first one that is present counts."""
_NEVER: Final = "credentials"
"""Members whose name ends with this text are removed as a whole, because they contain secrets."""
_UNCHANGED: Final = "lineage_bridge.unchanged"
"""The key in the scope of a request that changed nothing."""


def note_unchanged(scope: MutableMapping[str, Any]) -> None:
    """Note that a successful request changed nothing, so that it is not recorded."""
    scope[_UNCHANGED] = True


class RequestAudit:
    """Passes requests to an application behind the guard, and records those that changed something."""

    def __init__(self, app: ASGIApp, routes: RouteRequirements, trail: AuditTrail, key: bytes) -> None:
        self.app, self.routes, self.trail, self.key = app, routes, trail, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, and record it if it changed something."""
        if scope["type"] != "http" or not self.routes.is_change(scope["method"], route_path(scope)):
            await self.app(scope, receive, send)
            return
        body = bytearray()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and len(body) <= _BODY_BYTES:
                body.extend(message.get("body", b""))
            return message

        async def send_recorded(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _REFUSED and _UNCHANGED not in scope:
                await to_thread.run_sync(self.trail.record, self._change(scope, bytes(body)))
            await send(message)

        await self.app(scope, received, send_recorded)

    def _change(self, scope: Scope, body: bytes) -> Change:
        """Make the entry for what a request changed, without secrets."""
        sent = self._masked(body)
        parameters = [str(value) for value in scope.get("path_params", {}).values()]
        named = [str(sent[name]) for name in _NAMED if isinstance(sent.get(name), str)][:1]
        found = getattr(scope.get("route"), "path", None)
        route = route_path(scope) if found is None else found.removeprefix(PREFIX)
        details = json.dumps(sent, ensure_ascii=False, separators=(",", ":")) if sent else ""
        return Change(
            admitted_principal(scope).name, client_address(scope), f"{scope['method']} {route}", " ".join(parameters or named), details
        )

    def _masked(self, body: bytes) -> Mapping[str, Any]:
        """The members of a body, without secrets, if it is a JSON object and not too long."""
        if len(body) > _BODY_BYTES:
            return {}
        try:
            found = json.loads(mask(body, key=self.key))
        except (ValueError, RecursionError):
            return {}
        return {name: value for name, value in found.items() if not name.endswith(_NEVER)} if isinstance(found, dict) else {}
