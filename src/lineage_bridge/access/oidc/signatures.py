"""Verifies the signatures of JSON Web Tokens with the keys of their issuers."""

import json
from collections.abc import Mapping
from typing import Any, Final

from joserfc import jws
from joserfc.errors import JoseError

from lineage_bridge.access.authentication import CHALLENGE
from lineage_bridge.access.oidc.issuer_keys import TrustedIssuer
from lineage_bridge.access.oidc.key_set import VerificationKey, VerificationKeys
from lineage_bridge.config.people import ALGORITHMS
from lineage_bridge.errors import RefusedError

MOST_CHARACTERS: Final = 16 << 10
"""The maximum length of a token in characters."""
_MOST_OF_ID: Final = 255
_INVALID: Final = f'{CHALLENGE}, error="invalid_token"'
_NEW_TOKEN: Final = "get a new token from the issuer"  # noqa: S105 - a hint
_UNREADABLE: Final = (JoseError, ValueError, TypeError, RecursionError)


class _Registry(jws.JWSRegistry):
    """Settings of the library that reads tokens (joserfc). Only public-key algorithms are accepted, and the parts of a token have a maximum
    length; unknown header members are ignored.
    """

    max_header_length = 4 << 10
    max_payload_length = MOST_CHARACTERS
    max_signature_length = 2 << 10

    def __init__(self) -> None:
        super().__init__(algorithms=ALGORITHMS, strict_check_header=False)


_REGISTRY: Final = _Registry()


def read_token(text: str) -> tuple[jws.CompactSignature, dict[str, Any]]:
    """Split a token into its parts, and decode its claims, without verifying it. Raises RefusedError."""
    try:
        token = jws.extract_compact(text.encode("ascii"), registry=_REGISTRY)
        header: object = token.protected
        claims = json.loads(token.payload)
    except _UNREADABLE as error:
        raise refused_token("malformed_token", "the token cannot be read") from error
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise refused_token("malformed_token", "the token cannot be read")
    return token, claims


def key_of(issuer: TrustedIssuer, keys: VerificationKeys, header: Mapping[str, Any]) -> VerificationKey:
    """Find the key that a token names. The key must be usable with the token's algorithm. Raises RefusedError."""
    algorithm, kid = header.get("alg"), header.get("kid")
    if not isinstance(algorithm, str) or algorithm not in issuer.settings.algorithms:
        raise refused_token("invalid_token", "the token's algorithm is not accepted")
    if kid is not None and (not isinstance(kid, str) or len(kid) > _MOST_OF_ID):
        raise refused_token("malformed_token", "the token's key id cannot be read")
    named = keys.named(kid, algorithm)
    if not named:
        if issuer.keys.has_no_key(kid or ""):
            raise refused_token("unknown_key", "the token is signed with a key that its issuer does not have")
        problem = f"the token's key is not known yet; the keys of the issuer {issuer.name!r} are being fetched"
        raise RefusedError(503, "key_not_known_yet", problem, "send the request again")
    fitting = [key for key in named if algorithm in key.algorithms]
    if len(fitting) != 1:
        raise refused_token("invalid_token", "the issuer does not have exactly one key for the token's key id and algorithm")
    return fitting[0]


def check_signature(token: jws.CompactSignature, key: VerificationKey) -> None:
    """Verify that this key made a token's signature, with the algorithm in the token's header. Raises RefusedError otherwise."""
    if token.protected["alg"] == "EdDSA":
        # RFC 9864 names the algorithms by their curves; the signed header keeps the former name.
        token.protected["alg"] = key.key["crv"]
    try:
        is_genuine = jws.validate_compact(token, key.key, registry=_REGISTRY)
    except _UNREADABLE as error:
        raise refused_token("malformed_token", "the token's signature cannot be read") from error
    if not is_genuine:
        raise refused_token("invalid_token", "the token's signature was not made by its issuer")


def refused_token(code: str, problem: str) -> RefusedError:
    """Make the error for a request whose token is refused."""
    return RefusedError(401, code, problem, _NEW_TOKEN, _INVALID)
