"""Routes with which people log in with a browser, and end their sessions."""

from collections.abc import Callable
from html import escape
from typing import Annotated, Any, Final, TypeVar
from urllib.parse import urlencode

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response
from msgspec import UNSET
from starlette.responses import HTMLResponse

from lineage_bridge.access.browsers.cookies import Cookie
from lineage_bridge.access.browsers.logins import PENDING_S, IssuerAnswer, Logins
from lineage_bridge.access.browsers.signed_in import SignedInBrowsers
from lineage_bridge.access.browsers.targets import target_of
from lineage_bridge.api.answering.deferred_route import DeferredRoute
from lineage_bridge.api.guard import admission
from lineage_bridge.api.openapi import response_docs
from lineage_bridge.api.responses import json_response
from lineage_bridge.api.schemas.names import ErrorAnswer
from lineage_bridge.api.schemas.operations import LoggedOut, SessionInfo
from lineage_bridge.api.services import Services
from lineage_bridge.api.web.forwarding import client_address
from lineage_bridge.api.web.redirects import LOGIN, NO_STORE, see_other
from lineage_bridge.errors import NotFoundError, OverloadedError
from lineage_bridge.model.audit import Change
from lineage_bridge.openlineage.times import format_time

_Text = Annotated[str | None, Query(max_length=4096)]
_ResultT = TypeVar("_ResultT")
_PAGE: Final = "<!doctype html><html lang=en><meta charset=utf-8><title>Log in</title><h1>Log in</h1><ul>{links}</ul></html>"


def routes(services: Services) -> APIRouter:
    """The routes for logins and sessions."""
    router = APIRouter(prefix="/auth", tags=["logins"], route_class=DeferredRoute)
    _login_routes(router, services)

    @router.get("/session", response_model=None, responses=response_docs({200: SessionInfo}, writes=False))
    def get_session(request: Request) -> Response:
        """The principal of the request; for a logged-in browser also the CSRF token that its writes must contain."""
        principal, browsers = admission(request).principal, services.access.browsers
        found = browsers.signed_in(request.headers) if browsers else None
        return json_response(
            SessionInfo(
                principal.name,
                [scope.value for scope in sorted(principal.scopes)],
                list(principal.namespaces),
                found.session.identity.issuer if found else UNSET,
                format_time(found.session.expires_us) if found else UNSET,
                browsers.sessions.csrf_token(found.secret) if browsers and found else UNSET,
            )
        )

    @router.post("/logout", response_model=None, responses=response_docs({200: LoggedOut}, writes=False))
    def post_logout(request: Request) -> Response:
        """End the session of a browser. The answer has the issuer's logout address, if there is one."""
        browsers, logins = services.access.browsers, services.logins
        found = browsers.signed_in(request.headers) if browsers else None
        if browsers is None or logins is None or found is None:
            return json_response(LoggedOut(ended=False, issuer_logout_url=""))
        identity = found.session.identity
        services.audit.record(Change(identity.principal, client_address(request.scope), "logout", identity.issuer))
        ended = browsers.sessions.end(found.secret) is not None
        answer = LoggedOut(ended, logins.logout_url(identity.issuer))
        return json_response(answer, headers={"Set-Cookie": browsers.cookie.removed()})

    return router


def _login_routes(router: APIRouter, services: Services) -> None:
    refused = {404: ErrorAnswer, 422: ErrorAnswer}

    @router.get("/login", response_model=None, responses=_with_page(response_docs({303: ErrorAnswer, **refused}, writes=False)))
    def get_login(
        request: Request,
        issuer: Annotated[str, Query(max_length=40, description="Name of the issuer to log in at; not needed if there is only one")] = "",
        target: Annotated[str, Query(alias="next", max_length=4096, description="The path to open after the login, such as `/docs`")] = "",
    ) -> Response:
        """Send a browser to an issuer to log in. If there are several issuers and the request names none, a page offers them."""
        browsers, logins = _installed(services)
        path = target_of(target, browsers.external)
        if not issuer and len(logins.issuers) > 1:
            return _choice(request.scope.get("root_path", ""), logins.issuers, path)
        begun = logins.begin(issuer or logins.issuers[0], path)
        cookie = Cookie.login(browsers.external, begun.state).with_value(begun.sealed, PENDING_S)
        return see_other(begun.url, cookie)

    @router.get(
        "/callback",
        response_model=None,
        responses=_with_unknown(response_docs({303: ErrorAnswer, 400: ErrorAnswer, **refused}, writes=False)),
    )
    async def get_callback(request: Request, state: _Text = None, code: _Text = None, iss: _Text = None, error: _Text = None) -> Response:
        """The redirect address for issuers after a login. The browser gets a session, and is redirected to the page where the login
        began.
        """
        browsers, logins = _installed(services)
        answer = IssuerAnswer(state, code, iss, error)

        def finish() -> Response:
            pending = Cookie.login(browsers.external, state or "")
            identity, target = logins.finish(answer, pending.value(request.headers))
            services.audit.record(Change(identity.principal, client_address(request.scope), "login", identity.issuer))
            secret = browsers.sessions.begin(identity, browsers.cookie.value(request.headers), client_address(request.scope))
            return see_other(browsers.external.origin + target, browsers.cookie.with_value(secret), pending.removed())

        return await _limited(services, finish)


def _installed(services: Services) -> tuple[SignedInBrowsers, Logins]:
    browsers, logins = services.access.browsers, services.logins
    if browsers is None or logins is None:
        raise NotFoundError("this server has no login for browsers", "set `client_id` of an issuer to let people log in")
    return browsers, logins


async def _limited(services: Services, work: Callable[[], _ResultT]) -> _ResultT:
    """Run a function that waits for an issuer. Only a few run at once, so that a slow issuer delays nobody else. Raises OverloadedError."""
    if services.login_threads.available_tokens < 1:
        raise OverloadedError("too many people are logging in at this moment", "open the page again in a moment")
    return await to_thread.run_sync(work, limiter=services.login_threads)


def _choice(prefix: str, issuers: tuple[str, ...], path: str) -> Response:
    addresses = [(name, f"{prefix}{LOGIN}?{urlencode({'issuer': name, 'next': path})}") for name in issuers]
    links = "".join(f'<li><a href="{escape(address)}">{escape(name)}</a></li>' for name, address in addresses)
    return HTMLResponse(_PAGE.format(links=links), headers=NO_STORE)


def _with_page(docs: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    page = {"description": "A page that offers the issuers", "content": {"text/html": {"schema": {"type": "string"}}}}
    return _without_body({**docs, 200: page})


def _with_unknown(docs: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    return _without_body({**docs, 400: {**docs[400], "description": "This browser has not started the login, or the login has expired"}})


def _without_body(docs: dict[int | str, dict[str, Any]]) -> dict[int | str, dict[str, Any]]:
    """Remove the body from the documentation of a redirect."""
    return {**docs, 303: {"description": docs[303]["description"]}}
