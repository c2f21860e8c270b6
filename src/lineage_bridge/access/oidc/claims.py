"""Checks the claims of an access token whose signature is verified (RFC 7519, RFC 9068, OpenID Connect Core)."""

from collections.abc import Mapping
from typing import Any, Final

from joserfc.jwt import JWTClaimsRegistry

from lineage_bridge.config.people import IssuerSettings
from lineage_bridge.errors import RequestError

_TYPES: Final = frozenset({"jwt", "application/jwt", "at+jwt", "application/at+jwt"})
"""The accepted values of the header `typ`, if it is present."""
_ID_TOKEN: Final = ("nonce", "at_hash", "c_hash")
"""Claims of an ID token, which tells an application who logged in, and gives no access."""
_OTHER: Final = {
    "events": "a logout or security event token",
    "cnf": "bound to a key of its client, which this server cannot check",
}
"""Claims of tokens that not every holder may use."""
_MOST_CHARACTERS: Final = 255
"""The maximum length of a subject, by OpenID Connect Core 2."""


def is_token_type(typ: object) -> bool:
    """Whether a token with this value of the header `typ` may be an access token."""
    return typ is None or (isinstance(typ, str) and typ.lower() in _TYPES)


def check_claims(claims: dict[str, Any], typ: str | None, settings: IssuerSettings, now_s: int) -> None:
    """Check the claims of a token. Raises JoseError for a claim that is missing, wrong or expired, RequestError for a token that is not an
    access token.
    """
    required = ["iss", "aud", "exp", "sub"]
    is_declared = (typ or "").lower().endswith("at+jwt")
    if is_declared:
        required += ["client_id", "iat", "jti"]
    JWTClaimsRegistry(
        now_s,
        settings.clock_skew_s,
        **{  # type: ignore[arg-type]  # options of claims, by name
            **{name: {"essential": True} for name in required},
            "iss": {"essential": True, "value": settings.issuer},
            "aud": {"essential": True, "values": list(settings.audience)},
        },
    ).validate(claims)
    if other := _other_kind(claims, is_declared=is_declared):
        raise RequestError(f"only bearer access tokens are accepted, but this is {other}")
    clients = {claims.get("azp"), claims.get("client_id")} - {None}
    if settings.clients and not clients & set(settings.clients):
        raise RequestError("tokens of the application that requested it are not accepted")
    subject = claims["sub"]
    if len(subject) > _MOST_CHARACTERS or not (subject.isascii() and subject.isprintable()):
        raise RequestError("the claim 'sub' is longer than 255 characters or not ASCII")


def _other_kind(claims: Mapping[str, Any], *, is_declared: bool) -> str:
    """What kind of token this is, if it is not an access token; empty if it can be one. `is_declared`: the token's header declares that it
    is an access token.
    """
    for mark, other in _OTHER.items():
        if mark in claims:
            return other
    kind = claims.get("token_use" if "token_use" in claims else "typ")
    if is_declared or (isinstance(kind, str) and kind.lower() in {"access", "bearer"}):
        return ""
    if isinstance(kind, str):
        return f"of the kind {kind[:40]!r}"
    return "an ID token" if any(mark in claims for mark in _ID_TOKEN) else ""


def roles_of(claims: Mapping[str, Any], path: str) -> list[str]:
    """The roles in a claim, which is a list of strings, or a string with spaces between them. `path` is the claim's name, or the path
    to a nested one.
    """
    found: object = claims.get(path)
    if found is None:
        found = claims
        for name in path.split("."):
            found = found.get(name) if isinstance(found, dict) else None
    if isinstance(found, str):
        return found.split()
    return [role for role in found if isinstance(role, str)] if isinstance(found, list) else []
