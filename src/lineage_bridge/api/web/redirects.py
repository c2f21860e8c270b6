"""Redirects browsers to the login where programs would get an error."""

from typing import Final
from urllib.parse import quote, urlencode

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from lineage_bridge.access.authentication import NO_CREDENTIALS
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import RefusedError

LOGIN: Final = "/auth/login"
NO_STORE: Final = {"Cache-Control": "no-store"}
_MOST_CHARACTERS: Final = 1024
"""The maximum length of the path to which a browser returns after the login. Longer paths are replaced by the start page."""


def login_redirect(scope: Scope, refusal: RefusedError, external: ExternalAddress) -> Response | None:
    """The redirect to the login for a browser that opens a page without a session; None for programs and for other errors.

    The redirect goes to the host to which the issuer redirects after the login, because cookies belong to that host.
    """
    headers = Headers(scope=scope)
    is_browser = "text/html" in headers.get("accept", "") and "authorization" not in headers
    if refusal.code != NO_CREDENTIALS or scope.get("method") != "GET" or not is_browser:
        return None
    query = scope.get("query_string", b"").decode("latin-1")
    target = quote(scope["path"]) + (f"?{query}" if query else "")
    asked = f"?{urlencode({'next': target})}" if len(target) <= _MOST_CHARACTERS else ""
    return see_other(f"{external.url}{LOGIN}{asked}")


def see_other(url: str, *cookies: str) -> Response:
    """A redirect with status 303, and with cookies."""
    response = Response(status_code=303, headers={**NO_STORE, "Location": url})
    for cookie in cookies:
        response.headers.append("Set-Cookie", cookie)
    return response
