"""Recognizes requests of browsers with a session, and decides which of them may change something."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from lineage_bridge.access.browsers.cookies import Cookie
from lineage_bridge.access.browsers.sessions import Sessions
from lineage_bridge.config.external import ExternalAddress
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import BrowserSession, Principal

CSRF_HEADER: Final = "X-CSRF-Token"
_HINT: Final = f"GET /auth/session returns the token of the session; send it as {CSRF_HEADER}"


@dataclass(frozen=True)
class SignedIn:
    """A browser with a session. `secret` is the secret of the session."""

    principal: Principal
    session: BrowserSession
    secret: str = field(repr=False)


class SignedInBrowsers:
    """Recognizes browsers by their session's cookie. A browser sends the cookie with every request, whichever site caused the request."""

    def __init__(self, sessions: Sessions, external: ExternalAddress) -> None:
        self.sessions, self.external, self.cookie = sessions, external, Cookie.session(external)

    def signed_in(self, headers: Mapping[str, str], address: str = "") -> SignedIn | None:
        """Find the session of a request. None if the request has no session, or if it has other credentials, which take precedence. Does
        not wait.
        """
        if "cookie" not in headers or "authorization" in headers:
            return None
        secret = self.cookie.value(headers)
        found = self.sessions.find(secret, address) if secret else None
        return SignedIn(found[1], found[0], secret) if found else None

    def check_write(self, signed_in: SignedIn, headers: Mapping[str, str]) -> None:
        """Check that a page of this server sent a request that changes something. Raises RefusedError otherwise."""
        if headers.get("origin") != self.external.origin:
            problem = "a request with a session has to come from a page of this server"
            raise RefusedError(403, "foreign_origin", problem, f"its pages are at {self.external.url}; programs send an API key")
        sent = headers.get(CSRF_HEADER.lower(), "")
        expected = self.sessions.csrf_token(signed_in.secret)
        if not hmac.compare_digest(sent.encode("utf-8", "replace"), expected.encode()):
            problem = f"the header {CSRF_HEADER} {'does not match the session' if sent else 'is missing'}"
            raise RefusedError(403, "no_csrf_token", problem, _HINT)
