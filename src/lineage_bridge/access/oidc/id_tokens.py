"""Verifies ID tokens. In an ID token, an issuer tells this server who has just logged in (OpenID Connect Core 1.0, 3.1.3.7)."""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from typing import Any, Final

from joserfc.errors import JoseError
from joserfc.jwt import JWTClaimsRegistry

from lineage_bridge.access.oidc.issuer_keys import TrustedIssuer
from lineage_bridge.access.oidc.signatures import MOST_CHARACTERS, check_signature, key_of, read_token, refused_token

_TYPES: Final = frozenset({"jwt", "application/jwt"})
_MOST_OF_SUBJECT: Final = 255


def verify_id_token(text: str, issuer: TrustedIssuer, nonce: str, access_token: str, now_s: int) -> dict[str, Any]:
    """Verify that an issuer gave this server an ID token for the login with `nonce`, and return its claims. Raises RefusedError."""
    if text.count(".") != 2 or len(text) > MOST_CHARACTERS:
        raise refused_token("malformed_token", "the ID token cannot be read")
    token, claims = read_token(text)
    header = token.protected
    typ = header.get("typ")
    if "crit" in header or "b64" in header or not (typ is None or (isinstance(typ, str) and typ.lower() in _TYPES)):
        raise refused_token("invalid_token", "the token is not an ID token")
    check_signature(token, key_of(issuer, issuer.keys.keys, header))
    _check_claims(claims, issuer, nonce, now_s)
    if "at_hash" in claims and not _is_equal(claims["at_hash"], half_hash(token.protected["alg"], access_token)):
        raise refused_token("invalid_token", "the ID token belongs to another access token")
    return claims


def _check_claims(claims: dict[str, Any], issuer: TrustedIssuer, nonce: str, now_s: int) -> None:
    client = issuer.settings.client_id
    registry = JWTClaimsRegistry(
        now_s,
        issuer.settings.clock_skew_s,
        iss={"essential": True, "value": issuer.settings.issuer},
        aud={"essential": True, "value": client},
        exp={"essential": True},
        iat={"essential": True},
        sub={"essential": True},
        nonce={"essential": True},
    )
    try:
        registry.validate(claims)
    except JoseError as error:
        raise refused_token("invalid_token", f"the ID token is not accepted: {error.description}") from None
    if not _is_equal(claims["nonce"], nonce):
        raise refused_token("invalid_token", "the ID token belongs to another login")
    audience = claims["aud"]
    if claims.get("azp", client) != client or (isinstance(audience, list) and len(audience) > 1 and "azp" not in claims):
        raise refused_token("invalid_token", "the ID token was issued to another application")
    subject = claims["sub"]
    if len(subject) > _MOST_OF_SUBJECT or not (subject.isascii() and subject.isprintable()):
        raise refused_token("invalid_token", "the ID token's claim 'sub' is longer than 255 characters or not ASCII")


def half_hash(algorithm: str, text: str) -> str:
    """The left half of a text's hash, as claims such as `at_hash` contain it. The hash function is that of the signature's algorithm."""
    data = text.encode("ascii", "replace")
    if algorithm == "Ed448":
        digest = hashlib.shake_256(data).digest(114)
    else:
        digest = hashlib.new("sha512" if algorithm == "Ed25519" else f"sha{algorithm[-3:]}", data).digest()
    return urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _is_equal(claim: object, expected: str) -> bool:
    return isinstance(claim, str) and hmac.compare_digest(claim.encode("utf-8", "replace"), expected.encode())
