"""Routes for the sessions of browsers that have logged in: list and end them."""

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from lineage_bridge.access.browsers.sessions import OpenSession
from lineage_bridge.api.dependencies import Offset, api_router, page
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import SessionItem, SessionsAnswer, SessionsEnded
from lineage_bridge.api.services import Services
from lineage_bridge.errors import NotFoundError
from lineage_bridge.openlineage.times import format_time


def routes(services: Services) -> APIRouter:
    """The routes for sessions."""
    router = api_router("sessions", "/sessions")

    @router.get("", response_model=None, responses=response_docs({200: SessionsAnswer}, writes=False))
    def get_sessions(
        request: Request,
        principal: Annotated[str | None, Query(max_length=4096, description="Only sessions of this principal, exactly")] = None,
        limit: Annotated[int, Query(ge=1, le=1000)] = 100,
        offset: Offset = 0,
    ) -> Response:
        """Sessions of browsers, the one that began last first."""
        browsers = services.access.browsers
        every = browsers.sessions.records() if browsers else []
        named = [found for found in every if principal in (None, found.session.identity.principal)]
        shown, link = page(request, named[offset : offset + limit + 1], limit, offset)
        return json_response(SessionsAnswer(list(map(_item, shown))), headers=link)

    @router.delete("/{name:path}", response_model=None, responses=response_docs({200: SessionsEnded, 404: ErrorAnswer}, writes=False))
    def delete_session(name: str) -> Response:
        """End the session with this id, or all sessions of the principal with this name, from their next request on."""
        browsers = services.access.browsers
        if browsers is None:
            raise NotFoundError("this server has no login for browsers", "set `client_id` of an issuer to let people log in")
        return json_response(SessionsEnded(browsers.sessions.end_named(name)))

    return router


def _item(found: OpenSession) -> SessionItem:
    session = found.session
    return SessionItem(
        id=session.id,
        principal=session.identity.principal,
        issuer=session.identity.issuer,
        began_at=format_time(session.created_us),
        last_used_at=format_time(found.used_us),
        expires_at=format_time(session.expires_us),
        address=found.address,
    )
