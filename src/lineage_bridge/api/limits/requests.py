"""Applies the limits of callers to requests, after the guard has determined their principals."""

from collections.abc import Callable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lineage_bridge.api.guard import admitted_principal
from lineage_bridge.api.limits.body_memory import BodyMemory
from lineage_bridge.api.limits.callers import caller_of, set_caller
from lineage_bridge.api.limits.rates import IngestRates
from lineage_bridge.api.responses import error_response
from lineage_bridge.api.scopes import RouteRequirements
from lineage_bridge.api.web.forwarding import client_address, route_path
from lineage_bridge.errors import OverloadedError
from lineage_bridge.model.access import AccessScope


class RequestLimits:
    """Stores the caller of each request, counts requests and bytes, and refuses those above a limit."""

    def __init__(
        self, app: ASGIApp, routes: RouteRequirements, rates: IngestRates, bodies: BodyMemory, clock_us: Callable[[], int]
    ) -> None:
        self.app, self.routes, self.rates, self.bodies, self.clock_us = app, routes, rates, bodies, clock_us

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer that its caller has reached a limit."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        caller = caller_of(admitted_principal(scope), client_address(scope))
        set_caller(scope, caller)
        is_ingest = self.routes.needed(scope["method"], route_path(scope)) is AccessScope.INGEST
        held = 0

        async def counted() -> Message:
            nonlocal held
            message = await receive()
            size = len(message.get("body", b""))
            if size and scope["method"] != "GET":  # the body of a question is discarded as it arrives
                self.bodies.hold(caller, size)
                held += size
                if is_ingest:
                    self.rates.count_bytes(caller, size, self.clock_us())
            return message

        try:
            if is_ingest:
                self.rates.admit(caller, self.clock_us())
        except OverloadedError as refusal:
            await error_response(refusal)(scope, receive, send)
            return
        try:
            await self.app(scope, counted, send)
        finally:
            if held:
                self.bodies.release(caller, held)
