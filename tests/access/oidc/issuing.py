"""What the tests of access tokens share: an issuer behind a proxy that can fail, a clock, and tokens signed as the issuer would."""

import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from joserfc import jws, jwt
from tests.servers.web.openid import Key

from lineage_bridge.access.oidc.fetching import fetcher
from lineage_bridge.access.oidc.issuer_keys import LEAST_S, IssuerKeys, TrustedIssuer
from lineage_bridge.access.oidc.key_set import VerificationKeys
from lineage_bridge.access.oidc.tokens import TokenAuthenticator
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.people import ALGORITHMS, IssuerSettings, RoleSettings
from lineage_bridge.errors import RefusedError
from lineage_bridge.model.access import Principal

AUDIENCE = "https://lineage.example"
FETCH = fetcher("")
ROLES = {
    "data": RoleSettings(scopes=("read", "operate")),
    "orders": RoleSettings(scopes=("ingest",), namespaces=("orders-*",)),
}


@dataclass
class Clock:
    """The time, which a test can move."""

    ahead_s: float = 0

    def __call__(self) -> int:
        return int((time.time() + self.ahead_s) * 1_000_000)


@dataclass
class Door:
    """An authenticator that knows one issuer as `company`; the keys are there, but nothing fetches them by itself."""

    url: str
    options: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, RoleSettings] = field(default_factory=lambda: ROLES)
    least_s: float = LEAST_S
    known: VerificationKeys | None = None

    def __post_init__(self) -> None:
        settings = IssuerSettings(**{"issuer": self.url, "audience": AUDIENCE, **self.options})
        self.clock = Clock()
        self.keys = IssuerKeys("company", settings, FETCH, self.least_s)
        if self.known is None:
            self.keys.refresh()
        else:
            self.keys.keys = self.known
        issuer = TrustedIssuer("company", settings, self.keys)
        self.authenticator = TokenAuthenticator([issuer], Roles(self.roles, ["company"]), self.clock)

    def like(self, options: Mapping[str, Any], roles: Mapping[str, RoleSettings] = ROLES) -> "Door":
        """Another one with the same issuer and its present keys."""
        return Door(self.url, options, roles, known=self.keys.keys)

    def open(self, token: str) -> Principal | None:
        """The principal of a token."""
        return self.authenticator.authenticate({"authorization": f"Bearer {token}"}, "10.1.2.3")

    def refusal(self, token: str) -> RefusedError:
        """What a token is refused with; fails if it is not."""
        with pytest.raises(RefusedError) as caught:
            self.open(token)
        return caught.value


def claims_of(issuer: str, **changes: Any) -> dict[str, Any]:
    """The claims of a good token, with changes; None removes one."""
    now = int(time.time())
    claims = {"iss": issuer, "aud": AUDIENCE, "sub": "8f2c", "exp": now + 600, "iat": now, "client_id": "page", "jti": "1"}
    return {name: value for name, value in {**claims, **changes}.items() if value is not None}


def signed(key: Key, claims: Mapping[str, Any], **header: Any) -> str:
    """A token signed with a key; a member of the header that is None is left out."""
    members = {"alg": key.alg, "kid": key.kid, "typ": "at+jwt", **header}
    members = {name: value for name, value in members.items() if value is not None}
    registry = jws.JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)
    return jwt.encode(members, dict(claims), key, registry=registry, default_type=None)


def base64url(data: bytes) -> str:
    """Bytes as in a token."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()
