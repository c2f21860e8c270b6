"""Authenticates requests by access tokens: JSON Web Tokens that an OpenID Connect issuer signed."""

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from joserfc.errors import ExpiredTokenError, InvalidClaimError, MissingClaimError

from lineage_bridge.access.authentication import bearer_of
from lineage_bridge.access.oidc.claims import check_claims, is_token_type, roles_of
from lineage_bridge.access.oidc.issuer_keys import TrustedIssuer
from lineage_bridge.access.oidc.key_set import VerificationKeys
from lineage_bridge.access.oidc.signatures import MOST_CHARACTERS, check_signature, key_of, read_token, refused_token
from lineage_bridge.access.roles import Roles
from lineage_bridge.errors import RequestError
from lineage_bridge.model.access import Principal

MOST_CACHED: Final = 4096
_UNUSUAL: Final = re.compile(r"[^\w.@+-]")


@dataclass(frozen=True)
class _Verified:
    """A token that was verified with these keys: its principal, and when it expires, in Unix seconds."""

    principal: Principal
    until_s: float
    issuer: TrustedIssuer
    keys: VerificationKeys


class TokenAuthenticator:
    """Implements `ports.Authenticator` with the access tokens of some issuers.

    Verified tokens are cached by their digest until they expire or the issuer's keys change.
    """

    def __init__(self, issuers: Sequence[TrustedIssuer], roles: Roles, clock_us: Callable[[], int]) -> None:
        self._issuers = {issuer.settings.issuer: issuer for issuer in issuers}
        self._roles, self._clock_us = roles, clock_us
        self._verified: dict[bytes, _Verified] = {}

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:  # noqa: ARG002 - the protocol's
        """The principal of the access token in the header Authorization; None if there is no such token. Raises RefusedError."""
        text = bearer_of(headers)
        if text.count(".") != 2:
            return None
        if len(text) > MOST_CHARACTERS:
            raise refused_token("malformed_token", f"the token has more than {MOST_CHARACTERS:,} characters")
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        now_s = self._clock_us() // 1_000_000
        found = self._verified.get(digest)
        if found is None or now_s >= found.until_s or found.keys is not found.issuer.keys.keys:
            self._verified.pop(digest, None)
            found = self._verify(text, now_s)
            if len(self._verified) >= MOST_CACHED:
                self._verified.pop(next(iter(self._verified)))
            self._verified[digest] = found
        return found.principal

    def _verify(self, text: str, now_s: int) -> _Verified:
        token, claims = read_token(text)
        header = token.protected
        issuer = self._issuers.get(claims["iss"]) if isinstance(claims.get("iss"), str) else None
        if issuer is None:
            raise refused_token("unknown_issuer", "this server does not know the token's issuer")
        if "crit" in header or "b64" in header or not is_token_type(header.get("typ")):
            raise refused_token("invalid_token", "the token is of a kind that is not accepted")
        keys = issuer.keys.keys
        check_signature(token, key_of(issuer, keys, header))
        try:
            check_claims(claims, header.get("typ"), issuer.settings, now_s)
        except ExpiredTokenError:
            raise refused_token("expired_token", "the token has expired") from None
        except MissingClaimError as error:
            raise refused_token("invalid_token", f"the token lacks a claim: {error.description}") from None
        except InvalidClaimError as error:
            raise refused_token("invalid_token", f"the token's claim is not accepted: {error.description}") from None
        except RequestError as error:
            raise refused_token("invalid_token", f"the token is not accepted: {error}") from None
        return _Verified(self._principal(issuer, claims), claims["exp"] + issuer.settings.clock_skew_s, issuer, keys)

    def _principal(self, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> Principal:
        roles = roles_of(claims, issuer.settings.roles_claim)
        return self._roles.principal(principal_name(issuer, claims), issuer.name, roles)


def principal_name(issuer: TrustedIssuer, claims: Mapping[str, Any]) -> str:
    """Make the name of a principal from claims, such as `company:ada#8f2c`. It consists of the issuer's name in the settings, a
    readable name, and the claim `sub`.

    Of these, only `sub` never changes and is unique. No API key can have such a name.
    """
    shown = claims.get(issuer.settings.name_claim)
    called = _UNUSUAL.sub("_", shown)[:100] if isinstance(shown, str) and issuer.settings.name_claim != "sub" else ""
    return f"{issuer.name}:{called}#{claims['sub']}"
