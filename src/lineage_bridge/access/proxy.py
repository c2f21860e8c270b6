"""Authenticates requests that come through a proxy that names the principal in headers."""

from collections.abc import Mapping
from typing import Final

from lineage_bridge.access.authentication import CHALLENGE
from lineage_bridge.access.networks import Networks
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.people import PROXY, ProxySettings
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import Principal

_MOST_CHARACTERS: Final = 200


class ProxyAuthenticator:
    """Implements `ports.Authenticator` with the headers of a proxy. The headers only count in requests from the proxy's addresses; in all
    other requests they are ignored.
    """

    def __init__(self, settings: ProxySettings, roles: Roles) -> None:
        self._proxies, self._roles = Networks(settings.addresses), roles
        self._user_header, self._groups_header = settings.user_header.lower(), settings.groups_header.lower()

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:
        """The principal that the proxy names in a request; None if it names none. Raises RefusedError."""
        if not self._user_header or self._user_header not in headers or peer not in self._proxies:
            return None
        user = _value(headers, self._user_header)
        if not user:
            return None
        if len(user) > _MOST_CHARACTERS or not user.isprintable():
            raise _refused(f"the proxy's header {self._user_header} contains no name")
        groups = _value(headers, self._groups_header).split(",") if self._groups_header else ()
        return self._roles.principal(f"{PROXY}:{user}", PROXY, map(str.strip, groups))


def _value(headers: Mapping[str, str], name: str) -> str:
    """The value of a header that may occur once; empty if it is missing. Raises RefusedError if there are several values, because the
    client must have sent all but one of them.
    """
    values = [value for header, value in headers.items() if header == name]
    if len(values) > 1:
        raise _refused(f"the header {name} was sent {len(values)} times in a request from the proxy")
    return _decoded(values[0]).strip() if values else ""


def _decoded(value: str) -> str:
    """The text of a header. HTTP decodes it as Latin-1, but proxies send it as UTF-8."""
    try:
        return value.encode("latin-1").decode()
    except ValueError:
        return value


def _refused(problem: str) -> RefusedError:
    hint = "the proxy has to replace this header in every request that it passes on"
    return RefusedError(401, "invalid_proxy_header", problem, hint, CHALLENGE)
