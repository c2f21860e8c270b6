"""Authentication by access tokens: JSON Web Tokens that an OpenID Connect issuer signed."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from joserfc import jws
from joserfc.errors import ExpiredTokenError, InvalidClaimError, JoseError, MissingClaimError

from lineage_bridge.access.authentication import CHALLENGE, bearer_of
from lineage_bridge.access.oidc.claims import check_claims, is_token_type, roles_of
from lineage_bridge.access.oidc.issuer_keys import IssuerKeys
from lineage_bridge.access.oidc.key_set import VerificationKey, VerificationKeys
from lineage_bridge.access.roles import Roles
from lineage_bridge.config.people import ALGORITHMS, IssuerSettings
from lineage_bridge.errors import RefusedError, RequestError
from lineage_bridge.model.access import Principal

MOST_CHARACTERS: Final = 16 << 10
"""How long a token may be."""
MOST_CACHED: Final = 4096
_MOST_OF_ID: Final = 255
_INVALID: Final = f'{CHALLENGE}, error="invalid_token"'
_NEW_TOKEN: Final = "get a new token from the issuer"  # noqa: S105 - a hint
_UNUSUAL: Final = re.compile(r"[^\w.@+-]")
_UNREADABLE: Final = (JoseError, ValueError, TypeError, RecursionError)


class _Registry(jws.JWSRegistry):
    """Algorithms with a key pair, and limits of a token's parts, in characters. Members that the library does not know are no fault."""

    max_header_length = 4 << 10
    max_payload_length = MOST_CHARACTERS
    max_signature_length = 2 << 10

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)


_REGISTRY: Final = _Registry()


@dataclass(frozen=True)
class TrustedIssuer:
    """An issuer: the name it has here, its settings, and its keys."""

    name: str
    settings: IssuerSettings
    keys: IssuerKeys


@dataclass(frozen=True)
class _Verified:
    """A token that was verified with these keys: whose it is, and until when, in Unix seconds."""

    principal: Principal
    until_s: float
    issuer: TrustedIssuer
    keys: VerificationKeys


class TokenAuthenticator:
    """Implements `ports.Authenticator` with the access tokens of some issuers.

    What was verified is kept, under the token's digest, until the token is over or its issuer's keys change.
    """

    def __init__(self, issuers: Sequence[TrustedIssuer], roles: Roles, clock_us: Callable[[], int]) -> None:
        self._issuers = {issuer.settings.issuer: issuer for issuer in issuers}
        self._roles, self._clock_us = roles, clock_us
        self._verified: dict[bytes, _Verified] = {}

    def authenticate(self, headers: Mapping[str, str], peer: str) -> Principal | None:  # noqa: ARG002 - the protocol's
        """The principal of the access token in the header Authorization."""
        text = bearer_of(headers)
        if text.count(".") != 2:
            return None
        if len(text) > MOST_CHARACTERS:
            raise _refused("malformed_token", f"the token has more than {MOST_CHARACTERS:,} characters")
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
        token, claims = _read(text)
        header = token.protected
        issuer = self._issuers.get(claims["iss"]) if isinstance(claims.get("iss"), str) else None
        if issuer is None:
            raise _refused("unknown_issuer", "the token's issuer is none that this server knows")
        if "crit" in header or "b64" in header or not is_token_type(header.get("typ")):
            raise _refused("invalid_token", "the token is of a kind that is not accepted")
        keys = issuer.keys.keys
        _check_signature(token, _key_of(issuer, keys, header))
        try:
            check_claims(claims, header.get("typ"), issuer.settings, now_s)
        except ExpiredTokenError:
            raise _refused("expired_token", "the token has expired") from None
        except MissingClaimError as error:
            raise _refused("invalid_token", f"the token lacks a claim: {error.description}") from None
        except InvalidClaimError as error:
            raise _refused("invalid_token", f"the token's claim is not accepted: {error.description}") from None
        except RequestError as error:
            raise _refused("invalid_token", f"the token is not accepted: {error}") from None
        return _Verified(self._principal(issuer, claims), claims["exp"] + issuer.settings.clock_skew_s, issuer, keys)

    def _principal(self, issuer: TrustedIssuer, claims: Mapping[str, Any]) -> Principal:
        """Whose token it is, as `company:ada#8f2c`: the issuer's name here, what people call the principal, and what the issuer does.

        The last is the claim `sub`, the only one that is the same for good and nobody else's. No API key has such a name.
        """
        shown = claims.get(issuer.settings.name_claim)
        called = _UNUSUAL.sub("_", shown)[:100] if isinstance(shown, str) and issuer.settings.name_claim != "sub" else ""
        roles = roles_of(claims, issuer.settings.roles_claim)
        return self._roles.principal(f"{issuer.name}:{called}#{claims['sub']}", issuer.name, roles)


def _read(text: str) -> tuple[jws.CompactSignature, dict[str, Any]]:
    """The parts of a token, and its claims, none of which is verified. Raises RefusedError."""
    try:
        token = jws.extract_compact(text.encode("ascii"), registry=_REGISTRY)
        header: object = token.protected
        claims = json.loads(token.payload)
    except _UNREADABLE as error:
        raise _refused("malformed_token", "the token cannot be read") from error
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise _refused("malformed_token", "the token cannot be read")
    return token, claims


def _key_of(issuer: TrustedIssuer, keys: VerificationKeys, header: Mapping[str, Any]) -> VerificationKey:
    """The key that a token names, if it may be used with the token's algorithm. Raises RefusedError."""
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in issuer.settings.algorithms:
        raise _refused("invalid_token", "the token's algorithm is not accepted")
    if kid is not None and (not isinstance(kid, str) or len(kid) > _MOST_OF_ID):
        raise _refused("malformed_token", "the token's key id cannot be read")
    named = keys.named(kid, algorithm)
    if not named:
        if issuer.keys.has_no_key(kid or ""):
            raise _refused("unknown_key", "the token's key is none of its issuer's")
        problem = f"the issuer {issuer.name!r} is asked for the key of the token"
        raise RefusedError(503, "key_not_known_yet", problem, "send the request again")
    fitting = [key for key in named if algorithm in key.algorithms]
    if len(fitting) != 1:
        raise _refused("invalid_token", "the token does not name one key that its algorithm fits")
    return fitting[0]


def _check_signature(token: jws.CompactSignature, key: VerificationKey) -> None:
    """Raise RefusedError unless this key made the token's signature."""
    if token.protected["alg"] == "EdDSA":
        # RFC 9864 names the algorithms by their curves; what is signed keeps the former name.
        token.protected["alg"] = key.key["crv"]
    try:
        is_genuine = jws.validate_compact(token, key.key, registry=_REGISTRY)
    except _UNREADABLE as error:
        raise _refused("malformed_token", "the token's signature cannot be read") from error
    if not is_genuine:
        raise _refused("invalid_token", "the token's signature is not its issuer's")


def _refused(code: str, problem: str) -> RefusedError:
    return RefusedError(401, code, problem, _NEW_TOKEN, _INVALID)
