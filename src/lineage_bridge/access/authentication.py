"""Authentication of requests: by API keys, or by several methods that are tried in order."""

import hmac
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from lineage_bridge.access.key_text import PREFIX, digest_of, id_of
from lineage_bridge.access.teams import NamespaceLimits, Teams
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import ApiKey, Principal
from lineage_bridge.ports.access import Authenticator, KeyChanges

NO_CREDENTIALS: Final = "no_key"
"""The code with which a request without credentials is refused."""
CHALLENGE: Final = 'Bearer realm="lineage-bridge"'
_INVALID: Final = f'{CHALLENGE}, error="invalid_token"'
_SEND: Final = "send Authorization: Bearer <key>; OpenLineage clients take OPENLINEAGE_API_KEY, commands LINEAGE_BRIDGE_API_KEY"
_BEARER: Final = "bearer "


class KeyAuthenticator:
    """Implements `ports.Authenticator` with API keys.

    `internal` are keys that are not in the database. The authenticator looks for keys that other processes changed at most every
    `recheck_us`; `recheck` is called when this process has changed a key itself.
    """

    def __init__(
        self,
        changes: KeyChanges,
        installation_key: bytes,
        clock_us: Callable[[], int],
        internal: Sequence[ApiKey] = (),
        recheck_us: int = 0,
        teams: Teams | None = None,
    ) -> None:
        self._changes, self._installation_key, self._clock_us, self._internal = changes, installation_key, clock_us, internal
        self._keys: dict[str, tuple[ApiKey, Principal]] = {}
        self._uses: dict[str, int] = {}
        self._recheck_us, self._checked_us, self._teams = recheck_us, -1, teams or Teams()

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:  # noqa: ARG002 - the protocol's
        """The principal of a request; None if the request has no API key. Raises RefusedError for an invalid key."""
        text = bearer_of(headers)
        if not text.startswith(PREFIX):
            return None
        id_ = id_of(text)
        if id_ is None:
            raise RefusedError(401, "malformed_key", "the API key is cut off or mistyped", "copy the whole key again", _INVALID)
        now_us = self._clock_us()
        if not 0 <= now_us - self._checked_us < self._recheck_us:
            self._look_for_changes()
            self._checked_us = now_us
        found = self._keys.get(id_)
        if found is None or not hmac.compare_digest(found[0].digest, digest_of(text, self._installation_key)):
            raise RefusedError(
                401, "unknown_key", "this server does not know the API key", "use one of its keys: lineage-bridge key list", _INVALID
            )
        key, principal = found
        state = key.state(now_us)
        if state != "active":
            problem = f"the API key {key.name!r} {'has expired' if state == 'expired' else 'was revoked'}"
            raise RefusedError(401, f"{state}_key", problem, "use another key, which lineage-bridge key create makes", _INVALID)
        self._uses[id_] = now_us
        return principal

    def recheck(self) -> None:
        """Look for changed keys before the next key is verified."""
        self._checked_us = -1

    def _look_for_changes(self) -> None:
        changed = self._changes.changed_keys()
        if changed is not None:
            self._keys = {key.id: (key, self._principal(key)) for key in (*changed, *self._internal)}

    def _principal(self, key: ApiKey) -> Principal:
        limits = NamespaceLimits(key.namespaces, key.teams)
        return replace(self._teams.principal(key.name, key.scopes, limits, limits), is_internal=key.is_internal)

    def take_uses(self) -> dict[str, int]:
        """Return when stored keys were last used, by id. Contains only keys that were used since the last call."""
        uses, self._uses = self._uses, {}
        internal = {key.id for key in self._internal}
        return {id_: used_us for id_, used_us in uses.items() if id_ not in internal}


class Authenticators:
    """Implements `ports.Authenticator` with several others. The first one that recognizes the credentials decides."""

    def __init__(self, *authenticators: Authenticator) -> None:
        self._authenticators = authenticators

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:
        """The principal of a request; None if no authenticator recognizes its credentials. Raises RefusedError for invalid credentials."""
        for authenticator in self._authenticators:
            principal = authenticator.authenticate(headers, peer)
            if principal is not None:
                return principal
        return None


def bearer_of(headers: Mapping[str, str]) -> str:
    """The bearer token in the headers of a request; empty if there is none."""
    text = headers.get("authorization", "")
    return text[len(_BEARER) :].strip() if text[: len(_BEARER)].lower() == _BEARER else ""


def not_authenticated(headers: Mapping[str, str]) -> RefusedError:
    """Make the error for a request whose principal no authenticator could determine."""
    if "authorization" in headers:
        return RefusedError(401, "unknown_credentials", "the credentials are of a kind that this server does not accept", _SEND, _INVALID)
    return RefusedError(401, NO_CREDENTIALS, "this server requires an API key", _SEND, CHALLENGE)
